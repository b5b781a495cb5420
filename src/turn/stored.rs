//! How a session is stored: in cells, of which a step writes only those that changed.
use super::cells::Cells;
use super::state::{Core, Session};
use crate::wire::session;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What a cell holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CellKind {
    /// Whose the session is and what the API shows of it: large, and changed a few times in a turn.
    Public,
    /// What changes with each event.
    Core,
    /// An item that has begun and not ended. Its text is stored apart, and goes with it.
    Open,
    /// Input that waits.
    Waiting,
    /// Input on its way to the running turn.
    Steering,
    /// A function call.
    Call,
    /// An open request for approval.
    Approval,
    /// A subagent.
    Subagent,
}

impl CellKind {
    /// All kinds.
    pub const ALL: [Self; 8] = [
        Self::Public,
        Self::Core,
        Self::Open,
        Self::Waiting,
        Self::Steering,
        Self::Call,
        Self::Approval,
        Self::Subagent,
    ];

    /// Its name in storage.
    pub fn name(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Core => "core",
            Self::Open => "open",
            Self::Waiting => "waiting",
            Self::Steering => "steering",
            Self::Call => "call",
            Self::Approval => "approval",
            Self::Subagent => "subagent",
        }
    }

    /// The kind with that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// A changed cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellWrite {
    /// What it holds.
    pub kind: CellKind,
    /// Which of its kind.
    pub number: u64,
    /// Its JSON; none if it is gone.
    pub json: Option<String>,
}

/// More text of an open item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextWrite {
    /// Number of the item's cell.
    pub open: u64,
    /// Which of its texts.
    pub part: u64,
    /// What follows the text so far.
    pub delta: String,
}

/// As the public cell holds it.
#[derive(Deserialize)]
struct Public {
    identity: super::Identity,
    version: u64,
    session: session::Session,
}

#[derive(Serialize)]
struct PublicRef<'a> {
    identity: &'a super::Identity,
    version: u64,
    session: &'a session::Session,
}

impl Session {
    /// What changed since the last call, to be stored in the same transaction as the step that changed it.
    pub fn take_changes(&mut self) -> serde_json::Result<Vec<CellWrite>> {
        let mut writes = Vec::new();
        if std::mem::take(&mut self.public_changed) {
            let public = PublicRef {
                identity: &self.identity,
                version: self.version,
                session: &self.public,
            };
            writes.push(CellWrite {
                kind: CellKind::Public,
                number: 0,
                json: Some(serde_json::to_string(&public)?),
            });
        }
        writes.push(CellWrite {
            kind: CellKind::Core,
            number: 0,
            json: Some(serde_json::to_string(&self.core)?),
        });
        changes(CellKind::Open, &mut self.open, &mut writes)?;
        changes(CellKind::Waiting, &mut self.waiting, &mut writes)?;
        changes(CellKind::Steering, &mut self.steering, &mut writes)?;
        changes(CellKind::Call, &mut self.calls, &mut writes)?;
        changes(CellKind::Approval, &mut self.approvals, &mut writes)?;
        changes(CellKind::Subagent, &mut self.subagents, &mut writes)?;
        Ok(writes)
    }

    /// A session from its cells and the texts of its open items, in order. `None` if there is none.
    pub fn load(
        cells: impl IntoIterator<Item = (CellKind, u64, String)>,
        texts: impl IntoIterator<Item = TextWrite>,
    ) -> serde_json::Result<Option<Self>> {
        let mut public: Option<Public> = None;
        let mut core = Core::default();
        let mut open = Cells::default();
        let mut waiting = Cells::default();
        let mut steering = Cells::default();
        let mut calls = Cells::default();
        let mut approvals = Cells::default();
        let mut subagents = Cells::default();
        for (kind, number, json) in cells {
            match kind {
                CellKind::Public => public = Some(serde_json::from_str(&json)?),
                CellKind::Core => core = serde_json::from_str(&json)?,
                CellKind::Open => restore(&mut open, number, &json)?,
                CellKind::Waiting => restore(&mut waiting, number, &json)?,
                CellKind::Steering => restore(&mut steering, number, &json)?,
                CellKind::Call => restore(&mut calls, number, &json)?,
                CellKind::Approval => restore(&mut approvals, number, &json)?,
                CellKind::Subagent => restore(&mut subagents, number, &json)?,
            }
        }
        let Some(Public {
            identity,
            version,
            session,
        }) = public
        else {
            return Ok(None);
        };
        let mut loaded = Self {
            identity,
            public: session,
            version,
            core,
            open,
            waiting,
            steering,
            calls,
            approvals,
            subagents,
            public_changed: false,
        };
        loaded.public.last_active_at = loaded.core.last_active_at;
        loaded.public.usage = loaded.core.usage;
        for TextWrite { open, part, delta } in texts {
            if let Some(open) = loaded.open.edit_unstored(open) {
                open.push_text(part as usize, &delta);
            }
        }
        Ok(Some(loaded))
    }
}

fn changes<V: Serialize>(
    kind: CellKind,
    cells: &mut Cells<V>,
    writes: &mut Vec<CellWrite>,
) -> serde_json::Result<()> {
    for (number, value) in cells.take_changes() {
        let json = value.map(serde_json::to_string).transpose()?;
        writes.push(CellWrite { kind, number, json });
    }
    Ok(())
}

fn restore<V: DeserializeOwned>(
    cells: &mut Cells<V>,
    number: u64,
    json: &str,
) -> serde_json::Result<()> {
    cells.restore(number, serde_json::from_str(json)?);
    Ok(())
}
