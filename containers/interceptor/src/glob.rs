//! Host name patterns as workerd sends them: `*` stands for any run of characters, also none.

#[cfg(test)]
mod tests;

/// Most characters of a pattern; a host name has no more than 253.
pub const MAX_PATTERN_BYTES: usize = 255;

/// One pattern, in lower case and without the root's dot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob(String);

impl Glob {
    /// A pattern, or `None` if it is longer than any name could be.
    pub fn new(pattern: &str) -> Option<Self> {
        let pattern = pattern.strip_suffix('.').unwrap_or(pattern);
        (pattern.len() <= MAX_PATTERN_BYTES).then(|| Self(pattern.to_ascii_lowercase()))
    }

    /// Whether the whole name fits. The name must be in lower case and without the root's dot.
    pub fn matches(&self, name: &str) -> bool {
        let (pattern, name) = (self.0.as_bytes(), name.as_bytes());
        let (mut at, mut reached) = (0, 0);
        // Where to go on after the last star if the rest does not fit: the star may always take one character more.
        let mut retry: Option<(usize, usize)> = None;
        while reached < name.len() {
            match pattern.get(at) {
                Some(b'*') => {
                    at += 1;
                    retry = Some((at, reached));
                }
                Some(byte) if *byte == name[reached] => {
                    at += 1;
                    reached += 1;
                }
                Some(_) | None => match &mut retry {
                    Some((after, taken)) => {
                        *taken += 1;
                        (at, reached) = (*after, *taken);
                    }
                    None => return false,
                },
            }
        }
        pattern[at..].iter().all(|byte| *byte == b'*')
    }
}
