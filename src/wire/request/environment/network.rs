//! What a sandbox may reach: `environment.network` of a new session, and the body that replaces it.
use crate::policy::limits::{MAX_ENTRIES, MAX_RULES, MAX_RULE_VALUES};
use crate::policy::{Access, EgressPolicy, PolicyConfig, PolicyError, RuleConfig};
use crate::wire::error::ApiError;
use crate::wire::fields::{self, Fields};
use crate::wire::json::{Object, Value};

/// Most bytes of `allowed_domains` as JSON: a session shows them, and its row has to hold its agent and what it waits for too.
const MAX_SHOWN: usize = 256 << 10;

/// Reads the body of `POST /v1/agents/sessions/{session}/network`, an extension to the API.
pub fn network_policy(body: Object) -> Result<EgressPolicy, ApiError> {
    read(Fields::body(body))
}

pub(super) fn read(mut fields: Fields) -> Result<EgressPolicy, ApiError> {
    let modes = [
        ("enabled", Access::Enabled),
        ("disabled", Access::Disabled),
        ("restricted", Access::Restricted),
    ];
    let config = PolicyConfig {
        access: fields.required_one_of("access", &modes)?,
        allowed_domains: strings(&mut fields, "allowed_domains", MAX_ENTRIES)?,
        blocked_domains: strings(&mut fields, "blocked_domains", MAX_ENTRIES)?,
        rules: list(&mut fields, "rules", MAX_RULES, rule)?,
    };
    let path = fields.path_of("allowed_domains");
    // With quotes and a comma.
    let shown = config.allowed_domains.iter().map(|each| each.len() + 3);
    let shown: usize = shown.sum();
    let policy = EgressPolicy::parse(&config).map_err(|error| refusal(&fields, &error));
    fields.finish()?;
    if shown > MAX_SHOWN {
        return Err(ApiError::too_many_bytes(&path, MAX_SHOWN, shown));
    }
    policy
}

fn rule(value: Value, path: String) -> Result<RuleConfig, ApiError> {
    let mut fields = Fields::of(value, path)?;
    let host = fields.require("host")?;
    let rule = RuleConfig {
        host: text(host, fields.path_of("host"))?,
        schemes: strings(&mut fields, "schemes", MAX_RULE_VALUES)?,
        ports: list(&mut fields, "ports", MAX_RULE_VALUES, port)?,
        methods: strings(&mut fields, "methods", MAX_RULE_VALUES)?,
        path_prefixes: strings(&mut fields, "path_prefixes", MAX_RULE_VALUES)?,
    };
    fields.finish()?;
    Ok(rule)
}

fn port(value: Value, path: String) -> Result<u32, ApiError> {
    let port = fields::integer(value, &path, 1, u16::MAX.into())?;
    u32::try_from(port).map_err(|_| ApiError::below(&path, 1, port))
}

/// A string, whose length and content the policy judges.
fn text(value: Value, path: String) -> Result<String, ApiError> {
    fields::string(value, &path, 0, usize::MAX)
}

fn strings(fields: &mut Fields, name: &str, most: usize) -> Result<Vec<String>, ApiError> {
    list(fields, name, most, text)
}

fn list<T>(
    fields: &mut Fields,
    name: &str,
    most: usize,
    read: fn(Value, String) -> Result<T, ApiError>,
) -> Result<Vec<T>, ApiError> {
    let elements = fields.array(name, most)?.unwrap_or_default().into_iter();
    elements.map(|(value, path)| read(value, path)).collect()
}

/// The first mistake by its place, and how many there are besides.
fn refusal(fields: &Fields, error: &PolicyError) -> ApiError {
    let (path, what) = match error.flaws.first() {
        Some(flaw) if flaw.entry.is_empty() => (&flaw.path, flaw.why.to_string()),
        Some(flaw) => (&flaw.path, format!("'{}': {}", flaw.entry, flaw.why)),
        None => return ApiError::internal(),
    };
    let path = fields.path_of(path);
    let others = match error.flaws.len() - 1 + error.more {
        0 => String::new(),
        others => format!(" Mistakes besides this one: {others}."),
    };
    ApiError::invalid(format!("Invalid '{path}': {what}.{others}")).at(&path)
}
