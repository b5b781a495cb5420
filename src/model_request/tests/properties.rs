//! What holds for any body: checked against a second, simpler implementation over a parsed tree.
use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::{Map, Value};

use super::{run, FORCED};
use crate::model_request::{
    rules::{Fields, Rule, Strings, Treatment, REQUEST},
    Filter, Refusal,
};

/// The rules, applied to a tree.
fn allowed(value: &Value, rule: &Rule) -> bool {
    match value {
        Value::Null => rule.null,
        Value::Bool(_) => rule.boolean,
        Value::Number(_) => rule.number,
        Value::String(text) => match rule.string {
            Strings::None => false,
            Strings::Any => true,
            Strings::OneOf(list) => list.contains(&text.as_str()),
            Strings::Prefix(list) => list.iter().any(|prefix| text.starts_with(prefix)),
        },
        Value::Array(elements) => rule
            .array
            .is_some_and(|rule| elements.iter().all(|element| allowed(element, rule))),
        Value::Object(members) => match rule.object {
            None => false,
            Some(Fields::Open) => true,
            Some(Fields::Closed { table, required }) => {
                required.iter().all(|name| members.contains_key(*name))
                    && members.iter().all(|(name, value)| {
                        table.iter().any(|row| {
                            row.name == name
                                && row.treatment != Treatment::Refuse
                                && allowed(value, row.rule)
                        })
                    })
            }
        },
    }
}

/// The request that may be sent for a body, or none.
fn model(body: &Value) -> Option<Value> {
    if !allowed(body, &REQUEST) {
        return None;
    }
    let Some(Fields::Closed { table, .. }) = REQUEST.object else {
        return None;
    };
    let mut sent = Map::new();
    sent.insert("model".into(), FORCED.model.into());
    sent.insert("store".into(), false.into());
    sent.insert("prompt_cache_key".into(), FORCED.prompt_cache_key.into());
    sent.insert("stream".into(), true.into());
    for row in table
        .iter()
        .filter(|row| row.treatment == Treatment::Forward)
    {
        if let Some(value) = body.get(row.name) {
            sent.insert(row.name.into(), value.clone());
        }
    }
    Some(sent.into())
}

fn run_in_chunks(body: &[u8], cuts: &[usize]) -> Result<Vec<u8>, Refusal> {
    let mut filter = Filter::new(&FORCED);
    let mut out = Vec::new();
    let mut rest = body;
    for cut in cuts {
        let (chunk, tail) = rest.split_at(cut % (rest.len() + 1));
        filter.push(chunk, &mut out)?;
        rest = tail;
    }
    filter.push(rest, &mut out)?;
    filter.finish()?;
    Ok(out)
}

/// A value that the rule allows, more often than not; sometimes any.
fn value_for(rule: &'static Rule, depth: u32) -> BoxedStrategy<Value> {
    let mut kinds: Vec<(u32, BoxedStrategy<Value>)> = vec![(1, anything())];
    if rule.null {
        kinds.push((10, Just(Value::Null).boxed()));
    }
    if rule.boolean {
        kinds.push((30, any::<bool>().prop_map(Value::from).boxed()));
    }
    if rule.number {
        kinds.push((30, any::<i32>().prop_map(Value::from).boxed()));
    }
    match rule.string {
        Strings::None => {}
        Strings::Any => kinds.push((60, any::<String>().prop_map(Value::from).boxed())),
        Strings::OneOf(list) => kinds.push((60, select(list).prop_map(Value::from).boxed())),
        Strings::Prefix(list) => {
            kinds.push((
                60,
                (select(list), ".*")
                    .prop_map(|(prefix, rest)| Value::from(format!("{prefix}{rest}")))
                    .boxed(),
            ));
        }
    }
    if depth > 0 {
        if let Some(element) = rule.array {
            kinds.push((
                60,
                vec(value_for(element, depth - 1), 0..4)
                    .prop_map(Value::from)
                    .boxed(),
            ));
        }
        match rule.object {
            Some(Fields::Closed { table, required }) => {
                kinds.push((90, object_for(table, required, depth)))
            }
            Some(Fields::Open) | None => {}
        }
    }
    proptest::strategy::Union::new_weighted(kinds).boxed()
}

fn object_for(
    table: &'static [crate::model_request::rules::Field],
    required: &'static [&'static str],
    depth: u32,
) -> BoxedStrategy<Value> {
    let rows: Vec<_> = table
        .iter()
        .map(|row| {
            let chance = match row.treatment {
                Treatment::Refuse => 0.002,
                _ if required.contains(&row.name) => 0.98,
                _ => 0.3,
            };
            proptest::option::weighted(chance, value_for(row.rule, depth - 1))
        })
        .collect();
    (rows, proptest::option::weighted(0.01, anything()))
        .prop_map(|(values, stray)| {
            let mut members: Map<String, Value> = table
                .iter()
                .zip(values)
                .filter_map(|(row, value)| Some((row.name.to_owned(), value?)))
                .collect();
            if let Some(stray) = stray {
                members.insert("file_url".into(), stray);
            }
            members.into()
        })
        .boxed()
}

fn anything() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        // Eighths, because serde_json's own reading of long decimals is not exact.
        any::<i32>().prop_map(|eighths| Value::from(f64::from(eighths) / 8.0)),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((any::<String>(), inner), 0..4)
                .prop_map(|members| members.into_iter().collect::<Map<_, _>>().into()),
        ]
    })
    .boxed()
}

fn written(value: &Value, pretty: bool) -> Vec<u8> {
    if pretty {
        serde_json::to_vec_pretty(value)
    } else {
        serde_json::to_vec(value)
    }
    .unwrap_or_default()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn agrees_with_the_model(body in value_for(&REQUEST, 6), pretty: bool) {
        let ran = run(&written(&body, pretty));
        let sent = ran.as_ref().ok().map(|out| serde_json::from_str::<Value>(out));
        match (model(&body), sent) {
            (None, None) => {}
            (Some(expected), Some(Ok(sent))) => prop_assert_eq!(expected, sent),
            (expected, sent) => prop_assert!(false, "{:?} {:?} {:?}", expected, sent, ran),
        }
    }

    #[test]
    fn chunks_make_no_difference(body in value_for(&REQUEST, 6), cuts in vec(any::<usize>(), 0..40)) {
        let bytes = written(&body, true);
        let whole = run(&bytes).map(String::into_bytes);
        prop_assert_eq!(&run_in_chunks(&bytes, &cuts), &whole);
        prop_assert_eq!(&run_in_chunks(&bytes, &vec![1; bytes.len()]), &whole);
    }

    #[test]
    fn damaged_bytes_never_panic_and_never_pass_as_json(
        body in value_for(&REQUEST, 6),
        damage in vec((any::<usize>(), any::<u8>()), 1..6),
        cuts in vec(any::<usize>(), 0..10),
    ) {
        let mut bytes = written(&body, false);
        for (at, byte) in damage {
            let len = bytes.len();
            bytes[at % len] = byte;
        }
        if let Ok(out) = run_in_chunks(&bytes, &cuts) {
            prop_assert!(serde_json::from_slice::<Value>(&bytes).is_ok());
            let sent: Value = serde_json::from_slice(&out).map_err(|e| TestCaseError::fail(e.to_string()))?;
            // The output is itself a request that the filter takes.
            prop_assert!(allowed(&sent, &REQUEST));
        }
    }
}
