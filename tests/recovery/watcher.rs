//! A client that follows a session's events for as long as the session lasts, whatever happens to its connection.
use crate::support::Client;
use serde_json::Value;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[derive(Default)]
struct Shared {
    seen: Mutex<Vec<Value>>,
    cut: AtomicBool,
    over: AtomicBool,
    connections: AtomicUsize,
}

/// Follows one session.
pub struct Watcher(Arc<Shared>);

impl Watcher {
    /// Begins to follow `session`; it listens when this returns.
    pub fn start(client: Client, session: String) -> Self {
        let shared = Arc::<Shared>::default();
        let mut stream = client.follow(&session, None);
        assert!(stream.is_some(), "the first stream opens");
        let this = Self(Arc::clone(&shared));
        std::thread::spawn(move || {
            while !shared.over.load(Ordering::Relaxed) {
                let Some(mut open) = stream.take() else {
                    std::thread::sleep(Duration::from_millis(50));
                    let last = shared.seen.lock().unwrap().last().cloned();
                    let after = last
                        .as_ref()
                        .map(|event| event["event_id"].as_str().unwrap());
                    stream = client.follow(&session, after);
                    continue;
                };
                shared.connections.fetch_add(1, Ordering::Relaxed);
                while !shared.cut.swap(false, Ordering::Relaxed) {
                    let Some(event) = open.next() else { break };
                    shared.seen.lock().unwrap().push(event);
                }
            }
        });
        this
    }

    /// What can cut its connection.
    pub fn handle(&self) -> Scissors {
        Scissors(Arc::clone(&self.0))
    }

    /// Events so far.
    pub fn seen(&self) -> Vec<Value> {
        self.0.seen.lock().unwrap().clone()
    }

    /// How often it has connected.
    pub fn connections(&self) -> usize {
        self.0.connections.load(Ordering::Relaxed)
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.0.over.store(true, Ordering::Relaxed);
        self.handle().cut();
    }
}

/// Cuts a watcher's connection.
pub struct Scissors(Arc<Shared>);

impl Scissors {
    /// The connection is dropped at the next event, and another one opened.
    pub fn cut(&self) {
        self.0.cut.store(true, Ordering::Relaxed);
    }
}
