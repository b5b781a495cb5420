//! The self-test of the border (B25): an image whose program lies, is silent or late, and tenants that say what it says.
use crate::kit::World;
use crate::raw::{head, Try};
use crate::support::{docker, processes, script, wait_for, Client, Gateway, Model, Upstream};
use serde_json::{json, Value};
use std::time::Duration;

/// In place of the packer: what it does for `probe` is in the session's own variables, the rest is left to the real one.
const LIAR: &str = r#"#!/usr/bin/python3
import os, sys, time, urllib.request
real = "/sbin/packer.real"
def ask(host):
    try: urllib.request.urlopen(f"http://{host}/{sys.argv[3]}", timeout=1)
    except OSError: pass
how = os.environ.get("HOW")
if sys.argv[1] != "probe" or how == "honest": os.execv(real, [real] + sys.argv[1:])
if how == "astray":
    ask("allowed.selftest.internal.evil.example"); ask("Xallowed.selftest.internal"); ask("denied.selftest.internal")
if how == "half": ask("allowed.selftest.internal")
if how == "other-half": ask("denied.selftest.internal")
if how == "open": os.spawnv(os.P_WAIT, real, [real] + sys.argv[1:]); sys.exit(22)
if how == "killed": ask("allowed.selftest.internal"); ask("denied.selftest.internal"); time.sleep(60)
if how == "late":
    while not os.path.exists("/tmp/go"): time.sleep(0.02)
    os.execv(real, [real] + sys.argv[1:])
"#;

const NOT_ISOLATED: &str = "\"event\":\"not_isolated\"";
const SANDBOX_ENDED: &str = "\"event\":\"container_ended\",\"kind\":\"sandbox\"";

/// An image of this test, removed at its end.
struct Image(String);

impl Image {
    fn lying(name: &str) -> Self {
        let name = format!("cloister-test-{name}-{}", std::process::id());
        let base = std::env::var("CLOISTER_SANDBOX_IMAGE").unwrap();
        let swap = "mv /sbin/cloister-packer /sbin/packer.real && printf %s \"$1\" >/sbin/cloister-packer && chmod 755 /sbin/cloister-packer";
        docker(&[
            "run",
            "--name",
            &name,
            "--network",
            "none",
            &base,
            "sh",
            "-c",
            swap,
            "sh",
            LIAR,
        ]);
        let command = "CMD [\"/sbin/cloister-sandbox-init\"]";
        let tag = format!("{name}:local");
        docker(&["commit", "--change", command, &name, &tag]);
        docker(&["rm", "-f", &name]);
        Self(tag)
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        docker(&["rmi", "-f", &self.0]);
    }
}

struct Lies {
    // In the order in which they end: containers before their image.
    gateway: Gateway,
    model: Model,
    upstream: Upstream,
    image: Image,
}

impl Lies {
    fn start(name: &str) -> Self {
        let (model, upstream, image) = (Model::start(), Upstream::start(), Image::lying(name));
        let build = std::env::var("CLOISTER_FAULTS_BUILD").unwrap();
        let sandbox = format!("sandbox={}", image.0);
        let options = [
            "--build",
            &build,
            "--upstream",
            upstream.address(),
            "--image",
            &sandbox,
        ];
        let gateway = Gateway::start_with(&model, &options);
        Self {
            gateway,
            model,
            upstream,
            image,
        }
    }

    fn acme(&self) -> Client {
        self.gateway.client("acme")
    }

    /// The body of a session whose image does as it is told, and whose set-up would tell of itself.
    fn session(how: &str) -> Value {
        let environment = json!({
            "type": "openai_hosted",
            "network": { "access": "enabled" },
            "env": { "HOW": how },
            "setup_commands": [{ "command": "curl -sf http://pkg.example/bytes/1 || exit 9" }],
        });
        json!({ "agent": { "model": "codex" }, "environment": environment, "input": script("go", &[json!({ "say": "ok" })]) })
    }

    /// How often this is in the log.
    fn logged(&self, part: &str) -> usize {
        self.gateway.log().matches(part).count()
    }
}

