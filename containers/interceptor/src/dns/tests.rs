#![allow(clippy::unwrap_used)]

use super::*;

fn settings() -> Settings {
    Settings::new(1)
        .updated(br#"{"dns":{"allowHostnames":["*.example","single"]}}"#)
        .unwrap()
}

/// A query by hand, so that the library does not check itself.
fn query(labels: &[&[u8]], kind: u16, class: u16) -> Vec<u8> {
    let mut bytes = vec![0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in labels {
        bytes.push(u8::try_from(label.len()).unwrap());
        bytes.extend_from_slice(label);
    }
    bytes.push(0);
    bytes.extend(kind.to_be_bytes());
    bytes.extend(class.to_be_bytes());
    bytes
}

fn code_and_count(answer: &[u8]) -> (u8, u8) {
    (answer[3] & 15, answer[7])
}

#[test]
fn allowed_names_have_the_placeholder_and_no_ipv6() {
    for labels in [
        &[b"a".as_slice(), b"example"][..],
        &[b"A-1_x", b"b", b"EXAMPLE"],
        &[b"single"],
    ] {
        let asked = query(labels, 1, 1);
        let answer = answer(&asked, &settings()).unwrap();
        assert_eq!(
            (answer[..2].to_vec(), code_and_count(&answer)),
            (vec![0x12, 0x34], (0, 1)),
            "{labels:?}"
        );
        assert_eq!(
            answer[2] & 0x81,
            0x81,
            "a response that keeps recursion desired"
        );
        assert!(answer.ends_with(&[11, 0, 0, 1]));
        assert_eq!(
            answer[12..asked.len()],
            asked[12..],
            "the question as it was, in its case"
        );
    }
    for kind in [28, 15, 16, 65, 255] {
        let answer = answer(&query(&[b"a", b"example"], kind, 1), &settings()).unwrap();
        assert_eq!(code_and_count(&answer), (0, 0), "type {kind}");
    }
}

#[test]
fn other_names_do_not_exist() {
    let cases: [&[&[u8]]; 7] = [
        &[b"example"],
        &[b"a", b"example", b"org"],
        &[],
        // A dot within a label is no border between labels.
        &[b"a.example"],
        &[b"x", b"a.example"],
        &[b"\0", b"example"],
        &[b"\xc3\xa4", b"example"],
    ];
    for labels in cases {
        let answer = answer(&query(labels, 1, 1), &settings()).unwrap();
        assert_eq!(code_and_count(&answer), (3, 0), "{labels:?}");
    }
}

#[test]
fn hostile_queries_get_an_error_or_nothing() {
    let good = query(&[b"a", b"example"], 1, 1);
    for length in 0..good.len() {
        let answer = answer(&good[..length], &settings());
        assert_eq!(
            answer.map(|answer| code_and_count(&answer)),
            (length >= HEADER_BYTES).then_some((1, 0)),
            "{length}"
        );
    }
    let changed = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        answer(&bytes, &settings()).map(|answer| code_and_count(&answer))
    };
    assert_eq!(changed(2, 0x81), None, "a response is never answered");
    assert_eq!(changed(2, 0x28), Some((4, 0)), "an update");
    assert_eq!(changed(5, 2), Some((1, 0)), "two questions");
    assert_eq!(changed(4, 0xff), Some((1, 0)), "very many questions");
    // A name that points at itself.
    let mut pointer = good[..HEADER_BYTES].to_vec();
    pointer.extend([0xc0, 12, 0, 1, 0, 1]);
    assert!(answer(&pointer, &settings()).is_some_and(|answer| code_and_count(&answer) != (0, 1)));
    // Every single byte, changed: never a panic, and only ever a response.
    for at in 0..good.len() {
        for byte in 0..=255 {
            let mut bytes = good.clone();
            bytes[at] = byte;
            if let Some(answer) = answer(&bytes, &settings()) {
                assert!(answer[2] & 0x80 != 0 && answer.len() < 512, "{at} {byte}");
            }
        }
    }
}
