//! Which host is this? Public cases in which two readers of one request found different ones. Named after their ids.
use crate::kit::World;
use crate::raw::{bytes_of, head, Try};
use serde_json::{json, Value};

const ALLOWED: &str = "allowed.example";

fn get(host: &str) -> Try {
    Try::ask("GET", "/host", host)
}

/// A request whose target is a whole URL, with the Host that belongs to it.
fn whole(url: &str, host: &str) -> Try {
    Try::ask("GET", url, host)
}

#[test]
fn a1_a2_a4_a5_a10_a11_a13_a14_names_that_only_some_readers_take_for_the_allowed_one() {
    let world = World::allowing(&[ALLOWED, "*.wild.example"]);
    let ideographic = bytes_of("allowed\u{3002}example");
    let cyrillic = bytes_of("\u{0430}llowed.example");
    world.judges(&[
        // What is right is reached, so that a refusal below means something.
        (get(ALLOWED), "200"),
        (get("ALLOWED.Example"), "200"),
        (get("a.b.wild.example"), "200"),
        (Try::tls(ALLOWED, head("GET", "/host", ALLOWED, "")), "200"),
        // A1: a control byte, NUL or space, raw or coded. The runtime itself takes no NUL.
        (get("evil.example\0.wild.example"), "400"),
        (get("evil.example\u{1}.wild.example"), "host_malformed"),
        (get("evil.example .wild.example"), "host_malformed"),
        (get("evil.example\t.wild.example"), "host_mismatch"),
        (get("evil.example%00.wild.example"), "host_malformed"),
        (get("evil.example%20.wild.example"), "host_malformed"),
        // A2: a longer name that begins or ends with an allowed one.
        (get("allowed.example.evil.example"), "host_not_allowed"),
        (get("evilallowed.example"), "host_not_allowed"),
        (get("evilwild.example"), "host_not_allowed"),
        (get("wild.example"), "host_not_allowed"),
        (get("a.wild.example.evil.example"), "host_not_allowed"),
        // A4: one dot at the end is the same host, two are none.
        (get("allowed.example."), "200"),
        (get("evil.example."), "host_not_allowed"),
        (get("allowed.example.."), "host_malformed"),
        (get(".allowed.example"), "host_malformed"),
        (get("a..wild.example"), "host_malformed"),
        (get("metadata.google.internal."), "name_reserved"),
        (get("169.254.169.254."), "address_metadata"),
        // A5: brackets around a name.
        (get("[allowed.example]"), "host_malformed"),
        (get("[[::1]]"), "host_malformed"),
        (get("[evil.example]:443"), "host_malformed"),
        (get("allowed.example]"), "host_malformed"),
        (
            Try::ask("CONNECT", "[evil.example]:443", "[evil.example]:443"),
            "501",
        ),
        // A10: bytes outside ASCII that some readers map to others. The runtime maps them in the URL.
        (get(&ideographic), "host_mismatch"),
        (get(&cyrillic), "host_mismatch"),
        (get("xn--llowed-2fg.example"), "host_not_allowed"),
        (get("allowed.ex\u{e4}mple"), "host_not_ascii"),
        // A11: codes in a host.
        (get("evil.example%2F.wild.example"), "host_malformed"),
        (get("allowed%2eexample"), "host_mismatch"),
        (get("allowed.example%2F10.0.0.1"), "host_malformed"),
        // A13: a zone that ends like an allowed name.
        (get("[::ffff:1.2.3.4%25x.wild.example]"), "host_malformed"),
        (get("[::1%x.wild.example]"), "host_malformed"),
        // A14: a port that no entry names.
        (get("allowed.example:80"), "200"),
        (get("allowed.example:9999"), "port_not_allowed"),
        (get("allowed.example:443"), "port_not_allowed"),
        (get("allowed.example:0"), "port_invalid"),
        (get("allowed.example:65536"), "port_invalid"),
        (
            Try::tls(ALLOWED, head("GET", "/", "allowed.example:9999", "")),
            "port_not_allowed",
        ),
        // Other texts that end, or go on, where a host should.
        (get("evil.example#.wild.example"), "host_mismatch"),
        (get("evil.example/.wild.example"), "host_mismatch"),
        (get("evil.example?.wild.example"), "host_mismatch"),
        (get("evil.example\\.wild.example"), "host_mismatch"),
        (get("evil.example:80.wild.example"), "port_invalid"),
        (get("user@allowed.example"), "userinfo_in_url"),
        (get("allowed.example@evil.example"), "userinfo_in_url"),
        (get("evil.example, allowed.example"), "host_malformed"),
    ]);
    // A port of its own: the border lets no other than 80 and 443 through to be judged.
    let past = Try::plain(head("GET", "/host", "allowed.example:9999", "")).at("11.0.0.1", 9999);
    world.judges(&[(past.within(3), "nothing")]);
    world.reached_only(&[ALLOWED, "a.b.wild.example"]);
}

