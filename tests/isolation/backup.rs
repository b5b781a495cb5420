//! What a harness can do at the store, and what it cannot say about it.
use crate::support::{self, docker, processes, script, shell, Gateway, Model};
use crate::{arm, as_root, send};
use serde_json::json;
use std::time::Duration;

/// Says that everything is stored, in the place of the store, once /tmp/go is there: to one connection after the other.
const FORGER: &str = "echo 127.0.0.1 backup.internal >> /etc/hosts
for n in 1 2 3; do
  (while [ ! -f /tmp/go ]; do b sleep 0.05; done; printf 'HTTP/1.1 200 OK\\r\\ncontent-length: 0\\r\\nconnection: close\\r\\n\\r\\n') | b nc -l -p 80 > /tmp/asked$n
done";
/// Has the sandbox's packer wait for /tmp/go, and tell what it was given.
const SLOW_PACKER: &str = "mv /sbin/cloister-packer /sbin/honest; printf '#!/bin/sh\\necho \"$@\" > /tmp/given; while [ ! -f /tmp/go ]; do sleep 0.05; done; exec /sbin/honest \"$@\"' > /sbin/cloister-packer; chmod 755 /sbin/cloister-packer";

#[test]
fn a_harness_stores_under_its_own_grants_only_and_is_not_believed() {
    let model = Model::start();
    let gateway = Gateway::start_with_faults(&model);
    let acme = gateway.client("acme");
    let session = acme.session(Some("hello"));
    let session = session["id"].as_str().unwrap();
    assert_eq!(acme.settled_turn(session)["status"], "completed");
    docker(&["kill", &gateway.docker().harness()]);
    acme.say(session, "hello again");
    assert_eq!(acme.settled_turn(session)["status"], "completed");
    let harness = gateway.docker().harness();
    arm(&harness);
    let ask = |harness: &str, request: &str| {
        let head =
            format!("{request}\\r\\nhost: backup.internal\\r\\nconnection: close\\r\\n\\r\\n");
        send(harness, "11.0.0.1", 80, &head)
    };

    // Without a grant, and with the one that it was started with.
    let first = processes(&harness)[0].pid;
    let environment = std::fs::read(format!("/proc/{first}/environ")).unwrap();
    let environment = String::from_utf8(environment).unwrap();
    let spent = environment
        .split('\0')
        .find_map(|pair| pair.strip_prefix("CLOISTER_RESTORE="));
    let spent = spent.unwrap_or_else(|| panic!("{environment}")).to_owned();
    for grant in ["0".repeat(32), spent] {
        for method in ["GET", "PUT", "POST", "HEAD", "DELETE", "OPTIONS", "PATCH"] {
            let length = "content-length: 2\\r\\nx-cloister-sha256: 44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a\\r\\n";
            let body = if matches!(method, "PUT" | "POST") {
                "{}"
            } else {
                ""
            };
            let length = if body.is_empty() { "" } else { length };
            let head = format!("{method} /{grant} HTTP/1.1\\r\\nhost: backup.internal\\r\\n{length}connection: close\\r\\n\\r\\n{body}");
            let answer = send(&harness, "11.0.0.1", 80, &head);
            assert!(answer.starts_with("HTTP/1.1 403 "), "{method}: {answer}");
        }
    }
    for (target, code) in [
        ("/", "grant_unknown"),
        ("//", "grant_unknown"),
        ("/?list-type=2", "host_not_reserved"),
    ] {
        let answer = ask(&harness, &format!("GET {target} HTTP/1.1"));
        assert!(answer.contains(code), "{target}: {answer}");
    }

    docker(&["kill", &harness, &gateway.docker().sandbox()]);

    // Live grants, of either container in the other. The harness has no connection yet that it would use again.
    let stored = gateway.objects();
    let steps = [
        json!({ "shell": SLOW_PACKER }),
        json!({ "wait": "held", "say": "ok" }),
    ];
    let session = acme.session(Some(&script("go", &steps)));
    let session = session["id"].as_str().unwrap();
    support::wait_for("the second call", Duration::from_secs(40), || {
        (model.requests().len() >= 4).then_some(())
    });
    let (harness, sandbox) = (gateway.docker().harness(), gateway.docker().sandbox());
    arm(&harness);
    let forger = format!("alias b=/tmp/busybox\n{FORGER}");
    docker(&[
        "exec",
        "-d",
        "-u",
        "0",
        &harness,
        "/tmp/busybox",
        "sh",
        "-c",
        &forger,
    ]);
    model.release("held");
    let own = support::wait_for("the harness's grant", Duration::from_secs(30), || {
        let asked = as_root(&harness, "b head -n 1 /tmp/asked1 2>/dev/null");
        Some(asked.strip_prefix("PUT /")?.split_once(' ')?.0.to_owned())
    });
    let given = support::wait_for("the sandbox's grant", Duration::from_secs(30), || {
        let given = shell(&sandbox, "cat /tmp/given").0;
        Some(given.split_once("--grant ")?.1.get(..32)?.to_owned())
    });
    let answer = ask(&harness, &format!("GET /{own} HTTP/1.1"));
    assert!(
        answer.contains("grant_verb"),
        "its own grant lives: {answer}"
    );
    let answer = ask(&harness, &format!("GET /{given} HTTP/1.1"));
    assert!(
        answer.contains("grant_unknown"),
        "the sandbox's grant: {answer}"
    );
    let from_sandbox = |grant: &str| {
        shell(
            &sandbox,
            &format!("curl -s -m 5 http://backup.internal/{grant}"),
        )
        .0
    };
    assert!(
        from_sandbox(&given).contains("grant_verb"),
        "the sandbox's own grant lives"
    );
    let answer = from_sandbox(&own);
    assert!(
        answer.contains("grant_unknown"),
        "the harness's grant: {answer}"
    );

    // The supervisor believes that its history is stored, and says so. Nothing is committed.
    shell(&sandbox, "touch /tmp/go");
    as_root(&harness, "b touch /tmp/go");
    let turn = acme.settled_turn(session);
    assert_eq!(
        (&turn["status"], &turn["error"]["code"]),
        (&json!("failed"), &json!("sandbox_error"))
    );
    let tries = as_root(&harness, "b head -n 1 /tmp/asked1 /tmp/asked2");
    assert_eq!(
        tries.matches("PUT /").count(),
        2,
        "it was asked twice: {tries}"
    );
    let manifests = |objects: Vec<support::Object>| -> Vec<String> {
        let keys = objects.into_iter().map(|object| object.key);
        keys.filter(|key| key.ends_with("/manifest")).collect()
    };
    assert_eq!(manifests(gateway.objects()), manifests(stored));
}
