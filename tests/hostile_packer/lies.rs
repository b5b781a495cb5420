//! Parts that are not what they are said to be, and a packer that does not do its work.
use super::session::{command, install, put, with, Hostile};
use super::support::{Gateway, Model};
use super::{ended, not_restored};
use serde_json::{json, Value};

/// What `hello` is announced as: five bytes.
const HELLO: &str = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

#[test]
fn a_packer_that_lies_harms_its_own_session_only() {
    let model = Model::start();
    let gateway = Gateway::start_with_faults(&model);
    let acme = gateway.client("acme");
    let mut one = Hostile::begin(&gateway, &acme);
    let held = one.held();
    let lies: Vec<(&str, Value, u16, Value)> = vec![
        (
            "more announced than sent",
            json!({ "length": 10, "stop": 5 }),
            0,
            json!("stopped"),
        ),
        (
            "in chunks",
            json!({ "length": null, "chunked": true }),
            411,
            json!("length_required"),
        ),
        (
            "in chunks, and a length",
            json!({ "chunked": true }),
            502,
            json!("store_failed"),
        ),
        (
            "in chunks, more than the length",
            json!({ "body": 20, "chunked": true, "length": 5 }),
            502,
            json!("store_failed"),
        ),
        (
            "no length",
            json!({ "length": null }),
            411,
            json!("length_required"),
        ),
        (
            "a length that no number holds",
            json!({ "length": "18446744073709551616" }),
            411,
            json!("length_required"),
        ),
        (
            "17 MiB",
            json!({ "length": 17 << 20 }),
            413,
            json!("grant_size"),
        ),
        ("no bytes", json!({ "body": "" }), 413, json!("grant_size")),
        (
            "fewer bytes than announced",
            json!({ "body": "hell" }),
            413,
            json!("grant_size"),
        ),
        (
            "more bytes than announced",
            json!({ "body": "hello." }),
            413,
            json!("grant_size"),
        ),
        (
            "a wrong digest",
            json!({ "digest": "ab".repeat(32) }),
            502,
            json!("store_failed"),
        ),
        (
            "no digest",
            json!({ "digest": null }),
            403,
            json!("digest_required"),
        ),
        (
            "a short digest",
            json!({ "digest": &HELLO[1..] }),
            403,
            json!("digest_required"),
        ),
        (
            "an upper-case digest",
            json!({ "digest": HELLO.to_uppercase() }),
            403,
            json!("digest_required"),
        ),
        (
            "two digests",
            json!({ "lines": [format!("x-cloister-sha256: {HELLO}")] }),
            403,
            json!("digest_required"),
        ),
        (
            "a body that stops",
            json!({ "stop": 2 }),
            0,
            json!("stopped"),
        ),
        (
            "a body that trickles",
            json!({ "body": 1000, "trickle": true }),
            0,
            json!("trickles"),
        ),
        (
            "bytes behind the body",
            json!({ "body": "hello world", "length": 5, "digest": HELLO }),
            200,
            json!(null),
        ),
        (
            "another encoding",
            json!({ "lines": ["content-encoding: gzip"] }),
            200,
            json!(null),
        ),
        (
            "a route of the runner",
            json!({ "lines": ["mf-route-override: outbound", "mf-original-url: http://example.com/"] }),
            200,
            json!(null),
        ),
    ];
    let names: Vec<String> = (0..lies.len()).map(|n| format!("{n:02}")).collect();
    let size = |name: &str| if name.contains("trickles") { 1000 } else { 5 };
    let sizes = lies.iter().map(|(name, ..)| size(name));
    let files: Vec<(&str, u64)> = names.iter().map(String::as_str).zip(sizes).collect();
    let grants = one.wanted(&held, &files);
    let requests: Vec<Value> = lies
        .iter()
        .zip(&grants)
        .map(|((_, lie, ..), grant)| with(put(grant, "hello"), lie.clone()))
        .collect();
    for ((name, _, status, code), answer) in lies.iter().zip(one.send(&requests)) {
        let got = (&answer["status"], &answer["code"]);
        assert_eq!(got, (&json!(status), code), "{name}: {answer}");
    }
    assert_eq!(one.flood(500), json!({ "grant_unknown": 500 }));
    one.plan(&["honest"]);
    assert_eq!(one.ended(), ended("completed", ""));
    let whole = ["17", "18", "19"];
    assert_eq!(one.published(), whole);
    assert!(whole.iter().all(|name| one.content(name) == "hello"));

    // Nothing stored, and success said; then what was begun does not end.
    let failed = ended("failed", "sandbox_error");
    one.say("true");
    one.held();
    one.plan(&["exit 0"]);
    let again = one.held();
    let slow = with(put(&again.store, 1000), json!({ "trickle": true }));
    assert_eq!(one.send(&[slow])[0]["code"], "trickles");
    one.plan(&["exit 0"]);
    assert_eq!(one.ended(), failed, "nothing is stored");

    // More than is listened to, by processes that will not end.
    one.say(&install());
    one.move_in(&gateway, &[]);
    one.held();
    one.plan(&["noise", "fork"]);
    assert_eq!(one.ended(), failed, "noise");

    // What is no archive is kept as it is; it cannot be unpacked, by this session.
    one.say(&install());
    one.move_in(&gateway, &[]);
    let held = one.held();
    assert_eq!(one.send(&[put(&held.store, "garbage")])[0]["status"], 200);
    one.plan(&["exit 0"]);
    assert_eq!(one.ended(), ended("completed", ""), "garbage");
    let neighbour = acme.session(Some(&command("mkdir outputs; echo mine > outputs/mine")));
    for _ in 0..2 {
        one.say("true");
        assert_eq!(one.ended(), ended("failed", "sandbox_error"), "the restore");
    }
    assert_eq!(not_restored(&gateway), "13");
    assert_eq!(one.published(), whole);
    let neighbour = neighbour["id"].as_str().unwrap();
    assert_eq!(acme.settled_turn(neighbour)["status"], "completed");
    assert_eq!(acme.whole(neighbour, "artifacts").len(), 1);
}
