//! The parts of JSON below its structure: strings, numbers, the three literals. Each takes a byte at a time, or a run.

/// Bytes that are not what RFC 8259 or UTF-8 allow.
#[derive(Debug)]
pub(super) struct Malformed;

// === strings ===

/// A string between its quotes.
#[derive(Default)]
pub(super) struct Text {
    escape: Escape,
    /// The first half of a surrogate pair, until the second has come.
    high: Option<u16>,
    /// Continuation bytes still due, and the range of the next one (the first is restricted by its lead).
    due: u8,
    low_bound: u8,
    high_bound: u8,
    /// The decoded beginning, if it is wanted.
    held: Vec<u8>,
    /// How much of the beginning is wanted.
    wanted: usize,
    /// Whether there was more than that.
    longer: bool,
}

#[derive(Default)]
enum Escape {
    #[default]
    No,
    Backslash,
    Hex {
        digits: u8,
        value: u16,
    },
}

/// Bytes that stand for themselves, if they are UTF-8: all but controls, `"` and `\`.
const PLAIN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0x20;
    while byte < 256 {
        table[byte] = byte != b'"' as usize && byte != b'\\' as usize;
        byte += 1;
    }
    table
};

impl Text {
    /// Begins a new string of which the first `wanted` decoded bytes will be asked for.
    pub fn begin(&mut self, wanted: usize) {
        self.escape = Escape::No;
        self.high = None;
        self.due = 0;
        self.held.clear();
        self.wanted = wanted;
        self.longer = false;
    }

    /// The decoded beginning, and whether it is the whole string.
    pub fn held(&self) -> (&[u8], bool) {
        (&self.held, !self.longer)
    }

    /// Reads on from `at`. Returns the place after the last byte used, and whether that was the closing quote.
    pub fn read(
        &mut self,
        bytes: &[u8],
        mut at: usize,
    ) -> Result<(usize, bool), (usize, Malformed)> {
        while let Some(&byte) = bytes.get(at) {
            if PLAIN[usize::from(byte)] && self.at_ease() {
                let length = bytes[at..]
                    .iter()
                    .take_while(|&&b| PLAIN[usize::from(b)])
                    .count();
                let run = &bytes[at..at + length];
                // A character that this run cuts off is left to `step`, which also reads what comes in the next one.
                let valid = std::str::from_utf8(run).map_or_else(|e| e.valid_up_to(), str::len);
                self.hold(&run[..valid]);
                at += valid;
                for &byte in &run[valid..] {
                    self.step(byte).map_err(|e| (at, e))?;
                    at += 1;
                }
                continue;
            }
            if byte == b'"' && self.at_ease() {
                return Ok((at + 1, true));
            }
            self.step(byte).map_err(|e| (at, e))?;
            at += 1;
        }
        Ok((at, false))
    }

    fn at_ease(&self) -> bool {
        matches!(self.escape, Escape::No) && self.due == 0 && self.high.is_none()
    }

