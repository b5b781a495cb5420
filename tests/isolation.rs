//! Who may reach what, tried from inside as root, and where the planted credential may be seen.
mod support;

use serde_json::json;
use std::io::Read;
use std::time::Duration;
use support::{docker, script, shell, Gateway, Model};

/// A session whose turn is held by the model, with both containers running.
fn held_turn(gateway: &Gateway, model: &Model) -> (String, String, String) {
    let session = gateway.client("acme").session(Some(&script(
        "go",
        &[json!({ "wait": "held", "say": "ok" })],
    )));
    support::wait_for("the model call", Duration::from_secs(40), || {
        (!model.requests().is_empty()).then_some(())
    });
    (
        session["id"].as_str().unwrap().to_owned(),
        gateway.docker().harness(),
        gateway.docker().sandbox(),
    )
}

/// The harness image has no shell: tools to try with are brought along.
fn arm(container: &str) {
    for (from, to) in [("/bin/busybox", "/tmp/sh")] {
        let out = std::process::Command::new("docker")
            .args(["cp", from, &format!("{container}:{to}")])
            .output()
            .unwrap();
        assert!(
            out.status.success(),
            "{}",
            String::from_utf8_lossy(&out.stderr)
        );
    }
}

fn as_root(container: &str, line: &str) -> String {
    docker(&["exec", "-u", "0", container, "/tmp/sh", "sh", "-c", line])
}

#[test]
fn a_harness_reaches_its_reserved_hosts_and_nothing_else() {
    let model = Model::start();
    let gateway = Gateway::start(&model);
    let (_, harness, sandbox) = held_turn(&gateway, &model);
    arm(&harness);
    let own = docker(&[
        "inspect",
        "-f",
        "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}",
        &harness,
    ]);
    let _ = own;
    let sidecars = docker(&[
        "ps",
        "-q",
        "--filter",
        &format!(
            "ancestor={}",
            std::env::var("CLOISTER_INTERCEPTOR_IMAGE").unwrap()
        ),
    ]);
    let neighbours: Vec<String> = sidecars
        .lines()
        .map(|id| {
            docker(&["inspect", "-f", "{{.NetworkSettings.IPAddress}}", id])
                .trim()
                .to_owned()
        })
        .collect();
    let bb = "/tmp/sh";
    // The reserved hosts answer, and refuse what is not theirs.
    let reserved = as_root(&harness, &format!("{bb} wget -T 5 -q -O - http://model.internal/ 2>&1; {bb} wget -T 5 -O - http://model.internal/v1/models 2>&1"));
    assert!(reserved.contains("404"), "{reserved}");
    // Names.
    for name in [
        "example.com",
        "api.openai.com",
        "github.com",
        "host.docker.internal",
        "metadata.google.internal",
        "model.internal.example.com",
        "internal",
    ] {
        let answer = as_root(
            &harness,
            &format!("{bb} wget -T 4 -O - http://{name}/ 2>&1; echo exit $?"),
        );
        assert!(
            !answer.contains("HTTP/") && answer.contains("exit 1"),
            "{name}: {answer}"
        );
    }
    // Addresses and ports, over TCP: nothing comes back, whatever is sent.
    let mut targets = vec![
        "1.1.1.1".to_owned(),
        "10.0.0.1".into(),
        "172.17.0.1".into(),
        "169.254.169.254".into(),
        "192.0.2.1".into(),
    ];
    targets.extend(neighbours);
    for target in targets {
        for port in [22, 25, 53, 80, 443, 2375, 5432, 8080, 8300, 8700, 39001] {
            let line = format!("printf 'GET / HTTP/1.0\\r\\nhost: model.example\\r\\n\\r\\n' | {bb} timeout 3 {bb} nc -w 2 {target} {port} | {bb} wc -c");
            let answer = as_root(&harness, &line);
            assert_eq!(
                answer.trim().trim_end_matches("Terminated").trim(),
                "0",
                "{target}:{port} {answer}"
            );
        }
    }
    // A reserved host under another Host header, and another method and path.
    for request in ["GET / HTTP/1.1\\r\\nhost: example.com", "POST /v1/chat/completions HTTP/1.1\\r\\nhost: model.internal\\r\\ncontent-length: 0", "GET /999 HTTP/1.1\\r\\nhost: exec.internal\\r\\nupgrade: websocket\\r\\nconnection: upgrade\\r\\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\\r\\nsec-websocket-version: 13"] {
        let line = format!("printf '{request}\\r\\nconnection: close\\r\\n\\r\\n' | {bb} timeout 5 {bb} nc -w 3 11.0.0.1 80");
        let answer = as_root(&harness, &line);
        assert!(answer.is_empty() || answer.contains(" 403 ") || answer.contains(" 404 "), "{request}: {answer}");
    }
    // UDP other than DNS, ICMP, IPv6.
    for line in [
        format!("{bb} ping -c 1 -W 2 1.1.1.1"),
        format!("{bb} ping -c 1 -W 2 172.17.0.1"),
        format!("{bb} ping6 -c 1 -W 2 2001:db8::1"),
        format!("{bb} timeout 3 {bb} nslookup example.com 1.1.1.1 && echo 'Address: wrong'"),
    ] {
        let answer = as_root(&harness, &format!("{line} 2>&1"));
        assert!(
            !answer.contains("bytes from") && !answer.contains(" 0% packet loss"),
            "{line}: {answer}"
        );
    }
    let _ = sandbox;
    assert!(
        model.requests().len() == 1,
        "nothing that was tried reached the model"
    );
    model.release("held");
}

