//! The header that names a download (RFC 6266). The name comes from a sandbox: nothing in it ends the header, or leads a
//! client out of the folder that it saves to.

/// What a file without a usable name is called.
const UNNAMED: &str = "artifact";

/// `content-disposition` for the file at `path`: its last segment, once in plain ASCII and once as it is.
pub fn disposition(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or_default();
    let name: String = name.chars().map(harmless).collect();
    let name = match name.trim_matches(['.', ' ']) {
        "" => UNNAMED,
        _ => name.as_str(),
    };
    let plain: String = name.chars().map(plain).collect();
    format!(
        "attachment; filename=\"{plain}\"; filename*=UTF-8''{}",
        encoded(name)
    )
}

/// Not what separates folders somewhere, controls anything, or shows a name in another order than it has.
fn harmless(c: char) -> char {
    match c {
        '\\' | '/' | ':' | '\u{200e}' | '\u{200f}' | '\u{061c}' => '_',
        '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '_',
        c if c.is_control() => '_',
        c => c,
    }
}

/// For clients that know only this form. Some decode escapes in it, so that there is none.
fn plain(c: char) -> char {
    match c {
        '"' | '%' => '_',
        ' '..='~' => c,
        _ => '_',
    }
}

/// RFC 8187: all but `attr-char` as escapes of UTF-8.
fn encoded(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"!#$&+-.^_`|~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

#[cfg(test)]
mod tests;
