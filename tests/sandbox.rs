//! The sandbox's inner interface, and the limits that no platform sets for us. Through a route of test builds.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods
)]
mod support;

use base64::{engine::general_purpose::STANDARD, Engine};
use serde_json::{json, Value};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use support::{shell, Client, Gateway, Model};

fn call(client: &Client, call: Value) -> Value {
    let (status, result) = client.post("/__test/sandbox/env_1", &call);
    assert_eq!(status, 200, "{result}");
    result
}

fn in_ms(ms: u64) -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_millis() as u64
        + ms
}

fn exec(client: &Client, line: &str, timeout_ms: u64, max_output_bytes: usize) -> Value {
    let argv = ["bash", "-c", line];
    let request = json!({ "Exec": { "argv": argv, "cwd": null, "env": { "X": "y" }, "timeout_ms": timeout_ms, "max_output_bytes": max_output_bytes } });
    call(client, request)["Ok"].clone()
}

fn text(result: &Value) -> String {
    String::from_utf8(STANDARD.decode(result["output"].as_str().unwrap()).unwrap()).unwrap()
}

#[test]
fn create_exec_files_expiry_and_stop() {
    let model = Model::start();
    let gateway = Gateway::start_with_faults(&model);
    let acme = gateway.client("acme");
    let capabilities = call(&acme, json!("Capabilities"));
    assert_eq!(capabilities["Ok"]["workspace"], "/workspace");
    assert!(exec_error(&acme).contains("not_found"), "there is none yet");
    assert_eq!(
        call(&acme, json!("Stop")),
        json!({ "Ok": null }),
        "stopping what is not there succeeds"
    );

    let created = call(&acme, create(60_000));
    assert_eq!(
        (&created["Ok"]["started"], &created["Ok"]["epoch"]),
        (&json!(true), &json!(1))
    );
    let again = call(&acme, create(60_000));
    assert_eq!(
        (&again["Ok"]["started"], &again["Ok"]["epoch"]),
        (&json!(true), &json!(1)),
        "it is still one that was made for this turn"
    );

    let ended = exec(&acme, "pwd; echo $X; echo err >&2; exit 3", 10_000, 1_000);
    // Two pipes: the order between them is not given.
    let output = text(&ended);
    assert!(
        output.contains("/workspace\ny\n") && output.contains("err\n"),
        "{output}"
    );
    assert_eq!(
        (&ended["exit_code"], &ended["killed"]),
        (&json!(3), &Value::Null)
    );
    let slow = exec(&acme, "echo begun; sleep 60", 1_000, 1_000);
    assert_eq!(
        (text(&slow).as_str(), &slow["killed"]),
        ("begun\n", &json!("timeout"))
    );
    let loud = exec(&acme, "yes", 10_000, 5_000);
    assert_eq!(
        (text(&loud).len(), &loud["killed"]),
        (5_000, &json!("output_limit"))
    );

    let path = "/__test/file/env_1?path=/workspace/a/b.txt";
    let put = |path: &str, body: &str| {
        ureq::put(format!("{}{path}", gateway.url()))
            .header("authorization", format!("Bearer {}", acme.key()))
            .header("openai-beta", "agents=v1")
            .send(body)
            .map(|mut r| r.body_mut().read_to_string().unwrap())
    };
    assert_eq!(put(path, "content").unwrap(), r#"{"Ok":null}"#);
    assert_eq!(acme.get(path), (200, json!("content")));
    let listing = call(&acme, json!({ "List": { "path": "/workspace/a" } }));
    assert_eq!(
        listing,
        json!({ "Ok": [{ "name": "b.txt", "kind": "f", "size": 7 }] })
    );
    for outside in [
        "/etc/passwd",
        "/workspace/../etc/passwd",
        "/workspacex",
        "workspace/a",
    ] {
        assert_eq!(
            acme.get(&format!("/__test/file/env_1?path={outside}")).0,
            404,
            "{outside}"
        );
        assert!(
            put(&format!("/__test/file/env_1?path={outside}"), "x")
                .unwrap()
                .contains("invalid"),
            "{outside}"
        );
    }

    // Expiry: it is gone, and the next one is another, empty one.
    assert!(call(&acme, json!({ "Renew": { "expires_at": in_ms(1_500) } }))["Ok"].is_object());
    let image = std::env::var("CLOISTER_SANDBOX_IMAGE").unwrap();
    support::wait_for("the expiry", Duration::from_secs(15), || {
        gateway.docker().running(&image).is_empty().then_some(())
    });
    assert_eq!(
        call(&acme, json!({ "Renew": { "expires_at": in_ms(60_000) } })),
        json!({ "Err": { "Refused": "not_found" } })
    );
    let fresh = call(&acme, create(60_000));
    assert_eq!(
        (&fresh["Ok"]["started"], &fresh["Ok"]["epoch"]),
        (&json!(true), &json!(2))
    );
    assert_eq!(text(&exec(&acme, "ls", 10_000, 1_000)), "");
    assert_eq!(call(&acme, json!("Stop")), json!({ "Ok": null }));
    assert_eq!(call(&acme, json!("Stop")), json!({ "Ok": null }));
    assert!(gateway.docker().running(&image).is_empty());
}

/// A turn's claim of the sandbox, which has no checkpoint to begin with.
fn create(ms: u64) -> Value {
    json!({ "Create": { "expires_at": in_ms(ms), "turn_id": "turn_1", "session": "s", "session_id": "s", "checkpoint": null } })
}

fn exec_error(client: &Client) -> String {
    call(client, json!({ "Exec": { "argv": ["true"], "cwd": null, "env": {}, "timeout_ms": 1000, "max_output_bytes": 10 } }))["Err"].to_string()
}

#[test]
fn a_sandbox_keeps_its_limits() {
    let model = Model::start();
    let gateway = Gateway::start_with_faults(&model);
    let acme = gateway.client("acme");
    call(&acme, create(120_000));
    let sandbox = gateway.docker().sandbox();
    // A fork bomb, by root: everything but the sandbox's own process 1 is killed, and it goes on.
    let _ = shell(&sandbox, "bomb() { bomb | bomb & }; bomb; sleep 1");
    support::wait_for("the end of the bomb", Duration::from_secs(30), || {
        let count: usize = shell(&sandbox, "ls -d /proc/[0-9]* | wc -l")
            .0
            .trim()
            .parse()
            .ok()?;
        (count < 50).then_some(())
    });
    assert_eq!(text(&exec(&acme, "echo alive", 10_000, 100)), "alive\n");
}

#[test]
fn the_configuration_deploys() {
    let wrangler =
        std::process::Command::new(std::env::var("CLOISTER_NODE").expect("run through ./dev test"))
            .args([
                "node_modules/wrangler/bin/wrangler.js",
                "deploy",
                "--dry-run",
                "--containers-rollout=none",
                "--outdir",
            ])
            .arg(std::env::temp_dir().join(format!("cloister-dry-{}", std::process::id())))
            .envs([
                ("CI", "1"),
                ("WRANGLER_SEND_METRICS", "false"),
                ("NO_COLOR", "1"),
            ])
            .output()
            .unwrap();
    let text = String::from_utf8_lossy(&wrangler.stdout).into_owned()
        + &String::from_utf8_lossy(&wrangler.stderr);
    assert!(wrangler.status.success(), "{text}");
    for binding in [
        "SESSION",
        "HARNESS",
        "SANDBOX",
        "DB",
        "FILES",
        "MODEL_BASE_URL",
        "MODEL_NAME",
        "ALLOWED_HOSTS",
        "NETWORK_DEFAULT",
        "OWN_HOSTS",
    ] {
        assert!(
            text.contains(&format!("env.{binding}")),
            "{binding}: {text}"
        );
    }
}
