//! A session under load, and what was asked of it.
use super::blow::Names;
use super::random::Random;
use super::watcher::Watcher;
use crate::support::{script as script_of, Client, Gateway};
use serde_json::{json, Value};
use std::time::{Duration, Instant};

/// What a client asks for.
#[derive(Clone, Debug)]
pub enum Request {
    /// A message whose script makes a turn.
    Turn(Script),
    /// A message without one: it steers, or becomes a turn that says "done".
    Steer,
    /// A cancel.
    Cancel,
}

/// What the model does in a turn.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// The model's answers, as the scripted model takes them.
    pub steps: Vec<Value>,
    /// Outputs of its commands, in order.
    pub outputs: Vec<String>,
    /// Its last words.
    pub words: String,
}

/// A message that was accepted.
#[derive(Clone, Debug)]
pub struct Said {
    /// Occurs in this message only.
    pub mark: String,
    /// What the model was to do.
    pub script: Option<Script>,
    /// A cancel came after it and before the session had settled: then it may have been dropped.
    pub may_be_dropped: bool,
    /// In which round.
    pub round: u64,
}

/// One session.
pub struct Subject {
    /// Occurs in the marks of its messages and of its processes.
    pub name: String,
    /// The session's id.
    pub id: String,
    /// Its client.
    pub client: Client,
    /// Accepted messages, in order.
    pub said: Vec<Said>,
    asked: u32,
    /// Its listener.
    pub watcher: Watcher,
    /// Its containers.
    pub names: Names,
}

impl Subject {
    /// Creates a session, in which nothing runs yet.
    pub fn open(gateway: &Gateway, name: &str) -> Self {
        let client = gateway.client("acme");
        let id = client.session(None)["id"].as_str().unwrap().to_owned();
        let watcher = Watcher::start(client.clone(), id.clone());
        let (name, names) = (format!("{name}-"), Names::default());
        Self {
            name,
            id,
            client,
            said: Vec::new(),
            asked: 0,
            watcher,
            names,
        }
    }

    /// Creates a session and lets it do one turn, so that its containers are known.
    pub fn start(gateway: &Gateway, name: &str) -> Self {
        let docker = gateway.docker();
        let kinds = ["CLOISTER_HARNESS_IMAGE", "CLOISTER_SANDBOX_IMAGE"];
        let before = kinds.map(|image| docker.names(image));
        let mut this = Self::open(gateway, name);
        this.probe(0).unwrap();
        let mut new = kinds.iter().zip(&before).map(|(image, before)| {
            let names = docker.names(image).into_iter();
            let mut new: Vec<_> = names.filter(|name| !before.contains(name)).collect();
            assert_eq!(new.len(), 1, "one new container of {image}: {new:?}");
            new.remove(0)
        });
        this.names = Names {
            harness: new.next().unwrap(),
            sandbox: new.next().unwrap(),
        };
        this
    }

    /// A script with one to three steps and an answer. A long one runs until something ends it.
    pub fn script(&self, random: &mut Random, long: bool) -> Script {
        let mark = format!("load-{}-{}", self.name, self.said.len());
        let mut script = Script::default();
        let patient = json!({ "yield_time_ms": 30_000 });
        if long {
            script.outputs.push("long\n".to_owned());
            script.steps.push(json!({ "shell": format!("echo long; (exec -a {mark} sleep 25)"), "args": patient }));
        }
        for step in 0..random.within(1, 4) {
            match random.within(0, 3) {
                0 => {
                    let ms = random.within(500, 4000);
                    script.outputs.push(format!("begin {step}\nend {step}\n"));
                    script.steps.push(json!({ "shell": format!("echo begin {step}; (exec -a {mark} sleep {}.{:03}); echo end {step}", ms / 1000, ms % 1000), "args": patient }));
                }
                1 => {
                    let lines = random.within(2_000, 30_000);
                    let output = (1..=lines).map(|line| format!("{line}\n")).collect();
                    script.outputs.push(output);
                    script.steps.push(json!({ "think": "This will be long.", "shell": format!("seq 1 {lines}"), "args": patient }));
                }
                _ => {
                    let path = format!("{mark}-{step}.txt");
                    let patch =
                        format!("*** Begin Patch\n*** Add File: {path}\n+line\n*** End Patch\n");
                    script.outputs.push(format!("A /workspace/{path}\n"));
                    script.steps.push(json!({ "patch": patch }));
                }
            }
        }
        let count = random.within(10, 60);
        let words: Vec<_> = (0..count).map(|word| format!("word{word}")).collect();
        script.words = words.join(" ");
        script
            .steps
            .push(json!({ "say": script.words, "drip": random.within(5, 60) }));
        script
    }

