use super::*;

const URL: &str = "https://a.example.com/v1";

#[test]
fn a_placeholder_becomes_the_secret_in_authorization_and_named_headers() {
    let bearer = format!("Bearer {}", ph(1));
    let twice = format!("{},{}", ph(1), ph(1));
    let headers = [
        ("AUTHORIZATION", bearer.as_str()),
        ("x-api-key", &twice),
        ("x-other", &bearer),
        ("cookie", &bearer),
    ];
    let sent = send(&injector(), &policy(), URL, &headers);
    assert_eq!(sent.value("AUTHORIZATION"), format!("Bearer {A}"));
    assert_eq!(sent.value("x-api-key"), format!("{A},{A}"));
    assert_eq!(
        (sent.value("x-other"), sent.value("cookie")),
        (&*bearer, &*bearer)
    );
    assert_eq!(sent.counts(), [("a", 3)]);
}

#[test]
fn it_is_found_inside_basic() {
    for (user, padded) in [("x", true), ("xy", false), ("", true)] {
        let pair = format!("{user}:{}", ph(1));
        let mut encoded = STANDARD.encode(&pair);
        if !padded {
            encoded = encoded.trim_end_matches('=').to_owned();
        }
        let header = format!("basic {encoded}");
        let sent = send(&injector(), &policy(), URL, &[("authorization", &header)]);
        let wanted = STANDARD.encode(format!("{user}:{A}"));
        assert_eq!(sent.value("authorization"), format!("basic {wanted}"));
        assert_eq!(sent.counts(), [("a", 1)]);
    }
    // Basic is Authorization's alone.
    let header = format!("Basic {}", STANDARD.encode(format!("x:{}", ph(1))));
    let sent = send(&injector(), &policy(), URL, &[("x-api-key", &header)]);
    assert_eq!((sent.value("x-api-key"), sent.counts()), (&*header, vec![]));
}

#[test]
fn a_url_keeps_its_placeholder() {
    let url = format!("https://a.example.com/{0}?key={0}", ph(1));
    let bearer = format!("Bearer {}", ph(1));
    let sent = send(&injector(), &policy(), &url, &[("authorization", &bearer)]);
    assert_eq!(sent.url, Some(url));
    assert_eq!(sent.counts(), [("a", 1)]);
}

#[test]
fn only_https_on_its_two_ports() {
    let bearer = format!("Bearer {}", ph(1));
    for (url, times) in [
        ("https://a.example.com/", 1),
        ("https://A.example.com.:443/", 1),
        ("https://a.example.com:8443/", 1),
        ("https://a.example.com:444/", 0),
        ("https://a.example.com:80/", 0),
        ("http://a.example.com/", 0),
        ("http://a.example.com:443/", 0),
        ("http://a.example.com:8443/", 0),
        ("https://www.a.example.com/", 0),
        ("https://example.com/", 0),
    ] {
        let sent = send(&injector(), &policy(), url, &[("authorization", &bearer)]);
        assert!(sent.url.is_some(), "{url}");
        assert_eq!(sent.counts().len(), times, "{url}");
        assert_eq!(sent.has(A), times == 1, "{url}");
    }
}

#[test]
fn the_policy_must_allow_the_host_too() {
    let bearer = format!("Bearer {}", ph(1));
    let other = allowing(&["b.example.com"]);
    let sent = send(&injector(), &other, URL, &[("authorization", &bearer)]);
    assert_eq!((sent.url.is_none(), sent.has(A)), (true, false));
}

#[test]
fn unrestricted_means_the_listed_hosts() {
    let free = Injector::new(
        vec![bound("a", A, 1, Networking::Unrestricted)],
        HeaderNames::default(),
    );
    let bearer = format!("Bearer {}", ph(1));
    let headers = [("authorization", bearer.as_str())];
    let listed = allowing(&["a.example.com"]);
    assert!(send(&free, &listed, URL, &headers).has(A));
    assert!(!send(&free, &listed, "https://b.example.com/", &headers).has(A));
    // A session's policy can be replaced by a wider one.
    assert!(!send(&free, &policy(), URL, &headers).has(A));
}