#[test]
fn b1_b2_b4_addresses_in_every_spelling() {
    let world = World::with_network(json!({ "access": "enabled" }));
    // A whole URL is judged as it was written, whatever its Host says.
    let whole_urls = [
        ("http://2130706433/", "127.0.0.1", "address_spelling"),
        ("http://0x7f000001/", "127.0.0.1", "address_spelling"),
        ("http://0177.0.0.1/", "127.0.0.1", "address_spelling"),
        ("http://127.1/", "127.0.0.1", "address_spelling"),
        ("http://0/", "0.0.0.0", "address_spelling"),
        ("http://0xA9FEA9FE/", "169.254.169.254", "address_spelling"),
        ("http://017700000001/", "any.example", "address_spelling"),
        (
            "http://[::ffff:127.0.0.1]/",
            "[::ffff:7f00:1]",
            "address_embeds_ipv4",
        ),
        (
            "http://[0:0:0:0:0:ffff:7f00:1]/",
            "[::ffff:7f00:1]",
            "address_embeds_ipv4",
        ),
        (
            "http://[64:ff9b::a9fe:a9fe]/",
            "[64:ff9b::a9fe:a9fe]",
            "address_embeds_ipv4",
        ),
        (
            "http://[2002:7f00:1::]/",
            "[2002:7f00:1::]",
            "address_embeds_ipv4",
        ),
    ];
    let plain = [
        ("127.0.0.1", "address_loopback"),
        ("0.0.0.0", "address_loopback"),
        ("[::1]", "address_loopback"),
        ("[::]", "address_loopback"),
        ("10.0.0.1", "address_private"),
        ("172.17.0.1", "address_private"),
        ("192.168.1.1", "address_private"),
        ("100.64.0.1", "address_private"),
        ("[fd00::1]", "address_private"),
        ("169.254.1.1", "address_link_local"),
        ("[fe80::1]", "address_link_local"),
        ("169.254.169.254", "address_metadata"),
        ("100.100.100.200", "address_metadata"),
        ("168.63.129.16", "address_metadata"),
        ("192.0.0.192", "address_metadata"),
        ("[fd00:ec2::254]", "address_metadata"),
        ("224.0.0.1", "address_special_use"),
        ("255.255.255.255", "address_special_use"),
        ("198.18.0.1", "address_special_use"),
        ("localhost", "name_reserved"),
        ("router", "name_reserved"),
    ];
    // Of a Host alone the runtime makes a URL, and of a number an address: the two differ then.
    let numbers = [
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "127.1",
        "0",
        "[::ffff:127.0.0.1]",
    ];
    let mut rows: Vec<(Try, &str)> = vec![(get("any.example"), "200")];
    rows.extend(whole_urls.map(|(url, host, code)| (whole(url, host), code)));
    rows.extend(plain.map(|(host, code)| (get(host), code)));
    rows.extend(numbers.map(|host| (get(host), "host_mismatch")));
    // The address that is dialled says nothing about the host that is asked for, nor the other way round.
    rows.push((get("any.example").at("169.254.169.254", 80), "200"));
    rows.push((get("169.254.169.254").at("1.1.1.1", 80), "address_metadata"));
    rows.push((get("127.0.0.1:8080"), "address_loopback"));
    rows.push((
        get(world.gateway.url().trim_start_matches("http://")),
        "address_loopback",
    ));
    world.judges(&rows);
    // Where nothing names a host, the address that was dialled is it.
    let nameless = Try::plain("GET / HTTP/1.0\r\n\r\n").at("169.254.169.254", 80);
    world.judges(&[(nameless, "address_metadata")]);
    world.reached_only(&["any.example"]);
}

