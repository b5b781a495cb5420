//! What a session keeps when its containers are gone, and what of it may be seen.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods
)]
mod support;

#[path = "checkpoints/commits.rs"]
mod commits;
#[path = "checkpoints/containers.rs"]
mod containers;
#[path = "checkpoints/kills.rs"]
mod kills;
#[path = "checkpoints/kit.rs"]
mod kit;
#[path = "checkpoints/objects.rs"]
mod objects;
#[allow(dead_code)]
#[path = "recovery/random.rs"]
mod random;
#[path = "checkpoints/saves.rs"]
mod saves;
#[path = "checkpoints/turns.rs"]
mod turns;

use serde_json::{json, Value};
use support::{docker, script, Gateway, Model};

/// A turn of one command.
fn command(line: &str) -> String {
    let steps = [
        json!({ "shell": line, "args": { "yield_time_ms": 30_000 } }),
        json!({ "say": "Done." }),
    ];
    script("go", &steps)
}

/// Makes what archives lose most easily.
const MAKE: &str = "umask 022; mkdir -p a/empty outputs; echo one > a/file; chmod 6751 a/file; ln -s ../a/file a/link; ln a/file a/hard; \
                    truncate -s 64M a/sparse; touch -d '2001-02-03 04:05:06.789' a/empty; echo report > outputs/report.txt; \
                    echo outside > /srv/outside; git init -q repo; mkfifo a/fifo";
/// Describes it.
const LOOK: &str = "stat -c '%n %a %F %s %Y' a a/file a/link a/sparse a/empty outputs/report.txt; readlink a/link; \
                    [ a/file -ef a/hard ] && echo same; du -k a/sparse | cut -f1; stat -c %y a/empty; git -C repo status -s; ls /srv/outside a/fifo 2>&1";

#[test]
fn a_session_goes_on_when_both_containers_are_gone() {
    let model = Model::start();
    let gateway = Gateway::start_with_faults(&model);
    let acme = gateway.client("acme");
    let session = acme.session(Some(&command(&format!("{MAKE}; {LOOK}"))));
    let session = session["id"].as_str().unwrap();
    assert_eq!(acme.settled_turn(session)["status"], "completed");
    let before = acme.items(session)[1]["output"]
        .as_str()
        .unwrap()
        .to_owned();

    docker(&[
        "kill",
        &gateway.docker().harness(),
        &gateway.docker().sandbox(),
    ]);
    acme.say(session, &command(LOOK));
    assert_eq!(acme.settled_turn(session)["status"], "completed");
    let items = acme.items(session);
    let after = items[items.len() - 2]["output"].as_str().unwrap();
    // Outside of the workspace nothing is kept, nor what is no file.
    let (kept, rest) = before.split_once("/srv/outside").unwrap();
    assert_eq!(rest, "\na/fifo\n");
    let (found, rest) = after.split_once("ls: ").unwrap();
    assert_eq!(found, kept);
    assert!(
        rest.contains("/srv/outside") && rest.contains("a/fifo"),
        "{rest}"
    );

    let requests = model.requests();
    let input = |request: &Value| request["body"]["input"].as_array().unwrap().clone();
    let (last, next) = (input(&requests[1]), input(&requests[2]));
    assert_eq!(last[..], next[..last.len()]);
    assert_eq!(
        requests[0]["body"]["prompt_cache_key"],
        requests[2]["body"]["prompt_cache_key"]
    );
}
