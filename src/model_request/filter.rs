//! The filter: structure, rules, and what is written.
use super::{
    lexer::{literal, Malformed, Number, Text},
    refusal::{Code, Refusal},
    rules::{Field, Fields, Rule, Strings, Treatment, LONGEST_COMPARED, REQUEST},
};

/// The size cap unless [`Filter::max_bytes`] sets another: far above a full context window, images included.
pub const MAX_BYTES: u64 = 32 << 20;

/// How deep a body may nest.
pub const MAX_DEPTH: usize = 128;

/// Longest number, in bytes. A double needs 24.
const MAX_NUMBER: usize = 64;

/// What the gateway puts into every request.
#[derive(Clone, Copy, Debug)]
pub struct Forced<'a> {
    /// The provider's name of the model.
    pub model: &'a str,
    /// Separates caches; derived from tenant and session, so that no tenant can probe another's.
    pub prompt_cache_key: &'a str,
    /// How the request is served; none leaves it to the provider.
    pub service_tier: Option<&'a str>,
}

/// Reads a request in pieces and writes the one that may be sent.
pub struct Filter {
    /// What the output begins with.
    head: Vec<u8>,
    max_bytes: u64,
    /// Bytes read in earlier calls.
    before: u64,
    stack: Vec<Frame>,
    expect: Expect,
    token: Token,
    text: Text,
    /// Whether the value being read is copied.
    copying: bool,
    /// Set by a refusal: nothing follows it.
    refusal: Option<Refusal>,
}

/// An array or object being read.
enum Frame {
    Array(&'static Rule),
    Object {
        fields: &'static Fields,
        /// Bit `i` is set when row `i` of the table has occurred.
        seen: u64,
        /// The row of the member being read.
        row: Option<&'static Field>,
    },
}

#[derive(Clone, Copy, PartialEq)]
enum Expect {
    /// The body's `{`.
    Body,
    Value,
    /// After `[`.
    ElementOrEnd,
    /// After `{`.
    NameOrEnd,
    /// After `,` in an object.
    Name,
    Colon,
    CommaOrEnd,
    /// After the body: whitespace.
    Nothing,
}

enum Token {
    None,
    Name,
    String,
    Number { state: Number, length: usize },
    Literal { word: &'static [u8], matched: usize },
}

/// A refusal on the way out, before the place is known.
struct Stop {
    code: Code,
    at: usize,
}

impl Filter {
    /// A filter for one request.
    pub fn new(forced: &Forced<'_>) -> Filter {
        let mut head = format!(
            r#"{{"model":{},"store":false,"prompt_cache_key":{},"stream":true"#,
            serde_json::Value::from(forced.model),
            serde_json::Value::from(forced.prompt_cache_key),
        );
        if let Some(tier) = forced.service_tier {
            head.push_str(r#","service_tier":"#);
            head.push_str(&serde_json::Value::from(tier).to_string());
        }
        Filter {
            head: head.into_bytes(),
            max_bytes: MAX_BYTES,
            before: 0,
            stack: Vec::new(),
            expect: Expect::Body,
            token: Token::None,
            text: Text::default(),
            copying: false,
            refusal: None,
        }
    }

    /// Sets the size cap.
    pub fn max_bytes(mut self, max: u64) -> Filter {
        self.max_bytes = max;
        self
    }

    /// Reads the next piece and appends what may be sent to `out`. After a refusal it refuses the same again.
    pub fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) -> Result<(), Refusal> {
        if let Some(refusal) = &self.refusal {
            return Err(refusal.clone());
        }
        let room = self.max_bytes - self.before.min(self.max_bytes);
        let fits = chunk.len() as u64 <= room;
        let readable = if fits {
            chunk
        } else {
            &chunk[..usize::try_from(room).unwrap_or(chunk.len())]
        };
        let read = self.read(readable, out);
        let read = match read {
            Ok(()) if !fits => Err(Stop {
                code: Code::TooLarge,
                at: readable.len(),
            }),
            other => other,
        };
        match read {
            Ok(()) => self.before += chunk.len() as u64,
            Err(stop) => return Err(self.refuse(stop)),
        }
        Ok(())
    }

    /// Ends the request. Only now is what was written a whole request.
    pub fn finish(&mut self) -> Result<(), Refusal> {
        if let Some(refusal) = &self.refusal {
            return Err(refusal.clone());
        }
        if self.expect == Expect::Nothing {
            return Ok(());
        }
        Err(self.refuse(Stop {
            code: Code::NotJson,
            at: 0,
        }))
    }

    fn refuse(&mut self, stop: Stop) -> Refusal {
        let refusal = Refusal {
            code: stop.code,
            field: self.place(),
            offset: self.before + stop.at as u64,
        };
        self.refusal = Some(refusal.clone());
        refusal
    }

    /// The path of the value being read, in names from the tables only.
    fn place(&self) -> String {
        let mut place = String::new();
        for frame in &self.stack {
            match frame {
                Frame::Array(_) => place.push_str("[]"),
                Frame::Object { row, .. } => {
                    if !place.is_empty() {
                        place.push('.');
                    }
                    place.push_str(row.map_or("?", |row| row.name));
                }
            }
        }
        place
    }

