//! A store in memory that keeps to the protocol.
#![allow(dead_code, reason = "no test needs all of it")]
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use cloister_protocol::backup::{
    AnnouncedFile, Announcement, Wanted, WantedFile, DIGEST_HEADER, NEXT_HEADER,
};
use sha2::{Digest, Sha256};

use super::server::{serve, Answer, Request};

/// The store, and what it was told.
#[derive(Clone)]
pub struct Memory {
    pub base: String,
    state: Arc<Mutex<State>>,
}

struct State {
    part_bytes: usize,
    /// More of a stream are refused.
    most_parts: usize,
    count: u64,
    grants: HashMap<String, Use>,
    streams: HashMap<String, Vec<Vec<u8>>>,
    announced: Vec<AnnouncedFile>,
    on_announced: Option<Box<dyn FnOnce() + Send>>,
}

#[derive(Clone)]
enum Use {
    Store { stream: String, part: usize },
    Fetch { stream: String, part: usize },
    Announce,
}

impl Memory {
    pub fn new(part_bytes: usize) -> Self {
        let state = Arc::new(Mutex::new(State {
            part_bytes,
            most_parts: 1024,
            count: 0,
            grants: HashMap::new(),
            streams: HashMap::new(),
            announced: Vec::new(),
            on_announced: None,
        }));
        let answering = Arc::clone(&state);
        let base = serve(move |request| answering.lock().unwrap().answer(&request));
        Self { base, state }
    }

    pub fn with_most_parts(self, most: usize) -> Self {
        self.state.lock().unwrap().most_parts = most;
        self
    }

    /// What happens between an announcement and its answer.
    pub fn on_announced(&self, act: impl FnOnce() + Send + 'static) {
        self.state.lock().unwrap().on_announced = Some(Box::new(act));
    }

    pub fn to_store(&self, stream: &str) -> String {
        let stream = stream.to_owned();
        self.grant(Use::Store { stream, part: 0 })
    }

    pub fn to_fetch(&self, stream: &str) -> String {
        let stream = stream.to_owned();
        self.grant(Use::Fetch { stream, part: 0 })
    }

    pub fn to_announce(&self) -> String {
        self.grant(Use::Announce)
    }

    fn grant(&self, what: Use) -> String {
        self.state.lock().unwrap().grant(what)
    }

    pub fn put(&self, stream: &str, parts: Vec<Vec<u8>>) {
        self.state
            .lock()
            .unwrap()
            .streams
            .insert(stream.to_owned(), parts);
    }

    pub fn parts(&self, stream: &str) -> Vec<Vec<u8>> {
        let state = self.state.lock().unwrap();
        state.streams.get(stream).cloned().unwrap_or_default()
    }

    pub fn announced(&self) -> Vec<AnnouncedFile> {
        self.state.lock().unwrap().announced.clone()
    }
}

impl State {
    fn grant(&mut self, what: Use) -> String {
        self.count += 1;
        let grant = format!("grant-{}", self.count);
        self.grants.insert(grant.clone(), what);
        grant
    }

    fn answer(&mut self, request: &Request) -> Answer {
        match (request.verb.as_str(), self.grants.remove(&request.grant)) {
            ("PUT", Some(Use::Store { stream, part })) => self.store(request, stream, part),
            ("GET", Some(Use::Fetch { stream, part })) => self.fetch(stream, part),
            ("POST", Some(Use::Announce)) => self.announce(request),
            _ => whole(403, vec![], vec![]),
        }
    }

    fn store(&mut self, request: &Request, stream: String, part: usize) -> Answer {
        let body = &request.body;
        assert_eq!(request.header(DIGEST_HEADER), Some(digest(body).as_str()));
        assert!(!body.is_empty() && body.len() <= self.part_bytes);
        self.streams
            .entry(stream.clone())
            .or_default()
            .push(body.clone());
        let mut headers = vec![];
        if body.len() == self.part_bytes && part + 1 < self.most_parts {
            let part = part + 1;
            headers.push((NEXT_HEADER, self.grant(Use::Store { stream, part })));
        }
        whole(200, headers, vec![])
    }

    fn fetch(&mut self, stream: String, part: usize) -> Answer {
        let parts = self.streams.get(&stream).cloned().unwrap_or_default();
        let Some(body) = parts.get(part).cloned() else {
            return whole(403, vec![], vec![]);
        };
        let mut headers = vec![(DIGEST_HEADER, digest(&body))];
        if part + 1 < parts.len() {
            let part = part + 1;
            headers.push((NEXT_HEADER, self.grant(Use::Fetch { stream, part })));
        }
        whole(200, headers, body)
    }

    /// Wants everything.
    fn announce(&mut self, request: &Request) -> Answer {
        let announcement: Announcement = serde_json::from_slice(&request.body).unwrap();
        self.announced = announcement.files;
        if let Some(act) = self.on_announced.take() {
            act();
        }
        let mut files = Vec::new();
        for (index, file) in self.announced.clone().into_iter().enumerate() {
            let stream = format!("output:{}", file.path);
            let grant = self.grant(Use::Store { stream, part: 0 });
            files.push(WantedFile {
                index: index.try_into().unwrap(),
                grant,
            });
        }
        let body = serde_json::to_vec(&Wanted { files }).unwrap();
        whole(200, vec![], body)
    }
}

pub fn whole(status: u16, headers: Vec<(&'static str, String)>, body: Vec<u8>) -> Answer {
    Answer::Whole {
        status,
        headers,
        body,
    }
}

pub fn digest(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
