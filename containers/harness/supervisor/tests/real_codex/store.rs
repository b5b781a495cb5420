//! A store of streams that keeps to `cloister_protocol::backup`: each grant is good for one use.
//!
//! Grants are `<verb>-<stream>-<part>`, such as `put-a-0`, so that a test needs none before it names them.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use cloister_protocol::backup::{DIGEST_HEADER, NEXT_HEADER};
use sha2::{Digest, Sha256};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// The store; its clones are the same.
#[derive(Clone)]
pub struct Store {
    /// Base URL.
    pub url: String,
    streams: Arc<Mutex<HashMap<String, Vec<Vec<u8>>>>>,
    spent: Arc<Mutex<HashSet<String>>>,
    /// Requests so far.
    asked: Arc<watch::Sender<usize>>,
    /// Whether requests have to wait.
    held: Arc<watch::Sender<bool>>,
    /// Whether what is fetched differs from its digest.
    lies: Arc<Mutex<bool>>,
}

impl Store {
    /// Starts it on a port of its own.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let store = Self {
            url: format!("http://{}", listener.local_addr().unwrap()),
            streams: Arc::default(),
            spent: Arc::default(),
            asked: Arc::default(),
            held: Arc::default(),
            lies: Arc::default(),
        };
        let server = store.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let server = server.clone();
                // A client that hangs up ends it.
                tokio::spawn(async move { server.serve(stream).await });
            }
        });
        store
    }

    /// Lets requests wait, or goes on with them.
    pub fn hold(&self, held: bool) {
        self.held.send_replace(held);
    }

    /// Waits for that many requests in all.
    pub async fn asked(&self, count: usize) {
        let mut asked = self.asked.subscribe();
        asked.wait_for(|n| *n >= count).await.unwrap();
    }

    /// Requests so far.
    pub fn count(&self) -> usize {
        *self.asked.borrow()
    }

    /// From now on parts differ from their digests.
    pub fn lie(&self) {
        *self.lies.lock().unwrap() = true;
    }

    /// The parts of a stream.
    pub fn parts(&self, stream: &str) -> Vec<Vec<u8>> {
        let streams = self.streams.lock().unwrap();
        streams.get(stream).cloned().unwrap_or_default()
    }

    /// Puts a stream into it.
    pub fn put(&self, stream: &str, parts: Vec<Vec<u8>>) {
        self.streams
            .lock()
            .unwrap()
            .insert(stream.to_owned(), parts);
    }

    async fn serve(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let (head, body) = read_request(&mut stream).await?;
        self.asked.send_modify(|n| *n += 1);
        let mut held = self.held.subscribe();
        let _ = held.wait_for(|held| !held).await;
        let answer = self.answer(&head, body);
        let (status, headers, body) = answer.unwrap_or((403, String::new(), Vec::new()));
        let head = format!(
            "HTTP/1.1 {status} X\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(&body).await
    }

    /// Status, headers and body; none if the grant is not good for this.
    fn answer(&self, head: &str, body: Vec<u8>) -> Option<(u16, String, Vec<u8>)> {
        let (verb, rest) = head.split_once(" /")?;
        let grant = rest.split(' ').next()?;
        let mut words = grant.split('-');
        let (Some(allowed), Some(name), Some(part), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return None;
        };
        let part: usize = part.parse().ok()?;
        if !verb.eq_ignore_ascii_case(allowed) || !self.spent.lock().unwrap().insert(grant.into()) {
            return None;
        }
        let next = format!("{NEXT_HEADER}: {allowed}-{name}-{}\r\n", part + 1);
        let mut streams = self.streams.lock().unwrap();
        if verb == "PUT" {
            let parts = streams.entry(name.to_owned()).or_default();
            let told = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case(DIGEST_HEADER)
                    .then(|| value.trim())
            });
            if parts.len() != part || told != Some(&digest(&body)) {
                return None;
            }
            parts.push(body);
            return Some((200, next, Vec::new()));
        }
        let parts = streams.get(name)?;
        let mut body = parts.get(part)?.clone();
        let mut headers = format!("{DIGEST_HEADER}: {}\r\n", digest(&body));
        if parts.len() > part + 1 {
            headers += &next;
        }
        if *self.lies.lock().unwrap() {
            *body.last_mut()? ^= 1;
        }
        Some((200, headers, body))
    }
}

fn digest(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Head and body of one request.
async fn read_request(stream: &mut TcpStream) -> std::io::Result<(String, Vec<u8>)> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse().ok())?
    });
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).await?;
    Ok((head, body))
}
