//! What must be true of a session's record after whatever happened to it.
use super::subject::{Said, Subject};
use crate::support::{Gateway, Model};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// The codes with which a turn may fail.
const CODES: [&str; 24] = [
    "context_length_exceeded",
    "max_output_tokens",
    "session_budget_exceeded",
    "usage_limit_exceeded",
    "project_spend_limit_exceeded",
    "organization_spend_limit_exceeded",
    "organization_usage_limit_exceeded",
    "billing_not_active",
    "credit_balance_exhausted",
    "rate_limit_exceeded",
    "flex_unavailable",
    "server_overloaded",
    "cyber_policy",
    "misalignment_policy_violation",
    "connection_failed",
    "server_error",
    "authentication_error",
    "invalid_request",
    "resource_not_found",
    "sandbox_error",
    "executor_version_incompatible",
    "active_turn_not_steerable",
    "request_timeout",
    "internal_error",
];

/// A session's whole log, and its lists, oldest first.
struct Record {
    /// Events.
    log: Vec<Value>,
    /// Turns.
    turns: Vec<Value>,
    /// Items.
    items: Vec<Value>,
}

/// The record of a session, out of all that is stored.
fn record(subject: &Subject, stored: &[Value]) -> Record {
    let ours = |event: &&Value| {
        event["session_id"] == subject.id.as_str() || event["session"]["id"] == subject.id.as_str()
    };
    Record {
        log: stored.iter().filter(ours).cloned().collect(),
        turns: subject.client.whole(&subject.id, "turns"),
        items: subject.client.whole(&subject.id, "items"),
    }
}

/// Everything that is wrong with the records of settled sessions, in words.
pub fn wrong_records(gateway: &Gateway, model: &Model, subjects: &[Subject]) -> Vec<String> {
    let stored = gateway.stored_events();
    let asked = model.log();
    let mut wrong = Vec::new();
    for subject in subjects {
        let record = record(subject, &stored);
        let last = record.log.last().map(|event| event["event_id"].clone());
        // It was stored a moment ago, and is on its way.
        let end = Instant::now() + Duration::from_secs(3);
        let caught_up = || {
            subject
                .watcher
                .seen()
                .last()
                .map(|event| event["event_id"].clone())
                == last
        };
        while !caught_up() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(50));
        }
        wrong.extend(problems(subject, &record, &asked));
    }
    wrong
}