    fn read(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Stop> {
        let mut at = 0;
        // Where the bytes begin that are copied when the value, or this chunk, ends.
        let mut from = 0;
        while at < bytes.len() {
            let ended = match self.token {
                Token::None => {
                    let byte = bytes[at];
                    let step = self.structure(byte).map_err(|code| Stop { code, at })?;
                    match step {
                        Step::Began => {
                            if self.stack.len() == 1 && !matches!(self.token, Token::Name) {
                                self.begin_member(out);
                                from = at;
                            }
                            if matches!(self.token, Token::None) {
                                self.open(byte, out).map_err(|code| Stop { code, at })?;
                            }
                            at += 1;
                            false
                        }
                        Step::Inside => {
                            at += 1;
                            false
                        }
                        Step::Closed => {
                            at += 1;
                            true
                        }
                    }
                }
                Token::Name => {
                    let (next, ended) = self
                        .text
                        .read(bytes, at)
                        .map_err(|(at, e)| Stop { code: e.into(), at })?;
                    if ended {
                        self.token = Token::None;
                        self.expect = Expect::Colon;
                        self.name().map_err(|code| Stop { code, at: next - 1 })?;
                    }
                    at = next;
                    false
                }
                Token::String => {
                    let (next, ended) = self
                        .text
                        .read(bytes, at)
                        .map_err(|(at, e)| Stop { code: e.into(), at })?;
                    if ended {
                        self.string().map_err(|code| Stop { code, at: next - 1 })?;
                    }
                    at = next;
                    ended
                }
                Token::Number {
                    ref mut state,
                    ref mut length,
                } => {
                    match state
                        .step(bytes[at])
                        .map_err(|e| Stop { code: e.into(), at })?
                    {
                        Some(next) => {
                            (*state, *length) = (next, *length + 1);
                            if *length > MAX_NUMBER {
                                return Err(Stop {
                                    code: Code::ValueNotAllowed,
                                    at,
                                });
                            }
                            at += 1;
                            false
                        }
                        // The byte is not the number's: it is looked at again.
                        None => true,
                    }
                }
                Token::Literal {
                    word,
                    ref mut matched,
                } => {
                    if word.get(*matched) != Some(&bytes[at]) {
                        return Err(Stop {
                            code: Code::NotJson,
                            at,
                        });
                    }
                    *matched += 1;
                    at += 1;
                    *matched == word.len()
                }
            };
            if !ended {
                continue;
            }
            self.token = Token::None;
            self.expect = Expect::CommaOrEnd;
            match self.stack.len() {
                0 => {
                    self.expect = Expect::Nothing;
                    out.push(b'}');
                }
                1 if self.copying => {
                    out.extend_from_slice(&bytes[from..at]);
                    self.copying = false;
                }
                _ => {}
            }
        }
        if self.copying {
            out.extend_from_slice(&bytes[from..]);
        }
        Ok(())
    }

    /// Takes a byte between tokens.
    fn structure(&mut self, byte: u8) -> Result<Step, Code> {
        if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
            return Ok(Step::Inside);
        }
        match (self.expect, byte) {
            (Expect::Body, b'{') => Ok(Step::Began),
            (Expect::Body, b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => {
                Err(Code::NotAnObject)
            }
            (Expect::NameOrEnd | Expect::Name, b'"') => {
                self.begin_name();
                Ok(Step::Began)
            }
            (Expect::Colon, b':') => {
                self.expect = Expect::Value;
                Ok(Step::Inside)
            }
            (Expect::CommaOrEnd, b',') => {
                self.expect = match self.stack.last() {
                    Some(Frame::Object { .. }) => Expect::Name,
                    Some(Frame::Array(_)) | None => Expect::Value,
                };
                Ok(Step::Inside)
            }
            (Expect::NameOrEnd | Expect::CommaOrEnd, b'}')
            | (Expect::ElementOrEnd | Expect::CommaOrEnd, b']') => self.close(byte),
            (Expect::Value | Expect::ElementOrEnd, _) => {
                self.begin_value(byte)?;
                Ok(Step::Began)
            }
            _ => Err(Code::NotJson),
        }
    }

    fn begin_name(&mut self) {
        self.token = Token::Name;
        let wanted = match self.stack.last_mut() {
            Some(Frame::Object {
                fields: Fields::Closed { .. },
                row,
                ..
            }) => {
                *row = None;
                LONGEST_COMPARED
            }
            _ => 0,
        };
        self.text.begin(wanted);
    }

    /// Judges a member's name.
    fn name(&mut self) -> Result<(), Code> {
        let Some(Frame::Object {
            fields: Fields::Closed { table, .. },
            seen,
            row,
        }) = self.stack.last_mut()
        else {
            return Ok(());
        };
        let (name, whole) = self.text.held();
        let found = table
            .iter()
            .enumerate()
            .find(|(_, field)| whole && field.name.as_bytes() == name);
        let (index, field) = found.ok_or(Code::FieldNotAllowed)?;
        *row = Some(field);
        if field.treatment == Treatment::Refuse {
            return Err(Code::FieldNotAllowed);
        }
        if *seen & 1 << index != 0 {
            return Err(Code::FieldRepeated);
        }
        *seen |= 1 << index;
        Ok(())
    }

    /// The rule of the value that comes next.
    fn rule(&self) -> Option<&'static Rule> {
        match self.stack.last() {
            None => Some(&REQUEST),
            Some(Frame::Array(rule)) => Some(rule),
            Some(Frame::Object {
                fields: Fields::Open,
                ..
            }) => None,
            Some(Frame::Object { row, .. }) => row.map(|row| row.rule),
        }
    }

