use super::*;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

const HOSTS: [&str; 4] = [
    "a.example.com",
    "b.example.com",
    "x.a.example.com",
    "198.35.26.96",
];

fn networking() -> impl Strategy<Value = Networking> {
    prop_oneof![
        3 => subsequence(&HOSTS[..], 1..4).prop_map(|hosts| limited(&hosts)),
        1 => Just(Networking::Unrestricted),
    ]
}

fn url() -> impl Strategy<Value = (String, bool, u16, &'static str)> {
    let ports = select(&[80_u16, 443, 8443, 444][..]);
    (any::<bool>(), ports, select(&HOSTS[..])).prop_map(|(https, port, host)| {
        let scheme = if https { "https" } else { "http" };
        let url = format!("{scheme}://{host}:{port}/{}?k={}", ph(1), ph(2));
        (url, https, port, host)
    })
}

/// Values made of placeholders, pieces of them, and other things; perhaps in Basic.
fn value() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        (1..4_u8).prop_map(ph),
        (1..4_u8, 0..Placeholder::LENGTH).prop_map(|(number, cut)| ph(number)[..cut].to_owned()),
        "[ -~]{0,8}",
    ];
    (vec(piece, 0..6), any::<bool>()).prop_map(|(pieces, basic)| {
        let text = pieces.concat();
        if basic {
            format!("Basic {}", STANDARD.encode(text))
        } else {
            text
        }
    })
}

fn decoded(value: &str) -> String {
    let basic = Basic::read(value).map(|basic| basic.pair);
    format!("{value} {}", basic.unwrap_or_default())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_secret_goes_where_it_is_not_allowed(
        networks in (networking(), networking()),
        listed in subsequence(&HOSTS[..], 0..=4),
        public in any::<bool>(),
        (url, https, port, host) in url(),
        values in vec((select(&["authorization", "x-api-key", "cookie", "x-b"][..]), value()), 0..4),
    ) {
        let bound = vec![bound("a", A, 1, networks.0.clone()), bound("b", B, 2, networks.1.clone())];
        let injector = Injector::new(bound, HeaderNames::parse(&["x-api-key"]).unwrap());
        let policy = if public { policy() } else { allowing(&listed) };
        let headers: Vec<(&str, &str)> =
            values.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let sent = send(&injector, &policy, &url, &headers);
        for (secret, networking) in [(A, &networks.0), (B, &networks.1)] {
            let credential_allows = match networking {
                Networking::Limited { allowed_hosts } => {
                    allowed_hosts.iter().any(|allowed| allowed == host)
                }
                Networking::Unrestricted => !public,
            };
            let policy_allows = public || listed.contains(&host);
            let may = credential_allows && policy_allows && https && [443, 8443].contains(&port);
            let has = sent.headers.iter().any(|(_, value)| decoded(value).contains(secret));
            prop_assert!(may || !has, "{secret} at {url}: {:?}", sent.headers);
            prop_assert!(sent.url.as_ref().is_none_or(|url| !url.contains(secret)));
        }
        // Nothing else of the headers changes: with the placeholders back, they are what they were.
        for ((name, before), (_, after)) in headers.iter().zip(&sent.headers) {
            let back = |text: &str| text.replace(A, &ph(1)).replace(B, &ph(2));
            match (Basic::read(before), *name) {
                (Some(basic), "authorization") => {
                    prop_assert_eq!(back(&Basic::read(after).unwrap().pair), basic.pair);
                }
                _ => prop_assert_eq!(back(after), *before),
            }
        }
    }
}
