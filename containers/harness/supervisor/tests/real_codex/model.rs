//! A model that says what the test has scripted: `POST …/responses` answered as server-sent events.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{json, Value};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// One thing the model does.
#[derive(Clone)]
pub enum Step {
    /// A message.
    Say(&'static str),
    /// A reasoning summary.
    Think(&'static str),
    /// A command.
    Shell(String),
    /// An edit.
    Patch(String),
    /// A call of a function: namespace, name, arguments.
    Call(Option<&'static str>, &'static str, Value),
    /// An item as it is.
    Item(Value),
    /// An event instead of the end of the answer: kind and data.
    Event(&'static str, Value),
    /// How many input tokens the call took.
    Tokens(u64),
    /// Waits before it goes on.
    Wait(Duration),
    /// Answers with this HTTP status instead.
    Status(u16),
}

/// Answers to come, each a list of steps.
type Script = VecDeque<Vec<Step>>;

/// The model; its clones are the same.
#[derive(Clone)]
pub struct Model {
    /// Base URL.
    pub url: String,
    script: Arc<Mutex<Script>>,
    /// Scripts for threads in which the user said this.
    threads: Arc<Mutex<Vec<(String, Script)>>>,
    requests: Arc<Mutex<Vec<Value>>>,
}

impl Model {
    /// Starts it on a port of its own.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let model = Self {
            url,
            script: Arc::default(),
            threads: Arc::default(),
            requests: Arc::default(),
        };
        let server = model.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let server = server.clone();
                // A client that hangs up ends it.
                tokio::spawn(async move { server.serve(stream).await });
            }
        });
        model
    }

    /// What the model does in its next answers, one list an answer.
    pub fn script(&self, answers: impl IntoIterator<Item = Vec<Step>>) {
        self.script.lock().unwrap().extend(answers);
    }

    /// What it does in a thread whose user has said exactly `told`.
    pub fn script_for(&self, told: &str, answers: impl IntoIterator<Item = Vec<Step>>) {
        let answers = answers.into_iter().collect();
        self.threads
            .lock()
            .unwrap()
            .push((told.to_owned(), answers));
    }

    fn next(&self, request: &Value) -> Option<Vec<Step>> {
        let said = |told: &str| {
            let mut items = request["input"].as_array().into_iter().flatten();
            items.any(|i| i["role"] == "user" && i["content"][0]["text"] == told)
        };
        let mut threads = self.threads.lock().unwrap();
        match threads.iter_mut().find(|(told, _)| said(told)) {
            Some((_, script)) => script.pop_front(),
            None => self.script.lock().unwrap().pop_front(),
        }
    }

    /// Forgets the rest of the script.
    pub fn clear(&self) {
        self.script.lock().unwrap().clear();
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<Value> {
        self.requests.lock().unwrap().clone()
    }

    async fn serve(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let request = read_request(&mut stream).await?;
        let answer = self.next(&request);
        let number = {
            let mut requests = self.requests.lock().unwrap();
            requests.push(request);
            requests.len()
        };
        let answer = answer.unwrap_or_else(|| vec![Step::Status(404)]);
        if let Some(Step::Status(status)) = answer.first() {
            let body = json!({ "error": { "type": "invalid_request_error", "code": "no", "message": "no" } }).to_string();
            let head = format!(
                "HTTP/1.1 {status} No\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                body.len()
            );
            return stream.write_all((head + &body).as_bytes()).await;
        }
        let head =
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        stream.write_all(head.as_bytes()).await?;
        let response = json!({ "id": format!("resp_{number}"), "object": "response", "status": "in_progress", "output": [] });
        event(
            &mut stream,
            "response.created",
            json!({ "response": response }),
        )
        .await?;
        let mut output = Vec::new();
        for (index, step) in answer.iter().enumerate() {
            if let Step::Event(kind, data) = step {
                return event(&mut stream, kind, data.clone()).await;
            }
            if let Some(item) = play(
                &mut stream,
                step,
                &format!("{number}_{index}"),
                output.len(),
            )
            .await?
            {
                output.push(item);
            }
        }
        let tokens = answer.iter().find_map(|step| match step {
            Step::Tokens(tokens) => Some(*tokens),
            _ => None,
        });
        let tokens = tokens.unwrap_or(1200);
        let usage = json!({
            "input_tokens": tokens, "input_tokens_details": { "cached_tokens": 1000 },
            "output_tokens": 34, "output_tokens_details": { "reasoning_tokens": 10 }, "total_tokens": tokens + 34,
        });
        let response = json!({ "id": format!("resp_{number}"), "object": "response", "status": "completed",
            "output": output, "usage": usage });
        event(
            &mut stream,
            "response.completed",
            json!({ "response": response }),
        )
        .await
    }
}

