//! An app container behind an interceptor, started as workerd starts them.

use std::{
    io::{Read, Write},
    net::TcpStream,
    sync::OnceLock,
    thread,
    time::{Duration, Instant},
};

use serde_json::{json, Value};

use crate::{
    docker::{docker, required_image, Container},
    egress::Egress,
};

/// Port of the interceptor for workerd.
pub const INGRESS_PORT: u16 = 39001;
/// Port on which the probe's echo server listens where one runs.
pub const APP_PORT: u16 = 8000;

/// The bridge's address, at which the host listens.
pub fn gateway() -> &'static str {
    static GATEWAY: OnceLock<String> = OnceLock::new();
    GATEWAY.get_or_init(|| {
        let found = docker(&[
            "network",
            "inspect",
            "bridge",
            "--format",
            "{{(index .IPAM.Config 0).Gateway}}",
        ]);
        assert!(
            !found.is_empty() && found != "<no value>",
            "start dockerd with --bip, or it names no gateway"
        );
        found
    })
}

/// The image of attacker, victim and sniffer, built once from the base.
pub fn probe_image() -> &'static str {
    static IMAGE: OnceLock<String> = OnceLock::new();
    IMAGE.get_or_init(|| {
        let base = required_image("CLOISTER_BASE_IMAGE");
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/probe");
        let image = "cloister/interceptor:probe";
        // The build installs packages, which the default bridge may not be able to.
        docker(&[
            "build",
            "--quiet",
            "--network",
            "host",
            "--build-arg",
            &format!("BASE={base}"),
            "--tag",
            image,
            folder,
        ]);
        image.to_owned()
    })
}

/// Starts an interceptor with the arguments that workerd gives it, and does not wait for it.
pub fn interceptor(options: &[&str], egress_port: u16) -> Container {
    let image = required_image("CLOISTER_INTERCEPTOR_IMAGE");
    let subnet = docker(&[
        "network",
        "inspect",
        "bridge",
        "--format",
        "{{(index .IPAM.Config 0).Subnet}}",
    ]);
    let egress_port = egress_port.to_string();
    let usual = [
        "--network",
        "bridge",
        "--publish-all",
        "--expose",
        "39001/tcp",
        "--cap-add",
        "NET_ADMIN",
        "--dns",
        "1.1.1.1",
        "--dns",
        "8.8.8.8",
        "--add-host",
        "host.docker.internal:host-gateway",
    ];
    let arguments = [
        &image,
        "--http-egress-port",
        &egress_port,
        "--http-ingress-address",
        "0.0.0.0:39001",
        "--docker-gateway-cidr",
        &subnet,
        "--dns-enabled",
        "--tls-intercept",
        "--disable-ipv6",
    ];
    Container::run(&[&usual, options, &arguments].concat())
}

/// App, interceptor and a stand-in for workerd.
pub struct World {
    /// The container that runs the app; shares the interceptor's network.
    pub app: Container,
    /// The interceptor.
    pub sidecar: Container,
    /// Where it asks.
    pub egress: Egress,
    /// Their address on the bridge.
    pub address: String,
    /// Their hardware address on the bridge.
    pub hardware: String,
}

impl World {
    /// Starts all, allows all names, and waits until it works.
    pub fn start() -> Self {
        let egress = Egress::listen(gateway());
        let sidecar = interceptor(&[], egress.port);
        sidecar.wait_for("interceptor: ready");
        let network = format!("container:{}", sidecar.name());
        let app = Container::run(&["--network", &network, probe_image(), "wait"]);
        app.wait_for("ready");
        let (address, hardware) = (sidecar.address(), sidecar.hardware());
        let world = Self {
            app,
            sidecar,
            egress,
            address,
            hardware,
        };
        let status = world.put(
            &json!({"internet": {"enabled": false}, "dns": {"allowHostnames": ["*.example"]}}),
        );
        assert!(status.starts_with("HTTP/1.1 204"), "{status}");
        world
    }

    /// Opens a connection to the interceptor as workerd does, and sends a request.
    pub fn request(&self, request: &str) -> TcpStream {
        let mut stream = TcpStream::connect((self.address.as_str(), INGRESS_PORT)).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(10)))
            .unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }

    /// One request to the interceptor; the whole response.
    pub fn ask(&self, request: &str) -> String {
        let mut response = String::new();
        self.request(request).read_to_string(&mut response).unwrap();
        response
    }

    /// Changes the interceptor's settings.
    pub fn put(&self, settings: &Value) -> String {
        let body = settings.to_string();
        self.ask(&format!(
            "PUT /egress HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ))
    }

    /// The certificate that the app should trust.
    pub fn certificate(&self) -> String {
        let response = self.ask("GET /ca HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(response.starts_with("HTTP/1.1 200"), "{response}");
        response.split_once("\r\n\r\n").unwrap().1.to_owned()
    }

    /// Host port under which the engine publishes the interceptor's port.
    pub fn published(&self) -> u16 {
        let port = self
            .sidecar
            .field("{{(index (index .NetworkSettings.Ports \"39001/tcp\") 0).HostPort}}");
        port.parse().unwrap()
    }
}

/// Waits until something is true.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(15);
    while !holds() {
        assert!(Instant::now() < end, "never happened: {what}");
        thread::sleep(Duration::from_millis(100));
    }
}
