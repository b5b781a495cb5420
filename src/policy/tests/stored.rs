//! How policies are stored.
use super::super::limits::MAX_LAYERS;
use super::*;
use serde_json::json;

#[test]
fn a_policy_is_stored_with_its_version_and_read_back() {
    let narrowed = policy(&allowing(&["B.com", "a.com"])).narrow(&policy(&public()));
    let text = serde_json::to_string(&narrowed).unwrap();
    let layers = json!([{"access": "restricted", "allowed_domains": ["a.com", "b.com"]}, {"access": "enabled"}]);
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&text).unwrap(),
        json!({"version": 1, "layers": layers})
    );
    assert_eq!(
        serde_json::from_str::<EgressPolicy>(&text).unwrap(),
        narrowed
    );
    let compiled = CompiledPolicy::of_stored(&text, &OwnHosts::default());
    assert_eq!(get(&compiled, "https://a.com/"), "ok");
}

#[test]
fn a_stored_policy_that_cannot_be_read_denies_all() {
    let layer = json!({"access": "enabled"});
    let stored = |version: u32, layers: serde_json::Value| {
        json!({"version": version, "layers": layers}).to_string()
    };
    let good = stored(1, json!([layer]));
    assert_eq!(
        get(
            &CompiledPolicy::of_stored(&good, &OwnHosts::default()),
            "https://a.com/"
        ),
        "ok"
    );
    for text in [
        String::new(),
        "null".into(),
        "{}".into(),
        good[..good.len() - 1].into(),
        stored(0, json!([layer])),
        stored(2, json!([layer])),
        stored(1, json!([])),
        stored(1, json!(vec![layer.clone(); MAX_LAYERS + 1])),
        stored(1, json!([layer, {"access": "open"}])),
        stored(1, json!([layer, {"access": "enabled", "unknown": 1}])),
        stored(
            1,
            json!([layer, {"access": "restricted", "allowed_domains": ["*.com"]}]),
        ),
    ] {
        let policy = CompiledPolicy::of_stored(&text, &OwnHosts::default());
        assert_eq!(
            get(&policy, "https://a.com/"),
            "policy_unreadable",
            "{text}"
        );
    }
}