#[test]
fn b10_each_request_of_a_connection_is_judged_by_its_own_url() {
    let bearer = format!("Bearer {}", ph(1));
    let headers = [("authorization", bearer.as_str())];
    let policy = allowing(&["a.example.com", "b.example.com"]);
    assert!(send(&injector(), &policy, URL, &headers).has(A));
    assert!(!send(&injector(), &policy, "https://b.example.com/", &headers).has(A));
    let mut list = vec![("authorization".to_owned(), bearer.clone())];
    let inner = Head {
        url: URL,
        method: "GET",
        host: Some("b.example.com"),
    };
    let substitution = injector().substitute(&policy.decide(&inner), &mut list);
    assert_eq!(
        (substitution, &list[0].1),
        (Substitution::default(), &bearer)
    );
}

#[test]
fn b11_a_redirects_next_hop_gets_no_secret_of_the_first() {
    let bearer = format!("Bearer {}", ph(1));
    for next in [
        "http://evil.example.net/",
        "https://evil.example.net/",
        "http://169.254.169.254/",
        "https://a.example.com@evil.example.net/",
        "//evil.example.net",
    ] {
        let sent = send(&injector(), &policy(), next, &[("authorization", &bearer)]);
        assert!(!sent.has(A), "{next}");
    }
    // And the redirect itself does not tell it.
    let head = Head {
        url: URL,
        method: "GET",
        host: None,
    };
    let policy = policy();
    let decision = policy.decide(&head);
    let scrubber = injector().scrubber(&decision, &Substitution::default());
    let location = scrubber.header(&format!("https://evil.example.net/?t={A}"));
    assert_eq!(location, "https://evil.example.net/?t=***********");
}

#[test]
fn b13_a_downgrade_to_http_gets_no_secret() {
    let bearer = format!("Bearer {}", ph(1));
    for (url, has) in [(URL, true), ("http://a.example.com/v1", false)] {
        let headers = [("authorization", &*bearer), ("x-api-key", &*bearer)];
        let sent = send(&injector(), &policy(), url, &headers);
        assert_eq!((sent.has(A), sent.has(&ph(1))), (has, !has), "{url}");
    }
}

#[test]
fn b14_no_header_is_substituted_for_another_origin() {
    let value = ph(1);
    let headers = ["authorization", "x-api-key", "cookie"].map(|name| (name, value.as_str()));
    for url in [
        "https://b.example.com/",
        "https://a.example.com:444/",
        "http://a.example.com/",
        "http://a.example.com:443/",
    ] {
        let sent = send(&injector(), &policy(), url, &headers);
        assert_eq!((sent.has(A), sent.counts()), (false, vec![]), "{url}");
    }
}

#[test]
fn e13_a_placeholder_of_another_credential_is_left_as_it_is() {
    let both = format!("{} {}", ph(1), ph(2));
    for (url, wanted) in [
        ("https://a.example.com/", format!("{A} {}", ph(2))),
        ("https://b.example.com/", format!("{} {B}", ph(1))),
    ] {
        let sent = send(&injector(), &policy(), url, &[("authorization", &both)]);
        assert_eq!(sent.value("authorization"), wanted);
    }
    // A secret that looks like a placeholder is none.
    let bound = vec![
        bound("a", &ph(2), 1, limited(&["a.example.com"])),
        bound("b", B, 2, limited(&["a.example.com"])),
    ];
    let sly = Injector::new(bound, HeaderNames::default());
    let sent = send(&sly, &policy(), URL, &[("authorization", &ph(1))]);
    assert_eq!(sent.value("authorization"), ph(2));
}

