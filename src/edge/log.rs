//! Log lines: one JSON object with ids, codes and counts. Never commands, contents, names of files or URLs.

/// Writes one line. Values must be ids or codes of ours.
pub fn event(name: &str, fields: &[(&str, &str)]) {
    let mut line = serde_json::Map::new();
    line.insert("event".to_owned(), name.into());
    line.extend(
        fields
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).into())),
    );
    worker::console_log!("{}", serde_json::Value::Object(line));
}
