#![allow(clippy::unwrap_used)]

use super::*;

const OWN: Ipv4Addr = Ipv4Addr::new(172, 17, 0, 2);

#[test]
fn reads_what_workerd_asks() {
    let cases = [
        (
            "CONNECT x HTTP/1.1\r\nX-Dst-Addr: 127.0.0.1:80\r\n\r\n",
            Request::Connect("127.0.0.1:80".parse().unwrap()),
        ),
        (
            "CONNECT x HTTP/1.1\r\nx-dst-addr: 172.17.0.2:80\r\n\r\n",
            Request::Connect("172.17.0.2:80".parse().unwrap()),
        ),
        ("GET /ca HTTP/1.1\r\n\r\n", Request::Certificate),
        (
            "PUT /egress HTTP/1.1\r\nContent-Length: 12\r\n\r\n",
            Request::Change(12),
        ),
    ];
    for (head, expected) in cases {
        assert_eq!(Request::parse(head.as_bytes(), OWN), expected, "{head:?}");
    }
}

#[test]
fn refuses_all_else() {
    let many = format!(
        "GET /ca HTTP/1.1\r\n{}\r\n",
        "A: b\r\n".repeat(MAX_HEADERS + 1)
    );
    let cases = [
        ("CONNECT x HTTP/1.1\r\n\r\n", "400 Bad Request"),
        (
            "CONNECT x HTTP/1.1\r\nX-Dst-Addr: 172.17.0.1:80\r\n\r\n",
            "400 Bad Request",
        ),
        (
            "CONNECT x HTTP/1.1\r\nX-Dst-Addr: 11.0.0.1:80\r\n\r\n",
            "400 Bad Request",
        ),
        (
            "CONNECT x HTTP/1.1\r\nX-Dst-Addr: 127.0.0.1:0\r\n\r\n",
            "400 Bad Request",
        ),
        (
            "CONNECT x HTTP/1.1\r\nX-Dst-Addr: localhost:80\r\n\r\n",
            "400 Bad Request",
        ),
        (
            "CONNECT x HTTP/1.1\r\nX-Dst-Addr: [::1]:80\r\n\r\n",
            "400 Bad Request",
        ),
        (
            "CONNECT x HTTP/1.1\r\nX-Dst-Addr: 127.0.0.1:80\r\nX-Dst-Addr: 127.0.0.1:81\r\n\r\n",
            "400 Bad Request",
        ),
        ("PUT /egress HTTP/1.1\r\n\r\n", "411 Length Required"),
        (
            "PUT /egress HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
            "411 Length Required",
        ),
        (
            "PUT /egress HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "411 Length Required",
        ),
        (
            "PUT /egress HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
            "400 Bad Request",
        ),
        (
            "PUT /egress HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n",
            "400 Bad Request",
        ),
        (
            "PUT /egress HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n",
            "413 Content Too Large",
        ),
        (
            "POST /egress HTTP/1.1\r\nContent-Length: 1\r\n\r\n",
            "404 Not Found",
        ),
        ("GET / HTTP/1.1\r\n\r\n", "404 Not Found"),
        ("GET /ca HTTP/1.1\r\nA b\r\n\r\n", "400 Bad Request"),
        ("\r\n\r\n", "400 Bad Request"),
        ("\0\r\n\r\n", "400 Bad Request"),
        (&many, "400 Bad Request"),
    ];
    for (head, status) in cases {
        assert_eq!(
            Request::parse(head.as_bytes(), OWN),
            Request::Refused(status),
            "{head:.80?}"
        );
    }
}