#[test]
fn e14_what_is_no_whole_placeholder_stays_and_answers_are_not_compressed() {
    let whole = ph(1);
    for cut in 0..whole.len() {
        let sent = send(
            &injector(),
            &policy(),
            URL,
            &[("authorization", &whole[..cut])],
        );
        assert_eq!(
            (sent.value("authorization"), sent.headers.len()),
            (&whole[..cut], 1)
        );
    }
    let nested = format!(
        "{}{whole}{}\u{e9}",
        Placeholder::PREFIX,
        Placeholder::PREFIX
    );
    let headers = [("authorization", &*nested), ("Accept-Encoding", "gzip, br")];
    let sent = send(&injector(), &policy(), URL, &headers);
    let wanted = nested.replace(&whole, A);
    let encoding = ("accept-encoding".to_owned(), "identity".to_owned());
    assert_eq!(
        sent.headers,
        [("authorization".to_owned(), wanted), encoding]
    );
}

#[test]
fn what_cannot_stand_in_a_header_stays_a_placeholder() {
    let odd = |value: &str| {
        let bound = vec![bound("a", value, 1, limited(&["a.example.com"]))];
        Injector::new(bound, HeaderNames::default())
    };
    for bad in [
        "a\u{7f}b",
        "a\u{1}b",
        "h\u{e9}",
        &"x".repeat(MAX_HEADER + 1),
    ] {
        let sent = send(&odd(bad), &policy(), URL, &[("authorization", &ph(1))]);
        assert_eq!(
            (sent.value("authorization"), sent.counts()),
            (&*ph(1), vec![])
        );
    }
    let many = ph(1).repeat(80);
    let long = odd(&"x".repeat(1_024));
    let sent = send(&long, &policy(), URL, &[("authorization", &many)]);
    assert_eq!(
        (sent.value("authorization"), sent.counts()),
        (&*many, vec![])
    );
    let basic = format!("Basic {}", STANDARD.encode(format!("\u{e9}:{}", ph(1))));
    let sent = send(
        &odd("h\u{e9}"),
        &policy(),
        URL,
        &[("authorization", &basic)],
    );
    let wanted = format!("Basic {}", STANDARD.encode("\u{e9}:h\u{e9}"));
    assert_eq!(sent.value("authorization"), wanted);
}

#[test]
fn what_was_sent_is_scrubbed_in_whatever_form() {
    let head = Head {
        url: URL,
        method: "GET",
        host: None,
    };
    let (injector, policy) = (injector(), policy());
    let decision = policy.decide(&head);
    let basic = format!("Basic {}", STANDARD.encode(format!("x:{}", ph(1))));
    let mut headers = vec![("authorization".to_owned(), basic)];
    let substitution = injector.substitute(&decision, &mut headers);
    assert!(!format!("{substitution:?}{injector:?}").contains(A));
    let mut scrubber = injector.scrubber(&decision, &substitution);
    let encoded = STANDARD.encode(format!("x:{A}"));
    let mut clean = scrubber.push(format!("{A} Basic {encoded} {B}").as_bytes());
    clean.extend(scrubber.finish());
    let clean = String::from_utf8(clean).unwrap();
    // That host never gets the other one.
    assert!(
        !clean.contains(A) && !clean.contains(&encoded) && clean.ends_with(B),
        "{clean}"
    );
    let elsewhere = Head {
        url: "https://c.example.com/",
        ..head
    };
    let scrubber = injector.scrubber(&policy.decide(&elsewhere), &Substitution::default());
    assert!(scrubber.is_idle());
}

#[test]
fn the_operators_names() {
    for good in ["x-api-key", "X_Token", "private-token", "cookie"] {
        assert!(HeaderNames::parse(&[good])
            .unwrap()
            .contain(&good.to_uppercase()));
    }
    for bad in ["", "a b", "x:y", "x\r\ny", "\u{e9}", &"x".repeat(65)] {
        let error = HeaderNames::parse(&[bad]).unwrap_err();
        assert_eq!(error, HeaderNameError::Malformed(bad.to_owned()));
    }
    for never in ["Host", "content-length", "Proxy-Authorization", "referer"] {
        let error = HeaderNames::parse(&[never]).unwrap_err();
        assert_eq!(error, HeaderNameError::Never(never.to_lowercase()));
    }
    assert_eq!(
        HeaderNames::parse(&["x"; 33]),
        Err(HeaderNameError::TooMany)
    );
}
