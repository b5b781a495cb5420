//! Rules: how a listed host may be used.
use super::config::{FlawKind, PolicyError, RuleConfig};
use super::limits::{MAX_PREFIX_BYTES, MAX_RULE_VALUES};
use super::path::{is_ambiguous, is_below};
use super::pattern::HostPattern;
use super::reason::Reason;
use super::target::{check_method, Scheme, Target};
use std::fmt;

/// One way in which a host may be used, canonical: every list sorted and without repetition.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rule {
    schemes: Vec<Scheme>,
    ports: Vec<u16>,
    methods: Vec<String>,
    path_prefixes: Vec<String>,
}

/// What holds for an entry without rules: every scheme, on its own port, every method and path.
pub(super) static ANY_USE: Rule = Rule {
    schemes: Vec::new(),
    ports: Vec::new(),
    methods: Vec::new(),
    path_prefixes: Vec::new(),
};

/// How near a rule came to allowing a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Miss {
    Scheme,
    Port,
    Method,
    Path,
    AmbiguousPath,
}

impl Rule {
    /// Reads all but the host. What is wrong is added to `error`, below `path`.
    pub(super) fn read(config: &RuleConfig, path: &str, error: &mut PolicyError) -> Self {
        Self {
            schemes: values(&config.schemes, (path, "schemes"), error, |word| {
                Scheme::parse(word).ok_or(FlawKind::Scheme)
            }),
            ports: values(
                &config.ports,
                (path, "ports"),
                error,
                |port| match u16::try_from(*port) {
                    Ok(port @ 1..) => Ok(port),
                    Ok(0) | Err(_) => Err(FlawKind::Port),
                },
            ),
            methods: values(&config.methods, (path, "methods"), error, |method| {
                check_method(method).map_err(|_| FlawKind::Method)?;
                Ok(method.clone())
            }),
            path_prefixes: values(
                &config.path_prefixes,
                (path, "path_prefixes"),
                error,
                |text| prefix(text),
            ),
        }
    }

    /// As it is written.
    pub(super) fn to_config(&self, host: &HostPattern) -> RuleConfig {
        let word = |scheme: &Scheme| scheme.as_str().to_owned();
        RuleConfig {
            host: host.to_string(),
            schemes: self.schemes.iter().map(word).collect(),
            ports: self.ports.iter().copied().map(u32::from).collect(),
            methods: self.methods.clone(),
            path_prefixes: self.path_prefixes.clone(),
        }
    }

    fn check(&self, target: &Target, method: &str) -> Result<(), Miss> {
        if !self.schemes.is_empty() && !self.schemes.contains(&target.scheme) {
            return Err(Miss::Scheme);
        }
        if !self.takes_port(target.scheme, target.port) {
            return Err(Miss::Port);
        }
        if !self.methods.is_empty() && !self.methods.iter().any(|one| one == method) {
            return Err(Miss::Method);
        }
        if self.path_prefixes.is_empty() {
            return Ok(());
        }
        if is_ambiguous(target.path) {
            return Err(Miss::AmbiguousPath);
        }
        let below = |prefix: &String| is_below(target.path, prefix);
        self.path_prefixes
            .iter()
            .any(below)
            .then_some(())
            .ok_or(Miss::Path)
    }

    fn takes_port(&self, scheme: Scheme, port: u16) -> bool {
        match self.ports.as_slice() {
            [] => port == scheme.default_port(),
            ports => ports.contains(&port),
        }
    }

    /// Whether it needs no other port than the scheme's own.
    pub(super) fn has_default_ports(&self) -> bool {
        self.schemes()
            .iter()
            .all(|scheme| self.ports.iter().all(|&port| port == scheme.default_port()))
    }

    fn schemes(&self) -> &[Scheme] {
        match self.schemes.as_slice() {
            [] => &[Scheme::Http, Scheme::Https],
            schemes => schemes,
        }
    }

