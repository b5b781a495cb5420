//! What listens on the host: a stand-in for workerd's egress listener, and a sink that must never be reached.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream, UdpSocket},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

/// Destination port for which the stand-in asks for raw bytes.
pub const RAW_PORT: u16 = 5432;

/// The stand-in. It accepts connections with a name and those to [`RAW_PORT`], and keeps every question.
pub struct Egress {
    /// Its port.
    pub port: u16,
    questions: Arc<Mutex<Vec<String>>>,
}

impl Egress {
    /// Listens on an address of the host.
    pub fn listen(address: &str) -> Self {
        let listener =
            TcpListener::bind((address, 0)).expect("the bridge's address must be on this machine");
        let port = listener.local_addr().unwrap().port();
        let questions = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&questions);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let kept = Arc::clone(&kept);
                thread::spawn(move || answer(stream, &kept));
            }
        });
        Self { port, questions }
    }

    /// The questions so far.
    pub fn questions(&self) -> Vec<String> {
        self.questions.lock().unwrap().clone()
    }
}

fn answer(mut stream: TcpStream, kept: &Mutex<Vec<String>>) -> Option<()> {
    stream
        .set_read_timeout(Some(Duration::from_secs(10)))
        .ok()?;
    let question = head(&mut stream)?;
    kept.lock().unwrap().push(question.clone());
    let name = question.lines().find_map(|line| {
        line.strip_prefix("X-Hostname: ")
            .or(line.strip_prefix("X-Tls-Sni: "))
    });
    if question.starts_with("CONNECT ")
        && question.lines().next()?.contains(&format!(":{RAW_PORT} "))
    {
        stream
            .write_all(b"HTTP/1.1 202 Accepted\r\n\r\nhello from the server\n")
            .ok()?;
        let mut buffer = [0; 1024];
        loop {
            let length = stream.read(&mut buffer).ok().filter(|length| *length > 0)?;
            stream.write_all(&buffer[..length]).ok()?;
        }
    }
    let Some(name) = name else {
        return stream
            .write_all(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
            .ok();
    };
    stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").ok()?;
    let request = head(&mut stream)?;
    let body = format!("{name} {}", request.lines().next()?);
    stream
        .write_all(
            format!(
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            )
            .as_bytes(),
        )
        .ok()
}

fn head(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).ok()?;
        bytes.push(byte[0]);
    }
    String::from_utf8(bytes).ok()
}

/// Listens for TCP and UDP on one port and keeps what reaches it.
pub struct Sink {
    /// Its port.
    pub port: u16,
    reached: Arc<Mutex<Vec<String>>>,
}

impl Sink {
    /// Listens on an address of the host.
    pub fn listen(address: &str) -> Self {
        let (tcp, udp, port) = (0..100)
            .find_map(|_| {
                let tcp = TcpListener::bind((address, 0)).ok()?;
                let port = tcp.local_addr().ok()?.port();
                Some((tcp, UdpSocket::bind((address, port)).ok()?, port))
            })
            .expect("a port that is free for TCP and UDP");
        let reached = Arc::new(Mutex::new(Vec::new()));
        let (by_tcp, by_udp) = (Arc::clone(&reached), Arc::clone(&reached));
        thread::spawn(move || {
            for stream in tcp.incoming().flatten() {
                by_tcp
                    .lock()
                    .unwrap()
                    .push(format!("tcp from {:?}", stream.peer_addr()));
            }
        });
        thread::spawn(move || {
            let mut buffer = [0; 256];
            while let Ok((length, from)) = udp.recv_from(&mut buffer) {
                let said = String::from_utf8_lossy(&buffer[..length]).into_owned();
                by_udp
                    .lock()
                    .unwrap()
                    .push(format!("udp from {from}: {said}"));
            }
        });
        Self { port, reached }
    }

    /// What reached it.
    pub fn reached(&self) -> Vec<String> {
        self.reached.lock().unwrap().clone()
    }
}