    /// Begins a value that is not the body. `{` and `[` are left to [`Filter::open`].
    fn begin_value(&mut self, byte: u8) -> Result<(), Code> {
        let rule = self.rule();
        let allowed;
        if byte == b'"' {
            let strings = rule.map_or(Strings::Any, |rule| rule.string);
            allowed = !matches!(strings, Strings::None);
            self.text.begin(match strings {
                Strings::OneOf(_) | Strings::Prefix(_) => LONGEST_COMPARED,
                Strings::None | Strings::Any => 0,
            });
            self.token = Token::String;
        } else if let Some(word) = literal(byte) {
            allowed = rule.is_none_or(|rule| {
                if byte == b'n' {
                    rule.null
                } else {
                    rule.boolean
                }
            });
            self.token = Token::Literal { word, matched: 1 };
        } else if let Some(state) = Number::begin(byte) {
            allowed = rule.is_none_or(|rule| rule.number);
            self.token = Token::Number { state, length: 1 };
        } else {
            allowed = match byte {
                b'{' => rule.is_none_or(|rule| rule.object.is_some()),
                b'[' => rule.is_none_or(|rule| rule.array.is_some()),
                _ => return Err(Code::NotJson),
            };
        }
        if allowed {
            Ok(())
        } else {
            Err(Code::ValueNotAllowed)
        }
    }

    /// Judges a string value that has ended.
    fn string(&self) -> Result<(), Code> {
        let (held, whole) = self.text.held();
        let fits = match self.rule().map_or(Strings::Any, |rule| rule.string) {
            Strings::None => false,
            Strings::Any => true,
            Strings::OneOf(list) => whole && list.iter().any(|one| one.as_bytes() == held),
            Strings::Prefix(list) => list.iter().any(|one| held.starts_with(one.as_bytes())),
        };
        if fits {
            Ok(())
        } else {
            Err(Code::ValueNotAllowed)
        }
    }

    /// Begins the value of a top-level member.
    fn begin_member(&mut self, out: &mut Vec<u8>) {
        if let Some(Frame::Object { row: Some(row), .. }) = self.stack.last() {
            if row.treatment == Treatment::Forward {
                out.extend_from_slice(b",\"");
                out.extend_from_slice(row.name.as_bytes());
                out.extend_from_slice(b"\":");
                self.copying = true;
            }
        }
    }

    fn open(&mut self, byte: u8, out: &mut Vec<u8>) -> Result<(), Code> {
        if self.stack.len() == MAX_DEPTH {
            return Err(Code::TooDeep);
        }
        if self.stack.is_empty() {
            out.append(&mut self.head);
        }
        let rule = self.rule();
        if byte == b'{' {
            let fields = rule.and_then(|rule| rule.object).unwrap_or(&Fields::Open);
            self.stack.push(Frame::Object {
                fields,
                seen: 0,
                row: None,
            });
            self.expect = Expect::NameOrEnd;
        } else {
            let element = rule
                .and_then(|rule| rule.array)
                .unwrap_or(&super::rules::ANY);
            self.stack.push(Frame::Array(element));
            self.expect = Expect::ElementOrEnd;
        }
        Ok(())
    }

    fn close(&mut self, byte: u8) -> Result<Step, Code> {
        match (self.stack.last_mut(), byte) {
            (Some(Frame::Object { fields, seen, row }), b'}') => {
                if let Fields::Closed { table, required } = fields {
                    let has = |name: &str| {
                        table
                            .iter()
                            .enumerate()
                            .any(|(i, field)| field.name == name && *seen & 1 << i != 0)
                    };
                    if !required.iter().all(|name| has(name)) {
                        *row = table
                            .iter()
                            .find(|field| required.contains(&field.name) && !has(field.name));
                        return Err(Code::FieldMissing);
                    }
                }
            }
            (Some(Frame::Array(_)), b']') => {}
            _ => return Err(Code::NotJson),
        }
        self.stack.pop();
        Ok(Step::Closed)
    }
}

/// What a byte between tokens did.
enum Step {
    /// Whitespace, `:` or `,`.
    Inside,
    /// A name or a value begins with it.
    Began,
    /// It ended an array or object.
    Closed,
}

impl From<Malformed> for Code {
    fn from(Malformed: Malformed) -> Code {
        Code::NotJson
    }
}
