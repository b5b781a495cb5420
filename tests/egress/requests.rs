//! What is sent on, and how.
use crate::kit::World;
use serde_json::json;

#[test]
fn listed_hosts_are_reached_and_others_get_a_reason() {
    let world = World::allowing(&["allowed.example", "*.wild.example"]);
    for url in [
        "http://allowed.example/host",
        "https://a.b.wild.example/host",
    ] {
        let answer = world.curl(url);
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(url.contains(&answer.body), "{answer:?}");
    }
    for (url, code) in [
        ("http://wild.example/", "host_not_allowed"),
        ("https://allowed.example.evil.example/", "host_not_allowed"),
        (
            "http://169.254.169.254/latest/meta-data/",
            "address_metadata",
        ),
    ] {
        let answer = world.curl(url);
        assert_eq!(
            (answer.status, answer.refused().as_str()),
            (403, code),
            "{url}"
        );
        let said = answer.json();
        assert!(
            said["how"].is_string() && said["reason"].is_string(),
            "{said}"
        );
    }
    let hosts = world.upstream.hosts();
    assert_eq!(hosts, ["allowed.example", "a.b.wild.example"]);
    assert_eq!(
        world.audited("wild.example", 1),
        [("denied".to_owned(), json!("host_not_allowed"), 1)]
    );
    assert_eq!(
        world.audited("allowed.example", 1),
        [("allowed".to_owned(), json!(null), 1)]
    );
}
