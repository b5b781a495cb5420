//! Paths: below which prefix one is, if every reader would agree.

/// Whether a server, a proxy or a library on the way may read `path` as another one: dot segments and empty segments, raw
/// or coded; `\` and `;`; coded slashes, dots, percent signs and control bytes; broken codes; bytes outside ASCII.
pub fn is_ambiguous(path: &str) -> bool {
    let bytes = path.as_bytes();
    let odd = |b: u8| !b.is_ascii_graphic() || matches!(b, b'\\' | b';');
    bytes.windows(2).any(|pair| pair == b"//")
        || path.split('/').any(|segment| matches!(segment, "." | ".."))
        || bytes.iter().copied().any(odd)
        || bytes
            .iter()
            .enumerate()
            .filter(|&(_, &byte)| byte == b'%')
            .any(|(at, _)| match bytes.get(at + 1..at + 3) {
                Some(&[high, low]) => is_ambiguous_code(high, low),
                Some(_) | None => true,
            })
}

fn is_ambiguous_code(high: u8, low: u8) -> bool {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let (Some(high), Some(low)) = (digit(high), digit(low)) else {
        return true;
    };
    let byte = (high << 4 | low) as u8;
    byte.is_ascii_control() || matches!(byte, b'/' | b'\\' | b'.' | b'%' | b';')
}

/// Whether `path` is `prefix` or below it: `/v1` takes `/v1` and `/v1/a`, not `/v10`; `/v1/` takes what begins with it.
/// Bytes are compared as they are, so a coded letter is another letter.
pub fn is_below(path: &str, prefix: &str) -> bool {
    path.strip_prefix(prefix)
        .is_some_and(|rest| rest.is_empty() || prefix.ends_with('/') || rest.starts_with('/'))
}
