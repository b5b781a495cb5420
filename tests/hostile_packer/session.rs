//! A session whose sandbox has a hostile packer.
use super::support::{script, shell, wait_for, Client, Gateway};
use base64::{engine::general_purpose::STANDARD, Engine};
use serde_json::{json, Value};
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

const PACKER: &str = include_str!("packer.py");

/// A session, and the sandbox that it has at present.
pub struct Hostile {
    client: Client,
    pub session: String,
    pub sandbox: String,
}

/// Grants that the Worker has given to the packer.
pub struct Grants {
    pub store: String,
    pub announce: String,
}

/// The line of a shell that puts the hostile packer in the place of the honest one.
pub fn install() -> String {
    format!(
        "mkdir -p /hostile; rm -f /hostile/*; mv /sbin/cloister-packer /sbin/honest-packer; \
         echo {} | base64 -d > /sbin/cloister-packer; chmod 755 /sbin/cloister-packer",
        STANDARD.encode(PACKER)
    )
}

/// A turn of one command.
pub fn command(line: &str) -> String {
    let args = json!({ "yield_time_ms": 30_000 });
    let steps = [
        json!({ "shell": line, "args": args }),
        json!({ "say": "Done." }),
    ];
    script("go", &steps)
}

impl Hostile {
    /// Begins a session whose first turn installs the packer. It waits there with its grants.
    pub fn begin(gateway: &Gateway, client: &Client) -> Self {
        let image = std::env::var("CLOISTER_SANDBOX_IMAGE").unwrap();
        let before = gateway.docker().running(&image);
        let session = client.session(Some(&command(&install())));
        let session = session["id"].as_str().unwrap().to_owned();
        let sandbox = wait_for("the sandbox", Duration::from_secs(40), || {
            let mut running = gateway.docker().running(&image);
            running.retain(|id| !before.contains(id));
            running.pop()
        });
        Self {
            client: client.clone(),
            session,
            sandbox,
        }
    }

    /// Begins another turn of one command.
    pub fn say(&self, line: &str) {
        self.client.say(&self.session, &command(line));
    }

    /// The grants of the packer that waits.
    pub fn held(&self) -> Grants {
        let text = wait_for("a packer that waits", Duration::from_secs(60), || {
            let line = "cat /hostile/held && rm /hostile/held";
            let (text, code) = shell(&self.sandbox, line);
            (code == 0).then_some(text)
        });
        let held: Value = serde_json::from_str(&text).unwrap();
        let grant = |name: &str| held[name].as_str().unwrap_or_default().to_owned();
        Grants {
            store: grant("store"),
            announce: grant("announce"),
        }
    }

    /// What the packer is to do in its next runs.
    pub fn plan(&self, lines: &[&str]) {
        let plan: String = lines.iter().map(|line| format!("{line}\\n")).collect();
        let (out, code) = shell(&self.sandbox, &format!("printf '{plan}' >> /hostile/plan"));
        assert_eq!(code, 0, "{out}");
    }

    /// Sends requests from the sandbox, one after the other, and those of an inner list at once. Their answers.
    pub fn send(&self, requests: &[Value]) -> Vec<Value> {
        let out = self.python("send", &json!(requests).to_string());
        serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}"))
    }

    /// Sends so many requests at once: how often each code came.
    pub fn flood(&self, count: usize) -> Value {
        let out = self.python(&format!("flood {count}"), "");
        serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}"))
    }

    fn python(&self, arguments: &str, input: &str) -> String {
        let line =
            format!("cp /sbin/cloister-packer /tmp/client.py; python3 /tmp/client.py {arguments}");
        self.feed(&line, input.as_bytes())
    }

    /// Runs a line with this input. Its output.
    pub fn feed(&self, line: &str, input: &[u8]) -> String {
        let mut exec = Command::new("docker");
        exec.args(["exec", "-i", &self.sandbox, "sh", "-c", line]);
        let exec = exec.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = exec.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(input).unwrap();
        drop(stdin);
        String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
    }

    /// Announces files of these names, which hold so many bytes each: what the store answers.
    pub fn announce(&self, grants: &Grants, files: &[(&str, u64)]) -> Value {
        let files: Vec<Value> = files
            .iter()
            .map(|(path, bytes)| file(path, json!(bytes)))
            .collect();
        let body = json!({ "files": files }).to_string();
        self.send(&[
            json!({ "method": "POST", "target": format!("/{}", grants.announce), "body": body }),
        ])[0]
            .clone()
    }

    /// Announces files that are all wanted: the grant of each.
    pub fn wanted(&self, grants: &Grants, files: &[(&str, u64)]) -> Vec<String> {
        let answer = self.announce(grants, files);
        assert_eq!(answer["status"], 200, "{answer}");
        let wanted: Value = serde_json::from_str(answer["body"].as_str().unwrap()).unwrap();
        let wanted = wanted["files"].as_array().unwrap();
        assert_eq!(wanted.len(), files.len());
        let grant = |file: &Value| file["grant"].as_str().unwrap().to_owned();
        wanted.iter().map(grant).collect()
    }

    /// The turn, when it has ended, as status and code.
    pub fn ended(&self) -> (String, String) {
        let turn = self.client.settled_turn(&self.session);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (text(&turn["status"]), text(&turn["error"]["code"]))
    }

    /// Paths below the outputs of what is published, in their order.
    pub fn published(&self) -> Vec<String> {
        let artifacts = self.client.whole(&self.session, "artifacts");
        let path = |artifact: &Value| {
            let path = artifact["path"].as_str().unwrap();
            let below = path.strip_prefix("/workspace/outputs/");
            below.unwrap_or_else(|| panic!("{path}")).to_owned()
        };
        let mut paths: Vec<String> = artifacts.iter().map(path).collect();
        paths.sort();
        paths
    }

    /// What a published file holds.
    pub fn content(&self, below: &str) -> String {
        let artifacts = self.client.whole(&self.session, "artifacts");
        let path = format!("/workspace/outputs/{below}");
        let found = artifacts.iter().find(|artifact| artifact["path"] == *path);
        let id = found.unwrap_or_else(|| panic!("{path}"))["id"]
            .as_str()
            .unwrap();
        let path = format!(
            "/v1/agents/sessions/{}/artifacts/{id}/content",
            self.session
        );
        match self.client.get(&path) {
            (200, Value::String(text)) => text,
            (200, other) => other.to_string(),
            (status, body) => panic!("{status} {body}"),
        }
    }

    /// Finds the sandbox again, after another has taken its place.
    pub fn move_in(&mut self, gateway: &Gateway, others: &[&str]) {
        let image = std::env::var("CLOISTER_SANDBOX_IMAGE").unwrap();
        self.sandbox = wait_for("another sandbox", Duration::from_secs(60), || {
            let mut running = gateway.docker().running(&image);
            running.retain(|id| *id != self.sandbox && !others.contains(&id.as_str()));
            running.pop()
        });
    }
}

/// A file of an announcement.
pub fn file(path: &str, bytes: Value) -> Value {
    json!({ "path": path, "bytes": bytes, "sha256": "ab".repeat(32) })
}

/// A PUT of a body under a grant.
pub fn put(grant: &str, body: impl Into<Value>) -> Value {
    json!({ "target": format!("/{grant}"), "body": body.into() })
}

/// A request with other members.
pub fn with(mut request: Value, members: Value) -> Value {
    for (name, value) in members.as_object().unwrap() {
        request[name] = value.clone();
    }
    request
}
