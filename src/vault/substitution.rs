//! The secret for its placeholder, in one request.
mod headers;

pub use self::headers::{HeaderNameError, HeaderNames};

use super::{Bound, Networking, Placeholder, Scrubber};
use crate::policy::{Decision, Host, Matched, Scheme, Target};
use crate::secret::Secret;
use base64::{
    alphabet,
    engine::{general_purpose::STANDARD, DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
    Engine,
};

/// Longest value of a header with the secrets in it, bytes. What would be longer keeps its placeholders.
const MAX_HEADER: usize = 64 << 10;

/// Ports to which a secret goes.
const PORTS: [u16; 2] = [443, 8443];

/// Reads what clients write, with or without padding.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Puts the secrets of one session into its sandbox's requests.
#[derive(Debug)]
pub struct Injector {
    bound: Vec<Bound>,
    names: HeaderNames,
}

/// What was put into one request.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Substitution {
    /// By credential, in the session's order; only those that were used.
    pub counts: Vec<Count>,
    /// Texts besides the secrets that nobody may see again: what a secret was encoded in.
    encoded: Vec<Secret>,
}

/// How often one credential was used in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// The credential's id.
    pub credential: String,
    /// How often.
    pub times: u32,
}

impl Injector {
    /// For what a session was bound to, in Authorization and the headers of these names.
    pub fn new(bound: Vec<Bound>, names: HeaderNames) -> Self {
        Self { bound, names }
    }

    /// Puts secrets into a request's headers, if the decision on that very request allows it and the credential does too.
    /// Everything else of the request stays as it is, its URL and its body above all. What must not be substituted stays a
    /// placeholder, which is worth nothing.
    ///
    /// A request with a secret asks for an answer that is not compressed, in which [`Scrubber`] finds it.
    pub fn substitute(
        &self,
        decision: &Decision,
        headers: &mut Vec<(String, String)>,
    ) -> Substitution {
        let mut used = vec![0; self.bound.len()];
        let mut encoded = Vec::new();
        for (name, value) in headers.iter_mut() {
            let authorization = name.eq_ignore_ascii_case("authorization");
            if !authorization && !self.names.contain(name) {
                continue;
            }
            let basic = authorization.then(|| Basic::read(value)).flatten();
            let swapped = match &basic {
                Some(basic) => self.swap(decision, &basic.pair, false),
                None => self.swap(decision, value, true),
            };
            let Some((mut text, times)) = swapped else {
                continue;
            };
            if basic.is_some() {
                text = STANDARD.encode(text);
            }
            if text.len() > MAX_HEADER {
                continue;
            }
            *value = match basic {
                Some(Basic { scheme, .. }) => {
                    let value = format!("{scheme} {text}");
                    encoded.push(Secret::new(text));
                    value
                }
                None => text,
            };
            for (all, more) in used.iter_mut().zip(times) {
                *all += more;
            }
        }
        let counts: Vec<Count> = self
            .bound
            .iter()
            .zip(used)
            .filter(|(_, times)| *times > 0)
            .map(|(bound, times)| Count {
                credential: bound.credential.clone(),
                times,
            })
            .collect();
        if counts.is_empty() {
            return Substitution::default();
        }
        headers.retain(|(name, _)| !name.eq_ignore_ascii_case("accept-encoding"));
        headers.push(("accept-encoding".to_owned(), "identity".to_owned()));
        Substitution { counts, encoded }
    }

    /// What takes the secrets out of the answer: all that this host may get, whether or not this request had them.
    pub fn scrubber(&self, decision: &Decision, substitution: &Substitution) -> Scrubber {
        let given = self.bound.iter().filter(|bound| bound.may_go(decision));
        let values = given.map(|bound| &bound.variable.value);
        // What fits into no header went nowhere.
        let values = values.filter(|value| value.expose().len() <= MAX_HEADER);
        Scrubber::new(values.chain(&substitution.encoded))
    }

    /// The text with secrets for placeholders, and how often each was put in; `None` if none was. Only what was there before
    /// is looked at, so that a secret that looks like a placeholder is none.
    fn swap(&self, decision: &Decision, text: &str, plain: bool) -> Option<(String, Vec<u32>)> {
        let mut times = vec![0; self.bound.len()];
        let (mut new, mut rest) = (String::new(), text);
        while let Some(at) = rest.find(Placeholder::PREFIX) {
            let (before, from) = rest.split_at(at);
            new.push_str(before);
            let end = Placeholder::LENGTH.min(from.len());
            let found = self.bound.iter().zip(&mut times).find(|(bound, _)| {
                from.get(..end) == Some(bound.placeholder.as_str()) && bound.may_go(decision)
            });
            let secret = found
                .map(|(bound, times)| (bound.variable.value.expose(), times))
                .filter(|(secret, _)| !plain || is_plain(secret));
            rest = match secret {
                Some((secret, times)) => {
                    new.push_str(secret);
                    *times += 1;
                    &from[end..]
                }
                // The next one may begin within what looks like this one.
                None => {
                    new.push_str(Placeholder::PREFIX);
                    &from[Placeholder::PREFIX.len()..]
                }
            };
            if new.len() > MAX_HEADER {
                return None;
            }
        }
        new.push_str(rest);
        times.iter().any(|times| *times > 0).then_some((new, times))
    }
}

impl Bound {
    /// Whether this decision lets the secret go where the request goes.
    fn may_go(&self, decision: &Decision) -> bool {
        let (target, rule) = match decision {
            Decision::Allow { target, rule } => (target, rule),
            Decision::Deny(_) => return false,
        };
        is_secure(target)
            && match (&self.variable.networking, rule) {
                (Networking::Limited { allowed_hosts }, _) => {
                    allowed_hosts.iter().any(|host| is_host(host, &target.host))
                }
                (Networking::Unrestricted, Matched::Listed { .. }) => true,
                (Networking::Unrestricted, Matched::Public | Matched::NotBlocked) => false,
            }
    }
}

fn is_secure(target: &Target) -> bool {
    match target.scheme {
        Scheme::Https => PORTS.contains(&target.port),
        Scheme::Http => false,
    }
}

fn is_host(listed: &str, host: &Host) -> bool {
    Host::parse(listed).is_ok_and(|listed| listed == *host)
}

/// Whether a text may stand in a header as it is.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~'))
}

/// An Authorization of the Basic scheme.
struct Basic<'a> {
    scheme: &'a str,
    /// User and password, decoded.
    pair: String,
}

impl<'a> Basic<'a> {
    fn read(value: &'a str) -> Option<Self> {
        let (scheme, encoded) = value.trim().split_once(' ')?;
        if !scheme.eq_ignore_ascii_case("basic") {
            return None;
        }
        let pair = LENIENT.decode(encoded.trim()).ok()?;
        Some(Self {
            scheme,
            pair: String::from_utf8(pair).ok()?,
        })
    }
}

#[cfg(test)]
mod tests;
