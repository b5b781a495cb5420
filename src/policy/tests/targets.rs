//! How URLs are read.
use super::super::target::Target;
use super::super::{limits::MAX_URL_BYTES, path, Reason, Scheme};
use proptest::prelude::*;

fn read(url: &str) -> Result<String, Reason> {
    Target::parse(url).map(|target| target.to_string())
}

#[test]
fn urls_are_read_whole() {
    let target = Target::parse("https://a.com:8443/x/?y?z").unwrap();
    assert_eq!((target.scheme, target.port), (Scheme::Https, 8443));
    assert_eq!((target.path, target.query), ("/x/", Some("y?z")));
    assert_eq!(read("HTTP://A.com").unwrap(), "http://a.com/");
    assert_eq!(read("http://a.com?").unwrap(), "http://a.com/?");
    assert_eq!(read("http://a.com:80/b").unwrap(), "http://a.com/b");
    assert_eq!(
        read("http://[2606:4700:0:0::1111]:81/").unwrap(),
        "http://[2606:4700::1111]:81/"
    );
}

#[test]
fn what_is_no_http_url_is_refused() {
    for url in [
        "ftp://a.com/",
        "file:///etc/passwd",
        "ws://a.com/",
        "javascript:x",
        "data:,",
        "://a.com",
        " http://a.com",
        "view-source:http://a.com",
    ] {
        assert_eq!(read(url), Err(Reason::SchemeUnknown), "{url}");
    }
    let long = format!("http://a.com/{}", "a".repeat(MAX_URL_BYTES));
    for url in [
        "",
        "a.com",
        "http:a.com",
        "http:/a.com",
        "http:\\\\a.com",
        "http://a.com/#x",
        "http://a.com/a b",
        "http://a.com/\r\nX: y",
        "http://a.com/?\0",
        "http://a.com/\t",
        "http://a.com/\x7f",
        &long,
    ] {
        assert_eq!(read(url), Err(Reason::UrlMalformed), "{url}");
    }
    for url in [
        "http:///a.com",
        "http://a.com#@b.com/",
        "http://a.com\\@b.com/",
        "http://a.com\\.b.com/",
        "http://?a.com",
        "http://[::1]x:1/",
    ] {
        assert!(
            matches!(read(url), Err(Reason::HostMalformed | Reason::Userinfo)),
            "{url}"
        );
    }
}

#[test]
fn ports_are_plain_numbers_from_1_to_65535() {
    for port in [
        "0",
        "00",
        "080",
        "65536",
        "99999999999",
        "",
        "+80",
        "-1",
        " 80",
        "8 0",
        "0x50",
        "80a",
        "1:1",
        "٨",
    ] {
        assert_eq!(
            read(&format!("http://a.com:{port}/")),
            Err(Reason::PortInvalid),
            "{port}"
        );
    }
    assert!(read("http://a.com:65535/").is_ok() && read("http://a.com:1").is_ok());
}

/// Pieces that readers of URLs have disagreed about.
fn piece() -> impl Strategy<Value = String> {
    let nasty = [
        "a",
        "com",
        "A",
        ".",
        "..",
        "/",
        "//",
        "\\",
        "@",
        ":",
        "80",
        "443",
        "0",
        "?",
        "#",
        "%",
        "%2e",
        "%2F",
        "%00",
        "[",
        "]",
        "::1",
        "127.0.0.1",
        "0x7f",
        "1",
        "08",
        "256",
        "-",
        "_",
        "~",
        ";",
        "&",
        "=",
        " ",
        "\t",
        "\n",
        "\0",
        "é",
        "。",
        "ａ",
        "xn--",
        "\u{ad}",
        "|",
        "<",
        "\"",
        "{",
        "^",
    ];
    prop_oneof![4 => prop::sample::select(nasty.to_vec()).prop_map(str::to_owned), 1 => any::<String>()]
}

fn url() -> impl Strategy<Value = String> {
    let scheme = prop::sample::select(vec![
        "http://", "https://", "HTTPS://", "http:", "ftp://", "",
    ]);
    let host = prop_oneof![Just("h.com".to_owned()), Just(String::new())];
    (scheme, host, prop::collection::vec(piece(), 0..8))
        .prop_map(|(scheme, host, pieces)| format!("{scheme}{host}{}", pieces.concat()))
}

/// The WHATWG's algorithm codes these in a path.
fn is_coded(path: &str) -> bool {
    path.contains(['"', '<', '>', '^', '`', '{', '|', '}'])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    /// What is accepted is what the WHATWG's algorithm finds, also in the spelling that is dialled. It may refuse more: it
    /// looks into A-labels.
    #[test]
    fn the_whatwg_reads_the_same(url in url()) {
        let Ok(target) = Target::parse(&url) else { return Ok(()) };
        for text in [url.clone(), target.to_string()] {
            let theirs = match url::Url::parse(&text) {
                Ok(theirs) => theirs,
                Err(error) => {
                    prop_assert!(text.to_lowercase().contains("xn--"), "{text:?}: {error}");
                    continue;
                }
            };
            let host = theirs.host_str().unwrap();
            prop_assert_eq!(host.strip_suffix('.').unwrap_or(host), target.host.to_string());
            prop_assert_eq!(theirs.port_or_known_default(), Some(target.port));
            prop_assert_eq!(theirs.scheme(), target.scheme.as_str());
            prop_assert_eq!((theirs.username(), theirs.password(), theirs.fragment()), ("", None, None));
            if !path::is_ambiguous(target.path) && !is_coded(target.path) {
                prop_assert_eq!(theirs.path(), target.path);
            }
        }
        let spelled = target.to_string();
        let again = Target::parse(&spelled).unwrap();
        prop_assert_eq!(&again, &target);
    }
}