    #[inline]
    fn hold(&mut self, bytes: &[u8]) {
        if self.held.len() == self.wanted {
            self.longer |= !bytes.is_empty();
            return;
        }
        let room = self.wanted - self.held.len();
        if bytes.len() > room {
            self.longer = true;
        }
        self.held.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    #[inline]
    fn hold_char(&mut self, c: char) {
        if self.held.len() == self.wanted {
            self.longer = true;
            return;
        }
        let mut buffer = [0; 4];
        self.hold(c.encode_utf8(&mut buffer).as_bytes());
    }

    #[inline]
    fn step(&mut self, byte: u8) -> Result<(), Malformed> {
        match self.escape {
            Escape::No if self.due > 0 => self.continuation(byte),
            Escape::No if byte == b'\\' => {
                self.escape = Escape::Backslash;
                Ok(())
            }
            // A high surrogate and then anything but its other half.
            Escape::No if self.high.is_some() => Err(Malformed),
            Escape::No => self.lead(byte),
            Escape::Backslash if byte == b'u' => {
                self.escape = Escape::Hex {
                    digits: 0,
                    value: 0,
                };
                Ok(())
            }
            Escape::Backslash if self.high.is_some() => Err(Malformed),
            Escape::Backslash => {
                let c = match byte {
                    b'"' | b'\\' | b'/' => char::from(byte),
                    b'b' => '\u{8}',
                    b'f' => '\u{c}',
                    b'n' => '\n',
                    b'r' => '\r',
                    b't' => '\t',
                    _ => return Err(Malformed),
                };
                self.escape = Escape::No;
                self.hold_char(c);
                Ok(())
            }
            Escape::Hex { digits, value } => {
                let digit = char::from(byte)
                    .to_digit(16)
                    .and_then(|d| u16::try_from(d).ok())
                    .ok_or(Malformed)?;
                let value = value << 4 | digit;
                if digits < 3 {
                    self.escape = Escape::Hex {
                        digits: digits + 1,
                        value,
                    };
                    return Ok(());
                }
                self.escape = Escape::No;
                self.unit(value)
            }
        }
    }

    /// Takes one UTF-16 code unit.
    fn unit(&mut self, unit: u16) -> Result<(), Malformed> {
        let units = match (self.high.take(), unit) {
            (None, 0xD800..=0xDBFF) => {
                self.high = Some(unit);
                return Ok(());
            }
            (None, _) => [unit, 0],
            (Some(high), _) => [high, unit],
        };
        let paired = usize::from(units[0] >= 0xD800 && units[0] < 0xDC00);
        let c = char::decode_utf16(units[..=paired].iter().copied()).next();
        self.hold_char(c.and_then(Result::ok).ok_or(Malformed)?);
        Ok(())
    }

    /// Takes the first byte of a character outside ASCII (Unicode 16, table 3-7).
    fn lead(&mut self, byte: u8) -> Result<(), Malformed> {
        (self.due, self.low_bound, self.high_bound) = match byte {
            0xC2..=0xDF => (1, 0x80, 0xBF),
            0xE0 => (2, 0xA0, 0xBF),
            0xED => (2, 0x80, 0x9F),
            0xE1..=0xEF => (2, 0x80, 0xBF),
            0xF0 => (3, 0x90, 0xBF),
            0xF1..=0xF3 => (3, 0x80, 0xBF),
            0xF4 => (3, 0x80, 0x8F),
            _ => return Err(Malformed),
        };
        self.hold(&[byte]);
        Ok(())
    }

    fn continuation(&mut self, byte: u8) -> Result<(), Malformed> {
        if byte < self.low_bound || byte > self.high_bound {
            return Err(Malformed);
        }
        (self.due, self.low_bound, self.high_bound) = (self.due - 1, 0x80, 0xBF);
        self.hold(&[byte]);
        Ok(())
    }
}

// === numbers ===

/// Where in a number we are.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Number {
    Minus,
    Zero,
    Integer,
    Point,
    Fraction,
    E,
    ESign,
    Exponent,
}

impl Number {
    /// Begins with the first byte.
    pub fn begin(byte: u8) -> Option<Number> {
        match byte {
            b'-' => Some(Number::Minus),
            b'0' => Some(Number::Zero),
            b'1'..=b'9' => Some(Number::Integer),
            _ => None,
        }
    }

    /// Takes one more byte; `None` if it is not part of the number, which then has ended.
    pub fn step(self, byte: u8) -> Result<Option<Number>, Malformed> {
        use Number::*;
        Ok(Some(match (self, byte) {
            (Minus, b'0') => Zero,
            (Minus, b'1'..=b'9') | (Integer, b'0'..=b'9') => Integer,
            (Zero | Integer, b'.') => Point,
            (Point | Fraction, b'0'..=b'9') => Fraction,
            (Zero | Integer | Fraction, b'e' | b'E') => E,
            (E, b'+' | b'-') => ESign,
            (E | ESign | Exponent, b'0'..=b'9') => Exponent,
            (Zero | Integer | Fraction | Exponent, _) => return Ok(None),
            (Minus | Point | E | ESign, _) => return Err(Malformed),
        }))
    }
}

// === literals ===

/// The literal that begins with `byte`.
pub(super) fn literal(byte: u8) -> Option<&'static [u8]> {
    match byte {
        b't' => Some(b"true"),
        b'f' => Some(b"false"),
        b'n' => Some(b"null"),
        _ => None,
    }
}