    /// Whether it allows all that `inner` allows.
    pub(super) fn covers(&self, inner: &Self) -> bool {
        let takes_scheme = |&scheme: &Scheme| {
            let ports = match inner.ports.as_slice() {
                [] => &[scheme.default_port()],
                ports => ports,
            };
            self.schemes().contains(&scheme)
                && ports.iter().all(|&port| self.takes_port(scheme, port))
        };
        inner.schemes().iter().all(takes_scheme)
            && all_covered(&self.methods, &inner.methods, |outer, one| outer == one)
            && all_covered(&self.path_prefixes, &inner.path_prefixes, |outer, one| {
                is_below(one, outer)
            })
    }
}

/// Whether `inner` is within `outer`, where an empty list is no limit.
fn all_covered(outer: &[String], inner: &[String], covers: fn(&str, &str) -> bool) -> bool {
    let covered = |one: &String| outer.iter().any(|limit| covers(limit, one));
    outer.is_empty() || (!inner.is_empty() && inner.iter().all(covered))
}

/// Whether one of `rules` allows the request: its index, or the reason of the one that came nearest.
pub(super) fn check(
    rules: &[Rule],
    target: &Target,
    method: &str,
) -> Result<Option<usize>, Reason> {
    if rules.is_empty() {
        return match ANY_USE.check(target, method) {
            Ok(()) => Ok(None),
            Err(miss) => Err(miss.into()),
        };
    }
    let mut nearest = Miss::Scheme;
    for (at, rule) in rules.iter().enumerate() {
        match rule.check(target, method) {
            Ok(()) => return Ok(Some(at)),
            Err(miss) => nearest = nearest.max(miss),
        }
    }
    Err(nearest.into())
}

/// The values of a list, canonical.
fn values<T, U: Ord>(
    list: &[T],
    (path, field): (&str, &str),
    error: &mut PolicyError,
    read: impl Fn(&T) -> Result<U, FlawKind>,
) -> Vec<U>
where
    T: ToString,
{
    if list.len() > MAX_RULE_VALUES {
        error.add(
            format!("{path}.{field}"),
            "",
            FlawKind::TooMany(MAX_RULE_VALUES),
        );
        return Vec::new();
    }
    let mut values = Vec::with_capacity(list.len());
    for (at, value) in list.iter().enumerate() {
        match read(value) {
            Ok(value) => insert(&mut values, value),
            Err(why) => error.add(format!("{path}.{field}[{at}]"), &value.to_string(), why),
        }
    }
    values
}

/// Inserts into a short sorted list what it does not have.
pub(super) fn insert<T: Ord>(list: &mut Vec<T>, value: T) {
    if let Err(at) = list.binary_search(&value) {
        list.insert(at, value);
    }
}

fn prefix(text: &str) -> Result<String, FlawKind> {
    let legal = text.starts_with('/')
        && text.len() <= MAX_PREFIX_BYTES
        && !text.contains(['?', '#'])
        && !is_ambiguous(text);
    legal.then(|| text.to_owned()).ok_or(FlawKind::PathPrefix)
}

impl From<Miss> for Reason {
    fn from(miss: Miss) -> Self {
        match miss {
            Miss::Scheme => Self::SchemeNotAllowed,
            Miss::Port => Self::PortNotAllowed,
            Miss::Method => Self::MethodNotAllowed,
            Miss::Path => Self::PathNotAllowed,
            Miss::AmbiguousPath => Self::PathAmbiguous,
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let schemes: Vec<_> = self.schemes().iter().map(|one| one.as_str()).collect();
        f.write_str(&schemes.join(", "))?;
        if !self.ports.is_empty() {
            let ports: Vec<_> = self.ports.iter().map(u16::to_string).collect();
            write!(f, "; ports {}", ports.join(", "))?;
        }
        if !self.methods.is_empty() {
            write!(f, "; {}", self.methods.join(", "))?;
        }
        if !self.path_prefixes.is_empty() {
            write!(f, "; below {}", self.path_prefixes.join(", "))?;
        }
        Ok(())
    }
}
