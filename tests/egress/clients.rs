//! Programs of every kind trust the border, whoever starts them, and show its refusals. `clients.sh` tells how each is run.
use crate::kit::World;
use crate::support::{docker, script, wait_for, Gateway, Model, Upstream};
use base64::{engine::general_purpose::STANDARD, Engine};
use serde_json::json;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// Where the programs are put in a sandbox.
const PLACE: &str = "/opt/clients";
/// They take seconds on a machine that has nothing else to do.
const PATIENCE: Duration = Duration::from_secs(300);
const ALLOWED: &str = "clients.example";
/// All programs, and what each gets of a host that is allowed.
const WANTED: [(&str, &str); 10] = [
    ("curl", "HOST"),
    ("git", "cloister probe"),
    ("urllib", "HOST"),
    ("bare-curl", "HOST"),
    ("bare-git", "cloister probe"),
    ("bare-urllib", "HOST"),
    ("requests", "HOST"),
    ("fetch", "HOST"),
    ("pip", "1.0.0"),
    ("npm", "1.0.0"),
];

/// Puts what the image does not have into a running sandbox, from what set-up has installed on this machine.
fn install(sandbox: &str) {
    let setting = |name: &str| PathBuf::from(std::env::var(name).expect("run through ./dev test"));
    let node = setting("CLOISTER_NODE").canonicalize().unwrap();
    let root = Command::new("npm").args(["root", "-g"]).output().unwrap();
    let npm = PathBuf::from(String::from_utf8(root.stdout).unwrap().trim()).join("npm");
    let find = "import os, pip; print(os.path.dirname(os.path.dirname(pip.__file__)))";
    let packages = Command::new(setting("CLOISTER_PYTHON"))
        .args(["-c", find])
        .output()
        .unwrap();
    let packages = PathBuf::from(String::from_utf8(packages.stdout).unwrap().trim());
    docker(&[
        "exec",
        sandbox,
        "mkdir",
        "-p",
        &format!("{PLACE}/bin"),
        &format!("{PLACE}/python"),
    ]);
    let python = [
        "pip",
        "requests",
        "urllib3",
        "idna",
        "certifi",
        "charset_normalizer",
    ];
    let python = python.map(|name| (packages.join(name), "python/"));
    let rest = [
        (PathBuf::from("tests/egress/clients.sh"), ""),
        (npm.canonicalize().unwrap(), "npm"),
        (node, "bin/node"),
    ];
    for (from, to) in rest.into_iter().chain(python) {
        let from = from.to_str().unwrap();
        let copied = Command::new("docker")
            .args(["cp", "-q", from, &format!("{sandbox}:{PLACE}/{to}")])
            .status();
        assert!(copied.unwrap().success(), "{from}");
    }
}

/// The line that runs these programs.
fn line(host: &str, programs: &[&str]) -> String {
    format!("bash {PLACE}/clients.sh {host} {}", programs.join(" "))
}

fn all() -> [&'static str; 10] {
    WANTED.map(|(program, _)| program)
}

/// Checks that all programs have got what they asked of `host`.
fn check(said: &str, host: &str) {
    let wanted = WANTED.map(|(program, got)| format!("{program}: {}", got.replace("HOST", host)));
    let lines: Vec<_> = said.lines().map(str::trim_end).collect();
    assert_eq!(lines, wanted);
}

/// Runs a line in the session's sandbox as the platform does: what it prints.
fn exec(world: &World, line: &str) -> String {
    let (_, session) = world
        .acme
        .get(&format!("/v1/agents/sessions/{}", world.session));
    let environment = session["environment"]["id"].as_str().expect("an id");
    let call = json!({ "Exec": { "argv": ["bash", "-c", line], "cwd": null, "env": {}, "timeout_ms": PATIENCE.as_millis() as u64, "max_output_bytes": 100_000 } });
    let (status, answer) = world
        .acme
        .post(&format!("/__test/sandbox/{environment}"), &call);
    assert_eq!(
        (status, &answer["Ok"]["exit_code"]),
        (200, &json!(0)),
        "{answer}"
    );
    let output = answer["Ok"]["output"].as_str().unwrap();
    String::from_utf8(STANDARD.decode(output).unwrap()).unwrap()
}

#[test]
fn programs_of_the_platform_and_of_the_harness_trust_the_border() {
    let world = World::allowing(&[ALLOWED]);
    install(&world.sandbox);
    check(&exec(&world, &line(ALLOWED, &all())), ALLOWED);
    world.model.release("held");
    assert_eq!(
        world.acme.settled_turn(&world.session)["status"],
        "completed"
    );

    // A command of the harness, whose output is kept in a file: it may take longer than the harness waits.
    let command = format!(
        "{} >/tmp/said 2>&1; touch /tmp/ended",
        line(ALLOWED, &all())
    );
    let steps = [
        json!({ "shell": command }),
        json!({ "wait": "ended", "say": "ok" }),
    ];
    world.acme.say(&world.session, &script("again", &steps));
    wait_for("the programs", PATIENCE, || {
        (world.shell("ls /tmp/ended 2>/dev/null") == "/tmp/ended\n").then_some(())
    });
    check(&world.shell("cat /tmp/said"), ALLOWED);
    wait_for("the answer to wait", PATIENCE, || {
        world.model.release("ended").then_some(())
    });
    assert_eq!(
        world.acme.settled_turn(&world.session)["status"],
        "completed"
    );
    let hosts = world.upstream.hosts();
    assert!(hosts.iter().all(|host| host == ALLOWED), "{hosts:?}");
}

#[test]
fn programs_of_set_up_trust_the_border() {
    let host = "pkg.example";
    let (model, upstream) = (Model::start(), Upstream::start());
    let gateway = Gateway::start_with_upstream(&model, &upstream);
    let acme = gateway.client("acme");
    let command = format!(
        "until [ -e {PLACE}/whole ]; do sleep 0.1; done; {} >/opt/said 2>&1",
        line(host, &all())
    );
    let environment = json!({ "type": "openai_hosted", "network": { "access": "disabled" }, "setup_commands": [{ "command": command }] });
    let body =
        json!({ "agent": { "model": "codex" }, "environment": environment, "input": "hello" });
    let (status, session) = acme.post("/v1/agents/sessions", &body);
    assert_eq!(status, 201, "{session}");
    let image = std::env::var("CLOISTER_SANDBOX_IMAGE").unwrap();
    let sandbox = wait_for("the sandbox", PATIENCE, || {
        gateway.docker().running(&image).pop()
    });
    install(&sandbox);
    docker(&["exec", &sandbox, "touch", &format!("{PLACE}/whole")]);
    let turn = acme.settled_turn(session["id"].as_str().unwrap());
    assert_eq!(turn["status"], "completed");
    check(&docker(&["exec", &sandbox, "cat", "/opt/said"]), host);
}

#[test]
fn programs_show_what_a_refusal_says() {
    let world = World::allowing(&[ALLOWED]);
    install(&world.sandbox);
    let said = exec(&world, &line("refused.example", &all()));
    let lines: Vec<_> = said.lines().collect();
    assert_eq!(lines.len(), WANTED.len(), "{said}");
    for ((program, _), line) in WANTED.iter().zip(lines) {
        let shown = match *program {
            "git" | "bare-git" => "The requested URL returned error: 403",
            "pip" => "403 Client Error",
            "npm" => "403 Forbidden - GET https://refused.example/npm/cloister-probe",
            _ => "host_not_allowed",
        };
        assert!(
            line.starts_with(&format!("{program}: ")) && line.contains(shown),
            "{line}"
        );
    }
    assert_eq!(world.upstream.hosts(), [""; 0]);
}
