//! Texts of bounded length.

/// The longest start of `text` that has at most `max` bytes and ends between characters.
pub fn cut(mut text: String, max: usize) -> String {
    if text.len() > max {
        let end = (0..=max)
            .rev()
            .find(|i| text.is_char_boundary(*i))
            .unwrap_or(0);
        text.truncate(end);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_between_characters() {
        for (text, max, expected) in [
            ("abc", 3, "abc"),
            ("abc", 2, "ab"),
            ("abc", 0, ""),
            ("aä", 2, "a"),
            ("aä", 3, "aä"),
            ("€€", 5, "€"),
            ("😀", 3, ""),
            ("", 0, ""),
        ] {
            assert_eq!(cut(text.to_owned(), max), expected, "{text} {max}");
        }
    }
}
