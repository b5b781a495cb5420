use super::client::Client;
use super::docker::Docker;
use super::upstream::Upstream;
use sha2::{Digest, Sha256};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// What `./dev test` sets. Tests are not skipped without it: they fail and say so.
pub(super) fn setting(name: &str) -> String {
    std::env::var(name)
        .unwrap_or_else(|_| panic!("{name} is not set: run these tests through ./dev test"))
}

fn unique() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!(
        "{}-{}",
        std::process::id(),
        COUNT.fetch_add(1, Ordering::Relaxed)
    )
}

/// A child that says `ready URL` and ends when its stdin closes, so that it never outlives the test.
pub(super) struct Served {
    child: Child,
    pub(super) url: String,
    log: PathBuf,
}

impl Served {
    pub(super) fn start(mut command: Command, log: PathBuf) -> Self {
        let stderr = std::fs::File::create(log.with_extension("stderr")).unwrap();
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .spawn()
            .expect("spawn");
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut seen = Vec::new();
        let url = loop {
            let Some(Ok(line)) = lines.next() else {
                let stderr =
                    std::fs::read_to_string(log.with_extension("stderr")).unwrap_or_default();
                panic!(
                    "{command:?} ended before it was ready:\n{}\n{stderr}",
                    seen.join("\n")
                );
            };
            match line.strip_prefix("ready ") {
                Some(url) => break url.to_owned(),
                None => seen.push(line),
            }
        };
        let mut file = std::fs::File::create(&log).unwrap();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                use std::io::Write;
                let _ = writeln!(file, "{line}");
            }
        });
        Self { child, url, log }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// The scripted model.
pub struct Model {
    served: Served,
    log: PathBuf,
}

impl Model {
    /// Starts one.
    pub fn start() -> Self {
        let folder = scratch("model");
        let log = folder.join("requests.jsonl");
        let mut command = Command::new(setting("CLOISTER_NODE"));
        command.args(["tests/support/model.mjs", "--log"]).arg(&log);
        Self {
            served: Served::start(command, folder.join("model.log")),
            log,
        }
    }

    /// What goes into MODEL_BASE_URL.
    pub fn base_url(&self) -> String {
        format!("{}/v1", self.served.url)
    }

