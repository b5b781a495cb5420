//! Archives that a hostile packer has stored.
use super::archive;
use super::session::{put, with, Hostile};
use super::support::{Gateway, Model};
use super::{ended, not_restored};
use serde_json::json;

#[test]
fn a_hostile_archive_is_refused_when_it_is_restored() {
    let model = Model::start();
    let gateway = Gateway::start_with_faults(&model);
    let acme = gateway.client("acme");
    let start = || archive::file("a", b"harmless");
    let link = || archive::link("d", b'2', "/etc");
    let cases = [
        ("harmless", "", archive::zstd(&[start(), link()], 0)),
        (
            "a file through a link",
            "13",
            archive::zstd(&[start(), link(), archive::file("d/planted", b"x")], 0),
        ),
        (
            "a way up",
            "13",
            archive::zstd(&[start(), archive::file("../etc/planted", b"x")], 0),
        ),
        (
            "a hard link to a file outside",
            "13",
            archive::zstd(&[start(), archive::link("s", b'1', "/etc/shadow")], 0),
        ),
        (
            "a device",
            "13",
            archive::zstd(&[start(), archive::link("sda", b'4', "")], 0),
        ),
        (
            "a bomb",
            "12",
            archive::zstd(
                &[start(), archive::header("zeros", b'0', "", 8 << 30)],
                8 << 30,
            ),
        ),
    ];
    for (name, code, bytes) in &cases {
        let mut one = Hostile::begin(&gateway, &acme);
        let held = one.held();
        one.feed("cat > /hostile/archive", bytes);
        let stored = with(put(&held.store, ""), json!({ "file": "/hostile/archive" }));
        let stored = one.send(&[stored]);
        assert_eq!(stored[0]["status"], 200, "{name}: {stored:?}");
        one.plan(&["exit 0"]);
        assert_eq!(one.ended(), ended("completed", ""), "{name}");
        one.say("cat a; readlink d");
        if code.is_empty() {
            assert_eq!(one.ended(), ended("completed", ""), "{name}");
            let items = acme.items(&one.session);
            let output = items[items.len() - 2]["output"].as_str().unwrap();
            assert_eq!(output, "harmless/etc\n", "{name}");
            one.move_in(&gateway, &[]);
        } else {
            assert_eq!(one.ended(), ended("failed", "sandbox_error"), "{name}");
            assert_eq!(not_restored(&gateway), *code, "{name}");
        }
    }
}
