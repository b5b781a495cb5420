use super::*;
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeSet;

#[derive(Clone, Debug)]
enum Act {
    Wait(u64),
    Need(bool),
    Settle(u8),
    /// The process is replaced: what was under way is forgotten, what was stored is not.
    Crash,
    Rotate,
    RotateAccess,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        (0..90_u64).prop_map(Act::Wait),
        any::<bool>().prop_map(Act::Need),
        any::<bool>().prop_map(Act::Need),
        (0..7_u8).prop_map(Act::Settle),
        (0..7_u8).prop_map(Act::Settle),
        Just(Act::Crash),
        Just(Act::Rotate),
        Just(Act::RotateAccess),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// A token endpoint that rotates: it takes each refresh token once. What it took is never sent to it again, whatever
    /// gets lost, and at most one request is under way.
    #[test]
    fn h10_no_refresh_token_is_sent_that_may_have_been_used(acts in vec(act(), 0..60)) {
        let mut oauth = oauth(Some(30));
        let (mut now, mut made) = (NOW, 1);
        let mut spent: BTreeSet<String> = BTreeSet::new();
        let mut under_way: Option<(String, Ticket)> = None;
        for act in acts {
            match act {
                Act::Wait(seconds) => now += seconds,
                Act::Need(refused) => {
                    let version = oauth.version;
                    let need = if refused { Need::Refused { version } } else { Need::Call };
                    let step = oauth.decide(need, now);
                    if let Decision::Refresh(reserved) = step.decision {
                        let token = refresh_token(&oauth).to_owned();
                        prop_assert!(!spent.contains(&token), "{token} again");
                        under_way = Some((token.clone(), reserved.when_stored().1));
                        spent.insert(token);
                    } else if step.decision == Decision::Use {
                        prop_assert!(!refused && oauth.expires_at.is_none_or(|at| at > now));
                    }
                }
                Act::Settle(outcome) => {
                    let Some((token, ticket)) = under_way.take() else { continue };
                    made += 1;
                    let rotated = format!(
                        r#"{{"access_token":"a","token_type":"Bearer","expires_in":90,"refresh_token":"r{made}"}}"#
                    );
                    let same = r#"{"access_token":"a","token_type":"Bearer","expires_in":90}"#;
                    // Only these say that the token is still good.
                    let (outcome, kept) = match outcome {
                        0 => (Outcome::Lost, false),
                        1 => (Outcome::NotSent, true),
                        2 => (answered(429, ""), true),
                        3 => (answered(400, r#"{"error":"invalid_grant"}"#), false),
                        4 => (answered(503, ""), false),
                        5 => (answered(200, same), true),
                        _ => (answered(200, rotated.as_str()), false),
                    };
                    if kept {
                        spent.remove(&token);
                    }
                    let before = oauth.clone();
                    match oauth.settle(ticket, outcome, now) {
                        Ok(_) => {}
                        Err(Stale) => prop_assert_eq!(&oauth, &before),
                    }
                }
                Act::Crash => under_way = None,
                Act::Rotate => {
                    made += 1;
                    rotate(&mut oauth, new_refresh_token(&format!("c{made}")));
                }
                Act::RotateAccess => rotate(&mut oauth, OauthRotation {
                    access_token: Some(Secret::new("new")),
                    expires_at: Some(Some(now + 30)),
                    refresh: None,
                }),
            }
        }
    }
}
