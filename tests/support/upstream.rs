use super::process::{scratch, setting, Served};
use super::wait_for;
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// Longest wait for something that the upstream should have seen.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a gateway's requests to names reach in place of the network. `upstream.mjs` tells what it answers.
pub struct Upstream {
    served: Served,
    log: PathBuf,
}

impl Upstream {
    /// Starts one.
    pub fn start() -> Self {
        let folder = scratch("upstream");
        let log = folder.join("requests.jsonl");
        let mut command = Command::new(setting("CLOISTER_NODE"));
        command
            .args(["tests/support/upstream.mjs", "--log"])
            .arg(&log);
        Self {
            served: Served::start(command, folder.join("upstream.log")),
            log,
        }
    }

    /// Host and port, for the runner's `--upstream`.
    pub fn address(&self) -> &str {
        self.served.url.trim_start_matches("http://")
    }

    /// Requests whose body has ended or broken off, in the order of these ends.
    pub fn requests(&self) -> Vec<Value> {
        self.lines(|line| line["event"].is_null())
    }

    /// Hosts of these requests' URLs, one for each request, with the port if it is not the scheme's.
    pub fn hosts(&self) -> Vec<String> {
        let requests = self.requests();
        let urls = requests.iter().map(|request| request["url"].as_str());
        urls.map(|url| {
            let url = url::Url::parse(url.unwrap()).expect("a proxied request has a whole URL");
            let host = url.host_str().unwrap().to_owned();
            url.port()
                .map_or_else(|| host.clone(), |port| format!("{host}:{port}"))
        })
        .collect()
    }

    /// URLs of answers that the peer did not wait for, and of WebSockets that have ended.
    pub fn closed(&self) -> Vec<String> {
        let lines = self.lines(|line| line["event"] == "closed");
        let urls = lines.iter().map(|line| line["url"].as_str().unwrap());
        urls.map(str::to_owned).collect()
    }

    /// Waits for a request whose URL contains `part`: its line of the log.
    pub fn wait_for_request(&self, part: &str) -> Value {
        wait_for(&format!("a request of {part}"), PATIENCE, || {
            let requests = self.requests();
            let mut found = requests.into_iter();
            found.find(|request| request["url"].as_str().unwrap().contains(part))
        })
    }

    /// Waits until the peer of a URL that contains `part` has gone away.
    pub fn wait_for_closed(&self, part: &str) {
        wait_for(&format!("the end of {part}"), PATIENCE, || {
            self.closed()
                .iter()
                .any(|url| url.contains(part))
                .then_some(())
        });
    }

    fn lines(&self, keep: impl Fn(&Value) -> bool) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines = text
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"));
        lines.filter(|line| keep(line)).collect()
    }
}
