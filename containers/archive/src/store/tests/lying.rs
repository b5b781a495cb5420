//! What a store may do wrong. Nothing of it hangs, takes much memory, or passes for the stream.
use cloister_protocol::backup::{AnnouncedFile, DIGEST_HEADER, NEXT_HEADER};

use super::memory::{digest, whole};
use super::server::{serve, Answer};
use super::*;

const PART: usize = 1000;

/// What comes of fetching from a store that always answers so; within a short time.
fn fetched(answer: impl Fn() -> Answer + Send + Sync + 'static) -> Result<Vec<u8>, StoreError> {
    let base = serve(move |_| answer());
    let start = Instant::now();
    let fetched = fetch_all(&store(&base, PART), "grant");
    assert!(start.elapsed() < Duration::from_secs(5));
    fetched
}

fn stored(
    bytes: usize,
    answer: impl Fn() -> Answer + Send + Sync + 'static,
) -> Result<Uploaded, StoreError> {
    let base = serve(move |_| answer());
    let start = Instant::now();
    let stored = store_all(&store(&base, PART), "grant", &noise(bytes));
    assert!(start.elapsed() < Duration::from_secs(5));
    stored
}

fn part(length: usize) -> (Vec<u8>, Vec<(&'static str, String)>) {
    let bytes = noise(length);
    let headers = vec![(DIGEST_HEADER, digest(&bytes))];
    (bytes, headers)
}

fn head(length: &str) -> Vec<u8> {
    let digest = digest(&noise(500));
    format!("HTTP/1.1 200 x\r\n{DIGEST_HEADER}: {digest}\r\n{length}\r\n").into_bytes()
}

#[test]
fn another_digest_is_refused() {
    let bad = |headers: Vec<(&'static str, String)>| {
        fetched(move || whole(200, headers.clone(), noise(500)))
    };
    let failed = Err(StoreError::Failed("digest"));
    assert_eq!(bad(vec![]), failed);
    assert_eq!(bad(vec![(DIGEST_HEADER, digest(b"other"))]), failed);
    let good = digest(&noise(500));
    assert_eq!(bad(vec![(DIGEST_HEADER, good.to_uppercase())]), failed);
    assert_eq!(bad(vec![(DIGEST_HEADER, good[..63].to_owned())]), failed);
    let twice = vec![(DIGEST_HEADER, good.clone()), (DIGEST_HEADER, good.clone())];
    assert_eq!(bad(twice), Err(StoreError::Failed("header")));
    assert_eq!(bad(vec![(DIGEST_HEADER, good)]), Ok(noise(500)));
}

#[test]
fn nothing_of_a_bad_part_is_handed_on() {
    let base = serve(|request| match request.grant.as_str() {
        "grant" => {
            let (bytes, mut headers) = part(PART);
            headers.push((NEXT_HEADER, "second".to_owned()));
            whole(200, headers, bytes)
        }
        _ => whole(200, vec![(DIGEST_HEADER, digest(b"other"))], noise(500)),
    });
    let mut download = store(&base, PART).download("grant");
    let mut bytes = Vec::new();
    assert!(download.read_to_end(&mut bytes).is_err());
    assert_eq!(bytes, noise(PART));
    assert!(download.read(&mut [0]).is_err(), "an error is not the end");
}

#[test]
fn a_length_that_is_not_true_is_refused() {
    let failed = Err(StoreError::Failed("length"));
    let raw = |length: &str, bytes: usize| {
        let answer = [head(length), noise(bytes)].concat();
        fetched(move || Answer::Raw(answer.clone()))
    };
    assert_eq!(raw("content-length: 500\r\n", 500), Ok(noise(500)));
    assert_eq!(raw("content-length: 1001\r\n", 1001), failed);
    // Nothing is allocated for it.
    assert_eq!(raw("content-length: 9223372036854775807\r\n", 500), failed);
    assert_eq!(
        raw("content-length: 600\r\n", 500),
        Err(StoreError::Failed("body"))
    );
    assert_eq!(
        raw("content-length: 400\r\n", 500),
        Err(StoreError::Failed("digest"))
    );
    // Without one the end of the connection is the end, and the digest decides.
    assert_eq!(raw("", 500), Ok(noise(500)));
    assert_eq!(raw("", 499), Err(StoreError::Failed("digest")));
    assert_eq!(raw("", 1001), failed);
    let empty = vec![(DIGEST_HEADER, digest(b""))];
    let empty = fetched(move || whole(200, empty.clone(), vec![]));
    assert_eq!(empty, Err(StoreError::Failed("empty")));
}

#[test]
fn a_flood_is_refused() {
    let flood = |start: Vec<u8>| fetched(move || Answer::Flood(start.clone()));
    assert_eq!(
        flood([head(""), vec![7; 100_000]].concat()),
        Err(StoreError::Failed("length"))
    );
    let headers = b"HTTP/1.1 200 x\r\nmany: headers\r\n".to_vec();
    assert_eq!(flood(headers), Err(StoreError::Failed("request")));
    let endless = flood(vec![b'x'; 10_000]);
    assert_eq!(endless, Err(StoreError::Failed("request")));
}

#[test]
fn a_store_that_does_not_answer_times_out() {
    let long = Duration::from_secs(60);
    let silent = fetched(move || Answer::Stall(vec![], long));
    assert_eq!(silent, Err(StoreError::Failed("timeout")));
    let half = [head("content-length: 500\r\n"), noise(100)].concat();
    let half = fetched(move || Answer::Stall(half.clone(), long));
    assert_eq!(half, Err(StoreError::Failed("body")));
    let silent = stored(1500, move || Answer::Stall(vec![], long));
    assert_eq!(silent, Err(StoreError::Failed("timeout")));
}

#[test]
fn a_store_that_goes_away_fails() {
    let gone = fetched(|| Answer::Raw(vec![]));
    assert_eq!(gone, Err(StoreError::Failed("request")));
    let gone = stored(1500, || Answer::Raw(vec![]));
    assert_eq!(gone, Err(StoreError::Failed("request")));
    let nobody = store("http://127.0.0.1:1", PART);
    assert!(matches!(
        fetch_all(&nobody, "grant"),
        Err(StoreError::Failed(_))
    ));
    let unknown = store("http://backup.invalid", PART);
    assert!(matches!(
        fetch_all(&unknown, "grant"),
        Err(StoreError::Failed(_))
    ));
}

#[test]
fn a_part_after_a_short_one_is_refused() {
    let short = fetched(|| {
        let (bytes, mut headers) = part(PART - 1);
        headers.push((NEXT_HEADER, "next".to_owned()));
        whole(200, headers, bytes)
    });
    assert_eq!(short, Err(StoreError::Failed("short")));
}

#[test]
fn parts_without_end_are_refused() {
    let base = serve(|_| {
        let (bytes, mut headers) = part(1);
        headers.push((NEXT_HEADER, "next".to_owned()));
        whole(200, headers, bytes)
    });
    let mut download = store(&base, 1).download("grant");
    let mut bytes = Vec::new();
    let error = download.read_to_end(&mut bytes).unwrap_err();
    assert_eq!(StoreError::of(&error), StoreError::Failed("parts"));
    assert_eq!(bytes.len(), 1024);
}

#[test]
fn a_next_grant_that_is_none_is_refused() {
    for next in ["", "a/b", "http://elsewhere", "a b"] {
        let fetched = fetched(move || {
            let (bytes, mut headers) = part(PART);
            headers.push((NEXT_HEADER, next.to_owned()));
            whole(200, headers, bytes)
        });
        assert_eq!(fetched, Err(StoreError::Failed("grant")), "{next}");
        let headers = vec![(NEXT_HEADER, next.to_owned())];
        let stored = stored(1500, move || whole(200, headers.clone(), vec![]));
        assert_eq!(stored, Err(StoreError::Failed("grant")), "{next}");
    }
}

#[test]
fn a_status_says_what_is_wrong() {
    for (status, error) in [
        (403, StoreError::Refused),
        (413, StoreError::TooLarge),
        (201, StoreError::Failed("status")),
        (404, StoreError::Failed("status")),
        (500, StoreError::Failed("status")),
    ] {
        assert_eq!(fetched(move || whole(status, vec![], vec![])), Err(error));
        assert_eq!(
            stored(10, move || whole(status, vec![], vec![])),
            Err(error)
        );
        assert_eq!(
            stored(100_000, move || whole(status, vec![], vec![])),
            Err(error)
        );
    }
    // Nobody is sent elsewhere.
    let elsewhere = || vec![("location", "http://127.0.0.1:1/other".to_owned())];
    let moved = fetched(move || whole(307, elsewhere(), vec![]));
    assert_eq!(moved, Err(StoreError::Failed("status")));
}

#[test]
fn no_next_grant_means_too_large() {
    let stored = stored(1500, || whole(200, vec![], vec![]));
    assert_eq!(stored, Err(StoreError::TooLarge));
}

#[test]
fn an_answer_to_an_announcement_makes_sense() {
    let file = |path: &str| AnnouncedFile {
        path: path.to_owned(),
        bytes: 1,
        sha256: "0".repeat(64),
    };
    let files = vec![file("a"), file("b")];
    let announcement = Announcement { files };
    let answer = |body: &str| {
        let body = body.as_bytes().to_vec();
        let base = serve(move |_| whole(200, vec![], body.clone()));
        store(&base, PART).announce("grant", &announcement)
    };
    assert!(answer(r#"{"files":[{"index":0,"grant":"g"},{"index":1,"grant":"h"}]}"#).is_ok());
    assert!(answer(r#"{"files":[]}"#).is_ok());
    for (body, code) in [
        (r#"{"files":[{"index":2,"grant":"g"}]}"#, "wanted"),
        (
            r#"{"files":[{"index":1,"grant":"g"},{"index":0,"grant":"h"}]}"#,
            "wanted",
        ),
        (
            r#"{"files":[{"index":1,"grant":"g"},{"index":1,"grant":"h"}]}"#,
            "wanted",
        ),
        (r#"{"files":[{"index":-1,"grant":"g"}]}"#, "json"),
        (r#"{"files":[],"more":1}"#, "json"),
        ("", "json"),
        (&" ".repeat((1 << 20) + 1), "length"),
    ] {
        assert_eq!(answer(body), Err(StoreError::Failed(code)));
    }
}
