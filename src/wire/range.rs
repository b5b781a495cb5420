//! Which bytes of something a client asks for (RFC 9110, section 14), and in which of its stored parts they are.
//!
//! One range of bytes is served. Several at once, other units and what is no range are answered with the whole, as a server
//! may.

/// Bytes that follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Where they begin, from 0.
    pub first: u64,
    /// How many there are.
    pub bytes: u64,
}

/// What a request for something is answered with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// All of it: 200.
    Whole,
    /// A part of it, of at least one byte: 206.
    Part(Span),
    /// Nothing, because no byte of it is in the range: 416.
    Nothing,
}

/// Bytes of one stored part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Which part, from 0.
    pub part: usize,
    /// Which bytes of the part.
    pub span: Span,
}

impl Span {
    /// All of something that has `bytes`.
    pub fn whole(bytes: u64) -> Self {
        Self { first: 0, bytes }
    }

    /// The header `content-range`, of something that has `all` bytes. The span must not be empty.
    pub fn content_range(self, all: u64) -> String {
        let last = self.first + self.bytes.saturating_sub(1);
        format!("bytes {}-{last}/{all}", self.first)
    }

    /// The same bytes, in order, in parts of `part_bytes` each but the last.
    pub fn pieces(self, part_bytes: u64) -> Vec<Piece> {
        let end = self.first.saturating_add(self.bytes);
        let mut pieces = Vec::new();
        let mut at = self.first;
        while at < end {
            let part = at / part_bytes;
            let next = (part + 1).saturating_mul(part_bytes).min(end);
            pieces.push(Piece {
                part: usize::try_from(part).unwrap_or(usize::MAX),
                span: Span {
                    first: at % part_bytes,
                    bytes: next - at,
                },
            });
            at = next;
        }
        pieces
    }
}

/// What a `GET` with these headers wants of something that has `bytes` and this (strong) etag.
pub fn wanted(range: Option<&str>, if_range: Option<&str>, etag: &str, bytes: u64) -> Wanted {
    // A date there is the date of something else: nothing here has one.
    if if_range.is_some_and(|known| known != etag) {
        return Wanted::Whole;
    }
    range
        .and_then(|range| one(range, bytes))
        .unwrap_or(Wanted::Whole)
}

/// A single range; none if it is anything else.
fn one(range: &str, bytes: u64) -> Option<Wanted> {
    let (unit, set) = range.split_once('=')?;
    if !unit.eq_ignore_ascii_case("bytes") {
        return None;
    }
    let (first, last) = set.split_once('-')?;
    let span = if first.is_empty() {
        let wanted = number(last)?.min(bytes);
        // All of nothing is nothing that `content-range` could name.
        if bytes == 0 {
            return None;
        }
        Span {
            first: bytes - wanted,
            bytes: wanted,
        }
    } else {
        let first = number(first)?;
        let end = match last {
            "" => bytes,
            last => {
                let last = number(last)?;
                if last < first {
                    return None;
                }
                last.saturating_add(1).min(bytes)
            }
        };
        Span {
            first,
            bytes: end.saturating_sub(first),
        }
    };
    Some(match span.bytes {
        0 => Wanted::Nothing,
        _ => Wanted::Part(span),
    })
}

/// A number, or the largest if it is larger.
fn number(digits: &str) -> Option<u64> {
    let right = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    right.then(|| digits.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests;
