//! The same decisions, made slowly and obviously: by looking at every entry as it is written.
use super::*;

/// A request, before it is a URL. Everything in it is well formed and public.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    pub scheme: &'static str,
    pub host: String,
    pub port: u16,
    pub path: String,
}

impl Request {
    pub fn url(&self) -> String {
        format!("{}://{}:{}{}", self.scheme, self.host, self.port, self.path)
    }

    fn has_default_port(&self) -> bool {
        (self.scheme, self.port) == ("http", 80) || (self.scheme, self.port) == ("https", 443)
    }

    fn has_address(&self) -> bool {
        self.host.starts_with('[') || self.host.bytes().all(|b| b.is_ascii_digit() || b == b'.')
    }
}

/// Whether a canonical policy allows the request.
pub fn allows(config: &PolicyConfig, request: &Request) -> bool {
    match config.access {
        Access::Disabled => false,
        Access::Enabled => true,
        Access::Restricted if !config.blocked_domains.is_empty() => {
            let blocks = |name: &String| {
                request.host == *name || request.host.ends_with(&format!(".{name}"))
            };
            request.has_default_port()
                && !request.has_address()
                && !config.blocked_domains.iter().any(blocks)
        }
        Access::Restricted => {
            let matching = config
                .allowed_domains
                .iter()
                .filter(|entry| matches(entry, &request.host));
            // An exact entry is as long as the host; a wildcard is nearer the longer it is.
            let nearest = matching.max_by_key(|entry| (**entry == request.host, entry.len()));
            nearest.is_some_and(|entry| {
                let mut rules = config
                    .rules
                    .iter()
                    .filter(|rule| rule.host == *entry)
                    .peekable();
                match rules.peek() {
                    None => request.has_default_port(),
                    Some(_) => rules.any(|rule| fits(rule, request)),
                }
            })
        }
    }
}

fn matches(entry: &str, host: &str) -> bool {
    match entry.strip_prefix('*') {
        Some(suffix) => host.ends_with(suffix),
        None => host == entry,
    }
}

fn fits(rule: &RuleConfig, request: &Request) -> bool {
    let has = |list: &[String], value: &str| list.is_empty() || list.iter().any(|one| one == value);
    let port = match rule.ports.is_empty() {
        true => request.has_default_port(),
        false => rule.ports.contains(&u32::from(request.port)),
    };
    let path = request.path.split('?').next().unwrap();
    let below = |prefix: &String| {
        let base = prefix.trim_end_matches('/');
        path == prefix || path.starts_with(&format!("{base}/"))
    };
    let path = rule.path_prefixes.is_empty() || rule.path_prefixes.iter().any(below);
    has(&rule.schemes, request.scheme) && port && has(&rule.methods, &request.method) && path
}
