//! Archives of a form that the packer knows, with entries that it would never write.

/// A file.
pub fn file(path: &str, bytes: &[u8]) -> Vec<u8> {
    let mut entry = header(path, b'0', "", bytes.len() as u64);
    entry.extend(bytes);
    entry.resize(entry.len().next_multiple_of(512), 0);
    entry
}

/// An entry of a type that has a target and no bytes.
pub fn link(path: &str, kind: u8, target: &str) -> Vec<u8> {
    header(path, kind, target, 0)
}

/// Records and header of an entry.
pub fn header(path: &str, kind: u8, target: &str, bytes: u64) -> Vec<u8> {
    let records = b"21 mtime=1.000000000\n";
    let mut entry = block("PaxHeaders/x", b'x', "", records.len() as u64, None);
    entry.extend(records);
    entry.resize(1024, 0);
    entry.extend(block(path, kind, target, bytes, Some(1)));
    entry
}

/// A header. What describes another entry has neither owner nor time.
fn block(path: &str, kind: u8, target: &str, bytes: u64, time: Option<u64>) -> Vec<u8> {
    let mut block = vec![0; 512];
    let mut put = |at: usize, text: &[u8]| block[at..at + text.len()].copy_from_slice(text);
    put(0, path.as_bytes());
    put(100, b"0000644");
    if time.is_some() {
        put(108, b"0000000");
        put(116, b"0000000");
    }
    // The largest that the field can say.
    put(
        124,
        format!("{:011o}", bytes.min(0o77_777_777_777)).as_bytes(),
    );
    put(136, format!("{:011o}", time.unwrap_or(0)).as_bytes());
    put(148, b"        ");
    put(156, &[kind]);
    put(157, target.as_bytes());
    put(257, b"ustar");
    put(263, b"00");
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:07o}\0").as_bytes());
    block
}

/// Compresses an archive and its end, with so many zeros between.
pub fn zstd(entries: &[Vec<u8>], zeros: u64) -> Vec<u8> {
    const RAW: u32 = 0;
    const REPEATED: u32 = 1;
    // The magic number, no options, and a window of 1 MiB.
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x50];
    let mut block = |kind: u32, size: u32, last: u32, bytes: &[u8]| {
        frame.extend(&(last | kind << 1 | size << 3).to_le_bytes()[..3]);
        frame.extend(bytes);
    };
    let whole = entries.concat();
    for piece in whole.chunks(100_000) {
        block(RAW, piece.len() as u32, 0, piece);
    }
    const MOST: u32 = 128 << 10;
    for _ in 0..zeros / u64::from(MOST) {
        block(REPEATED, MOST, 0, &[0]);
    }
    block(REPEATED, 1024, 1, &[0]);
    frame
}
