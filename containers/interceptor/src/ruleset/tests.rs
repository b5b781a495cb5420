use super::*;

fn sample() -> Ruleset {
    Ruleset {
        around: Surroundings::sample(),
        mark: 0xabcd_ef01,
        egress_port: 4000,
        ingress_port: 39001,
        tcp_port: 40001,
        dns_port: Some(40002),
    }
}

/// The rules of one chain, without indentation.
fn chain_of<'a>(text: &'a str, table: &str, chain: &str) -> Vec<&'a str> {
    let table = text
        .split(&format!("\ntable {table} cloister {{\n"))
        .nth(1)
        .unwrap_or_default();
    let body = table
        .split(&format!("chain {chain} {{\n"))
        .nth(1)
        .unwrap_or_default();
    body.lines()
        .map(str::trim)
        .take_while(|line| *line != "}")
        .collect()
}

#[test]
fn only_what_is_marked_and_goes_to_workerd_is_not_redirected() {
    let text = sample().ip_tables();
    assert_eq!(
        chain_of(&text, "ip", "divert"),
        [
            "type nat hook output priority -100; policy accept;",
            "ip daddr { 127.0.0.0/8, 172.17.0.2 } accept",
            "meta mark 0xabcdef01 ip daddr 172.17.0.1 tcp dport 4000 accept",
            "oifname \"eth0\" meta mark 0xabcdef01 ip daddr 172.17.0.1 tcp sport 39001 \
             tcp flags & (ack | rst) != 0 tcp flags & (syn | ack) != syn accept",
            "meta l4proto tcp redirect to :40001",
            "udp dport 53 redirect to :40002",
        ]
    );
}

#[test]
fn every_filter_drops_by_default() {
    let ruleset = sample();
    let text = ruleset.ip_tables() + &ruleset.egress_table();
    for (table, chain) in [
        ("ip", "output"),
        ("ip", "input"),
        ("ip", "forward"),
        ("ip6", "output"),
        ("ip6", "input"),
        ("ip6", "forward"),
        ("netdev", "leave"),
    ] {
        let rules = chain_of(&text, table, chain);
        assert!(
            rules
                .first()
                .is_some_and(|hook| hook.ends_with("policy drop;")),
            "{table} {chain}: {rules:?}"
        );
    }
}

#[test]
fn control_port_is_shut_before_loopback_is_open() {
    let text = sample().ip_tables();
    let output = chain_of(&text, "ip", "output");
    assert_eq!(
        output.get(1),
        Some(&"ip daddr { 127.0.0.0/8, 172.17.0.2 } tcp dport 39001 reject with tcp reset")
    );
    let input = chain_of(&text, "ip", "input");
    assert_eq!(input.get(1), Some(&"iifname \"lo\" tcp dport 39001 drop"));
}

#[test]
fn what_leaves_is_marked_and_goes_to_workerd() {
    let text = sample().ip_tables();
    let output = chain_of(&text, "ip", "output");
    let leaving: Vec<_> = output
        .iter()
        .filter(|rule| {
            rule.ends_with(" accept") && !rule.starts_with("ip daddr { 127.0.0.0/8, 172.17.0.2 }")
        })
        .collect();
    assert_eq!(leaving.len(), 2, "{leaving:?}");
    for rule in leaving {
        assert!(
            rule.starts_with("oifname \"eth0\" meta mark 0xabcdef01 ip daddr 172.17.0.1 tcp "),
            "{rule}"
        );
    }
}

#[test]
fn each_frame_let_out_names_both_ends() {
    let text = sample().egress_table();
    let rules = chain_of(&text, "netdev", "leave");
    assert!(rules.len() > 1);
    for rule in &rules[1..] {
        for part in [
            "ether saddr 02:42:ac:11:00:02",
            "02:42:0a:0b:0c:0d",
            "172.17.0.1",
            "ether type ",
            "meta protocol ",
        ] {
            assert!(rule.contains(part), "{part} not in {rule}");
        }
        assert!(
            rule.contains("meta length 42")
                || rule.contains("ip hdrlength 5 ip frag-off & 0x3fff == 0"),
            "{rule}"
        );
    }
}

#[test]
fn without_dns_nothing_is_said_of_it() {
    let text = Ruleset {
        dns_port: None,
        ..sample()
    }
    .ip_tables();
    assert!(!text.contains("udp"), "{text}");
}
