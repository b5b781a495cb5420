//! What is announced, and what is stored of it.
use super::session::{file, put, with, Hostile};
use super::support::{Gateway, Model};
use super::{ended, refused};
use serde_json::{json, Value};

#[test]
fn announcements_that_lie_publish_nothing() {
    let model = Model::start();
    let gateway = Gateway::start_with_faults(&model);
    let acme = gateway.client("acme");
    let one = Hostile::begin(&gateway, &acme);
    let held = one.held();
    let post = |text: String| json!({ "method": "POST", "target": format!("/{}", held.announce), "body": text });
    let of = |files: Value| post(json!({ "files": files }).to_string());
    let invalid = |name, request| (name, request, 403, "announcement_invalid");
    let valid = format!("{}{{\"files\":[]}}", " ".repeat(2 << 20));
    let edited = |from: &str, to: &str| {
        let text = json!({ "files": [file("NAME", json!(7))] }).to_string();
        post(text.replace(from, to))
    };
    refused(
        &one,
        &[
            (
                "more than 1 MiB",
                with(post(String::new()), json!({ "length": (1 << 20) + 1 })),
                413,
                "announcement_too_large",
            ),
            (
                "no length",
                with(
                    post("{}".into()),
                    json!({ "chunked": true, "length": null }),
                ),
                411,
                "length_required",
            ),
            invalid("no JSON", post("files".into())),
            invalid("nothing", post(String::new())),
            invalid("no files", post("{}".into())),
            invalid(
                "deep JSON",
                post(format!("{{\"files\":{}", "[".repeat(500_000))),
            ),
            invalid(
                "an unknown member",
                post(r#"{"files":[],"key":"x"}"#.into()),
            ),
            invalid("a member twice", post(r#"{"files":[],"files":[]}"#.into())),
            invalid(
                "an unknown member of a file",
                of(json!([with(file("a", json!(1)), json!({ "key": "x" }))])),
            ),
            invalid("a negative size", of(json!([file("a", json!(-1))]))),
            invalid("a fractional size", of(json!([file("a", json!(1.5))]))),
            invalid(
                "a size that no number holds",
                edited(":7", ":18446744073709551616"),
            ),
            invalid("half a character", edited("NAME", "\\ud800")),
            invalid(
                "bytes that are no text",
                edited("\"files\"", "\"\u{fffd}\""),
            ),
        ],
    );
    // More in chunks than the length says. What is not read to its end may be answered by the end of the connection.
    let long = with(post(valid), json!({ "chunked": true, "length": 10 }));
    let answer = &one.send(&[long])[0];
    assert_ne!(answer["status"], 200, "{answer}");
    // Sizes that are too large are left out, and what is wanted has exactly its size.
    let big = 17 << 20;
    let files = [
        ("large", u64::MAX),
        ("large too", 201 << 20),
        ("short", 10),
        ("long", 10),
        ("order", big),
        ("half", big),
        ("empty", 0),
        ("whole", big),
    ];
    let answer = one.announce(&held, &files);
    let wanted: Value = serde_json::from_str(answer["body"].as_str().unwrap()).unwrap();
    let wanted = wanted["files"].as_array().unwrap();
    let indices: Vec<u64> = wanted
        .iter()
        .map(|file| file["index"].as_u64().unwrap())
        .collect();
    assert_eq!(indices, [2, 3, 4, 5, 6, 7]);
    let grant = |at: usize| wanted[at]["grant"].as_str().unwrap();
    // Refused before its body is read: none is sent.
    let sized = |grant: &str, length: u64| with(put(grant, ""), json!({ "length": length }));
    let size = |name, request| (name, request, 413, "grant_size");
    let unknown = |name, request| (name, request, 403, "grant_unknown");
    refused(
        &one,
        &[
            size("5 bytes of 10", sized(grant(0), 5)),
            size("20 bytes of 10", sized(grant(1), 20)),
            size("the last part first", sized(grant(2), 1 << 20)),
            size("a part that is not full", sized(grant(3), (16 << 20) - 1)),
            size("a part of nothing", sized(grant(4), 0)),
            unknown("another announcement", of(json!([]))),
        ],
    );
    let full = 16 << 20;
    let parts = one.send(&[put(grant(3), full), put(grant(5), full)]);
    let next = |at: usize| {
        parts[at]["next"]
            .as_str()
            .unwrap_or_else(|| panic!("{parts:?}"))
    };
    refused(
        &one,
        &[
            size("two full parts", sized(next(0), full)),
            unknown("the first part again", sized(grant(5), full)),
        ],
    );
    let last = one.send(&[put(next(1), 1 << 20)]);
    assert_eq!(
        (&last[0]["status"], &last[0]["next"]),
        (&json!(200), &json!(null))
    );
    one.plan(&["honest"]);
    assert_eq!(one.ended(), ended("completed", ""));
    assert_eq!(one.published(), ["empty", "whole"]);

    // What breaks a rule spends the grant; all the rules are tested where they are made.
    let names: Vec<String> = (0..1001).map(|n| format!("{n:0900}")).collect();
    let all: Vec<(&str, u64)> = names.iter().map(|name| (name.as_str(), 0)).collect();
    let short: Vec<String> = (0..1001).map(|n| n.to_string()).collect();
    let many: Vec<(&str, u64)> = short.iter().map(|name| (name.as_str(), 0)).collect();
    let broken: [&[(&str, u64)]; 3] = [
        &[("a", 0), ("b/../../../etc/passwd", 0)],
        &[("a", 0), ("a", 0)],
        &many,
    ];
    for files in broken {
        one.say("true");
        let held = one.held();
        let code = one.announce(&held, files)["code"].clone();
        assert_eq!(code, "announcement_invalid", "{:?}", files.last());
        one.plan(&["honest"]);
        assert_eq!(one.ended(), ended("completed", ""), "{:?}", files.last());
        assert_eq!(one.published().len(), 2, "{:?}", files.last());
    }
    // As much as may be announced.
    one.say("true");
    let held = one.held();
    assert_eq!(one.wanted(&held, &all[..1000]).len(), 1000);
    one.plan(&["honest"]);
    assert_eq!(one.ended(), ended("completed", ""));
    assert_eq!(one.published().len(), 1002);
}
