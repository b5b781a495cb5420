//! What a live grant is good for.
use super::session::{put, with, Hostile};
use super::support::{Gateway, Model};
use super::{ended, refused};
use serde_json::{json, Value};

#[test]
fn f4_a_grant_reaches_one_object_once() {
    let model = Model::start();
    let gateway = Gateway::start_with_faults(&model);
    let acme = gateway.client("acme");
    let one = Hostile::begin(&gateway, &acme);
    let held = one.held();
    let names: Vec<String> = (0..8).map(|n| format!("twice{n}")).collect();
    let mut files = vec![("own", 5), ("late", 5), ("given", 5)];
    files.extend(names.iter().map(|name| (name.as_str(), 6)));
    let grants = one.wanted(&held, &files);
    let (own, late, given) = (&grants[0], &grants[1], &grants[2]);

    // Nothing but its own verb on its own path, and what was refused has not spent it.
    let hello = || put(own, "hello");
    let at = |target: String| with(hello(), json!({ "target": target }));
    let by = |method: &str| json!({ "method": method, "target": format!("/{own}") });
    let header = |line: &str| with(hello(), json!({ "lines": [line] }));
    let unknown = |name, request| (name, request, 403, "grant_unknown");
    let verb = |name, request| (name, request, 403, "grant_verb");
    let not_allowed = |name, request| (name, request, 403, "header_not_allowed");
    // Not the store's: the policy's.
    let elsewhere = |name, other, status, code| (name, with(hello(), other), status, code);
    let upper = own.to_uppercase();
    let head = one.send(&[by("HEAD")]);
    assert_eq!(head[0]["status"], 403, "HEAD: {head:?}");
    refused(
        &one,
        &[
            unknown("a path below it", at(format!("/{own}/x"))),
            unknown("an encoded way up", at(format!("/{own}%2f..%2fx"))),
            unknown("a way up", at(format!("/{own}/../x"))),
            unknown(
                "a way up to another name",
                at(format!("/{own}/../{}", "0".repeat(32))),
            ),
            unknown("two slashes", at(format!("//{own}"))),
            unknown("a slash behind it", at(format!("/{own}/"))),
            unknown(
                "encoded digits",
                at(format!("/%{:02x}{}", own.as_bytes()[0], &own[1..])),
            ),
            unknown("upper case", at(format!("/{upper}"))),
            unknown("a shorter name", at(format!("/{}", &own[..31]))),
            unknown("another name", at(format!("/{}", "0".repeat(32)))),
            unknown("no name", at("/".to_owned())),
            unknown("a multipart upload", at(format!("/{own}?uploadId=1"))),
            unknown(
                "a part of one",
                at(format!("/{own}?partNumber=1&uploadId=1")),
            ),
            unknown("a list", json!({ "method": "GET", "target": "/" })),
            unknown(
                "a list with a query",
                json!({ "method": "GET", "target": "/?list-type=2" }),
            ),
            unknown(
                "a list below it",
                json!({ "method": "GET", "target": format!("/{own}?list-type=2") }),
            ),
            unknown(
                "the start of a multipart upload",
                json!({ "method": "POST", "target": format!("/{own}?uploads") }),
            ),
            verb("GET of what may be stored", by("GET")),
            verb(
                "POST of what may be stored",
                with(by("POST"), json!({ "body": "{\"files\":[]}" })),
            ),
            verb("DELETE", by("DELETE")),
            verb("PATCH", with(by("PATCH"), json!({ "body": "x" }))),
            verb("OPTIONS", by("OPTIONS")),
            verb("TRACE", by("TRACE")),
            verb("COPY", by("COPY")),
            verb(
                "GET of the workspace's stream",
                json!({ "method": "GET", "target": format!("/{}", held.store) }),
            ),
            unknown(
                "the announcement again",
                json!({ "method": "POST", "target": format!("/{}", held.announce), "body": "{\"files\":[]}" }),
            ),
            not_allowed("a copy", header("x-amz-copy-source: /other/key")),
            not_allowed("metadata", header("X-Amz-Meta-A: b")),
            not_allowed("a range", header("range: bytes=0-1")),
            elsewhere("HTTPS", json!({ "tls": true }), 403, "name_reserved"),
            elsewhere(
                "another Host",
                json!({ "host": "example.com" }),
                403,
                "network_disabled",
            ),
            elsewhere(
                "a Host below it",
                json!({ "host": "x.backup.internal" }),
                403,
                "name_reserved",
            ),
            elsewhere(
                "a Host with a dot",
                json!({ "host": "backup.internal." }),
                403,
                "name_reserved",
            ),
            elsewhere(
                "two Hosts",
                json!({ "lines": ["host: example.com"] }),
                400,
                "host_malformed",
            ),
            elsewhere(
                "another Host than the target's",
                json!({ "target": format!("http://backup.internal/{own}"), "host": "example.com" }),
                421,
                "host_mismatch",
            ),
            unknown(
                "another target than the Host's",
                at(format!("http://example.com/{own}")),
            ),
            unknown(
                "a target over TLS",
                at(format!("https://backup.internal/{own}")),
            ),
            unknown(
                "a target with a user",
                at(format!("http://a:b@backup.internal/{own}")),
            ),
            unknown(
                "another port",
                with(hello(), json!({ "host": "backup.internal:81" })),
            ),
        ],
    );

    // Another session's sandbox cannot use it, nor can this one another's.
    let two = Hostile::begin(&gateway, &acme);
    let other = two.held();
    let foreign = |name, grant: &str| unknown(name, put(grant, "hello"));
    refused(
        &two,
        &[
            foreign("another session's file", given),
            foreign("another session's workspace", &held.store),
        ],
    );
    refused(
        &one,
        &[foreign("a second session's workspace", &other.store)],
    );

    // Used as it is meant, once.
    let uses = one.send(&[hello(), hello(), put(given, "given")]);
    assert_eq!(uses[0]["status"], 200, "{uses:?}");
    assert_eq!(uses[1]["code"], "grant_unknown", "{uses:?}");
    assert_eq!(
        uses[2]["status"], 200,
        "what others tried has not spent it: {uses:?}"
    );
    // Two at the same time: one is stored, and it is what is published.
    let pairs: Vec<Value> = grants[3..]
        .iter()
        .map(|grant| json!([put(grant, "first."), put(grant, "second")]))
        .collect();
    let mut stored = Vec::new();
    for answers in one.send(&pairs) {
        let answers = answers.as_array().unwrap();
        let good: Vec<usize> = (0..2).filter(|at| answers[*at]["status"] == 200).collect();
        assert_eq!(good.len(), 1, "{answers:?}");
        assert_eq!(answers[1 - good[0]]["code"], "grant_unknown", "{answers:?}");
        stored.push(["first.", "second"][good[0]]);
    }

    one.plan(&["honest"]);
    two.plan(&["exec"]);
    assert_eq!(one.ended(), ended("completed", ""));
    assert_eq!(two.ended(), ended("completed", ""));
    refused(
        &one,
        &[
            foreign("after the end", late),
            foreign("after the end, the workspace", &held.store),
        ],
    );
    let mut paths = vec!["given".to_owned(), "own".to_owned()];
    paths.extend(names.iter().cloned());
    assert_eq!(one.published(), paths);
    assert_eq!(two.published(), [""; 0]);
    assert_eq!(one.content("own"), "hello");
    for (name, stored) in names.iter().zip(stored) {
        assert_eq!(one.content(name), stored, "{name}");
    }
}
