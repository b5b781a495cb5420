//! A policy as it is written, and what may be wrong with one.
use super::limits::MAX_FLAWS;
use super::pattern::PatternError;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A policy as clients, operators and storage write it: the wire's `environment.network` and our extension `rules`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyConfig {
    /// How much.
    pub access: Access,
    /// With `restricted`: only these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_domains: Vec<String>,
    /// With `restricted` and no `allowed_domains`: all but these and what is below them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked_domains: Vec<String>,
    /// How hosts of `allowed_domains` may be used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<RuleConfig>,
}

/// `access`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Public hosts.
    Enabled,
    /// Nothing.
    Disabled,
    /// As the lists say.
    Restricted,
}

/// One way in which a host may be used. An empty list is no limit, but for ports: without any, the scheme's own counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleConfig {
    /// An entry of `allowed_domains`.
    pub host: String,
    /// `http`, `https`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schemes: Vec<String>,
    /// From 1 to 65535.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<u32>,
    /// In capitals.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub methods: Vec<String>,
    /// `/v1` is that path and all below it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path_prefixes: Vec<String>,
}

impl PolicyConfig {
    /// One without lists.
    pub fn new(access: Access) -> Self {
        Self {
            access,
            allowed_domains: Vec::new(),
            blocked_domains: Vec::new(),
            rules: Vec::new(),
        }
    }

    /// Bytes of all entries and rules.
    pub(super) fn text_bytes(&self) -> usize {
        let of_rule = |rule: &RuleConfig| {
            let texts = [&rule.schemes, &rule.methods, &rule.path_prefixes];
            rule.host.len() + texts.into_iter().flatten().map(String::len).sum::<usize>()
        };
        let hosts = self.allowed_domains.iter().chain(&self.blocked_domains);
        hosts.map(String::len).sum::<usize>() + self.rules.iter().map(of_rule).sum::<usize>()
    }
}

/// A policy that is refused: everything that is wrong with it, up to [`MAX_FLAWS`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolicyError {
    /// In order; at least one.
    pub flaws: Vec<Flaw>,
    /// How many more there are.
    pub more: usize,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// Where, as in `allowed_domains[3]` or `rules[0].ports[1]`.
    pub path: String,
    /// The beginning of what stands there; empty for a whole list.
    pub entry: String,
    /// What is wrong.
    pub why: FlawKind,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlawKind {
    /// No host pattern, or one for what is never reachable.
    Pattern(PatternError),
    /// A list where `access` is not `restricted`.
    NotRestricted,
    /// Both lists.
    BothLists,
    /// Rules without `allowed_domains`.
    RulesWithoutHosts,
    /// More than so many.
    TooMany(usize),
    /// More than [`MAX_TEXT_BYTES`](super::limits::MAX_TEXT_BYTES).
    TooMuchText,
    /// A rule's host that is not in `allowed_domains`.
    HostNotListed,
    /// Neither `http` nor `https`.
    Scheme,
    /// Not from 1 to 65535.
    Port,
    /// No method, or one that is never sent on.
    Method,
    /// No path, too long, or one that can be read in several ways.
    PathPrefix,
}

impl PolicyError {
    pub(super) fn add(&mut self, path: impl Into<String>, entry: &str, why: FlawKind) {
        if self.flaws.len() == MAX_FLAWS {
            self.more += 1;
            return;
        }
        let printable = |c: char| if c.is_control() { '\u{fffd}' } else { c };
        self.flaws.push(Flaw {
            path: path.into(),
            entry: entry.chars().take(64).map(printable).collect(),
            why,
        });
    }

    /// The error, if anything was added.
    pub(super) fn check(self) -> Result<(), Self> {
        if self.flaws.is_empty() {
            Ok(())
        } else {
            Err(self)
        }
    }
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, flaw) in self.flaws.iter().enumerate() {
            let joint = if at == 0 { "" } else { "; " };
            write!(f, "{joint}{flaw}")?;
        }
        match self.more {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        if !self.entry.is_empty() {
            write!(f, " '{}'", self.entry)?;
        }
        write!(f, ": {}", self.why)
    }
}

impl fmt::Display for FlawKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pattern(error) => error.fmt(f),
            Self::NotRestricted => f.write_str("only with access 'restricted'"),
            Self::BothLists => f.write_str("cannot be combined with allowed_domains"),
            Self::RulesWithoutHosts => f.write_str("rules are about hosts in allowed_domains"),
            Self::TooMany(most) => write!(f, "at most {most}"),
            Self::TooMuchText => f.write_str("the policy is too long"),
            Self::HostNotListed => f.write_str("this host is not an entry of allowed_domains"),
            Self::Scheme => f.write_str("a scheme is 'http' or 'https'"),
            Self::Port => f.write_str("a port is from 1 to 65535"),
            Self::Method => f.write_str(
                "a method is made of capital letters and hyphens; TRACE, TRACK and CONNECT are never sent on",
            ),
            Self::PathPrefix => f.write_str(
                "a path prefix begins with '/', is short, and has no dot segments, empty segments, '?', '#', ';', '\\' or coded slashes or dots",
            ),
        }
    }
}

impl std::error::Error for PolicyError {}