    /// Asks, and notes what was accepted. An unknown outcome is asked again with the same key.
    pub fn ask(&mut self, request: Request, round: u64) {
        self.asked += 1;
        let key = format!("{}-{}", self.name, self.asked);
        let mark = format!("mark-{}-{}.", self.name, self.said.len());
        let (event, script) = match request {
            Request::Turn(script) => (message(&script_of(&mark, &script.steps)), Some(script)),
            Request::Steer => (message(&mark), None),
            Request::Cancel => {
                let (status, text) = self.client.insist(
                    &self.id,
                    &json!({ "type": "agent.session.input.cancel" }),
                    &key,
                );
                assert_eq!(status, 202, "{text}");
                let earlier = self.said.iter_mut().filter(|said| said.round == round);
                earlier.for_each(|said| said.may_be_dropped = true);
                return;
            }
        };
        let (status, text) = self.client.insist(&self.id, &event, &key);
        assert_eq!(status, 202, "{text}");
        self.said.push(Said {
            mark,
            script,
            may_be_dropped: false,
            round,
        });
    }

    /// Waits until nothing runs and nothing waits: the session, or what it still does.
    pub fn settle(&self, end: Instant) -> Result<Value, String> {
        let path = format!("/v1/agents/sessions/{}", self.id);
        let mut calm = None;
        loop {
            let session = self
                .client
                .try_get(&path)
                .map(|(_, session)| session)
                .unwrap_or_default();
            let turns = self.client.try_get(&format!("{path}/turns?limit=1"));
            let turn = turns
                .map(|(_, turns)| turns["data"][0].clone())
                .unwrap_or_default();
            let over = matches!(
                turn["status"].as_str(),
                Some("completed" | "failed" | "cancelled")
            );
            let rests = matches!(session["status"].as_str(), Some("idle" | "failed"));
            calm = (over && rests).then(|| calm.unwrap_or_else(Instant::now));
            // A steer that comes back as the next turn's input leaves a moment of calm.
            if calm.is_some_and(|since| since.elapsed() > Duration::from_millis(700)) {
                return Ok(session);
            }
            if Instant::now() > end {
                return Err(format!(
                    "{} does not settle: {}, {turn}",
                    self.name, session["status"]
                ));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// One more turn, which must complete: the session is usable.
    pub fn probe(&mut self, round: u64) -> Result<(), String> {
        let words = format!("alive {}", self.said.len());
        let steps = vec![
            json!({ "shell": "echo here", "args": { "yield_time_ms": 30_000 } }),
            json!({ "say": words }),
        ];
        let script = Script {
            steps,
            outputs: vec!["here\n".to_owned()],
            words,
        };
        self.ask(Request::Turn(script), round);
        self.settle(Instant::now() + Duration::from_secs(60))?;
        let turns = self.client.whole(&self.id, "turns");
        let turn = turns.last().unwrap();
        let usable = turn["status"] == "completed";
        usable
            .then_some(())
            .ok_or_else(|| format!("{} is not usable: {turn}", self.name))
    }
}

fn message(text: &str) -> Value {
    json!({ "type": "agent.session.input.message", "input": [{ "role": "user", "content": [{ "type": "input_text", "text": text }] }] })
}