fn problems(subject: &Subject, record: &Record, model: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    messages(&subject.said, record, model, &mut wrong);
    turns(record, &mut wrong);
    items(record, &mut wrong);
    texts(record, &mut wrong);
    seen(&subject.watcher.seen(), record, &mut wrong);
    wrong
        .into_iter()
        .map(|wrong| format!("{}: {wrong}", subject.name))
        .collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn kind(event: &Value) -> &str {
    let kind = text(&event["type"]);
    kind.strip_prefix("agent.session.").unwrap_or(kind)
}

fn is_terminal(kind: &str) -> bool {
    matches!(kind, "turn.completed" | "turn.failed" | "turn.cancelled")
}

/// Each accepted message is a user's item of one turn, once; one that was dropped by a cancel never reached the model.
fn messages(said: &[Said], record: &Record, model: &str, wrong: &mut Vec<String>) {
    let mut places = Vec::new();
    for said in said {
        let has_mark = |item: &&Value| {
            item["role"] == "user" && text(&item["content"][0]["text"]).contains(&said.mark)
        };
        let items: Vec<_> = record.items.iter().filter(has_mark).collect();
        let added = record
            .log
            .iter()
            .filter(|event| kind(event) == "turn.item.added" && has_mark(&&event["item"]));
        match (items.len(), added.count()) {
            (1, 1) => places.push(record.items.iter().position(|item| item == items[0])),
            (0, 0) if said.may_be_dropped => {
                if model.contains(&said.mark) {
                    wrong.push(format!(
                        "{} was dropped by a cancel and reached the model",
                        said.mark
                    ));
                }
            }
            (items, added) => wrong.push(format!(
                "{} is {items} items and {added} item.added",
                said.mark
            )),
        }
    }
    if !places.is_sorted() {
        wrong.push(format!("messages are out of order: {places:?}"));
    }
}

/// Each turn has one terminal event, after it nothing, and reads in the list as that event says.
fn turns(record: &Record, wrong: &mut Vec<String>) {
    let ids: Vec<_> = record
        .log
        .iter()
        .map(|event| text(&event["event_id"]))
        .collect();
    if ids.iter().collect::<BTreeSet<_>>().len() != ids.len() || ids.contains(&"") {
        wrong.push("event ids are missing or not unique".to_owned());
    }
    let mut listed: BTreeSet<_> = record.turns.iter().map(|turn| text(&turn["id"])).collect();
    let of = |event: &Value| {
        text(
            if kind(event) == "turn.created" || event["turn_id"].is_null() {
                &event["turn"]["id"]
            } else {
                &event["turn_id"]
            },
        )
        .to_owned()
    };
    let mut logs: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
    for event in record
        .log
        .iter()
        .filter(|event| kind(event).starts_with("turn."))
    {
        logs.entry(of(event)).or_default().push(event);
    }
    for (id, events) in &logs {
        let count = |wanted: &str| events.iter().filter(|event| kind(event) == wanted).count();
        let ends: Vec<_> = events
            .iter()
            .filter(|event| is_terminal(kind(event)))
            .collect();
        if ends.len() != 1 || count("turn.created") != 1 || count("turn.in_progress") > 1 {
            let kinds: Vec<_> = events
                .iter()
                .map(|event| kind(event))
                .filter(|kind| !kind.contains("delta"))
                .collect();
            wrong.push(format!(
                "{id} has {} terminal events: {kinds:?}",
                ends.len()
            ));
            continue;
        }
        if !is_terminal(kind(events[events.len() - 1])) {
            let at = events
                .iter()
                .position(|event| is_terminal(kind(event)))
                .unwrap();
            let late: Vec<_> = events[at + 1..].iter().map(|event| kind(event)).collect();
            wrong.push(format!("{id} has events after its end: {late:?}"));
        }
        let Some(turn) = record.turns.iter().find(|turn| text(&turn["id"]) == id) else {
            wrong.push(format!("{id} is not listed"));
            continue;
        };
        listed.remove(id.as_str());
        let status = kind(ends[0]).trim_start_matches("turn.");
        if turn["status"] != status || ends[0]["turn"]["status"] != status {
            wrong.push(format!(
                "{id} ended as {status} and reads {}",
                turn["status"]
            ));
        }
        let code = &turn["error"]["code"];
        if (status == "failed") != CODES.contains(&text(code)) {
            wrong.push(format!("{id} is {status} with the code {code}"));
        }
    }
    if !listed.is_empty() {
        wrong.push(format!("turns without events: {listed:?}"));
    }
    let last = record
        .log
        .iter()
        .map(kind)
        .rfind(|kind| matches!(*kind, "in_progress" | "idle" | "failed"));
    if last == Some("in_progress") {
        wrong.push("the last status in the log is in_progress".to_owned());
    }
}

/// Each item of the list was added once, in that order, and is as it was when it was done.
fn items(record: &Record, wrong: &mut Vec<String>) {
    let of = |wanted: &str| {
        let events = record.log.iter().filter(|event| kind(event) == wanted);
        events.map(|event| &event["item"]).collect::<Vec<_>>()
    };
    let (added, done) = (of("turn.item.added"), of("turn.item.done"));
    let order: Vec<_> = record
        .items
        .iter()
        .map(|item| added.iter().position(|added| added["id"] == item["id"]))
        .collect();
    if !order.is_sorted() || order.contains(&None) {
        wrong.push(format!(
            "items are listed in another order than they came in: {order:?}"
        ));
    }
    for (what, items) in [("added", &added), ("done", &done)] {
        let ids: BTreeSet<_> = items.iter().map(|item| text(&item["id"])).collect();
        if ids.len() != items.len() {
            wrong.push(format!("an item was {what} twice"));
        }
    }
    for item in &record.items {
        let last = done
            .iter()
            .chain(&added)
            .find(|done| done["id"] == item["id"]);
        if last.is_some_and(|last| *last != item) {
            wrong.push(format!("an item reads {item} and was {}", last.unwrap()));
        }
        if matches!(text(&item["status"]), "in_progress") {
            wrong.push(format!("an item was never done: {item}"));
        }
    }
    for item in &done {
        if !added.iter().any(|added| added["id"] == item["id"]) {
            wrong.push(format!("an item was done and never added: {item}"));
        }
        let listed = record.items.iter().any(|listed| listed["id"] == item["id"]);
        if !listed && item["status"] != "incomplete" {
            wrong.push(format!("an item was done and is not listed: {item}"));
        }
    }
    for item in added {
        if item["role"] != "user" && !done.iter().any(|done| done["id"] == item["id"]) {
            wrong.push(format!("an item was added and never done: {item}"));
        }
    }
}

/// Deltas of a message add up to it.
fn texts(record: &Record, wrong: &mut Vec<String>) {
    let mut texts: BTreeMap<&str, String> = BTreeMap::new();
    for event in &record.log {
        match kind(event) {
            "turn.output_text.delta" => texts
                .entry(text(&event["item_id"]))
                .or_default()
                .push_str(text(&event["delta"])),
            "turn.item.done" if event["item"]["role"] == "assistant" => {
                let whole = text(&event["item"]["content"][0]["text"]);
                let deltas = texts
                    .get(text(&event["item"]["id"]))
                    .map_or("", String::as_str);
                if whole != deltas {
                    wrong.push(format!(
                        "deltas add up to {deltas:?}, the message is {whole:?}"
                    ));
                }
            }
            _ => {}
        }
    }
}

/// What the client saw through all its connections is the log from where it began: no gap, no double, no other order.
fn seen(seen: &[Value], record: &Record, wrong: &mut Vec<String>) {
    let ids = |events: &[Value]| -> Vec<String> {
        events
            .iter()
            .map(|event| text(&event["event_id"]).to_owned())
            .collect()
    };
    let (seen, log) = (ids(seen), ids(&record.log));
    let Some(first) = seen.first() else {
        return wrong.push("the client saw nothing".to_owned());
    };
    let at = log.iter().position(|id| id == first).unwrap_or(log.len());
    if seen != log[at..] {
        let same = seen.iter().zip(&log[at..]).take_while(|(a, b)| a == b);
        wrong.push(format!(
            "the client saw {} events of {}, the first {} in order",
            seen.len(),
            log.len() - at,
            same.count()
        ));
    }
}
