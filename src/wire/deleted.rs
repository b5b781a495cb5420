//! Answers to deletions.
use serde::Serialize;

/// The answer to a deletion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Deleted {
    /// What was deleted.
    pub id: String,
    /// What kind of thing it was.
    pub object: &'static str,
    /// Always true.
    pub deleted: bool,
}

impl Deleted {
    /// The answer for a saved agent.
    pub fn agent(id: String) -> Deleted {
        Deleted::new(id, "agent.deleted")
    }

    /// The answer for a session.
    pub fn session(id: String) -> Deleted {
        Deleted::new(id, "agent.session.deleted")
    }

    /// The answer for an artifact.
    pub fn artifact(id: String) -> Deleted {
        Deleted::new(id, "agent.session.artifact.deleted")
    }

    fn new(id: String, object: &'static str) -> Deleted {
        Deleted {
            id,
            object,
            deleted: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answers() {
        for (answer, json) in [
            (
                Deleted::agent("a".into()),
                r#"{"id":"a","object":"agent.deleted","deleted":true}"#,
            ),
            (
                Deleted::session("s".into()),
                r#"{"id":"s","object":"agent.session.deleted","deleted":true}"#,
            ),
            (
                Deleted::artifact("f".into()),
                r#"{"id":"f","object":"agent.session.artifact.deleted","deleted":true}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&answer).unwrap_or_default(), json);
        }
    }
}
