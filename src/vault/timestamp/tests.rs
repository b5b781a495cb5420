#![allow(clippy::unwrap_used)]
use super::*;
use proptest::prelude::*;

#[test]
fn known_instants() {
    for (text, seconds) in [
        ("1970-01-01T00:00:00Z", 0),
        ("2000-02-29T12:00:00z", 951_825_600),
        ("2026-12-01t04:00:00-02:30", 1_796_106_600),
        ("2016-12-31T23:59:60Z", 1_483_228_800),
        ("9999-12-31T23:59:59Z", 253_402_300_799),
        ("1969-07-20T20:17:40Z", 0),
        ("0000-01-01T00:00:00Z", 0),
    ] {
        assert_eq!(parse(text), Some(seconds), "{text}");
    }
    assert_eq!(write(u64::MAX), "9999-12-31T23:59:59Z");
}

#[test]
fn what_is_no_instant() {
    for text in [
        "",
        "2026-01-01",
        "2026-01-01T00:00:00",
        "2026-01-01 00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-01-00T00:00:00Z",
        "2026-04-31T00:00:00Z",
        "2100-02-29T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z",
        "2026-01-01T00:00:61Z",
        "2026-01-01T00:00:00.Z",
        "2026-01-01T00:00:00+0100",
        "2026-01-01T00:00:00+24:00",
        "2026-01-01T00:00:00Zx",
        "+026-01-01T00:00:00Z",
        "2026-01-01T-1:00:00Z",
        "2026-01-0\u{e9}T00:00:00Z",
        "1796097600",
    ] {
        assert_eq!(parse(text), None, "{text}");
    }
}

proptest! {
    #[test]
    fn what_is_written_reads_the_same(seconds in 0..=253_402_300_799u64) {
        prop_assert_eq!(parse(&write(seconds)), Some(seconds));
    }

    #[test]
    fn no_text_breaks_it(text in "\\PC{0,40}") {
        let _ = parse(&text);
    }
}