async fn play(
    stream: &mut TcpStream,
    step: &Step,
    name: &str,
    index: usize,
) -> std::io::Result<Option<Value>> {
    let item = match step {
        Step::Say(text) => {
            let id = format!("msg_{name}");
            let empty = json!({ "type": "message", "id": id, "role": "assistant", "status": "in_progress", "content": [] });
            event(
                stream,
                "response.output_item.added",
                json!({ "output_index": index, "item": empty }),
            )
            .await?;
            for word in text.split_inclusive(' ') {
                let delta = json!({ "item_id": id, "output_index": index, "content_index": 0, "delta": word });
                event(stream, "response.output_text.delta", delta).await?;
            }
            json!({ "type": "message", "id": id, "role": "assistant", "status": "completed",
                "content": [{ "type": "output_text", "text": text, "annotations": [] }] })
        }
        Step::Think(text) => {
            let id = format!("rs_{name}");
            let empty = json!({ "type": "reasoning", "id": id, "summary": [] });
            event(
                stream,
                "response.output_item.added",
                json!({ "output_index": index, "item": empty }),
            )
            .await?;
            let part = json!({ "item_id": id, "output_index": index, "summary_index": 0,
                "part": { "type": "summary_text", "text": "" } });
            event(stream, "response.reasoning_summary_part.added", part).await?;
            let delta =
                json!({ "item_id": id, "output_index": index, "summary_index": 0, "delta": text });
            event(stream, "response.reasoning_summary_text.delta", delta).await?;
            json!({ "type": "reasoning", "id": id, "encrypted_content": "e",
                "summary": [{ "type": "summary_text", "text": text }] })
        }
        Step::Shell(command) => json!({ "type": "function_call", "id": format!("fc_{name}"),
            "call_id": format!("call_{name}"), "name": "exec_command",
            "arguments": json!({ "cmd": command }).to_string(), "status": "completed" }),
        Step::Patch(patch) => json!({ "type": "custom_tool_call", "id": format!("ctc_{name}"),
            "call_id": format!("call_{name}"), "name": "apply_patch", "input": patch, "status": "completed" }),
        Step::Call(namespace, tool, arguments) => {
            let mut call = json!({ "type": "function_call", "id": format!("fc_{name}"),
                "call_id": format!("call_{name}"), "name": tool, "arguments": arguments.to_string(),
                "status": "completed" });
            if let Some(namespace) = namespace {
                call["namespace"] = json!(namespace);
            }
            call
        }
        Step::Item(item) => item.clone(),
        Step::Wait(time) => {
            tokio::time::sleep(*time).await;
            return Ok(None);
        }
        Step::Status(_) | Step::Event(..) | Step::Tokens(_) => return Ok(None),
    };
    event(
        stream,
        "response.output_item.done",
        json!({ "output_index": index, "item": item }),
    )
    .await?;
    Ok(Some(item))
}

async fn event(stream: &mut TcpStream, kind: &str, mut data: Value) -> std::io::Result<()> {
    data["type"] = kind.into();
    stream
        .write_all(format!("event: {kind}\ndata: {data}\n\n").as_bytes())
        .await
}

/// The body of one request.
pub async fn read_request(stream: &mut TcpStream) -> std::io::Result<Value> {
    let mut bytes = Vec::new();
    let mut chunk = vec![0; 64 << 10];
    loop {
        if let Some(end) = bytes.windows(4).position(|w| w == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
            let length = head.lines().find_map(|l| {
                l.strip_prefix("content-length:")?
                    .trim()
                    .parse::<usize>()
                    .ok()
            });
            let body = &bytes[end + 4..];
            if body.len() >= length.unwrap_or(0) {
                return Ok(serde_json::from_slice(body).unwrap_or(Value::Null));
            }
        }
        let read = stream.read(&mut chunk).await?;
        if read == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        bytes.extend_from_slice(&chunk[..read]);
    }
}
