#![allow(clippy::unwrap_used)]
use super::*;
use proptest::prelude::*;

const ETAG: &str = "\"artifact_0\"";

fn of_ten(range: &str) -> Wanted {
    wanted(Some(range), None, ETAG, 10)
}

fn part(first: u64, bytes: u64) -> Wanted {
    Wanted::Part(Span { first, bytes })
}

#[test]
fn one_range_is_served() {
    for (range, answer) in [
        ("bytes=0-0", part(0, 1)),
        ("bytes=0-9", part(0, 10)),
        ("bytes=2-5", part(2, 4)),
        ("bytes=9-9", part(9, 1)),
        ("bytes=9-", part(9, 1)),
        ("bytes=0-", part(0, 10)),
        ("bytes=-1", part(9, 1)),
        ("bytes=-10", part(0, 10)),
        ("BYTES=2-5", part(2, 4)),
        ("bytes=0002-005", part(2, 4)),
        // What is longer than there is ends where it does.
        ("bytes=5-99", part(5, 5)),
        ("bytes=-99", part(0, 10)),
        ("bytes=5-99999999999999999999999999", part(5, 5)),
        ("bytes=-99999999999999999999999999", part(0, 10)),
    ] {
        assert_eq!(of_ten(range), answer, "{range}");
    }
}

#[test]
fn a_range_without_a_byte_is_not_satisfiable() {
    for range in [
        "bytes=10-",
        "bytes=10-10",
        "bytes=99999999999999999999999999-",
        "bytes=18446744073709551615-18446744073709551615",
        "bytes=-0",
    ] {
        assert_eq!(of_ten(range), Wanted::Nothing, "{range}");
    }
}

#[test]
fn anything_else_is_answered_with_the_whole() {
    for range in [
        "",
        "bytes",
        "bytes=",
        "bytes=-",
        "bytes=a-b",
        "bytes=5-2",
        "bytes=0-1,3-4",
        "bytes=0-1,",
        "bytes= 0-1",
        "bytes=0 -1",
        "bytes=+1-2",
        "bytes=0x1-2",
        "bytes=1--2",
        "bytes=--1",
        "bytes=٣-٤",
        "items=0-1",
        "=0-1",
        "0-1",
    ] {
        assert_eq!(of_ten(range), Wanted::Whole, "{range}");
    }
    assert_eq!(wanted(None, None, ETAG, 10), Wanted::Whole);
    assert_eq!(wanted(None, Some(ETAG), ETAG, 10), Wanted::Whole);
}

#[test]
fn of_an_empty_file_there_is_no_range() {
    for (range, answer) in [
        ("bytes=0-", Wanted::Nothing),
        ("bytes=0-0", Wanted::Nothing),
        ("bytes=-5", Wanted::Whole),
    ] {
        assert_eq!(wanted(Some(range), None, ETAG, 0), answer, "{range}");
    }
    assert_eq!(Span::whole(0).pieces(16), []);
}

#[test]
fn a_range_of_another_version_is_answered_with_the_whole() {
    let range = Some("bytes=2-5");
    assert_eq!(wanted(range, Some(ETAG), ETAG, 10), part(2, 4));
    for other in [
        "\"artifact_1\"",
        "artifact_0",
        "W/\"artifact_0\"",
        "",
        "*",
        "Mon, 30 Nov 2026 22:58:48 GMT",
    ] {
        assert_eq!(wanted(range, Some(other), ETAG, 10), Wanted::Whole);
    }
}

#[test]
fn content_range_names_the_first_and_the_last_byte() {
    let span = Span { first: 2, bytes: 4 };
    assert_eq!(span.content_range(10), "bytes 2-5/10");
    assert_eq!(Span::whole(1).content_range(1), "bytes 0-0/1");
}

/// What a client would have by taking the bytes that a range names out of the whole.
fn cut(data: &[u8], range: &str) -> Option<Vec<u8>> {
    let (first, last) = range.strip_prefix("bytes=")?.split_once('-')?;
    let size = data.len();
    let (from, to) = match (first.parse::<usize>(), last.parse::<usize>()) {
        (Ok(first), Ok(last)) => (first, (last + 1).min(size)),
        (Ok(first), Err(_)) => (first, size),
        (Err(_), Ok(last)) => (size - last.min(size), size),
        (Err(_), Err(_)) => return None,
    };
    data.get(from..to).map(<[u8]>::to_vec)
}

proptest! {
    /// The bytes of the pieces are those that were asked for, and none is outside its part.
    #[test]
    fn the_pieces_are_the_bytes_that_were_asked_for(
        data in prop::collection::vec(any::<u8>(), 0..200),
        part_bytes in 1usize..40,
        a in 0u64..220,
        b in 0u64..220,
        form in 0..3,
    ) {
        let range = match form {
            0 => format!("bytes={}-{}", a.min(b), a.max(b)),
            1 => format!("bytes={a}-"),
            _ => format!("bytes=-{a}"),
        };
        let parts: Vec<&[u8]> = data.chunks(part_bytes).collect();
        let size = data.len() as u64;
        let (span, expected) = match wanted(Some(&range), None, ETAG, size) {
            Wanted::Whole => (Span::whole(size), data.clone()),
            Wanted::Part(span) => (span, cut(&data, &range).unwrap()),
            Wanted::Nothing => {
                prop_assert!(cut(&data, &range).unwrap_or_default().is_empty());
                return Ok(());
            }
        };
        prop_assert_eq!(span.bytes, expected.len() as u64);
        let mut read = Vec::new();
        for Piece { part, span } in span.pieces(part_bytes as u64) {
            prop_assert!(span.bytes > 0);
            let from = span.first as usize;
            read.extend_from_slice(&parts[part][from..from + span.bytes as usize]);
        }
        prop_assert_eq!(read, expected);
    }

    /// Whatever a client writes there: an answer, and never more than there is.
    #[test]
    fn no_header_asks_for_more_than_there_is(range in "(bytes=)?[-0-9, a-z=]{0,40}", size in any::<u64>()) {
        match wanted(Some(&range), None, ETAG, size) {
            Wanted::Whole | Wanted::Nothing => {}
            Wanted::Part(span) => {
                prop_assert!(span.bytes > 0);
                prop_assert!(span.first.checked_add(span.bytes).unwrap() <= size);
            }
        }
    }
}
