//! Modes: a policy's meaning, canonical.
use super::config::{Access, FlawKind, PolicyConfig, PolicyError, RuleConfig};
use super::limits::{MAX_ENTRIES, MAX_RULES, MAX_TEXT_BYTES};
use super::pattern::{HostPattern, PatternError};
use super::rules::{insert, Rule};
use std::fmt;

/// What may be reached. Lists are sorted and without repetition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Nothing: `disabled`, or `restricted` with nothing listed.
    DenyAll,
    /// These hosts, on the schemes' own ports unless a rule names others.
    AllowOnly(Vec<Entry>),
    /// Public hosts by name, on the schemes' own ports, but these and what is below them.
    AllExcept(Vec<HostPattern>),
    /// Public hosts, by name or address, on every port.
    Public,
}

/// An entry of `allowed_domains`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The hosts.
    pub pattern: HostPattern,
    /// How they may be used: as one of these says. Without any, in every way on the schemes' own ports.
    pub rules: Vec<Rule>,
}

impl Mode {
    /// Reads a policy, or tells all that is wrong with it.
    pub fn parse(config: &PolicyConfig) -> Result<Self, PolicyError> {
        check_shape(config)?;
        match config.access {
            Access::Enabled => Ok(Self::Public),
            Access::Disabled => Ok(Self::DenyAll),
            Access::Restricted if !config.blocked_domains.is_empty() => {
                let mut error = PolicyError::default();
                let blocked = patterns(
                    &config.blocked_domains,
                    "blocked_domains",
                    HostPattern::parse_blocked,
                    &mut error,
                );
                error.check()?;
                Ok(Self::AllExcept(blocked))
            }
            Access::Restricted if config.allowed_domains.is_empty() => Ok(Self::DenyAll),
            Access::Restricted => allow_only(config),
        }
    }

    /// As it is written: parses to the same.
    pub fn to_config(&self) -> PolicyConfig {
        match self {
            Self::DenyAll => PolicyConfig::new(Access::Disabled),
            Self::Public => PolicyConfig::new(Access::Enabled),
            Self::AllExcept(blocked) => PolicyConfig {
                blocked_domains: blocked.iter().map(HostPattern::to_string).collect(),
                ..PolicyConfig::new(Access::Restricted)
            },
            Self::AllowOnly(entries) => PolicyConfig {
                allowed_domains: entries.iter().map(|one| one.pattern.to_string()).collect(),
                rules: entries.iter().flat_map(Entry::rule_configs).collect(),
                ..PolicyConfig::new(Access::Restricted)
            },
        }
    }
}

impl Entry {
    fn rule_configs(&self) -> impl Iterator<Item = RuleConfig> + '_ {
        self.rules.iter().map(|rule| rule.to_config(&self.pattern))
    }
}

/// What can be said before any entry is read, so that no more is read than the limits allow.
fn check_shape(config: &PolicyConfig) -> Result<(), PolicyError> {
    let mut error = PolicyError::default();
    let lists = [
        ("allowed_domains", config.allowed_domains.len(), MAX_ENTRIES),
        ("blocked_domains", config.blocked_domains.len(), MAX_ENTRIES),
        ("rules", config.rules.len(), MAX_RULES),
    ];
    for (name, count, most) in lists {
        if count > 0 && config.access != Access::Restricted {
            error.add(name, "", FlawKind::NotRestricted);
        } else if count > most {
            error.add(name, "", FlawKind::TooMany(most));
        }
    }
    if config.access == Access::Restricted {
        if !config.allowed_domains.is_empty() && !config.blocked_domains.is_empty() {
            error.add("blocked_domains", "", FlawKind::BothLists);
        }
        if !config.rules.is_empty() && config.allowed_domains.is_empty() {
            error.add("rules", "", FlawKind::RulesWithoutHosts);
        }
        if config.text_bytes() > MAX_TEXT_BYTES {
            error.add("access", "", FlawKind::TooMuchText);
        }
    }
    error.check()
}

fn allow_only(config: &PolicyConfig) -> Result<Mode, PolicyError> {
    let mut error = PolicyError::default();
    let patterns = patterns(
        &config.allowed_domains,
        "allowed_domains",
        HostPattern::parse_allowed,
        &mut error,
    );
    let entry = |pattern| Entry {
        pattern,
        rules: Vec::new(),
    };
    let mut entries: Vec<Entry> = patterns.into_iter().map(entry).collect();
    for (at, rule) in config.rules.iter().enumerate() {
        let path = format!("rules[{at}]");
        let read = Rule::read(rule, &path, &mut error);
        match HostPattern::parse_allowed(&rule.host) {
            Err(why) => error.add(format!("{path}.host"), &rule.host, FlawKind::Pattern(why)),
            Ok(host) => match entries.binary_search_by(|entry| entry.pattern.cmp(&host)) {
                Ok(found) => insert(&mut entries[found].rules, read),
                Err(_) => error.add(format!("{path}.host"), &rule.host, FlawKind::HostNotListed),
            },
        }
    }
    error.check()?;
    Ok(Mode::AllowOnly(entries))
}

/// The entries of a list, canonical.
fn patterns(
    list: &[String],
    field: &str,
    parse: fn(&str) -> Result<HostPattern, PatternError>,
    error: &mut PolicyError,
) -> Vec<HostPattern> {
    let mut patterns = Vec::with_capacity(list.len());
    for (at, entry) in list.iter().enumerate() {
        match parse(entry) {
            Ok(pattern) => patterns.push(pattern),
            Err(why) => error.add(format!("{field}[{at}]"), entry, FlawKind::Pattern(why)),
        }
    }
    patterns.sort_unstable();
    patterns.dedup();
    patterns
}

/// How many entries a description names.
const DESCRIBED: usize = 8;

/// One sentence without its full stop, for people.
impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DenyAll => f.write_str("nothing"),
            Self::Public => f.write_str("public hosts"),
            Self::AllowOnly(entries) => {
                f.write_str("only ")?;
                some_of(f, entries)
            }
            Self::AllExcept(blocked) => {
                f.write_str("public hosts on ports 80 and 443, by name, but none at or below ")?;
                some_of(f, blocked)
            }
        }
    }
}

fn some_of(f: &mut fmt::Formatter<'_>, list: &[impl fmt::Display]) -> fmt::Result {
    for (at, entry) in list.iter().take(DESCRIBED).enumerate() {
        let joint = if at == 0 { "" } else { ", " };
        write!(f, "{joint}{entry}")?;
    }
    match list.len().saturating_sub(DESCRIBED) {
        0 => Ok(()),
        more => write!(f, " and {more} more"),
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pattern.fmt(f)?;
        for rule in self.rules.iter().take(DESCRIBED) {
            write!(f, " ({rule})")?;
        }
        Ok(())
    }
}