    /// Requests so far.
    pub fn requests(&self) -> Vec<serde_json::Value> {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// Requests so far, as they are logged.
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Lets a held answer go on; whether one was held.
    pub fn release(&self, name: &str) -> bool {
        Client::new(&self.served.url, "none")
            .post_raw(&format!("/release/{name}"), "")
            .0
            == 204
    }
}

/// A gateway with state of its own: the runner, workerd, and their containers.
pub struct Gateway {
    served: Option<Served>,
    folder: PathBuf,
    model: String,
    options: Vec<String>,
    /// Where it listens from its first start on: clients find it again.
    port: Option<String>,
}

impl Gateway {
    /// The provider key that is planted and must show up nowhere but at the model.
    pub const CANARY: &'static str = "sk-canary-6b1f0c9d27aa4e35";
    /// Tenants that have a key.
    pub const TENANTS: [&'static str; 3] = ["acme", "globex", "initech"];

    /// Starts one that uses `model`.
    pub fn start(model: &Model) -> Self {
        Self::start_with(model, &[])
    }

    /// Starts one of the build that breaks when asked to.
    pub fn start_with_faults(model: &Model) -> Self {
        Self::start_with(model, &["--build", &setting("CLOISTER_FAULTS_BUILD")])
    }

    /// Starts one of that build whose requests to names all go to `upstream`.
    pub fn start_with_upstream(model: &Model, upstream: &Upstream) -> Self {
        let build = setting("CLOISTER_FAULTS_BUILD");
        let options = ["--build", &build, "--upstream", upstream.address()];
        Self::start_with(model, &options)
    }

    /// Starts one with more options for the runner.
    pub fn start_with(model: &Model, options: &[&str]) -> Self {
        let folder = scratch("gateway");
        let keys = Self::TENANTS.map(|tenant| {
            let hash = cloister::api_key::hash(&key(tenant)).unwrap();
            format!("INSERT OR IGNORE INTO api_keys (hash, tenant, created_at) VALUES ('{hash}', '{tenant}', 0);\n")
        });
        std::fs::write(folder.join("keys.sql"), keys.concat()).unwrap();
        let options = options.iter().map(|option| (*option).to_owned()).collect();
        let mut gateway = Self {
            served: None,
            folder,
            model: model.base_url(),
            options,
            port: None,
        };
        gateway.restart();
        gateway
    }

    /// Starts again on the same state, after [`kill`](Self::kill).
    pub fn restart(&mut self) {
        let mut command = Command::new(setting("CLOISTER_NODE"));
        command.args(["runner/run.mjs", "--reach", "127.0.0.0/8"]);
        command.args(["--port", self.port.as_deref().unwrap_or("0")]);
        command.arg("--state").arg(self.state());
        command.arg("--sql").arg(self.folder.join("keys.sql"));
        command.args(["--interceptor", &setting("CLOISTER_INTERCEPTOR_IMAGE")]);
        command.args([
            "--image",
            &format!("harness={}", setting("CLOISTER_HARNESS_IMAGE")),
        ]);
        command.args([
            "--image",
            &format!("sandbox={}", setting("CLOISTER_SANDBOX_IMAGE")),
        ]);
        command.args([
            "--var",
            &format!("MODEL_BASE_URL={}", self.model),
            "--var",
            "MODEL_NAME=scripted-1",
        ]);
        command.args(["--secret", "MODEL_API_KEY", "--secret", "CLOISTER_SECRET"]);
        // Last: of two options with one name the second counts.
        command.args(&self.options);
        command
            .env("MODEL_API_KEY", Self::CANARY)
            .env("CLOISTER_SECRET", "5eed".repeat(16));
        let served = Served::start(command, self.folder.join("gateway.log"));
        self.port = served.url.rsplit(':').next().map(str::to_owned);
        self.served = Some(served);
    }

    /// Ends the process at once, as a power failure does; containers go on.
    pub fn kill(&mut self) {
        if let Some(mut served) = self.served.take() {
            served.child.kill().unwrap();
            served.child.wait().unwrap();
        }
    }

    /// Where it answers.
    pub fn url(&self) -> &str {
        &self.served.as_ref().expect("running").url
    }

    /// A client of `tenant`.
    pub fn client(&self, tenant: &str) -> Client {
        Client::new(self.url(), &key(tenant))
    }

    /// Every event that is stored, session by session in the order of its log, read from the files.
    pub fn stored_events(&self) -> Vec<serde_json::Value> {
        let query = "SELECT frames FROM log ORDER BY last";
        let rows = self.stored_rows("*SessionDO*/*.sqlite", "log", query);
        let lines = rows
            .iter()
            .flat_map(|row| row["frames"].as_str().unwrap().lines());
        let events = lines.filter_map(|line| line.strip_prefix("data: "));
        events
            .map(|json| serde_json::from_str(json).unwrap())
            .collect()
    }

    /// Alarms that are set: the object's name and when it is due, Unix nanoseconds.
    pub fn alarms(&self) -> Vec<serde_json::Value> {
        let query = "SELECT actor_name, CAST(scheduled_time AS TEXT) AS due FROM _cf_ALARM";
        self.stored_rows("*DO*/metadata.sqlite", "_cf_ALARM", query)
    }

    pub(super) fn stored_rows(
        &self,
        files: &str,
        table: &str,
        query: &str,
    ) -> Vec<serde_json::Value> {
        let mut command = Command::new(setting("CLOISTER_NODE"));
        command.args(["--no-warnings", "--input-type=module", "-e", STORED_ROWS]);
        command.env("FILES", self.state().join("**").join(files));
        let out = command
            .env("TABLE", table)
            .env("QUERY", query)
            .output()
            .unwrap();
        assert!(
            out.status.success(),
            "{}",
            String::from_utf8_lossy(&out.stderr)
        );
        let lines = out.stdout.split(|byte| *byte == b'\n');
        let lines = lines.filter(|line| !line.is_empty());
        lines
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect()
    }

    /// Bytes of everything it has stored.
    pub fn stored_bytes(&self) -> u64 {
        fn of(path: &std::path::Path) -> u64 {
            // What is listed may be gone by now.
            let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
            let sizes = entries.map(|entry| match entry.metadata() {
                Ok(data) if data.is_dir() => of(&entry.path()),
                Ok(data) => data.len(),
                Err(_) => 0,
            });
            sizes.sum()
        }
        of(&self.state())
    }

    /// The process that runs the Worker, and how much memory it holds, in bytes.
    pub fn workerd(&self) -> (u32, u64) {
        let runner = self.served.as_ref().expect("running").child.id();
        let children = std::fs::read_to_string(format!("/proc/{runner}/task/{runner}/children"));
        let pid = children.unwrap().split_whitespace().find_map(|pid| {
            let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
            (name.trim() == "workerd").then(|| pid.parse().unwrap())
        });
        let pid: u32 = pid.expect("workerd runs");
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let resident = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .unwrap();
        let kib: u64 = resident.trim().trim_end_matches(" kB").parse().unwrap();
        (pid, kib * 1024)
    }

    /// What the Worker logged.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.join("gateway.log")).unwrap_or_default()
    }

    /// Folder with everything this gateway stored.
    pub fn state(&self) -> PathBuf {
        self.folder.join("state")
    }

    /// The containers it started.
    pub fn docker(&self) -> Docker {
        Docker::of(&self.state())
    }
}

/// Reads copies, so that nothing is locked or changed; of a file that is being written the next try gets a whole copy.
const STORED_ROWS: &str = r#"
import { cpSync, globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
const { FILES, TABLE, QUERY } = process.env;
const read = (file) => {
  const copies = mkdtempSync(join(tmpdir(), "cloister-rows-"));
  try {
    for (const name of globSync(`${file}{,-wal}`)) cpSync(name, join(copies, basename(name)));
    const db = new DatabaseSync(join(copies, basename(file)));
    const there = db.prepare("SELECT 1 FROM sqlite_master WHERE name = ?").get(TABLE);
    return there ? db.prepare(QUERY).all() : [];
  } finally {
    rmSync(copies, { recursive: true });
  }
};
for (const file of globSync(FILES)) {
  for (let tries = 5; ; tries--) {
    try {
      for (const row of read(file)) console.log(JSON.stringify(row));
      break;
    } catch (error) {
      if (tries === 0) throw error;
    }
  }
}
"#;

/// The API key of a tenant, the same in every gateway.
pub fn key(tenant: &str) -> String {
    cloister::api_key::from_random(Sha256::digest(tenant).into())
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let docker = self.docker();
        drop(self.served.take());
        docker.remove_all();
        if !std::thread::panicking() {
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }
}

pub(super) fn scratch(kind: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("cloister-{kind}-{}", unique()));
    // An earlier process of this number may have left one.
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
