#![allow(clippy::unwrap_used)]
use super::*;

/// All lines, when the bytes arrive `chunk` at a time; and how many were dropped.
fn lines(bytes: &[u8], chunk: usize, max: usize) -> (Vec<String>, u64) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut lines = Lines::new(BufReader::with_capacity(chunk, bytes), max);
        let mut all = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            all.push(String::from_utf8(line).unwrap());
        }
        (all, lines.dropped)
    })
}

#[test]
fn lines_are_whole_however_they_arrive() {
    let text = "a\n\nüü\nunfinished".as_bytes();
    for chunk in 1..=text.len() + 1 {
        assert_eq!(lines(text, chunk, 4).0, ["a", "", "üü"], "{chunk}");
    }
}

#[test]
fn a_long_line_is_dropped_alone() {
    let text = b"1234\n12345\n123456789\n12\n";
    for chunk in 1..=text.len() {
        let (lines, dropped) = lines(text, chunk, 4);
        assert_eq!(
            (lines, dropped),
            (vec!["1234".to_owned(), "12".to_owned()], 2),
            "{chunk}"
        );
    }
}
