//! Files that a turn published.
use serde::{Deserialize, Serialize};

/// An artifact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    /// `artifact_…`.
    pub id: String,
    /// Always the same.
    pub object: ArtifactObject,
    /// The session.
    pub session_id: String,
    /// The turn that published it.
    pub turn_id: String,
    /// The environment whose sandbox had it.
    pub environment_id: String,
    /// Absolute path of the file there.
    pub path: String,
    /// Its size.
    pub size_bytes: u64,
    /// Unix seconds.
    pub created_at: u64,
}

/// The object's type on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ArtifactObject {
    /// The only one.
    #[default]
    #[serde(rename = "agent.session.artifact")]
    Artifact,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_artifact_is_read_as_it_was_written() {
        let artifact = Artifact {
            id: "artifact_1".into(),
            object: ArtifactObject::Artifact,
            session_id: "sess_1".into(),
            turn_id: "turn_1".into(),
            environment_id: "env_1".into(),
            path: "/workspace/outputs/größe.csv".into(),
            size_bytes: 0,
            created_at: 7,
        };
        let json = r#"{"id":"artifact_1","object":"agent.session.artifact","session_id":"sess_1","turn_id":"turn_1","environment_id":"env_1","path":"/workspace/outputs/größe.csv","size_bytes":0,"created_at":7}"#;
        assert_eq!(serde_json::to_string(&artifact).unwrap_or_default(), json);
        assert_eq!(serde_json::from_str(json).ok(), Some(artifact));
        let other = json.replace("agent.session.artifact", "agent.session.turn");
        assert!(serde_json::from_str::<Artifact>(&other).is_err());
    }
}
