#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use rustls::{crypto::ring, ClientConfig, ClientConnection, RootCertStore};

use super::*;

/// What a TLS client says first.
fn client_hello(name: &str) -> Vec<u8> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    let mut client =
        ClientConnection::new(Arc::new(config), name.to_owned().try_into().unwrap()).unwrap();
    let mut bytes = Vec::new();
    client.write_tls(&mut bytes).unwrap();
    bytes
}

#[test]
fn server_name_is_found_on_any_port_when_all_is_there() {
    let hello = client_hello("Some.Example");
    for port in [80, 443, 8443] {
        assert_eq!(
            Peek::at(&hello, port, false),
            Peek::Tls("some.example".to_owned())
        );
    }
    for length in 0..hello.len() {
        assert_eq!(
            Peek::at(&hello[..length], 443, false),
            Peek::More,
            "{length}"
        );
        assert_eq!(
            Peek::at(&hello[..length], 443, true),
            Peek::Nameless,
            "{length}"
        );
    }
    // An address is no name, and clients send none for it.
    assert_eq!(
        Peek::at(&client_hello("192.0.2.7"), 443, false),
        Peek::Nameless
    );
}

#[test]
fn server_name_is_found_across_records() {
    let hello = client_hello("some.example");
    let mut split = Vec::new();
    for part in hello[5..].chunks(50) {
        split.extend([0x16, 3, 1, 0, u8::try_from(part.len()).unwrap()]);
        split.extend_from_slice(part);
    }
    assert_eq!(
        Peek::at(&split, 443, false),
        Peek::Tls("some.example".to_owned())
    );
}

#[test]
fn host_is_found_on_port_80_only() {
    let cases = [
        (
            "GET / HTTP/1.1\r\nHost: A.example\r\n\r\n",
            Peek::Http("a.example".to_owned()),
        ),
        (
            "GET / HTTP/1.1\r\nAccept: *\r\nhOST:a.example:8080\r\n\r\nbody",
            Peek::Http("a.example".to_owned()),
        ),
        (
            "PROPFIND / HTTP/1.1\r\nHost: a\r\n\r\n",
            Peek::Http("a".to_owned()),
        ),
        ("GET / HTTP/1.1\r\nHost: a", Peek::More),
        ("G", Peek::More),
        ("GET / HTTP/1.1\r\n\r\n", Peek::Nameless),
        (
            "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
            Peek::Nameless,
        ),
        ("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", Peek::Nameless),
        ("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", Peek::Nameless),
        ("GET / HTTP/1.1\r\nHost: \r\n\r\n", Peek::Nameless),
        ("GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", Peek::Nameless),
        ("\0\0\0\0", Peek::Nameless),
        ("SSH-2.0-x\r\n", Peek::Nameless),
    ];
    for (bytes, expected) in cases {
        assert_eq!(Peek::at(bytes.as_bytes(), 80, false), expected, "{bytes:?}");
        let elsewhere = Peek::at(bytes.as_bytes(), 8080, false);
        assert_eq!(elsewhere, Peek::Nameless, "{bytes:?}");
    }
    assert_eq!(
        Peek::at(
            format!("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", "a".repeat(254)).as_bytes(),
            80,
            false
        ),
        Peek::Nameless
    );
}

#[test]
fn long_head_is_judged_by_its_whole_lines() {
    let head = |first: &str| {
        format!(
            "GET / HTTP/1.1\r\n{first}Cookie: {}",
            "x".repeat(MAX_PEEK_BYTES)
        )
    };
    let cut = |text: String| text.into_bytes()[..MAX_PEEK_BYTES].to_vec();
    assert_eq!(
        Peek::at(&cut(head("Host: a.example\r\n")), 80, false),
        Peek::Http("a.example".to_owned())
    );
    assert_eq!(Peek::at(&cut(head("")), 80, false), Peek::Nameless);
    assert_eq!(
        Peek::at(&vec![b'x'; MAX_PEEK_BYTES], 80, false),
        Peek::Nameless
    );
}

#[test]
fn hostile_bytes_never_panic_and_always_end() {
    let hello = client_hello("some.example");
    for at in 0..hello.len() {
        for byte in [0, 1, 0x16, 0x7f, 0x80, 0xff] {
            let mut bytes = hello.clone();
            bytes[at] = byte;
            assert_ne!(Peek::at(&bytes, 443, true), Peek::More, "{at} {byte}");
        }
    }
    for bytes in [
        vec![TLS_HANDSHAKE; MAX_PEEK_BYTES],
        [
            vec![TLS_HANDSHAKE, 3, 1, 0xff, 0xff],
            vec![1; MAX_PEEK_BYTES],
        ]
        .concat(),
    ] {
        assert_eq!(Peek::at(&bytes, 443, false), Peek::Nameless);
    }
    // Records without content, as many as fit.
    let empty: Vec<u8> = [TLS_HANDSHAKE, 3, 1, 0, 0].repeat(MAX_PEEK_BYTES / 5 + 1);
    assert_eq!(Peek::at(&empty, 443, false), Peek::Nameless);
}
