//! Ways out for a root process, one by one.

use std::{collections::BTreeSet, thread, time::Duration};

use serde_json::{json, Value};

use crate::{
    docker::{docker, Container},
    egress::Sink,
    world::{gateway, probe_image, World, APP_PORT},
};

/// Attacks that even a plain container cannot make here, or that look like others to the sniffer.
const NOT_SEEN_FROM_A_PLAIN_CONTAINER: [&str; 1] = [
    // No such socket without the kernel's permission for the group.
    "ping-socket",
];

#[test]
fn nothing_leaves_but_questions_to_workerd() {
    let (world, neighbour, sink) = (World::start(), World::start(), Sink::listen(gateway()));
    let victim = Container::run(&[
        probe_image(),
        "serve",
        &json!({"port": APP_PORT}).to_string(),
    ]);
    let plain = Container::run(&[probe_image(), "wait"]);
    victim.wait_for("ready");
    plain.wait_for("ready");
    let gateway_mac = gateway_hardware();
    let egress_ports = [world.egress.port];
    let sniffer = Container::run(&[
        "--network",
        "host",
        "--cap-add",
        "NET_ADMIN",
        probe_image(),
        "sniff",
        &json!({
            "gateway": gateway(), "gateway_mac": gateway_mac,
            "watched": {
                &world.hardware: {"name": "app", "ip": world.address, "egress": egress_ports},
                plain.hardware(): {"name": "plain", "ip": plain.address(), "egress": []},
            },
        })
        .to_string(),
    ]);
    sniffer.wait_for("ready");

    let target = |own: &str, own_mac: &str, mark: u64, prefix: &str| {
        json!({
            "own": own, "own_mac": own_mac, "gateway": gateway(), "gateway_mac": gateway_mac,
            "victim": victim.address(), "victim_mac": victim.hardware(), "victim_port": APP_PORT,
            "other": neighbour.address, "other_egress": neighbour.egress.port, "egress": world.egress.port,
            "published": neighbour.published(), "sink": sink.port, "mark": mark, "prefix": prefix,
        })
    };
    let app_target = |mark, prefix| target(&world.address, &world.hardware, mark, prefix);

    // Root finds out the true mark, so that is tried as well as guesses.
    let mark = world
        .app
        .probe("learn_mark", &app_target(0, ""))
        .as_u64()
        .unwrap();
    assert_ne!(
        mark, 0,
        "the tap must see the interceptor's mark, or the attack with it proves nothing"
    );
    for (mark, prefix) in [
        (0, "unmarked-"),
        (mark, "true-mark-"),
        (100, "mark-100-"),
        (1, "mark-1-"),
        (0xffff_ffff, "mark-all-"),
    ] {
        let made = world.app.probe("attacks", &app_target(mark, prefix));
        assert_eq!(
            made[format!("{prefix}xdp")],
            "EBUSY",
            "the interceptor must hold the queue"
        );
        let dialled = world.app.probe("dials", &app_target(mark, prefix));
        for (name, outcome) in dialled.as_object().unwrap() {
            let stopped = [
                "ECONNREFUSED",
                "ECONNRESET",
                "EPIPE",
                "timed out",
                "EHOSTUNREACH",
                "ENETUNREACH",
                // The source port is the interceptor's.
                "EADDRINUSE",
            ];
            assert!(
                stopped.contains(&outcome.as_str().unwrap()),
                "{name}: {outcome}"
            );
        }
    }
    let neighbours_questions = neighbour.egress.questions();
    assert!(
        neighbours_questions.is_empty(),
        "another container's egress port was reached: {neighbours_questions:?}"
    );
    assert_eq!(
        sink.reached(),
        Vec::<String>::new(),
        "a service of the host was reached"
    );

    // The same from a container without an interceptor, to know that the sniffer sees each kind.
    let made = plain.probe(
        "attacks",
        &target(&plain.address(), &plain.hardware(), 0, "plain-"),
    );
    thread::sleep(Duration::from_secs(1));
    let seen = sightings(&sniffer);
    let leaked: Vec<_> = seen
        .iter()
        .filter(|(who, what)| who != "plain" && !what.starts_with("plain-"))
        .collect();
    assert!(
        leaked.is_empty(),
        "leaked: {leaked:#?}\nall: {}",
        sniffer.logs()
    );

    let control: BTreeSet<_> = seen
        .iter()
        .map(|(_, what)| what.trim_start_matches("plain-").to_owned())
        .collect();
    let unseen: Vec<_> = made
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, outcome)| (name.trim_start_matches("plain-"), outcome))
        .filter(|(name, _)| !NOT_SEEN_FROM_A_PLAIN_CONTAINER.contains(name))
        .filter(|(name, _)| {
            // The sniffer knows these by their shape and does not tell the ways apart.
            let shape = if name.contains("-arp-") && !name.ends_with("padding") {
                name.split_once('-').unwrap().1
            } else {
                name
            };
            !control.contains(shape)
        })
        .collect();
    assert!(
        unseen.is_empty(),
        "the control did not see {unseen:#?}, only {control:?}"
    );
}

/// What the sniffer saw: who sent it, and what.
fn sightings(sniffer: &Container) -> BTreeSet<(String, String)> {
    let lines = sniffer.logs();
    let parsed = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("the sniffer prints JSON"));
    parsed
        .filter_map(|line| {
            Some((
                line["who"].as_str()?.to_owned(),
                line["what"].as_str()?.to_owned(),
            ))
        })
        .collect()
}

/// The bridge's hardware address, by its IP address.
fn gateway_hardware() -> String {
    let bridge = docker(&[
        "network",
        "inspect",
        "bridge",
        "--format",
        "{{index .Options \"com.docker.network.bridge.name\"}}",
    ]);
    std::fs::read_to_string(format!("/sys/class/net/{bridge}/address"))
        .unwrap()
        .trim()
        .to_owned()
}
