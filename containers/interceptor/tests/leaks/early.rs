//! Calls to the interceptor's own port before its rules are in force.

use std::{
    fs,
    io::{ErrorKind, Read, Write},
    net::TcpStream,
    os::unix::fs::PermissionsExt,
    path::PathBuf,
    time::Duration,
};

use serde_json::json;

use crate::{
    docker::Container,
    egress::Egress,
    world::{eventually, gateway, interceptor, probe_image, INGRESS_PORT},
};

/// Stands before the real `nft` and loads no rules until a file says so.
const HELD_NFT: &str =
    "#!/bin/sh\nwhile [ ! -e /held/go ]; do sleep 0.05; done\nexec /usr/sbin/nft \"$@\"\n";

/// An interceptor whose rules are held back.
struct Held {
    sidecar: Container,
    folder: PathBuf,
}

impl Held {
    fn start(name: &str, egress: &Egress) -> Self {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("held-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let program = folder.join("nft");
        fs::write(&program, HELD_NFT).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let volume = format!("{}:/held:ro", folder.display());
        let path = "PATH=/held:/usr/sbin:/usr/bin:/sbin:/bin";
        let sidecar = interceptor(&["--volume", &volume, "--env", path], egress.port);
        Self { sidecar, folder }
    }

    /// A call as workerd makes it, as soon as the port is open.
    fn call(&self, request: &str) -> TcpStream {
        let address = self.sidecar.address();
        let mut open = None;
        eventually("the port is open", || {
            open = TcpStream::connect((address.as_str(), INGRESS_PORT)).ok();
            open.is_some()
        });
        let mut stream = open.unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }

    fn release(&self) {
        fs::write(self.folder.join("go"), "").unwrap();
        self.sidecar.wait_for("interceptor: ready");
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

#[test]
fn a_call_before_the_rules_is_answered_when_they_are_in_force() {
    let egress = Egress::listen(gateway());
    let held = Held::start("call", &egress);
    let request = "GET /ca HTTP/1.1\r\nHost: x\r\n\r\n";
    let mut calls = [held.call(request), held.call(request), held.call("")];
    for call in &mut calls {
        // No answer means that workerd does not start the app yet.
        call.set_read_timeout(Some(Duration::from_millis(300)))
            .unwrap();
        let early = call.read(&mut [0]);
        assert!(
            matches!(&early, Err(error) if error.kind() == ErrorKind::WouldBlock),
            "{early:?}"
        );
    }
    held.release();
    // Its first packet after the rules is the caller's here, and ours in the others.
    calls[2].write_all(request.as_bytes()).unwrap();
    for call in &mut calls {
        call.set_read_timeout(Some(Duration::from_secs(10)))
            .unwrap();
        let mut response = String::new();
        call.read_to_string(&mut response).unwrap();
        assert!(response.contains("BEGIN CERTIFICATE"), "{response}");
    }
}

#[test]
fn a_neighbours_call_before_the_rules_changes_nothing() {
    let egress = Egress::listen(gateway());
    let held = Held::start("neighbour", &egress);
    let plain = Container::run(&[probe_image(), "wait"]);
    plain.wait_for("ready");
    drop(held.call(""));
    let change = json!({"dns": {"allowHostnames": ["*.example"]}}).to_string();
    let say = format!(
        "PUT /egress HTTP/1.1\r\nContent-Length: {}\r\n\r\n{change}",
        change.len()
    );
    let outcome = plain.probe(
        "dial",
        &json!({"host": held.sidecar.address(), "port": INGRESS_PORT, "say": say}),
    );
    assert_eq!(
        outcome, "timed out",
        "it reaches the port and hears nothing"
    );
    held.release();
    // Calls are taken in order: when this one is answered, the neighbour's has been taken too.
    let mut response = String::new();
    held.call("GET /ca HTTP/1.1\r\nHost: x\r\n\r\n")
        .read_to_string(&mut response)
        .unwrap();
    assert!(response.contains("BEGIN CERTIFICATE"), "{response}");
    let network = format!("container:{}", held.sidecar.name());
    let app = Container::run(&["--network", &network, probe_image(), "wait"]);
    app.wait_for("ready");
    let rcode = app.probe("rcode", &json!({"name": "a.example"}));
    assert_eq!(rcode, 3, "the neighbour may not allow a name");
}
