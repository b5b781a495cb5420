//! The blocks of the tar archive.
mod records;

use std::io::Read;

use tar::{EntryType, Header};

use crate::entry::{Content, Entry, Extent, Kind, Meta, Time};
use crate::unpack::{read_fault, UnpackError};
use records::Records;

/// Everything in an archive is padded to a multiple of this.
pub(crate) const BLOCK: usize = 512;
/// What ends an archive.
pub(crate) const END: [u8; 2 * BLOCK] = [0; 2 * BLOCK];
/// Most parts of a file between whose holes they lie. Past them, holes are stored as zeros.
pub(crate) const MAX_EXTENTS: usize = 16_384;
/// The most that the records of a file's holes take.
const MAX_HOLES: usize = 1 << 20;

/// Zeros that follow so many bytes.
pub(crate) fn padding(bytes: u64) -> usize {
    // The remainder is below 512.
    (BLOCK - (bytes % BLOCK as u64) as usize) % BLOCK
}

/// The headers of an entry: all of it but a file's data.
pub(crate) fn encode(entry: &Entry) -> Vec<u8> {
    let mut header = Header::new_ustar();
    let mut records = Records::default();
    let (kind, target, size) = match &entry.kind {
        Kind::Folder => (EntryType::Directory, None, 0),
        Kind::File(content) => (EntryType::Regular, None, content.stored()),
        Kind::Symlink(target) => (EntryType::Symlink, Some(target), 0),
        Kind::Link(target) => (EntryType::Link, Some(target), 0),
    };
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_mode(entry.meta.mode);
    header.set_uid(entry.meta.uid.into());
    header.set_gid(entry.meta.gid.into());
    header.set_mtime(u64::try_from(entry.meta.mtime.seconds).unwrap_or(0));
    let holes = match &entry.kind {
        Kind::File(content) if content.has_holes() => Some(content),
        Kind::File(_) | Kind::Folder | Kind::Symlink(_) | Kind::Link(_) => None,
    };
    if !fill(&mut header.as_old_mut().name, &entry.path) && holes.is_none() {
        records.put("path", &entry.path);
    }
    if let Some(target) = target {
        if !fill(&mut header.as_old_mut().linkname, target) {
            records.put("linkpath", target);
        }
    }
    records.put("mtime", entry.meta.mtime.encode().as_bytes());
    if let Some(content) = holes {
        records.put("GNU.sparse.size", content.size.to_string().as_bytes());
        let (count, map) = encode_extents(content);
        let count = count.to_string();
        records.put("GNU.sparse.numblocks", count.as_bytes());
        records.put("GNU.sparse.name", &entry.path);
        records.put("GNU.sparse.map", map.as_bytes());
    }
    header.set_cksum();

    let records = records.into_bytes();
    let mut extended = Header::new_ustar();
    extended.set_entry_type(EntryType::XHeader);
    fill(&mut extended.as_old_mut().name, b"PaxHeaders/x");
    extended.set_mode(0o644);
    extended.set_size(records.len() as u64);
    extended.set_cksum();
    let mut blocks = extended.as_bytes().to_vec();
    let padding = padding(records.len() as u64);
    blocks.extend(records);
    blocks.extend_from_slice(&END[..padding]);
    blocks.extend_from_slice(header.as_bytes());
    blocks
}

/// The next entry, if the archive does not end here.
pub(crate) fn decode(
    input: &mut impl Read,
    path_bytes: usize,
) -> Result<Option<Entry>, UnpackError> {
    let mut block = [0; BLOCK];
    input.read_exact(&mut block).map_err(read_fault)?;
    if block == END[..BLOCK] {
        input.read_exact(&mut block).map_err(read_fault)?;
        return if block == END[..BLOCK] {
            Ok(None)
        } else {
            Err(UnpackError::Invalid("end"))
        };
    }
    let extended = Header::from_byte_slice(&block);
    if extended.entry_type() != EntryType::XHeader {
        return Err(UnpackError::Invalid("no_records"));
    }
    let length = extended.entry_size().ok().and_then(|length| {
        let most = path_bytes.saturating_mul(2).saturating_add(MAX_HOLES);
        usize::try_from(length)
            .ok()
            .filter(|length| *length <= most)
    });
    let length = length.ok_or(UnpackError::Invalid("records_size"))?;
    let padded = length + padding(length as u64);
    let mut blocks = block.to_vec();
    // Grows with what comes, not with what is announced.
    let read = input.take(padded as u64).read_to_end(&mut blocks);
    if read.map_err(read_fault)? < padded {
        return Err(UnpackError::Invalid("truncated"));
    }
    input.read_exact(&mut block).map_err(read_fault)?;
    let records = blocks.get(BLOCK..BLOCK + length).unwrap_or_default();
    let entry = interpret(records, Header::from_byte_slice(&block))
        .ok_or(UnpackError::Invalid("header"))?;
    blocks.extend_from_slice(&block);
    if encode(&entry) == blocks {
        Ok(Some(entry))
    } else {
        Err(UnpackError::Invalid("header"))
    }
}

