//! Takes secrets out of what comes back.
use crate::secret::Secret;

/// Shortest secret that is looked for, bytes. A shorter one is in texts by chance.
const SHORTEST: usize = 8;

/// Takes secrets out of a stream, wherever it is cut: each byte of each occurrence becomes the same filling byte, which no
/// secret has, so that lengths and frames stay as they are. Occurrences may overlap.
///
/// It finds secrets as they are. An upstream that wants to give one away, or that compresses, is not stopped by this: hosts
/// that may get a secret are trusted with it.
///
/// It holds back what may be the beginning of a secret, at most as many bytes as the longest has.
pub struct Scrubber {
    patterns: Vec<Pattern>,
    filling: u8,
    held: Vec<u8>,
}

/// One secret, as an automaton (Knuth, Morris, Pratt): its cost does not depend on what an upstream sends.
#[derive(Clone)]
struct Pattern {
    bytes: Vec<u8>,
    /// For each length of a beginning, how long its longest own beginning is that is also its end.
    borders: Vec<usize>,
    /// How many bytes of it end the stream so far.
    matched: usize,
}

impl Scrubber {
    /// For these secrets. Those of fewer than eight bytes are not looked for.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a Secret>) -> Self {
        let mut patterns: Vec<Pattern> = Vec::new();
        for secret in secrets {
            let bytes = secret.expose().as_bytes();
            let known = patterns.iter().any(|pattern| pattern.bytes == bytes);
            if bytes.len() >= SHORTEST && !known {
                patterns.push(Pattern::new(bytes));
            }
        }
        let in_none = |byte: &u8| patterns.iter().all(|pattern| !pattern.bytes.contains(byte));
        // No secret has a NUL.
        let filling = (b'!'..=b'~').rev().chain([0]).find(in_none).unwrap_or(0);
        let filling = Some(b'*').filter(in_none).unwrap_or(filling);
        Self {
            patterns,
            filling,
            held: Vec::new(),
        }
    }

    /// Whether there is nothing to look for: the stream may go by.
    pub fn is_idle(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Takes a chunk, and gives what is certainly clean: perhaps nothing, perhaps some of what came before.
    pub fn push(&mut self, chunk: &[u8]) -> Vec<u8> {
        for &byte in chunk {
            self.held.push(byte);
            for pattern in &mut self.patterns {
                if pattern.advance(byte) {
                    // They are there: no byte of a match so far was given away.
                    let start = self.held.len() - pattern.bytes.len();
                    self.held[start..].fill(self.filling);
                }
            }
        }
        let kept = self.patterns.iter().map(|pattern| pattern.matched).max();
        let clean = self.held.len() - kept.unwrap_or(0);
        self.held.drain(..clean).collect()
    }

    /// The rest, at the end of the stream.
    pub fn finish(mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }

    /// A header's value without secrets. It is empty where no filling byte could stand in a header.
    pub fn header(&self, value: &str) -> String {
        let mut fresh = Self {
            patterns: self.patterns.clone(),
            filling: self.filling,
            held: Vec::new(),
        };
        for pattern in &mut fresh.patterns {
            pattern.matched = 0;
        }
        let mut clean = fresh.push(value.as_bytes());
        clean.extend(fresh.finish());
        if clean == value.as_bytes() {
            return value.to_owned();
        }
        // Occurrences of whole texts leave whole texts.
        String::from_utf8(clean)
            .ok()
            .filter(|_| self.filling != 0)
            .unwrap_or_default()
    }
}

impl Pattern {
    fn new(bytes: &[u8]) -> Self {
        let mut borders = vec![0; bytes.len() + 1];
        let mut border = 0;
        for at in 1..bytes.len() {
            while border > 0 && bytes[at] != bytes[border] {
                border = borders[border];
            }
            if bytes[at] == bytes[border] {
                border += 1;
            }
            borders[at + 1] = border;
        }
        Self {
            bytes: bytes.to_vec(),
            borders,
            matched: 0,
        }
    }

    /// Takes a byte, and says whether an occurrence ends with it.
    fn advance(&mut self, byte: u8) -> bool {
        while self.matched > 0 && self.bytes[self.matched] != byte {
            self.matched = self.borders[self.matched];
        }
        if self.bytes[self.matched] == byte {
            self.matched += 1;
        }
        let ends = self.matched == self.bytes.len();
        if ends {
            self.matched = self.borders[self.matched];
        }
        ends
    }
}

#[cfg(test)]
mod tests;
