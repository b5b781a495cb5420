//! Any lines as frames of a supervisor, to a session whose turn runs. Whatever they say, the session can be stored and read
//! back, and the turn is not committed: for that HarnessDO itself would have to say so.
#![no_main]
use cloister::tenant::Tenant;
use cloister::turn::{stream_name, Effect, Identity, Input, Seeds, Session, Step};
use cloister_protocol::FromSupervisor;

const TURN: &str = "turn_00000000000000000000000000000001";
const SEED: &str = r#"{"event":{"seq":1,"event":{"turn_started":{"turn_id":"turn_00000000000000000000000000000001","thread":"t"}}}}
{"event":{"seq":2,"event":{"item_started":{"turn_id":"turn_00000000000000000000000000000001","item":{"id":"i","kind":{"message":{"phase":null,"text":""}},"status":"in_progress"}}}}}
{"event":{"seq":3,"event":{"text_delta":{"turn_id":"turn_00000000000000000000000000000001","item_id":"i","delta":"word"}}}}
{"event":{"seq":4,"event":{"turn_ended":{"turn_id":"turn_00000000000000000000000000000001","outcome":"completed"}}}}"#;
const PUBLIC: &str = r#"{"id":"sess_1","object":"agent.session","created_at":1,"last_active_at":1,"status":"idle","error":null,
"agent":{"id":"agent_1","name":null,"model":"codex","instructions":null,"reasoning":{"effort":null,"summary":null},
"text":{"format":{"type":"text"},"verbosity":"medium"},"service_tier":"auto","multi_agent":{"enabled":true,"max_concurrent_subagents":2},"tools":[]},
"environment":{"type":"none"},"metadata":{},"required_actions":[],"usage":null,"vault_ids":[]}"#;

fn session() -> Option<Session> {
    let identity = Identity {
        tenant: Tenant::new("acme").ok()?.hash(),
        environment_id: None,
        stream: stream_name([7; 16]),
        exclude: Vec::new(),
    };
    Some(Session::new(identity, serde_json::from_str(PUBLIC).ok()?))
}

fn take(session: &mut Session, drawn: &mut u128, input: Input) -> Step {
    let mut random = || {
        *drawn += 1;
        drawn.to_be_bytes()
    };
    let mut seeds = Seeds {
        now: 1_000_000,
        random: &mut random,
        turn_deadline: 60_000,
        cancel_deadline: 5_000,
        save_deadline: 30_000,
    };
    let mut step = Step::default();
    assert!(session.step(input, &mut seeds, &mut step).is_ok());
    step
}

libfuzzer_sys::fuzz_target!(init: cloister_fuzz::seed_with([SEED.as_bytes()]), |bytes: &[u8]| {
    let (Some(mut session), Ok(text)) = (session(), std::str::from_utf8(bytes)) else {
        return;
    };
    let mut drawn = 0;
    let begun = take(&mut session, &mut drawn, Input::Messages(vec![vec![]]));
    assert!(matches!(&begun.effects[..], [Effect::Run { turn_id, .. }] if turn_id == TURN));
    for line in text.lines() {
        if let Ok(FromSupervisor::Event { seq, event }) = serde_json::from_str(line) {
            let event = Box::new(event);
            let step = take(&mut session, &mut drawn, Input::Harness { epoch: 1, seq, event });
            assert!(step.artifacts.is_empty() && step.garbage.is_empty());
        }
    }
    assert_eq!(session.checkpoint(), None);
    let cells = session.take_changes();
    let loaded = cells.and_then(|cells| {
        let cells = cells.into_iter().filter_map(|cell| Some((cell.kind, cell.number, cell.json?)));
        Session::load(cells, [])
    });
    assert!(matches!(loaded, Ok(Some(_))));
});
