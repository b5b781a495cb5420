#![allow(clippy::unwrap_used, clippy::expect_used)]
use std::io::{BufRead, BufReader};
use std::net::TcpListener;

use super::*;

const NONCE: &str = "00112233445566778899aabbccddeeff";

/// A border that answers each of the two names with these words.
fn border(allowed: &'static str, denied: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = String::new();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).unwrap() > 0 {}
            assert!(
                head.starts_with(&format!("GET /{NONCE} HTTP/1.1\r\n")),
                "{head}"
            );
            let words = match head.to_lowercase().contains(ALLOWED_HOST) {
                true => allowed,
                false => denied,
            };
            let answer = format!("HTTP/1.1 {words}\r\nconnection: close\r\n\r\n");
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    address
}

/// A listener that says this much to whoever connects, and closes.
fn server(words: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let _ = stream.unwrap().write_all(words);
        }
    });
    address
}

/// A listener that sends a head without an end, bit by bit.
fn endless() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            thread::spawn(move || {
                let mut piece: &[u8] = b"HTTP/1.1 204 No Content\r\nx-a: ";
                while stream.write_all(piece).is_ok() {
                    piece = b"a";
                    thread::sleep(Duration::from_millis(20));
                }
            });
        }
    });
    address
}

const GOOD: &str = "204 No Content\r\nx-cloister-egress: self_test";
const REFUSED: &str = "403 Forbidden\r\nx-cloister-egress: name_reserved\r\ncontent-length: 0";

fn probe(allowed: &'static str, denied: &'static str, raw: SocketAddr) -> Result<(), Exit> {
    run(NONCE, raw, Some(&border(allowed, denied)))
}

#[test]
fn a_border_that_answers_refuses_and_stops_is_right() {
    assert_eq!(probe(GOOD, REFUSED, server(b"")), Ok(()));
}

#[test]
fn what_gets_past_it_counts_before_all_else() {
    assert_eq!(probe(GOOD, REFUSED, server(b"\0")), Err(Exit::Open));
    assert_eq!(probe(REFUSED, GOOD, server(b"\0")), Err(Exit::Open));
}

#[test]
fn a_border_that_is_mute_or_another_one_is_not_right() {
    for answer in [
        "204 No Content",
        "204 No Content\r\nx-cloister-egress: other",
        "200 OK\r\ncontent-length: 0\r\nx-cloister-egress: self_test",
        "nonsense",
    ] {
        assert_eq!(
            probe(answer, REFUSED, server(b"")),
            Err(Exit::Mute),
            "{answer}"
        );
    }
    // What never comes to an end, and what nobody answers.
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = nobody.local_addr().unwrap().to_string();
    let begun = Instant::now();
    let raw = nobody.local_addr().unwrap();
    assert_eq!(run(NONCE, raw, Some(&silent)), Err(Exit::Mute));
    assert!(begun.elapsed() < Duration::from_secs(2));
    let begun = Instant::now();
    let endless = endless().to_string();
    assert_eq!(run(NONCE, raw, Some(&endless)), Err(Exit::Mute));
    assert!(begun.elapsed() < Duration::from_secs(2));
}

#[test]
fn a_border_that_refuses_nothing_is_not_right() {
    for answer in [
        GOOD,
        "403 Forbidden\r\ncontent-length: 0",
        "200 OK\r\ncontent-length: 0\r\nx-cloister-egress: name_reserved",
        "403 Forbidden\r\ncontent-length: 0\r\nx-cloister-egress: self_test",
    ] {
        assert_eq!(
            probe(GOOD, answer, server(b"")),
            Err(Exit::Lenient),
            "{answer}"
        );
    }
}
