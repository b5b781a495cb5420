//! A session that is talked to while its parts come and go.
use crate::support::{self, docker, script, Client, Gateway, Model, Object, Process};
use serde_json::{json, Value};
use std::collections::BTreeSet;
use std::time::Duration;

/// How long a turn may take when what it needs is killed meanwhile.
const SETTLED: Duration = Duration::from_secs(120);

/// One session of the tenant `acme`.
pub struct Talk {
    /// Its client.
    pub client: Client,
    /// Its id.
    pub id: String,
}

/// A command that is given the time it needs.
pub fn shell(line: &str) -> Value {
    json!({ "shell": line, "args": { "yield_time_ms": 30_000 } })
}

/// The last words of a turn.
pub fn done() -> Value {
    json!({ "say": "Done." })
}

impl Talk {
    /// Creates a session in which nothing runs yet.
    pub fn open(gateway: &Gateway) -> Self {
        let client = gateway.client("acme");
        let id = client.session(None)["id"].as_str().unwrap().to_owned();
        Self { client, id }
    }

    /// Begins a turn of which `mark` is what the user says.
    pub fn say(&self, mark: &str, steps: &[Value]) {
        self.client.say(&self.id, &script(mark, steps));
    }

    /// Waits for the end of the newest turn, also while the gateway is away.
    pub fn settled(&self) -> Value {
        let path = format!("/v1/agents/sessions/{}/turns?limit=1", self.id);
        support::wait_for("the turn to end", SETTLED, || {
            let (_, page) = self.client.try_get(&path)?;
            let turn = page["data"][0].clone();
            let over = ["completed", "failed", "cancelled"].map(Value::from);
            over.contains(&turn["status"]).then_some(turn)
        })
    }

    /// A whole turn of one command.
    pub fn turn(&self, mark: &str, line: &str) -> Value {
        self.say(mark, &[shell(line), done()]);
        self.settled()
    }

    /// A whole turn of one command, which completes: what the command printed.
    pub fn run(&self, mark: &str, line: &str) -> String {
        let turn = self.turn(mark, line);
        assert_eq!(turn["status"], "completed", "{turn}");
        self.printed(&turn)
    }

    /// What the last command of a turn printed.
    pub fn printed(&self, turn: &Value) -> String {
        let items = self.client.whole(&self.id, "items");
        let of_turn =
            |item: &&Value| item["turn_id"] == turn["id"] && item["type"] == "command_execution";
        let command = items.iter().rfind(of_turn).expect("a command");
        command["output"].as_str().unwrap_or_default().to_owned()
    }

    /// The session's objects.
    pub fn objects(&self, gateway: &Gateway) -> Vec<Object> {
        let ours = |object: &Object| object.key.contains(&format!("/{}/", self.id));
        gateway.objects().into_iter().filter(ours).collect()
    }

    /// The object with a stream's first part, or the manifest, of the only checkpoint that is stored.
    pub fn object(&self, gateway: &Gateway, name: &str) -> Object {
        let objects = self.objects(gateway);
        let mut found = objects.iter().filter(|object| object.key.ends_with(name));
        match (found.next(), found.next()) {
            (Some(object), None) => object.clone(),
            (_, _) => panic!("not one {name}: {objects:#?}"),
        }
    }

    /// Waits until nothing is stored but what the manifest of one checkpoint lists.
    pub fn only_one_checkpoint_is_left(&self, gateway: &Gateway) {
        support::wait_for("one whole checkpoint", Duration::from_secs(30), || {
            let objects = self.objects(gateway);
            let manifest = objects
                .iter()
                .find(|object| object.key.ends_with("/manifest"))?;
            let manifest: Value =
                serde_json::from_slice(&std::fs::read(&manifest.file).ok()?).ok()?;
            let checkpoint = |id: &Value| format!("/checkpoints/{}/", id.as_str().unwrap());
            let streams = ["history", "workspace"].map(|name| {
                let stream = &manifest[name];
                let parts = stream["parts"].as_array().map_or(0, Vec::len);
                let home = checkpoint(&stream["checkpoint"]);
                (0..parts).map(move |part| format!("{home}{name}/{part:05}"))
            });
            let listed = streams.into_iter().flatten();
            let listed = listed.chain([format!("{}manifest", checkpoint(&manifest["id"]))]);
            let stored = objects.iter().map(|object| {
                let (_, rest) = object.key.split_once(&self.id).unwrap();
                rest.to_owned()
            });
            (listed.collect::<BTreeSet<_>>() == stored.collect()).then_some(())
        });
    }

