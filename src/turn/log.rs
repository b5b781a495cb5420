//! The event log: frames of a stream, as they are stored and sent.
use crate::wire::event::Event;
use crate::wire::id::Kind;

/// A chunk that has reached this many bytes is not added to.
const FULL: usize = 64 << 10;
/// Hexadecimal digits of each half of an event's id.
const DIGITS: usize = 16;

/// Consecutive events of the log: one row, one frame to a listener, one write to a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Place of its first event.
    pub first: u64,
    /// Place of its last event.
    pub last: u64,
    /// Which streams its last event ends.
    pub ends: Ends,
    /// The events as frames of server-sent events.
    pub frames: String,
}

/// Which streams an event ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ends {
    /// None.
    Nothing,
    /// Those that show one turn.
    Turn,
    /// All.
    Session,
}

impl Ends {
    /// A letter for it.
    pub fn letter(self) -> char {
        match self {
            Self::Nothing => '-',
            Self::Turn => 't',
            Self::Session => 's',
        }
    }

    /// What a letter stands for.
    pub fn of_letter(letter: &str) -> Option<Self> {
        match letter {
            "-" => Some(Self::Nothing),
            "t" => Some(Self::Turn),
            "s" => Some(Self::Session),
            _ => None,
        }
    }

    fn of(event: &Event) -> Self {
        match event {
            Event::SessionIdle(_) | Event::SessionBudgetReached(_) => Self::Turn,
            Event::SessionFailed(_) => Self::Session,
            Event::SessionCreated(_)
            | Event::SessionInProgress(_)
            | Event::SessionRequiresAction(_)
            | Event::TurnCreated(_)
            | Event::TurnInProgress(_)
            | Event::TurnCompleted(_)
            | Event::TurnFailed(_)
            | Event::TurnCancelled(_)
            | Event::ItemAdded(_)
            | Event::ItemDone(_)
            | Event::ContentPartAdded(_)
            | Event::ContentPartDone(_)
            | Event::OutputTextDelta(_)
            | Event::OutputTextDone(_)
            | Event::SummaryPartAdded(_)
            | Event::SummaryPartDone(_)
            | Event::SummaryTextDelta(_)
            | Event::SummaryTextDone(_)
            | Event::CommandOutputDelta(_)
            | Event::EnvironmentPending(_)
            | Event::EnvironmentReady(_)
            | Event::EnvironmentConnected(_)
            | Event::EnvironmentDisconnected(_)
            | Event::EnvironmentSuspended(_)
            | Event::EnvironmentExpired(_)
            | Event::EnvironmentFailed(_)
            | Event::EnvironmentReset(_)
            | Event::SubagentCreated(_)
            | Event::SubagentActive(_)
            | Event::SubagentClosed(_)
            | Event::Error(_) => Self::Nothing,
        }
    }
}

impl Chunk {
    /// The frames after place `after`.
    pub fn frames_after(&self, after: u64) -> &str {
        if after >= self.last {
            return "";
        }
        let Some(skip) = (after + 1).checked_sub(self.first) else {
            return &self.frames;
        };
        let mut rest = self.frames.as_str();
        for _ in 0..skip {
            // JSON has no line breaks of its own, so an empty line always ends a frame.
            rest = rest.split_once("\n\n").map_or("", |(_, rest)| rest);
        }
        rest
    }
}

/// Adds an event at place `seq`. Returns its size in bytes.
pub fn append(chunks: &mut Vec<Chunk>, stream: &str, seq: u64, event: &Event) -> u64 {
    let fits = chunks.last().is_some_and(|chunk| {
        chunk.last + 1 == seq && chunk.ends == Ends::Nothing && chunk.frames.len() < FULL
    });
    if !fits {
        chunks.push(Chunk {
            first: seq,
            last: seq,
            ends: Ends::Nothing,
            frames: String::new(),
        });
    }
    let Some(chunk) = chunks.last_mut() else {
        return 0;
    };
    let before = chunk.frames.len();
    event.frame(&event_id(stream, seq), &mut chunk.frames);
    chunk.last = seq;
    chunk.ends = Ends::of(event);
    (chunk.frames.len() - before) as u64
}

/// Id of the event at a place of a session's log. `stream` names the log.
pub fn event_id(stream: &str, seq: u64) -> String {
    format!("{}{stream}{seq:0DIGITS$x}", Kind::Event.prefix())
}

/// Place of the event with an id. `None` if it is no id of an event of this log.
pub fn place_of(stream: &str, event_id: &str) -> Option<u64> {
    let rest = event_id
        .strip_prefix(Kind::Event.prefix())?
        .strip_prefix(stream)?;
    let digits = rest.len() == DIGITS
        && rest
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    digits.then(|| u64::from_str_radix(rest, 16).ok()).flatten()
}

/// Name of a log, from random bytes: two sessions have the same one never.
pub fn stream_name(random: [u8; 16]) -> String {
    random[..DIGITS / 2]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