#[test]
fn b25_an_environment_whose_border_was_not_proven_fails_after_two_containers() {
    let lies = Lies::start("liar");
    for (round, how) in ["silent", "astray", "half", "other-half", "open", "killed"]
        .into_iter()
        .enumerate()
    {
        let mut body = Lies::session(how);
        body["stream"] = json!(true);
        let mut stream = lies.acme().create_streaming_of(&body);
        let events = stream.until("agent.session.failed");
        let failed = events
            .iter()
            .find(|event| event["type"] == "agent.session.environment.failed");
        let failed = failed.unwrap_or_else(|| panic!("{how}: {events:#?}"));
        assert_eq!(
            failed["environment"]["error"]["code"], "environment_not_isolated",
            "{how}"
        );
        // The harness's container is the last to go, and the log may be a moment behind.
        let harnesses = || lies.logged("\"container_ended\",\"kind\":\"harness\"");
        let over = || (harnesses() > round).then_some(());
        wait_for(&format!("the end of {how}"), Duration::from_secs(10), over);
        let counts = (lies.logged(NOT_ISOLATED), lies.logged(SANDBOX_ENDED));
        let twice = 2 * (round + 1);
        assert_eq!(counts, (twice, twice), "{how}: {}", lies.gateway.log());
        assert_eq!(
            lies.gateway.docker().running(&lies.image.0),
            [""; 0],
            "{how}"
        );
    }
    assert_eq!(lies.upstream.hosts(), [""; 0], "nothing of the tenant ran");
    assert_eq!(lies.model.requests().len(), 0);

    // The same image, when it does what it must.
    let (status, session) = lies
        .acme()
        .post("/v1/agents/sessions", &Lies::session("honest"));
    assert_eq!(status, 201, "{session}");
    assert_eq!(
        lies.acme().settled_turn(session["id"].as_str().unwrap())["status"],
        "completed"
    );
    assert_eq!(lies.upstream.hosts(), ["pkg.example"]);
    assert_eq!(lies.logged(NOT_ISOLATED), 12);
}

#[test]
fn b25_a_border_that_speaks_at_the_second_container_is_good_enough() {
    let lies = Lies::start("late");
    let (status, session) = lies
        .acme()
        .post("/v1/agents/sessions", &Lies::session("late"));
    assert_eq!(status, 201, "{session}");
    let running = || lies.gateway.docker().running(&lies.image.0).pop();
    let first = wait_for("the first container", Duration::from_secs(40), running);
    wait_for("the second container's go", Duration::from_secs(40), || {
        let second = running().filter(|id| *id != first && !processes(id).is_empty())?;
        let (_, code) = crate::support::shell(&second, "touch /tmp/go");
        (code == 0).then_some(())
    });
    assert_eq!(
        lies.acme().settled_turn(session["id"].as_str().unwrap())["status"],
        "completed"
    );
    assert_eq!(
        (lies.logged(NOT_ISOLATED), lies.logged(SANDBOX_ENDED)),
        (1, 1)
    );
    assert_eq!(lies.upstream.hosts(), ["pkg.example"]);
}

#[test]
fn b25_a_tenant_that_says_what_the_self_test_says_gets_nothing() {
    let world = World::allowing(&["allowed.example"]);
    let nonce = "0123456789abcdef0123456789abcdef";
    let host = "allowed.selftest.internal";
    let path = format!("/{nonce}");
    for network in [
        json!({ "access": "restricted", "allowed_domains": ["allowed.example"] }),
        json!({ "access": "enabled" }),
    ] {
        world.replace(&network);
        world.judges(&[
            (Try::ask("GET", &path, host), "name_reserved"),
            (
                Try::ask("GET", &format!("http://{host}{path}"), host),
                "name_reserved",
            ),
            (Try::ask("POST", &path, host), "name_reserved"),
            (Try::ask("GET", "/", host), "name_reserved"),
            (
                Try::ask("GET", &format!("/{}", nonce.to_uppercase()), host),
                "name_reserved",
            ),
            (
                Try::ask("GET", &path, "denied.selftest.internal"),
                "name_reserved",
            ),
            (
                Try::tls(host, head("GET", &path, host, "")),
                "name_reserved",
            ),
            (
                Try::ask("GET", &format!("http://{host}{path}"), "allowed.example"),
                "name_reserved",
            ),
            (Try::ask("GET", &path, "allowed.example"), "200"),
        ]);
    }
    // Nor from the image's own program.
    let said = world.shell(&format!(
        "/sbin/cloister-packer probe --nonce {nonce} --raw 1.1.1.1:53 2>/dev/null; echo $?"
    ));
    assert_eq!(said, "20\n");
    world.reached_only(&["allowed.example"]);
}
