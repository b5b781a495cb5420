use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::time::Duration;

/// A client of one caller.
#[derive(Clone)]
pub struct Client {
    base: String,
    key: String,
    agent: ureq::Agent,
}

impl Client {
    /// A client of `base` with `key`.
    pub fn new(base: &str, key: &str) -> Self {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(120)));
        Self {
            base: base.to_owned(),
            key: key.to_owned(),
            agent: config.build().into(),
        }
    }

    /// The API key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// GET: status and JSON.
    pub fn get(&self, path: &str) -> (u16, Value) {
        let request = self.agent.get(format!("{}{path}", self.base));
        let response = request
            .header("authorization", format!("Bearer {}", self.key))
            .header("openai-beta", "agents=v1")
            .call();
        read(response.expect("answer"))
    }

    /// DELETE: status and JSON.
    pub fn delete(&self, path: &str) -> (u16, Value) {
        let request = self.agent.delete(format!("{}{path}", self.base));
        let response = request
            .header("authorization", format!("Bearer {}", self.key))
            .header("openai-beta", "agents=v1")
            .call();
        read(response.expect("answer"))
    }

    /// POST of JSON: status and JSON (null when the body is empty).
    pub fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let (status, text) = self.post_raw(path, &body.to_string());
        (
            status,
            if text.is_empty() {
                Value::Null
            } else {
                serde_json::from_str(&text).unwrap_or(Value::String(text))
            },
        )
    }

    /// POST of text: status and text.
    pub fn post_raw(&self, path: &str, body: &str) -> (u16, String) {
        self.post_with(path, body, &[])
    }

    /// POST with more headers.
    pub fn post_with(&self, path: &str, body: &str, headers: &[(&str, &str)]) -> (u16, String) {
        let mut request = self.agent.post(format!("{}{path}", self.base));
        request = request
            .header("authorization", format!("Bearer {}", self.key))
            .header("openai-beta", "agents=v1");
        request = request.header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut response = request.send(body).expect("answer");
        (
            response.status().as_u16(),
            response.body_mut().read_to_string().expect("body"),
        )
    }

    /// Creates a session with `input`, or none: its JSON.
    pub fn session(&self, input: Option<&str>) -> Value {
        let mut body = serde_json::json!({ "agent": { "model": "codex" }, "environment": { "type": "openai_hosted" } });
        if let Some(input) = input {
            body["input"] = input.into();
        }
        let (status, session) = self.post("/v1/agents/sessions", &body);
        assert_eq!(status, 201, "{session}");
        session
    }

    /// Sends a message to a session.
    pub fn say(&self, session: &str, text: &str) {
        let message = serde_json::json!({ "type": "agent.session.input.message", "input": [{ "role": "user", "content": [{ "type": "input_text", "text": text }] }] });
        let (status, body) = self.post(
            &format!("/v1/agents/sessions/{session}/events"),
            &serde_json::json!({ "events": [message] }),
        );
        assert_eq!(status, 202, "{body}");
    }

    /// GET while the gateway may be away: status and JSON, or nothing.
    pub fn try_get(&self, path: &str) -> Option<(u16, Value)> {
        let request = self.agent.get(format!("{}{path}", self.base));
        let request = request
            .header("authorization", format!("Bearer {}", self.key))
            .header("openai-beta", "agents=v1");
        let mut response = request.call().ok()?;
        let text = response.body_mut().read_to_string().ok()?;
        Some((
            response.status().as_u16(),
            serde_json::from_str(&text).ok()?,
        ))
    }

    /// POST to a session's events while the gateway may be away, sent again with the same key until there is an answer
    /// that decides it: the status and the text.
    pub fn insist(&self, session: &str, event: &Value, key: &str) -> (u16, String) {
        let path = format!("{}/v1/agents/sessions/{session}/events", self.base);
        let body = serde_json::json!({ "events": [event] }).to_string();
        super::wait_for("an answer that decides", Duration::from_secs(60), || {
            let request = self
                .agent
                .post(&path)
                .header("authorization", format!("Bearer {}", self.key))
                .header("openai-beta", "agents=v1")
                .header("content-type", "application/json")
                .header("idempotency-key", key);
            let mut response = request.send(&body).ok()?;
            let text = response.body_mut().read_to_string().ok()?;
            let status = response.status().as_u16();
            (status < 500).then_some((status, text))
        })
    }

    /// Opens a session's stream after an event, or live; nothing if the gateway is away or refuses.
    pub fn follow(&self, session: &str, after: Option<&str>) -> Option<Stream> {
        let after = after.map_or(String::new(), |after| format!("?after={after}"));
        let path = format!("/v1/agents/sessions/{session}/events{after}");
        let request = self.agent.get(format!("{}{path}", self.base));
        let request = request
            .header("authorization", format!("Bearer {}", self.key))
            .header("openai-beta", "agents=v1");
        // A stream has no end to wait for.
        let config = request.config().timeout_global(None).build();
        let response = config.call().ok()?;
        (response.status().as_u16() == 200).then(|| Stream::of(response))
    }

    /// Opens a session's live stream.
    pub fn stream(&self, session: &str) -> Stream {
        let request = self
            .agent
            .get(format!("{}/v1/agents/sessions/{session}/events", self.base));
        let response = request
            .header("authorization", format!("Bearer {}", self.key))
            .header("openai-beta", "agents=v1")
            .call()
            .expect("stream");
        assert_eq!(response.status().as_u16(), 200);
        Stream::of(response)
    }

    /// Creates a session that streams its first turn.
    pub fn create_streaming(&self, input: &str) -> Stream {
        self.create_streaming_of(&serde_json::json!({ "agent": { "model": "codex" }, "environment": { "type": "openai_hosted" }, "input": input, "stream": true }))
    }

    /// Creates a session with this body, which says that it streams its first turn.
    pub fn create_streaming_of(&self, body: &Value) -> Stream {
        let request = self
            .agent
            .post(format!("{}/v1/agents/sessions", self.base))
            .header("content-type", "application/json");
        let response = request
            .header("authorization", format!("Bearer {}", self.key))
            .header("openai-beta", "agents=v1")
            .send(body.to_string());
        let response = response.expect("stream");
        assert_eq!(response.status().as_u16(), 201);
        Stream::of(response)
    }

    /// Waits until the session is idle again, and gives its newest turn.
    pub fn settled_turn(&self, session: &str) -> Value {
        super::wait_for("the turn to end", Duration::from_secs(90), || {
            let turn = self
                .get(&format!("/v1/agents/sessions/{session}/turns?limit=1"))
                .1["data"][0]
                .clone();
            let over = matches!(
                turn["status"].as_str(),
                Some("completed" | "failed" | "cancelled")
            );
            over.then_some(turn)
        })
    }

    /// All of a session's list, oldest first: `items` or `turns`.
    pub fn whole(&self, session: &str, list: &str) -> Vec<Value> {
        let mut all: Vec<Value> = Vec::new();
        loop {
            let after = all.last().map_or(String::new(), |last| {
                format!("&after={}", last["id"].as_str().unwrap())
            });
            let path = format!("/v1/agents/sessions/{session}/{list}?order=asc&limit=100{after}");
            let (status, page) = self.get(&path);
            assert_eq!(status, 200, "{page}");
            all.extend(page["data"].as_array().expect("data").iter().cloned());
            if page["has_more"] != true {
                return all;
            }
        }
    }

    /// Items of a session, oldest first.
    pub fn items(&self, session: &str) -> Vec<Value> {
        let (status, page) = self.get(&format!(
            "/v1/agents/sessions/{session}/items?order=asc&limit=100"
        ));
        assert_eq!(status, 200, "{page}");
        page["data"].as_array().expect("data").clone()
    }
}