/// What is wrong with a network, by the parameter that is named.
fn refused(world: &World, network: &Value) -> (String, String) {
    let environment = json!({ "type": "openai_hosted", "network": network });
    let body = json!({ "agent": { "model": "codex" }, "environment": environment, "input": "go" });
    let (status, error) = world.acme.post("/v1/agents/sessions", &body);
    assert_eq!(status, 400, "{network}: {error}");
    let param = error["error"]["param"].as_str().unwrap_or_default();
    let message = error["error"]["message"].as_str().unwrap();
    (param.to_owned(), message.to_owned())
}

#[test]
fn a7_a8_h23_lists_that_mean_more_than_they_say_are_refused_at_creation() {
    let world = World::allowing(&[ALLOWED]);
    let entries = [
        // A7
        "*example.com",
        "a.*.b.com",
        "*",
        "*.com",
        "*.",
        "ex*ample.com",
        "example.*",
        "**.example.com",
        "*.*.com",
        // H23
        "example..com",
        "127.0.0.1",
        "2130706433",
        "*.127.0.0.1",
        "localhost",
        "metadata.google.internal",
        "10.0.0.1",
        // What is no host alone, or is one that nobody can ask for.
        "https://example.com",
        "example.com/x",
        "example.com:443",
        "user@example.com",
        "ex ample.com",
        "example.com..",
        "ex\u{e4}mple.com",
        "",
        "model.internal",
        "backup.internal",
        "*.internal",
        "[::1]",
        "[::ffff:1.2.3.4]",
        "allowed.selftest.internal",
        "a\0b.com",
        "\u{3002}",
    ];
    for entry in entries {
        let network = json!({ "access": "restricted", "allowed_domains": ["good.example", entry] });
        let (param, message) = refused(&world, &network);
        assert_eq!(
            param, "environment.network.allowed_domains[1]",
            "{entry:?}: {message}"
        );
    }
    // A8
    let lists = [
        (
            json!({ "access": "restricted", "blocked_domains": ["*.example.com"] }),
            "blocked_domains[0]",
        ),
        (
            json!({ "access": "restricted", "allowed_domains": ["a.com"], "blocked_domains": ["b.com"] }),
            "blocked_domains",
        ),
        (
            json!({ "access": "enabled", "allowed_domains": ["a.com"] }),
            "allowed_domains",
        ),
        (
            json!({ "access": "disabled", "allowed_domains": ["a.com"] }),
            "allowed_domains",
        ),
        (
            json!({ "access": "enabled", "blocked_domains": ["a.com"] }),
            "blocked_domains",
        ),
        (json!({ "access": "open" }), "access"),
        (json!({}), "access"),
        (
            json!({ "access": "restricted", "allowed_domains": "a.com" }),
            "allowed_domains",
        ),
        (
            json!({ "access": "restricted", "allowed_domains": [7] }),
            "allowed_domains[0]",
        ),
        (
            json!({ "access": "restricted", "rules": [{ "host": "a.com" }] }),
            "rules",
        ),
        (
            json!({ "access": "restricted", "allowed_domains": ["a.com"], "rules": [{ "host": "b.com" }] }),
            "rules[0].host",
        ),
        (
            json!({ "access": "restricted", "allowed_domains": ["a.com"], "rules": [{ "host": "a.com", "methods": ["TRACE"] }] }),
            "rules[0].methods[0]",
        ),
        (
            json!({ "access": "restricted", "allowed_domains": ["a.com"], "rules": [{ "host": "a.com", "path_prefixes": ["/a/../b"] }] }),
            "rules[0].path_prefixes[0]",
        ),
        (
            json!({ "access": "restricted", "allowed_domains": ["a.com"], "ports": [1] }),
            "ports",
        ),
    ];
    for (network, place) in lists {
        let (param, message) = refused(&world, &network);
        assert_eq!(
            param,
            format!("environment.network.{place}"),
            "{network}: {message}"
        );
        // The same holds for a policy that would replace one, which stays as it was.
        let (status, error) = world.acme.post(&world.network(), &network);
        assert_eq!(
            (status, &error["error"]["param"]),
            (400, &json!(place)),
            "{network}"
        );
    }
    world.judges(&[(get(ALLOWED), "200"), (get("a.com"), "host_not_allowed")]);
    let (_, sessions) = world.acme.get("/v1/agents/sessions");
    assert_eq!(
        sessions["data"].as_array().unwrap().len(),
        1,
        "nothing was created"
    );
    world.reached_only(&[ALLOWED]);
}