/// What headers mean. What they say beside that, and what they say in another way than [`encode`], is for the caller to
/// find.
fn interpret(records: &[u8], header: &Header) -> Option<Entry> {
    let records = Records::parse(records)?;
    let old = header.as_old();
    let path = records
        .get("GNU.sparse.name")
        .or_else(|| records.get("path"))
        .unwrap_or_else(|| text(&old.name));
    let target = || {
        let target = records.get("linkpath");
        target.unwrap_or_else(|| text(&old.linkname)).to_vec()
    };
    let kind = match header.entry_type() {
        EntryType::Directory => Kind::Folder,
        EntryType::Symlink => Kind::Symlink(target()),
        EntryType::Link => Kind::Link(target()),
        EntryType::Regular => Kind::File(match records.get("GNU.sparse.size") {
            None => Content::dense(header.entry_size().ok()?),
            Some(size) => decode_extents(number(size)?, records.get("GNU.sparse.map")?)?,
        }),
        // Not an enum of ours: pipes, devices, GNU's and global headers, and what nobody knows.
        _ => return None,
    };
    Some(Entry {
        path: path.to_vec(),
        kind,
        meta: Meta {
            mode: header.mode().ok().filter(|mode| *mode <= 0o7777)?,
            uid: owner(header.uid().ok()?)?,
            gid: owner(header.gid().ok()?)?,
            mtime: Time::decode(records.get("mtime")?)?,
        },
    })
}

/// Offsets and lengths by turns, as many pairs as are returned. A hole at the end is followed by an empty part, as other
/// tools would not see it.
fn encode_extents(content: &Content) -> (usize, String) {
    let size = content.size;
    let stored = content.extents.iter().map(|e| (e.offset, e.bytes));
    let last = content.extents.last();
    let ends = last.is_some_and(|last| last.offset + last.bytes == size);
    let end = (!ends).then_some((size, 0));
    let pairs: Vec<String> = stored
        .chain(end)
        .map(|(offset, bytes)| format!("{offset},{bytes}"))
        .collect();
    (pairs.len(), pairs.join(","))
}

fn decode_extents(size: u64, map: &[u8]) -> Option<Content> {
    let mut extents: Vec<Extent> = Vec::new();
    let mut end = 0;
    let mut numbers = map.split(|byte| *byte == b',');
    while let Some(offset) = numbers.next() {
        let offset = number(offset)?;
        let bytes = number(numbers.next()?)?;
        if offset < end || (bytes > 0 && extents.len() == MAX_EXTENTS) {
            return None;
        }
        if bytes > 0 {
            extents.push(Extent { offset, bytes });
        }
        end = offset.checked_add(bytes)?;
    }
    (end <= size).then_some(Content { size, extents })
}

impl Time {
    /// Seconds, as PAX writes them.
    fn encode(self) -> String {
        const BILLION: i128 = 1_000_000_000;
        let nanos = i128::from(self.seconds) * BILLION + i128::from(self.nanos);
        let sign = if nanos < 0 { "-" } else { "" };
        let nanos = nanos.unsigned_abs();
        let billion = BILLION.unsigned_abs();
        format!("{sign}{}.{:09}", nanos / billion, nanos % billion)
    }

    fn decode(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        let (sign, digits) = match text.strip_prefix('-') {
            Some(digits) => (-1, digits),
            None => (1, text),
        };
        let (seconds, nanos) = digits.split_once('.')?;
        let nanos: i128 = nanos.parse::<u32>().ok()?.into();
        let seconds: i128 = seconds.parse::<u64>().ok()?.into();
        let nanos = sign * (seconds * 1_000_000_000 + nanos);
        Some(Self {
            seconds: i64::try_from(nanos.div_euclid(1_000_000_000)).ok()?,
            nanos: u32::try_from(nanos.rem_euclid(1_000_000_000)).ok()?,
        })
    }
}

/// The last number stands for nobody, and would leave the owner as it is.
fn owner(number: u64) -> Option<u32> {
    u32::try_from(number)
        .ok()
        .filter(|number| *number < u32::MAX)
}

/// Writes what fits; whether all did.
fn fill(field: &mut [u8], text: &[u8]) -> bool {
    let length = text.len().min(field.len());
    field[..length].copy_from_slice(&text[..length]);
    length == text.len()
}

fn text(field: &[u8]) -> &[u8] {
    field.split(|byte| *byte == 0).next().unwrap_or_default()
}

fn number(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}