#[test]
fn a_sandbox_without_network_gets_a_reason() {
    let model = Model::start();
    let gateway = Gateway::start(&model);
    let (_, _, sandbox) = held_turn(&gateway, &model);
    let (answer, _) = shell(&sandbox, "curl -s -m 5 http://example.com/x; curl -s -m 5 --cacert /etc/cloudflare/certs/cloudflare-containers-ca.crt https://example.com/");
    assert_eq!(answer.matches("network_disabled").count(), 2, "{answer}");
    for line in [
        "curl -s -m 3 http://172.17.0.1:8787/",
        "curl -s -m 3 telnet://1.1.1.1:22 </dev/null",
        "curl -s -m 3 http://model.internal/v1/responses -d {}",
    ] {
        let (answer, _) = shell(&sandbox, line);
        assert!(
            answer.is_empty() || answer.contains("network_disabled"),
            "{line}: {answer}"
        );
    }
    assert_eq!(model.requests().len(), 1);
    model.release("held");
}

#[test]
fn the_provider_key_is_seen_at_the_provider_only() {
    let model = Model::start();
    let gateway = Gateway::start(&model);
    let acme = gateway.client("acme");
    let failing = json!({ "http": 401, "body": { "error": { "message": format!("Incorrect API key: {}", Gateway::CANARY), "code": "invalid_api_key" } } });
    let session = acme.session(Some(&script("fail", &[failing])));
    let failed = session["id"].as_str().unwrap().to_owned();
    let turn = acme.settled_turn(&failed);
    assert_eq!(turn["status"], "failed");
    let session = acme.session(Some(&script(
        "go",
        &[
            json!({ "shell": "env; cat /proc/*/environ" }),
            json!({ "wait": "held", "say": "ok" }),
        ],
    )));
    let id = session["id"].as_str().unwrap().to_owned();
    support::wait_for("the second call", Duration::from_secs(40), || {
        model.release("held").then_some(())
    });
    assert_eq!(acme.settled_turn(&id)["status"], "completed");
    assert!(model.requests().iter().all(
        |request| request["headers"]["authorization"] == format!("Bearer {}", Gateway::CANARY)
    ));

    let canary = Canary::new(Gateway::CANARY);
    // Whatever the API shows of either session.
    for id in [&failed, &id] {
        for path in ["", "/items", "/turns"] {
            canary.must_not_be_in(
                &format!("{id}{path}"),
                acme.get(&format!("/v1/agents/sessions/{id}{path}"))
                    .1
                    .to_string()
                    .as_bytes(),
            );
        }
    }
    canary.must_not_be_in("the Worker's log", gateway.log().as_bytes());
    for container in gateway.docker().all() {
        canary.must_not_be_in(
            "docker inspect",
            docker(&["inspect", &container]).as_bytes(),
        );
        canary.must_not_be_in("docker logs", docker(&["logs", &container]).as_bytes());
        let pids = docker(&["top", &container, "-o", "pid"]);
        for pid in pids.lines().skip(1).map(str::trim) {
            for file in ["environ", "cmdline"] {
                canary.must_not_be_in(
                    file,
                    &std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default(),
                );
            }
            canary.must_not_be_in_memory_of(pid);
        }
        let mut export = std::process::Command::new("docker")
            .args(["export", &container])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        canary.must_not_be_streamed("docker export", export.stdout.take().unwrap());
        export.wait().unwrap();
    }
    canary.must_not_be_below(&gateway.state());
}

