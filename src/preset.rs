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
    /// What clients may ask for in `agent.service_tier`, by the API's names. Dearer tiers are the operator's to allow. `auto`
    /// leaves the choice to the provider; any other is sent to it by name.
    pub service_tiers: &'static [&'static str],
}
