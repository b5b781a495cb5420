//! What is true after each action.
use super::super::word;
use super::world::World;
use crate::turn::state::CallState;
use crate::wire::item::{Content, Item, OutputStatus};
use crate::wire::session::SessionStatus;
use crate::wire::turn::TurnStatus;
use std::collections::BTreeMap;

type Done = Result<(), String>;

fn check(holds: bool, why: &str) -> Done {
    holds.then_some(()).ok_or_else(|| why.to_owned())
}

impl World {
    pub fn check(&self) -> Done {
        self.check_status()?;
        self.check_turns()?;
        self.check_bucket()?;
        self.check_messages()
    }

    fn check_status(&self) -> Done {
        let session = &self.object.session;
        let log = &self.object.store.log;
        let (public, runs) = (&session.public, session.running_turn().is_some());
        check(
            session.wake_at().is_some() == runs,
            "an alarm iff a turn runs",
        )?;
        check(
            session.is_settled() != runs,
            "what waits has a turn to wait for",
        )?;
        let rests = matches!(public.status, SessionStatus::Idle | SessionStatus::Failed);
        check(rests != runs, "it rests iff no turn runs")?;
        check(
            public.error.is_some() == session.has_failed(),
            "an error iff it failed",
        )?;
        check(
            runs || public.required_actions.is_empty(),
            "an idle session requires nothing",
        )?;
        let mut calls = session.calls.iter().map(|(_, call)| call);
        let called = calls.any(|call| call.state == CallState::Open && !call.asynchronous);
        let mut approvals = session.approvals.iter().map(|(_, approval)| approval);
        let asked = approvals.any(|approval| approval.decision.is_none());
        let blocked = public.status == SessionStatus::RequiresAction;
        check(
            blocked == (called || asked),
            "requires_action iff a turn waits",
        )?;
        check(
            session.last_event() == log.last().map_or(0, |chunk| chunk.last),
            "the log's end",
        )?;
        let bytes: usize = log.iter().map(|chunk| chunk.frames.len()).sum();
        check(session.log_bytes() == bytes as u64, "the log's size")?;
        let mut texts = self.object.store.texts.iter();
        let orphan = texts.any(|text| session.open.get(text.open).is_none());
        check(!orphan, "a text without its item")
    }

    fn check_turns(&self) -> Done {
        let session = &self.object.session;
        let roots = self
            .object
            .store
            .turns
            .iter()
            .filter(|turn| turn.subagent_id.is_none());
        for turn in roots {
            let mut ends = self
                .object
                .order
                .ended
                .iter()
                .filter(|(id, _)| *id == turn.id);
            let end = ends.next().map(|(_, end)| end.as_str());
            check(ends.next().is_none(), "a turn ended twice")?;
            let stored = word(&turn.status);
            match end {
                Some(end) => check(stored == end, "the stored turn did not end so")?,
                None => {
                    let running = session.core.running.as_ref().map(|running| &running.turn);
                    check(
                        running == Some(turn),
                        "the stored turn is not the one that runs",
                    )?;
                    let waits = session.public.status == SessionStatus::RequiresAction;
                    check(
                        waits == (turn.status == TurnStatus::Waiting),
                        "waiting iff it waits",
                    )?;
                }
            }
        }
        let children = session.subagents.iter();
        let known: Vec<&str> = children
            .flat_map(|(_, child)| &child.turns)
            .map(|(_, turn)| turn.id.as_str())
            .collect();
        let turns = &self.object.store.turns;
        let forgotten = turns.iter().any(|turn| {
            let of_child = turn.subagent_id.is_some();
            of_child && turn.status.is_terminal() == known.contains(&turn.id.as_str())
        });
        check(!forgotten, "a subagent's turn runs iff it is known")
    }

    /// Each message is in one place, and the model hears it once, in the turn that shows it.
    fn check_messages(&self) -> Done {
        let session = &self.object.session;
        let mut places: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for (of_child, item) in &self.object.store.items {
            let Item::Message(message) = item else {
                continue;
            };
            match message.content.first() {
                Some(Content::InputText { text }) => {
                    let place = &message.turn_id;
                    places.entry(text.clone()).or_default().push(place);
                }
                Some(Content::OutputText { text }) if message.status == OutputStatus::Completed => {
                    let why = "what an agent said is shown otherwise";
                    check(of_child.is_some() || self.harness.said(text), why)?;
                }
                Some(Content::OutputText { .. } | Content::InputImage { .. }) | None => {}
            }
        }
        let waiting = session.waiting.iter().map(|(_, said)| said);
        let steering = session
            .steering
            .iter()
            .flat_map(|(_, steering)| &steering.said);
        for said in waiting.chain(steering).filter(|said| said.shown) {
            if let Some(crate::wire::item::InputContent::InputText { text }) = said.content.first()
            {
                places.entry(text.clone()).or_default().push("");
            }
        }
        check(places.len() == self.said, "a message is lost")?;
        for (text, places) in &places {
            check(
                places.len() == 1,
                &format!("“{text}” is in {} places", places.len()),
            )?;
        }
        let turns: Vec<&str> = self
            .object
            .store
            .turns
            .iter()
            .map(|turn| turn.id.as_str())
            .collect();
        let place = |id: &str| turns.iter().position(|turn| *turn == id);
        for (said, turn_id) in &self.cancelled {
            for number in 1..=*said {
                let shown = places.get(&format!("m{number}")).map(|places| places[0]);
                let later = shown.is_some_and(|shown| place(shown) > place(turn_id));
                check(!later, &format!("“m{number}” outlived a cancel"))?;
            }
        }
        let mut heard: BTreeMap<&str, &str> = BTreeMap::new();
        for (text, turn_id) in self.harness.heard() {
            let twice = heard.insert(text, turn_id).is_some();
            check(!twice, &format!("a model heard “{text}” twice"))?;
            let shown = places.get(text).map(|places| places[0]);
            let elsewhere = shown.is_some_and(|shown| !shown.is_empty() && shown != turn_id);
            check(
                !elsewhere,
                &format!("“{text}” is shown in another turn than it was heard in"),
            )?;
        }
        Ok(())
    }

    /// Nothing runs and nothing waits: the session can be deleted, and each message is in a turn.
    pub fn settled(&self) -> Done {
        check(self.object.session.is_settled(), "the session is stuck")?;
        let mut roots = self
            .object
            .store
            .turns
            .iter()
            .filter(|turn| turn.subagent_id.is_none());
        check(
            roots.all(|turn| turn.status.is_terminal()),
            "a turn has no end",
        )
    }
}
