//! Saved agents.
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    request::{AgentChanges, AgentCreate, AgentUpdate},
    session::{Agent, MultiAgent, ReasoningOptions, ServiceTier, TextOptions, Tool},
};

/// A saved agent. Sessions copy it, so that a change reaches only those made later.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SavedAgent {
    /// Always the same word.
    pub object: AgentObject,
    /// When it was created, in seconds.
    pub created_at: u64,
    /// When it was last changed.
    pub updated_at: u64,
    /// The client's own notes.
    pub metadata: BTreeMap<String, String>,
    /// What a session copies. On the wire its members stand beside the others.
    #[serde(flatten)]
    pub agent: Agent,
}

/// `agent`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum AgentObject {
    /// The word.
    #[default]
    #[serde(rename = "agent")]
    Agent,
}

impl SavedAgent {
    /// A new one.
    pub fn new(create: AgentCreate, id: String, now: u64) -> SavedAgent {
        let mut agent = new_agent(id, create.model);
        agent.name = create.name;
        create.changes.apply(&mut agent);
        SavedAgent {
            object: AgentObject::Agent,
            created_at: now,
            updated_at: now,
            metadata: create.metadata,
            agent,
        }
    }

    /// Reads one back from its JSON.
    pub fn parse(json: &str) -> Option<SavedAgent> {
        #[derive(Deserialize)]
        struct Rest {
            created_at: u64,
            updated_at: u64,
            metadata: BTreeMap<String, String>,
        }
        // Twice, each time a part: a flattened one would first be held as a tree, and raw JSON cannot be had from that.
        let agent = serde_json::from_str(json).ok()?;
        let rest: Rest = serde_json::from_str(json).ok()?;
        Some(SavedAgent {
            object: AgentObject::Agent,
            created_at: rest.created_at,
            updated_at: rest.updated_at,
            metadata: rest.metadata,
            agent,
        })
    }

    /// Changes it.
    pub fn apply(&mut self, update: AgentUpdate, now: u64) {
        update.name.apply(&mut self.agent.name);
        update.metadata.apply(&mut self.metadata);
        update.changes.apply(&mut self.agent);
        self.updated_at = now;
    }

    /// The copy for a session, with what is different there.
    pub fn session_agent(self, changes: AgentChanges) -> Agent {
        changed(self.agent, changes)
    }
}

/// The agent of a session that uses no saved one.
pub fn inline_agent(id: String, model: String, changes: AgentChanges) -> Agent {
    changed(new_agent(id, model), changes)
}

fn changed(mut agent: Agent, changes: AgentChanges) -> Agent {
    changes.apply(&mut agent);
    agent.tools.retain(Tool::is_shown_in_sessions);
    agent
}

fn new_agent(id: String, model: String) -> Agent {
    Agent {
        id,
        name: None,
        model,
        instructions: None,
        reasoning: ReasoningOptions::default(),
        text: TextOptions::default(),
        service_tier: ServiceTier::default(),
        multi_agent: MultiAgent::default(),
        tools: Vec::new(),
        compaction: None,
        experimental: None,
    }
}
