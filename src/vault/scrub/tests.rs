#![allow(clippy::unwrap_used)]
use super::*;
use proptest::collection::vec;
use proptest::prelude::*;

fn scrubbed<'a>(secrets: &[&str], chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let secrets: Vec<Secret> = secrets.iter().map(|text| Secret::new(*text)).collect();
    let mut scrubber = Scrubber::new(&secrets);
    let mut clean = Vec::new();
    for chunk in chunks {
        clean.extend(scrubber.push(chunk));
    }
    clean.extend(scrubber.finish());
    clean
}

#[test]
fn e14_a_secret_that_is_cut_is_found_and_lengths_stay() {
    let text = b"{\"authorization\":\"Bearer sk-canary-1\"}";
    let clean = b"{\"authorization\":\"Bearer ***********\"}";
    for cut in 0..=text.len() {
        let chunks = [&text[..cut], &text[cut..]];
        assert_eq!(scrubbed(&["sk-canary-1"], chunks), clean, "cut at {cut}");
    }
    let bytes = text.chunks(1);
    assert_eq!(scrubbed(&["sk-canary-1"], bytes), clean);
}

#[test]
fn what_overlaps_is_scrubbed_whole() {
    assert_eq!(
        scrubbed(&["abcabcab"], [&b"abcabcabcabx"[..]]),
        b"***********x"
    );
    let nested = ["secretsecret", "cretsecre"];
    assert_eq!(scrubbed(&nested, [&b"secretsecret."[..]]), b"************.");
    let crossing = ["aaaabbbb", "bbbbcccc"];
    assert_eq!(scrubbed(&crossing, [&b"aaaabbbbcccc"[..]]), b"************");
}

#[test]
fn a_beginning_that_comes_to_nothing_is_given_back() {
    let chunks = [&b"x sk-can"[..], b"ary", b" y", b"sk-"];
    assert_eq!(scrubbed(&["sk-canary-1"], chunks), b"x sk-canary ysk-");
}

#[test]
fn the_filling_is_in_no_secret() {
    // With a fixed one, what is left around a gap could be a secret again.
    assert_eq!(
        scrubbed(&["pass****"], [&b"passpass****"[..]]),
        b"pass~~~~~~~~"
    );
    let all: String = (' '..='~').collect();
    assert_eq!(scrubbed(&[&all], [all.as_bytes()]), vec![0; all.len()]);
}

#[test]
fn short_secrets_are_not_looked_for() {
    assert!(Scrubber::new(&[Secret::new("1234567")]).is_idle());
    assert!(!Scrubber::new(&[Secret::new("12345678")]).is_idle());
}

#[test]
fn headers_are_scrubbed_in_the_middle_of_a_body() {
    let secrets = [Secret::new("sk-canary-1")];
    let mut scrubber = Scrubber::new(&secrets);
    assert_eq!(scrubber.push(b"sk-can"), b"");
    assert_eq!(scrubber.header("a=sk-canary-1; b"), "a=***********; b");
    assert_eq!(scrubber.header("ary-1"), "ary-1");
    assert_eq!(scrubber.push(b"ary-1"), b"***********");
    let all: String = (' '..='~').collect();
    assert_eq!(Scrubber::new(&[Secret::new(&*all)]).header(&all), "");
}

#[test]
fn what_is_held_is_bounded() {
    let secret = Secret::new("a".repeat(1_000) + "b");
    let mut scrubber = Scrubber::new([&secret]);
    for _ in 0..1_000 {
        scrubber.push(&[b'a'; 4_096]);
        assert!(scrubber.held.len() < 1_001);
    }
}

/// What it does, said again: each byte of each occurrence, found by comparing everywhere.
fn reference(secrets: &[String], text: &[u8], filling: u8) -> Vec<u8> {
    let mut clean = text.to_vec();
    for secret in secrets {
        for at in 0..text.len() {
            if text[at..].starts_with(secret.as_bytes()) {
                clean[at..at + secret.len()].fill(filling);
            }
        }
    }
    clean
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_split_lets_a_secret_through(
        secrets in vec("[ab*]{8,10}", 1..4),
        pieces in vec(prop_oneof!["[ab*]{0,12}".prop_map(Err), (0..4usize).prop_map(Ok)], 0..12),
        cuts in vec(0..200usize, 0..12),
    ) {
        let text: String = pieces.iter().map(|piece| match piece {
            Ok(at) => secrets[at % secrets.len()].as_str(),
            Err(text) => text,
        }).collect();
        let text = text.as_bytes();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let chunks: Vec<&[u8]> = cuts.windows(2).map(|cut| &text[cut[0]..cut[1]]).collect();
        let names: Vec<&str> = secrets.iter().map(String::as_str).collect();
        let clean = scrubbed(&names, chunks);
        let filling = if names.iter().any(|secret| secret.contains('*')) { b'~' } else { b'*' };
        prop_assert_eq!(&clean, &reference(&secrets, text, filling));
        for secret in &secrets {
            prop_assert!(!clean.windows(secret.len()).any(|part| part == secret.as_bytes()));
        }
    }
}
