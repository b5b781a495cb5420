//! A preset: the name clients put in `agent.model`, and what it stands for.

/// What a name in `agent.model` stands for. The strings but `name` are names of settings, so that one file serves
/// every deployment.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// What clients write.
    pub name: &'static str,
    /// Variable with the provider's base URL, such as `https://api.example/v1`.
    pub base_url: &'static str,
    /// Variable with the provider's name of the model.
    pub model: &'static str,
    /// Secret with the provider's key.
    pub credential: &'static str,
}
