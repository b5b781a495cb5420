//! Replaces what differs from one recording to the next.

use serde_json::Value;

/// Members that hold times.
const TIMES: [&str; 12] = [
    "completedAt",
    "completedAtMs",
    "createdAt",
    "durationMs",
    "emittedAtMs",
    "recencyAt",
    "sectionEnteredAt",
    "startedAt",
    "startedAtMs",
    "timeToFirstTokenMs",
    "updatedAt",
    "processId",
];

/// The transcript without times, with ids by their order of appearance, and with `dir` as `/dir`.
pub fn plain(lines: Vec<Value>, dir: &str) -> String {
    let mut text = String::new();
    for mut line in lines {
        timeless(&mut line);
        text.push_str(&format!("{line}\n"));
    }
    text = text.replace(dir, "/dir");
    for (n, id) in ids(&text).into_iter().enumerate() {
        let new = format!("00000000-0000-7000-8000-{:012}", n + 1);
        // We write them without dashes.
        text = text.replace(&id.replace('-', ""), &new.replace('-', ""));
        text = text.replace(&id, &new);
    }
    text
}

fn timeless(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                if TIMES.contains(&name.as_str()) && !value.is_null() {
                    *value = if value.is_string() {
                        "1".into()
                    } else {
                        1.into()
                    };
                } else {
                    timeless(value);
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(timeless),
        _ => {}
    }
}

/// All UUIDs, by their first appearance.
fn ids(text: &str) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    let is_id = |window: &[u8]| {
        window.iter().enumerate().all(|(n, b)| match n {
            8 | 13 | 18 | 23 => *b == b'-',
            _ => b.is_ascii_hexdigit(),
        })
    };
    for window in text.as_bytes().windows(36).filter(|window| is_id(window)) {
        let id = String::from_utf8_lossy(window).into_owned();
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids
}
