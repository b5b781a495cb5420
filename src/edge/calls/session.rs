use crate::turn::{Identity, UserMessage};
use crate::wire::query::ListQuery;
use crate::wire::session::Session;
use cloister_protocol::Event;
use serde::{Deserialize, Serialize};

/// What is asked of a SessionDO. Answers that the client sees are JSON text, handed on as it is.
#[derive(Serialize, Deserialize)]
pub enum SessionCall {
    /// Makes the session: its JSON.
    Create(Box<SessionCreation>),
    /// The session's JSON.
    Retrieve,
    /// Takes inputs from the client, all or none: `()`.
    Input {
        /// The inputs, in order.
        inputs: Vec<ClientInput>,
        /// The client's key and the SHA-256 of the body it came with.
        idempotency: Option<(String, String)>,
    },
    /// A page of items: its JSON.
    Items {
        /// Only those of this turn.
        turn_id: Option<String>,
        /// Which page.
        query: ListQuery,
    },
    /// A page of turns: its JSON.
    Turns {
        /// Which page.
        query: ListQuery,
    },
    /// A turn's JSON.
    Turn {
        /// The turn.
        turn_id: String,
    },
    /// Ends the containers and forgets everything: `()`. Refused while anything runs or waits.
    Delete,
    /// Events of the harness instance `epoch`, in order: `()`.
    Harness {
        /// Epoch of the instance.
        epoch: u64,
        /// Numbered events.
        events: Vec<(u64, Event)>,
    },
    /// The harness that had this turn is gone: `()`.
    HarnessLost {
        /// The turn.
        turn_id: String,
    },
}

/// A session to make.
#[derive(Serialize, Deserialize)]
pub struct SessionCreation {
    /// Whose it is and how its agent runs.
    pub identity: Identity,
    /// As the API shows it.
    pub session: Session,
    /// What the user said first.
    pub input: Vec<UserMessage>,
}

/// One input of the client.
#[derive(Serialize, Deserialize)]
pub enum ClientInput {
    /// Messages.
    Messages(Vec<UserMessage>),
    /// Cancel.
    Cancel,
}