fn read(mut response: ureq::http::Response<ureq::Body>) -> (u16, Value) {
    let status = response.status().as_u16();
    let text = response.body_mut().read_to_string().expect("body");
    (
        status,
        serde_json::from_str(&text).unwrap_or(Value::String(text)),
    )
}

/// A stream of events.
pub struct Stream {
    lines: std::io::Lines<BufReader<ureq::BodyReader<'static>>>,
}

impl Stream {
    fn of(response: ureq::http::Response<ureq::Body>) -> Self {
        Self {
            lines: BufReader::new(response.into_body().into_reader()).lines(),
        }
    }

    /// The next event; none at the end of the stream.
    pub fn next(&mut self) -> Option<Value> {
        loop {
            let line = self.lines.next()?.ok()?;
            assert!(!line.starts_with("id:"), "streams carry no id lines");
            if let Some(data) = line.strip_prefix("data: ") {
                return Some(serde_json::from_str(data).expect("JSON"));
            }
        }
    }

    /// Events up to and including the first of `kind`.
    pub fn until(&mut self, kind: &str) -> Vec<Value> {
        let mut events = Vec::new();
        loop {
            let event = self
                .next()
                .unwrap_or_else(|| panic!("the stream ended before {kind}: {events:#?}"));
            let found = event["type"] == kind;
            events.push(event);
            if found {
                return events;
            }
        }
    }
}
