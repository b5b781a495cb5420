//! What must be true of what is said of the environment.
use super::{check, text, Fault, Running};
use serde_json::Value;

/// What has been said of it.
#[derive(Debug, Default)]
pub struct Environment {
    /// The name of the newest event of it.
    last: String,
    resets: u64,
    /// The turn that it was last ready for.
    turn: String,
}

impl Environment {
    /// Takes an event of it. Returns what must follow at once, if anything must.
    pub fn take(
        &mut self,
        name: &str,
        event: &Value,
        place: u64,
        turn: Option<&Running>,
    ) -> Result<Option<&'static [&'static str]>, String> {
        check(event["turn_id"].is_null(), "of a turn")?;
        let last = std::mem::replace(&mut self.last, name.to_owned());
        let after = |names: &[&str]| {
            let why = format!("it follows “{last}”");
            check(names.contains(&last.as_str()), &why)
        };
        if name == "reset" {
            self.resets += 1;
            check(event["environment_id"] == "env_1", "its id")?;
            check(event["reset_count"] == self.resets, "the count")?;
        } else {
            let shown = &event["environment"];
            check(shown["id"] == "env_1", "its id")?;
            check(shown["status"] == name, "its status")?;
            let error = shown["error"].is_object();
            check(error == (name == "failed"), "its error")?;
        }
        let unbegun = turn.filter(|turn| !turn.begun);
        match name {
            "pending" => {
                after(&[""])?;
                check(place == 2, "not behind the session's creation")?;
                Ok(None)
            }
            "reset" => {
                after(&["disconnected"])?;
                check(unbegun.is_some(), "no turn is to begin")?;
                Ok(Some(&["environment.ready"]))
            }
            "ready" => {
                after(&["", "pending", "connected", "reset"])?;
                let turn = unbegun.ok_or("no turn is to begin")?;
                check(self.turn != turn.id, "twice in a turn")?;
                self.turn = turn.id.clone();
                Ok(Some(&["environment.connected"]))
            }
            "connected" => {
                after(&["ready"])?;
                Ok(None)
            }
            "disconnected" => {
                after(&["connected"])?;
                Ok(Some(&["turn.completed", "turn.failed", "turn.cancelled"]))
            }
            "failed" => {
                after(&["", "pending", "connected", "disconnected"])?;
                check(turn.is_some(), "no turn runs")?;
                let error = &event["environment"]["error"];
                check(error["type"] == "environment_error", "its type")?;
                check(!text(&error["code"]).is_empty(), "its code")?;
                Ok(Some(&["error"]))
            }
            _ => Err("it is never said".to_owned()),
        }
    }

    /// Whether a harness may say something of a turn. Of a session that only talks nothing is ever said.
    pub fn may_work(&self) -> Fault {
        let there = matches!(self.last.as_str(), "" | "connected");
        check(there, "its environment is not connected")
    }

    pub fn has_failed(&self) -> bool {
        self.last == "failed"
    }
}
