//! Who may reach what, tried from inside as root, and where the planted credential may be seen.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods
)]
#[path = "isolation/backup.rs"]
mod backup;
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

/// The harness image has no shell: one is brought along.
fn arm(container: &str) {
    let to = format!("{container}:/tmp/busybox");
    let mut copy = std::process::Command::new("docker");
    let out = copy.args(["cp", "/bin/busybox", &to]).output().unwrap();
    assert!(
        out.status.success(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
}

/// Runs a line with busybox in the container itself, as root.
fn as_root(container: &str, line: &str) -> String {
    let line = format!("alias b=/tmp/busybox\n{line}");
    docker(&[
        "exec",
        "-u",
        "0",
        container,
        "/tmp/busybox",
        "sh",
        "-c",
        &line,
    ])
}

/// Sends bytes to an address over TCP; what comes back.
fn send(container: &str, target: &str, port: u16, bytes: &str) -> String {
    as_root(
        container,
        &format!("printf '{bytes}' | b timeout 4 /tmp/busybox nc -w 3 {target} {port}"),
    )
}

#[test]
fn a_harness_reaches_its_reserved_hosts_and_nothing_else() {
    let model = Model::start();
    let gateway = Gateway::start(&model);
    let (_, harness, _) = held_turn(&gateway, &model);
    arm(&harness);
    let image = std::env::var("CLOISTER_INTERCEPTOR_IMAGE").unwrap();
    let sidecars = docker(&["ps", "-q", "--filter", &format!("ancestor={image}")]);
    let address = |id: &str| {
        docker(&["inspect", "-f", "{{.NetworkSettings.IPAddress}}", id])
            .trim()
            .to_owned()
    };
    let neighbours: Vec<String> = sidecars.lines().map(address).collect();
    assert!(
        neighbours.len() >= 2,
        "the harness's own address and the sandbox's"
    );

    // The reserved hosts answer, by name, and refuse what is not theirs.
    let names = as_root(
        &harness,
        "b nslookup model.internal 2>&1; b nslookup exec.internal 2>&1",
    );
    assert_eq!(names.matches("11.0.0.1").count(), 2, "{names}");
    let refused = [
        ("GET / HTTP/1.1\\r\\nhost: model.internal", "404"),
        ("GET /v1/models HTTP/1.1\\r\\nhost: model.internal", "404"),
        (
            "POST /v1/responses?x=1 HTTP/1.1\\r\\nhost: model.internal\\r\\ncontent-length: 0",
            "403",
        ),
        (
            "POST /v1/chat/completions HTTP/1.1\\r\\nhost: model.internal\\r\\ncontent-length: 0",
            "404",
        ),
        ("GET /999 HTTP/1.1\\r\\nhost: exec.internal", "403"),
        ("GET /1 HTTP/1.1\\r\\nhost: exec.internal", "426"),
    ];
    for (request, status) in refused {
        let answer = send(
            &harness,
            "11.0.0.1",
            80,
            &format!("{request}\\r\\nconnection: close\\r\\n\\r\\n"),
        );
        assert!(
            answer.contains(&format!(" {status} ")),
            "{request}: {answer}"
        );
    }
    // A reserved host's connection with another Host on it.
    let smuggled = "GET / HTTP/1.1\\r\\nhost: model.internal\\r\\n\\r\\nGET / HTTP/1.1\\r\\nhost: example.com\\r\\n\\r\\n";
    let answer = send(&harness, "11.0.0.1", 80, smuggled);
    assert!(
        !answer.contains(" 200 ") && answer.contains("404"),
        "{answer}"
    );

    // No other name resolves, nor answers where the reserved ones do.
    let others = [
        "example.com",
        "api.openai.com",
        "host.docker.internal",
        "metadata.google.internal",
        "model.internal.example.com",
        "internal",
        "xmodel.internal",
    ];
    for name in others {
        let answer = as_root(&harness, &format!("b nslookup {name} 2>&1"));
        assert!(
            answer.contains("NXDOMAIN")
                || answer.contains("can't resolve")
                || answer.contains("can't find"),
            "{name}: {answer}"
        );
        let answer = send(
            &harness,
            "11.0.0.1",
            80,
            &format!("GET / HTTP/1.1\\r\\nhost: {name}\\r\\n\\r\\n"),
        );
        assert_eq!(answer, "", "{name}");
    }
    // No address answers on any port: the Internet, the host, the metadata service, the containers beside it.
    let mut targets: Vec<String> = [
        "1.1.1.1",
        "10.0.0.1",
        "172.17.0.1",
        "169.254.169.254",
        "192.0.2.1",
    ]
    .map(str::to_owned)
    .into();
    targets.extend(
        neighbours
            .into_iter()
            .filter(|address| *address != own_address(&harness)),
    );
    for target in &targets {
        let tries: String = [22, 25, 53, 80, 443, 2375, 5432, 8080, 8300, 8700, 39001]
            .iter()
            .map(|port| format!("printf 'GET / HTTP/1.0\\r\\nhost: a.example\\r\\n\\r\\n' | b timeout 2 /tmp/busybox nc -w 1 {target} {port} & "))
            .collect();
        assert_eq!(
            as_root(&harness, &format!("({tries} wait) 2>/dev/null")),
            "",
            "{target}"
        );
    }
    // Nor does any other protocol: ICMP, IPv6, UDP to a name server elsewhere or to another port.
    for line in [
        "b ping -c 1 -W 2 1.1.1.1",
        "b ping -c 1 -W 2 172.17.0.1",
        "b ping6 -c 1 -W 2 2001:db8::1",
        "b ping6 -c 1 -W 2 ff02::1",
    ] {
        let answer = as_root(&harness, &format!("{line} 2>&1"));
        assert!(
            !answer.contains("bytes from") && !answer.contains(" 0% packet loss"),
            "{line}: {answer}"
        );
    }
    let answer = as_root(&harness, "b nslookup example.com 1.1.1.1 2>&1; echo x | b timeout 3 /tmp/busybox nc -u -w 2 172.17.0.1 123");
    assert!(!answer.contains("Name:"), "{answer}");
    assert_eq!(
        model.requests().len(),
        1,
        "nothing that was tried reached the model"
    );
    model.release("held");
}

/// Address of the network that a container shares with its sidecar.
fn own_address(container: &str) -> String {
    let sidecar = docker(&["inspect", "-f", "{{.HostConfig.NetworkMode}}", container]);
    let sidecar = sidecar.trim().trim_start_matches("container:").to_owned();
    docker(&["inspect", "-f", "{{.NetworkSettings.IPAddress}}", &sidecar])
        .trim()
        .to_owned()
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
    ] {
        let (answer, _) = shell(&sandbox, line);
        assert_eq!(answer, "", "{line}");
    }
    // The harness's hosts are nothing here.
    for host in ["model.internal", "exec.internal"] {
        let (answer, _) = shell(&sandbox, &format!("curl -s -m 3 http://{host}/1 -d {{}}"));
        assert!(answer.contains("name_reserved"), "{host}: {answer}");
    }
    assert_eq!(model.requests().len(), 1);
    model.release("held");
}

#[test]
fn the_provider_key_is_seen_at_the_provider_only() {
    let model = Model::start();
    let gateway = Gateway::start(&model);
    let acme = gateway.client("acme");
    let failing = json!({ "http": 401, "body": { "error": { "message": "Incorrect API key provided: $CREDENTIAL", "code": "invalid_api_key" } } });
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
        let mut searched = 0;
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
            // In pieces that overlap by more than the longest shape.
            let mut at = from;
            while at < to {
                let mut bytes = vec![0; (to - at).min(64 << 20) as usize];
                let Ok(read) = memory.read_at(&mut bytes, at) else {
                    break;
                };
                if read == 0 {
                    break;
                }
                searched += read;
                self.must_not_be_in(&format!("memory of process {pid}"), &bytes[..read]);
                at += if at + read as u64 >= to || read <= 1024 {
                    read as u64
                } else {
                    read as u64 - 1024
                };
            }
        }
        // One that has ended meanwhile has no memory to search.
        let ended = !std::path::Path::new(&format!("/proc/{pid}")).exists();
        assert!(
            searched > 0 || ended,
            "nothing of process {pid} could be read"
        );
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
