//! PAX records: `<length> <key>=<value>\n`, where the length counts itself.

/// Records, in the order in which they are written.
#[derive(Default)]
pub(super) struct Records(Vec<u8>);

/// Records as they were read.
pub(super) struct Parsed<'bytes>(Vec<(&'bytes [u8], &'bytes [u8])>);

impl Records {
    pub fn put(&mut self, key: &str, value: &[u8]) {
        // The space, the equals sign and the line's end.
        let bare = key.len() + value.len() + 3;
        let mut length = bare;
        // Adding the digits may add a digit, once.
        for _ in 0..2 {
            length = bare + length.to_string().len();
        }
        self.0
            .extend_from_slice(format!("{length} {key}=").as_bytes());
        self.0.extend_from_slice(value);
        self.0.push(b'\n');
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// Takes records apart; none if they are malformed or too many to be ours.
    pub fn parse(mut bytes: &[u8]) -> Option<Parsed<'_>> {
        let mut records = Vec::new();
        while !bytes.is_empty() {
            let space = bytes.iter().take(20).position(|byte| *byte == b' ')?;
            let length: usize = std::str::from_utf8(&bytes[..space]).ok()?.parse().ok()?;
            let (record, rest) = bytes.split_at_checked(length)?;
            let record = record.get(space + 1..)?.strip_suffix(b"\n")?;
            let equals = record.iter().position(|byte| *byte == b'=')?;
            if records.len() == MOST {
                return None;
            }
            records.push((&record[..equals], &record[equals + 1..]));
            bytes = rest;
        }
        Some(Parsed(records))
    }
}

impl<'bytes> Parsed<'bytes> {
    pub fn get(&self, key: &str) -> Option<&'bytes [u8]> {
        let mut records = self.0.iter();
        let found = records.find(|(name, _)| *name == key.as_bytes());
        found.map(|(_, value)| *value)
    }
}

/// One of each kind, and never all of them together.
const MOST: usize = 7;
