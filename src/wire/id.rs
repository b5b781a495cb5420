//! Ids: a prefix that says what is named, and 128 random bits that the caller supplies.

/// What an id names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A session.
    Session,
    /// A turn.
    Turn,
    /// A message item.
    Message,
    /// A reasoning item.
    Reasoning,
    /// A command execution item.
    Command,
    /// An item of a function call. Its `call_id` is the harness's.
    FunctionCall,
    /// An item of a function's result.
    FunctionOutput,
    /// An item of a call of an MCP tool.
    McpCall,
    /// A web search item.
    WebSearch,
    /// An item of a call about subagents.
    SubagentCall,
    /// An item of one agent's words to another.
    AgentMessage,
    /// A request for approval.
    Approval,
    /// An event of a stream.
    Event,
    /// An agent: saved, of one session, or a subagent.
    Agent,
    /// An environment.
    Environment,
    /// An HTTP request.
    Request,
    /// A file that a turn published.
    Artifact,
    /// A vault.
    Vault,
    /// A credential of a vault.
    Credential,
    /// A checkpoint. Not public.
    Checkpoint,
}

impl Kind {
    /// What the kind's ids begin with.
    pub fn prefix(self) -> &'static str {
        match self {
            Kind::Session => "sess_",
            Kind::Turn => "turn_",
            Kind::Message => "msg_",
            Kind::Reasoning => "rs_",
            Kind::Command => "exec_",
            Kind::FunctionCall => "fc_",
            Kind::FunctionOutput => "fco_",
            Kind::McpCall => "mcp_",
            Kind::WebSearch => "ws_",
            Kind::SubagentCall => "call_",
            Kind::AgentMessage => "amsg_",
            Kind::Approval => "mcpr_",
            Kind::Event => "evt_",
            Kind::Agent => "agent_",
            Kind::Environment => "env_",
            Kind::Request => "req_",
            Kind::Artifact => "artifact_",
            Kind::Vault => "vault_",
            Kind::Credential => "cred_",
            Kind::Checkpoint => "ckpt_",
        }
    }

    /// A new id.
    pub fn id(self, random: [u8; 16]) -> String {
        format!("{}{:032x}", self.prefix(), u128::from_be_bytes(random))
    }

    /// Whether `text` could be an id of this kind. What could not is answered like an id that is nobody's.
    pub fn fits(self, text: &str) -> bool {
        text.strip_prefix(self.prefix()).is_some_and(|rest| {
            rest.len() == 32 && rest.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_ids_fit_their_kind_only() {
        let id = Kind::Session.id([0xAB; 16]);
        assert_eq!(id, "sess_abababababababababababababababab");
        assert!(Kind::Session.fits(&id) && !Kind::Turn.fits(&id));
        assert_eq!(Kind::Event.id([0; 16]).len(), 4 + 32);
    }

    #[test]
    fn garbage_does_not_fit() {
        let good = Kind::Session.id([7; 16]);
        for bad in [
            "",
            "sess_",
            "sess_1",
            &good[1..],
            &good[..good.len() - 1],
            &format!("{good}0"),
            &good.to_uppercase(),
            &good.replace('7', "G"),
            &good.replace("07", "%3"),
            &good.replace("07", "/."),
            &good.replace("07", "\0a"),
            &good.replace("07", "é"),
            &"sess_".repeat(100_000),
        ] {
            assert!(!Kind::Session.fits(bad), "{bad}");
        }
    }
}