/// A planted secret, as it could be written.
struct Canary {
    shapes: Vec<Vec<u8>>,
}

impl Canary {
    fn new(secret: &str) -> Self {
        use base64::{engine::general_purpose::STANDARD_NO_PAD, Engine};
        let mut shapes = vec![secret.as_bytes().to_vec()];
        // Base64 of it at each of the three offsets, less the characters that its neighbours decide.
        for offset in 0..3 {
            let padded = [vec![0; offset], secret.as_bytes().to_vec()].concat();
            let whole = STANDARD_NO_PAD.encode(&padded);
            shapes.push(whole.as_bytes()[4..whole.len() - 4].to_vec());
        }
        shapes.push(
            secret
                .bytes()
                .map(|byte| format!("{byte:02x}"))
                .collect::<String>()
                .into_bytes(),
        );
        Self { shapes }
    }

    fn is_in(&self, bytes: &[u8]) -> bool {
        self.shapes
            .iter()
            .any(|shape| memchr::memmem::find(bytes, shape).is_some())
    }

    fn must_not_be_in(&self, place: &str, bytes: &[u8]) {
        assert!(!self.is_in(bytes), "the secret is in {place}");
        for at in memchr::memmem::find_iter(bytes, b"\x1f\x8b\x08") {
            let mut plain = Vec::new();
            let _ = flate2::read::GzDecoder::new(&bytes[at..])
                .take(64 << 20)
                .read_to_end(&mut plain);
            assert!(!self.is_in(&plain), "the secret is in gzip in {place}");
        }
    }

    fn must_not_be_streamed(&self, place: &str, mut from: impl Read) {
        let mut window = Vec::new();
        let mut chunk = vec![0; 8 << 20];
        loop {
            let read = from.read(&mut chunk).unwrap();
            if read == 0 {
                return;
            }
            window.extend_from_slice(&chunk[..read]);
            assert!(!self.is_in(&window), "the secret is in {place}");
            window.drain(..window.len().saturating_sub(1024));
        }
    }

    fn must_not_be_in_memory_of(&self, pid: &str) {
        use std::os::unix::fs::FileExt;
        let Ok(maps) = std::fs::read_to_string(format!("/proc/{pid}/maps")) else {
            return;
        };
        let Ok(memory) = std::fs::File::open(format!("/proc/{pid}/mem")) else {
            return;
        };
        for line in maps.lines().filter(|line| line.contains(" rw")) {
            let (from, to) = line
                .split_whitespace()
                .next()
                .and_then(|range| range.split_once('-'))
                .unwrap();
            let (from, to) = (
                u64::from_str_radix(from, 16).unwrap(),
                u64::from_str_radix(to, 16).unwrap(),
            );
            let mut bytes = vec![0; (to - from).min(64 << 20) as usize];
            if memory.read_at(&mut bytes, from).is_ok() {
                self.must_not_be_in(&format!("memory of process {pid}"), &bytes);
            }
        }
    }

    fn must_not_be_below(&self, folder: &std::path::Path) {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                self.must_not_be_below(&path);
            } else {
                self.must_not_be_in(
                    &path.display().to_string(),
                    &std::fs::read(&path).unwrap_or_default(),
                );
            }
        }
    }
}
