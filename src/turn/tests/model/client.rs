//! What the client does.
use super::world::{Done, World};
use crate::turn::{Effect, Input, Refused, ToolResult};
use crate::wire::item::{InputContent, Item, ToolOutput};
use crate::wire::request::{Change, SessionUpdate};
use crate::wire::session::RequiredAction;
use cloister_protocol::Decision;

impl World {
    pub fn say(&mut self) -> Done {
        let text = format!("m{}", self.said + 1);
        let content = vec![InputContent::InputText { text }];
        match self.take(Input::Messages(vec![content]))? {
            Ok(()) if self.object.session.has_failed() => {
                Err("a failed session takes a message".to_owned())
            }
            Ok(()) => {
                self.said += 1;
                Ok(())
            }
            Err(Refused::Failed) if self.object.session.has_failed() => Ok(()),
            Err(refused) => Err(format!("a message was answered {refused:?}")),
        }
    }

    pub fn cancel(&mut self) -> Done {
        let running = self.object.session.core.running.clone();
        let taken = self.take(Input::Cancel)?.is_ok();
        if taken == self.object.session.has_failed() {
            return Err("a cancel is refused iff the session has failed".to_owned());
        }
        let Some(running) = running else {
            return Ok(());
        };
        let turn_id = running.turn.id;
        let sent = self.object.store.outbox.values().any(
            |effect| matches!(effect, Effect::Interrupt { turn_id: other } if *other == turn_id),
        );
        self.cancelled.push((self.said, turn_id));
        if running.stopping.is_none() && running.saving.is_none() && !sent {
            return Err("a cancel does not reach the harness".to_owned());
        }
        Ok(())
    }

    pub fn update(&mut self) -> Done {
        let update = SessionUpdate {
            model: Change::Set("other".to_owned()),
            ..SessionUpdate::default()
        };
        self.take(Input::Update(Box::new(update))).map(drop)
    }

    /// A result for one of the calls that there were.
    pub fn answer(&mut self, pick: u8, success: bool) -> Done {
        let items = self.object.store.items.iter();
        let calls = items.filter_map(|(_, item)| match item {
            Item::FunctionCall(call) => Some((call.turn_id.clone(), call.call_id.clone())),
            _ => None,
        });
        let calls: Vec<_> = calls.collect();
        let Some((turn_id, call_id)) = calls.get(pick as usize % calls.len().max(1)).cloned()
        else {
            return Ok(());
        };
        let output = Some(ToolOutput::Text(format!("result of {call_id}")));
        self.notes.push(format!("a result of {call_id}"));
        let result = ToolResult {
            turn_id,
            call_id,
            success,
            output,
            error: None,
        };
        let may = self.may_answer(&result);
        let taken = self.take(Input::ToolResult(result.clone()))?;
        if let Some(may) = may {
            if may != taken.is_ok() {
                return Err(format!("a result was answered {taken:?}"));
            }
        }
        if taken.is_ok() && may == Some(true) {
            self.results.push(result);
        }
        Ok(())
    }

    /// Whether the first result of a call is taken; none if this is not the first.
    fn may_answer(&self, result: &ToolResult) -> Option<bool> {
        if self.object.session.has_failed() {
            return Some(false);
        }
        if self
            .results
            .iter()
            .any(|earlier| earlier.call_id == result.call_id)
        {
            return None;
        }
        let session = &self.object.session;
        let running = session.core.running.as_ref();
        let of_running = running.filter(|running| running.turn.id == result.turn_id);
        if let Some(running) = of_running {
            return Some(running.stopping.is_none());
        }
        let call = session.calls.find(|call| call.call_id == result.call_id)?;
        let asynchronous = session.calls.get(call)?.asynchronous;
        let mut ended = self.object.order.ended.iter();
        let (_, end) = ended.find(|(turn_id, _)| *turn_id == result.turn_id)?;
        Some(asynchronous && end == "completed")
    }

    pub fn repeat(&mut self, pick: u8, same: bool) -> Done {
        let at = pick as usize % self.results.len().max(1);
        let Some(mut result) = self.results.get(at).cloned() else {
            return Ok(());
        };
        if !same {
            result.output = None;
        }
        let last = self.object.session.last_event();
        let taken = self.take(Input::ToolResult(result))?;
        let may = same && !self.object.session.has_failed();
        if taken.is_ok() != may || self.object.session.last_event() != last {
            return Err(format!("a repeated result was answered {taken:?}"));
        }
        Ok(())
    }

    pub fn decide(&mut self, pick: u8, approve: bool) -> Done {
        let actions = self.object.session.public.required_actions.iter();
        let asked = actions.filter_map(|action| match action {
            RequiredAction::McpApprovalRequest { request_id, .. } => Some(request_id.clone()),
            RequiredAction::FunctionCall { .. } => None,
        });
        let asked: Vec<_> = asked.collect();
        let Some(request_id) = asked.get(pick as usize % asked.len().max(1)).cloned() else {
            return Ok(());
        };
        let decision = if approve {
            Decision::Approve
        } else {
            Decision::Deny
        };
        let input = Input::ApprovalResult {
            request_id,
            decision,
        };
        self.take(input)?.map_err(|refused| format!("{refused:?}"))
    }
}
