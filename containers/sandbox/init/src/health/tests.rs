#![allow(clippy::unwrap_used)]
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::time::{Duration, Instant};

use super::probe::is_ready;
use super::{Health, Probe};

const SECOND: Duration = Duration::from_secs(1);

/// Health after tries that began so many seconds after the start, and were answered or not.
fn health(started: Instant, tries: &[(u32, bool)]) -> Health {
    let mut health = Health::new(started);
    for &(at, answered) in tries {
        health.note(Probe {
            begun: started + SECOND * at,
            answered,
        });
    }
    health
}

#[test]
fn a_server_is_stuck_after_long_silence_and_several_tries() {
    let start = Instant::now();
    let silent = health(
        start,
        &[(2, true), (4, true), (6, false), (13, false), (20, false)],
    );
    assert!(!silent.is_stuck(start + SECOND * 18));
    assert!(silent.is_stuck(start + SECOND * 19));
}

#[test]
fn a_slow_or_paused_server_is_not_stuck() {
    let start = Instant::now();
    // Many tries, but the last answer is not long ago.
    let slow = health(start, &[(2, true), (4, false), (6, false), (8, false)]);
    assert!(!slow.is_stuck(start + SECOND * 10));
    // One answer forgives everything before.
    let back = health(
        start,
        &[(2, true), (4, false), (9, false), (14, false), (21, true)],
    );
    assert!(!back.is_stuck(start + SECOND * 30));
    // The whole container stood still for an hour.
    let paused = health(start, &[(2, true), (4, false), (3604, false)]);
    assert!(!paused.is_stuck(start + SECOND * 3609));
}

#[test]
fn a_start_may_take_longer_but_not_for_ever() {
    let start = Instant::now();
    let tries: Vec<_> = (1..20).map(|n| (n * 2, false)).collect();
    let starting = health(start, &tries);
    assert!(!starting.is_stuck(start + SECOND * 59));
    assert!(starting.is_stuck(start + SECOND * 60));
}

#[test]
fn tries_of_an_earlier_server_do_not_count() {
    let start = Instant::now() + SECOND * 100;
    let mut health = Health::new(start);
    for answered in [true, false, false, false] {
        health.note(Probe {
            begun: start - SECOND,
            answered,
        });
    }
    assert!(!health.is_stuck(start + SECOND * 70));
    assert!(health.answered.is_none());
}

/// A server that reads the request, then sends these pieces and holds the connection.
fn server(pieces: &'static [&'static [u8]], pause: Duration) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 512];
        let read = stream.read(&mut request).unwrap();
        assert!(request[..read].starts_with(b"GET /readyz HTTP/1.1\r\n"));
        for piece in pieces {
            std::thread::sleep(pause);
            if stream.write_all(piece).is_err() {
                return;
            }
        }
        std::thread::sleep(SECOND * 5);
    });
    address
}

#[test]
fn an_answer_is_read_in_bounds() {
    let quick = Duration::ZERO;
    let ask = |server, time| is_ready(server, Instant::now() + time).unwrap_or(false);
    assert!(ask(server(&[b"HTTP/1.1 200 OK\r\n\r\n"], quick), SECOND));
    assert!(ask(server(&[b"HTTP/1.1", b" 200 OK\r\n"], quick), SECOND));
    assert!(!ask(server(&[b"HTTP/1.1 503 No\r\n\r\n"], quick), SECOND));
    assert!(!ask(server(&[b"HTTP/1.1 2000"], quick), SECOND));

    // Silence, and drops that each come in time.
    let begun = Instant::now();
    assert!(!ask(server(&[], quick), SECOND / 5));
    let drops: &[&[u8]] = &[b"H", b"T", b"T", b"P", b"/", b"1", b".", b"1", b" "];
    assert!(!ask(server(drops, SECOND / 10), SECOND / 5));
    // The kernel takes connections for a stopped program.
    let stopped = TcpListener::bind("127.0.0.1:0").unwrap();
    assert!(!ask(stopped.local_addr().unwrap(), SECOND / 5));
    assert!(begun.elapsed() < SECOND * 3);

    let closed = stopped.local_addr().unwrap();
    drop(stopped);
    assert!(!ask(closed, SECOND));
}