    /// Fails unless each of the session's turns has one terminal event.
    pub fn each_turn_has_ended_once(&self, gateway: &Gateway) {
        let events = gateway.stored_events();
        for turn in self.client.whole(&self.id, "turns") {
            let ends = events.iter().filter(|event| {
                let kind = event["type"].as_str().unwrap_or_default();
                let kind = kind.rsplit('.').next().unwrap_or_default();
                event["turn"]["id"] == turn["id"] && kind == turn["status"]
            });
            let others = events.iter().filter(|event| {
                let kind = event["type"].as_str().unwrap_or_default();
                let over = ["turn.completed", "turn.failed", "turn.cancelled"];
                event["turn"]["id"] == turn["id"] && over.iter().any(|end| kind.ends_with(end))
            });
            assert_eq!((ends.count(), others.count()), (1, 1), "{turn}");
        }
    }
}

/// Marks of the user's messages in the first request that the model got for the turn with this mark, that one left out; and
/// whether what came before it is what the turn with the last of them ended with.
pub fn history(model: &Model, mark: &str) -> (Vec<String>, bool) {
    let requests = model.requests();
    let input = |request: &Value| request["body"]["input"].as_array().unwrap().clone();
    let marks = |request: &Value| -> Vec<String> {
        let users = input(request);
        let users = users.iter().filter(|item| item["role"] == "user");
        let texts = users.filter_map(|item| item["content"][0]["text"].as_str());
        let scripts = texts.filter_map(|text| Some(text.split_once("\n@@")?.0.to_owned()));
        scripts.collect()
    };
    let is_of =
        |request: &&Value, mark: &str| marks(request).last().is_some_and(|last| last == mark);
    let first = requests.iter().find(|request| is_of(request, mark));
    let first = first.expect("a request of the turn");
    let mut before = marks(first);
    before.pop();
    let continues = before.last().is_none_or(|last| {
        let last = requests.iter().rfind(|request| is_of(request, last));
        let (last, first) = (input(last.unwrap()), input(first));
        first.starts_with(&last)
    });
    (before, continues)
}

/// Kills both containers, and waits until they are gone.
pub fn kill_both(gateway: &Gateway) {
    let docker_of = gateway.docker();
    let both = ["CLOISTER_HARNESS_IMAGE", "CLOISTER_SANDBOX_IMAGE"];
    let running = || both.map(|image| docker_of.names(image)).concat();
    for name in running() {
        docker(&["kill", &name]);
    }
    support::wait_for("the containers to end", Duration::from_secs(10), || {
        running().is_empty().then_some(())
    });
}

/// The packer at work.
pub struct Packing {
    /// The container that it works in.
    pub sandbox: String,
    /// Its process. No program of the container has started it, so it is not among those that descend from the first.
    pub packer: Process,
}

/// Waits until the packer does this in the sandbox.
pub fn packing(gateway: &Gateway, verb: &str) -> Packing {
    support::wait_for(verb, Duration::from_secs(30), || is_packing(gateway, verb))
}

/// Whether the packer does this now, or within a moment.
pub fn is_packing(gateway: &Gateway, verb: &str) -> Option<Packing> {
    let image = std::env::var("CLOISTER_SANDBOX_IMAGE").unwrap();
    let sandboxes = gateway.docker().running(&image);
    // To ask Docker takes long; the processes of this machine are quickly looked through.
    (0..20).find_map(|_| {
        std::thread::sleep(Duration::from_millis(5));
        sandboxes.iter().find_map(|id| packs(id, verb))
    })
}

fn packs(sandbox: &str, verb: &str) -> Option<Packing> {
    let begins = format!("/sbin/cloister-packer\0{verb}\0");
    let folders = std::fs::read_dir("/proc").unwrap().flatten();
    folders.map(|folder| folder.path()).find_map(|folder| {
        let read = |name| std::fs::read_to_string(folder.join(name)).ok();
        let line = read("cmdline").filter(|line| line.starts_with(&begins))?;
        read("cgroup").filter(|cgroup| cgroup.contains(sandbox))?;
        let pid = folder.file_name()?.to_str()?.parse().ok()?;
        let packer = Process { pid, line };
        let sandbox = sandbox.to_owned();
        Some(Packing { sandbox, packer })
    })
}

/// Waits until the model has been asked `count` times in the turn with this mark.
pub fn wait_for_call(model: &Model, mark: &str, count: usize) {
    let mark = serde_json::to_string(&format!("{mark}\n@@")).unwrap();
    let mark = mark.trim_matches('"').to_owned();
    let asked = || {
        let log = model.log();
        log.lines().filter(|line| line.contains(&mark)).count()
    };
    support::wait_for("the model to be asked", Duration::from_secs(60), || {
        (asked() >= count).then_some(())
    });
}
