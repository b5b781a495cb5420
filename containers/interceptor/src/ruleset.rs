//! The packet filter as text for `nft`.
//!
//! One text replaces all tables in a single transaction, so there is never a moment without rules.

use std::fmt::Write;

use crate::surroundings::Surroundings;

#[cfg(test)]
mod tests;

/// Everything the rules depend on.
#[derive(Clone, Debug)]
pub struct Ruleset {
    /// The namespace's link to the outside.
    pub around: Surroundings,
    /// Mark of the interceptor's own packets.
    pub mark: u32,
    /// workerd's egress listener on the host: the only thing outside that is reached at all.
    pub egress_port: u16,
    /// The interceptor's port for workerd.
    pub ingress_port: u16,
    /// Where redirected TCP connections arrive.
    pub tcp_port: u16,
    /// Where redirected DNS queries arrive.
    pub dns_port: Option<u16>,
}

impl Ruleset {
    /// The rules at and above IP.
    ///
    /// A redirected packet still has its first interface in `oifname` when `output` sees it, so loopback is told by
    /// address. `ct status dnat` tells connections that were redirected from those made to the redirect ports directly,
    /// whose original destination would be the interceptor itself. Answers of the ingress port are told by mark and flags
    /// instead of by direction: the port is open before these rules are, so the first packet that connection tracking sees
    /// of a connection may be our answer, which it then takes for a request.
    pub fn ip_tables(&self) -> String {
        let Self {
            around,
            mark,
            egress_port,
            ingress_port,
            tcp_port,
            dns_port,
        } = self;
        let Surroundings {
            interface,
            address,
            gateway,
            host,
            ..
        } = around;
        let local = format!("{{ 127.0.0.0/8, {address} }}");
        let egress = format!("meta mark {mark:#x} ip daddr {host} tcp dport {egress_port}");
        let answer = format!(
            "oifname \"{interface}\" meta mark {mark:#x} ip daddr {gateway} tcp sport {ingress_port} \
             tcp flags & (ack | rst) != 0 tcp flags & (syn | ack) != syn"
        );

        let mut text = fresh_table("ip");
        let _ = writeln!(text, "table ip cloister {{");
        chain(
            &mut text,
            "divert",
            "type nat hook output priority -100; policy accept;",
            |rules| {
                rules.push(format!("ip daddr {local} accept"));
                rules.push(format!("{egress} accept"));
                rules.push(format!("{answer} accept"));
                rules.push(format!("meta l4proto tcp redirect to :{tcp_port}"));
                if let Some(port) = dns_port {
                    rules.push(format!("udp dport 53 redirect to :{port}"));
                }
            },
        );
        chain(
            &mut text,
            "output",
            "type filter hook output priority 0; policy drop;",
            |rules| {
                rules.push(format!(
                    "ip daddr {local} tcp dport {ingress_port} reject with tcp reset"
                ));
                rules.push(format!(
                    "ip daddr {local} tcp dport {tcp_port} ct status dnat accept"
                ));
                rules.push(format!(
                    "ip daddr {local} tcp dport {tcp_port} reject with tcp reset"
                ));
                if let Some(port) = dns_port {
                    rules.push(format!(
                        "ip daddr {local} udp dport {port} ct status dnat accept"
                    ));
                    rules.push(format!("ip daddr {local} udp dport {port} reject"));
                }
                rules.push(format!("ip daddr {local} accept"));
                rules.push(format!("oifname \"{interface}\" {egress} accept"));
                rules.push(format!("{answer} accept"));
                rules.push("reject with icmp admin-prohibited".to_owned());
            },
        );
        chain(
            &mut text,
            "input",
            "type filter hook input priority 0; policy drop;",
            |rules| {
                // A raw socket can put any source on loopback: neither workerd's calls nor its answers ever come that way.
                rules.push(format!("iifname \"lo\" tcp dport {ingress_port} drop"));
                rules.push(format!(
                    "iifname \"lo\" ip saddr {host} tcp sport {egress_port} ct status dnat accept"
                ));
                rules.push(format!(
                    "iifname \"lo\" ip saddr {host} tcp sport {egress_port} drop"
                ));
                rules.push(format!(
                    "iifname \"lo\" tcp dport {tcp_port} ct status dnat accept"
                ));
                rules.push(format!("iifname \"lo\" tcp dport {tcp_port} drop"));
                if let Some(port) = dns_port {
                    rules.push(format!(
                        "iifname \"lo\" udp dport {port} ct status dnat accept"
                    ));
                    rules.push(format!("iifname \"lo\" udp dport {port} drop"));
                }
                rules.push("iifname \"lo\" accept".to_owned());
                rules.push(format!(
                    "iifname \"{interface}\" ip saddr {gateway} tcp dport {ingress_port} accept"
                ));
                rules.push(format!(
                "iifname \"{interface}\" ip saddr {host} tcp sport {egress_port} ct state established accept"
            ));
            },
        );
        // Engines leave forwarding on, and a raw packet on loopback would be forwarded.
        chain(
            &mut text,
            "forward",
            "type filter hook forward priority 0; policy drop;",
            |_| {},
        );
        text.push_str("}\n");

        text.push_str(&fresh_table("ip6"));
        text.push_str("table ip6 cloister {\n");
        chain(
            &mut text,
            "output",
            "type filter hook output priority 0; policy drop;",
            |rules| {
                rules.push("oifname \"lo\" accept".to_owned());
                rules.push("reject with icmpv6 admin-prohibited".to_owned());
            },
        );
        chain(
            &mut text,
            "input",
            "type filter hook input priority 0; policy drop;",
            |rules| {
                rules.push("iifname \"lo\" accept".to_owned());
            },
        );
        chain(
            &mut text,
            "forward",
            "type filter hook forward priority 0; policy drop;",
            |_| {},
        );
        text.push_str("}\n");
        text
    }

    /// The filter on the way out of the interface, which packet sockets pass too.
    ///
    /// Every field is compared that could carry a frame elsewhere: the frame's own type beside the socket's idea of it,
    /// both hardware addresses, IP options (source routes) and fragments. Replies of the ingress port may not open a
    /// connection. Address resolution is held to the exact frames that the kernel sends.
    pub fn egress_table(&self) -> String {
        let Self {
            around,
            mark,
            egress_port,
            ingress_port,
            ..
        } = self;
        let Surroundings {
            interface,
            address,
            hardware,
            gateway,
            gateway_hardware,
            host,
        } = around;
        let ip = format!(
            "meta protocol ip ether type ip ether saddr {hardware} ether daddr {gateway_hardware} \
             ip hdrlength 5 ip frag-off & 0x3fff == 0 ip saddr {address} meta mark {mark:#x}"
        );
        let arp = format!(
            "meta protocol arp ether type arp ether saddr {hardware} meta length 42 \
             arp htype 1 arp ptype ip arp hlen 6 arp plen 4 \
             arp saddr ether {hardware} arp saddr ip {address} arp daddr ip {gateway}"
        );
        let mut text = fresh_table("netdev");
        text.push_str("table netdev cloister {\n");
        let hook =
            format!("type filter hook egress device \"{interface}\" priority 0; policy drop;");
        chain(&mut text, "leave", &hook, |rules| {
            rules.push(format!(
                "{ip} ip daddr {host} tcp dport {egress_port} accept"
            ));
            rules.push(format!(
                "{ip} ip daddr {gateway} tcp sport {ingress_port} tcp flags & (syn | ack) == ack accept"
            ));
            rules.push(format!(
                "{ip} ip daddr {gateway} tcp sport {ingress_port} tcp flags & (syn | ack) == (syn | ack) accept"
            ));
            rules.push(format!(
                "{ip} ip daddr {gateway} tcp sport {ingress_port} tcp flags & (syn | rst) == rst accept"
            ));
            let asks = "arp operation request arp daddr ether 00:00:00:00:00:00";
            rules.push(format!(
                "{arp} ether daddr {{ ff:ff:ff:ff:ff:ff, {gateway_hardware} }} {asks} accept"
            ));
            rules.push(format!(
                "{arp} ether daddr {gateway_hardware} arp operation reply arp daddr ether {gateway_hardware} accept"
            ));
        });
        text.push_str("}\n");
        text
    }
}

/// Removes a table whether or not it is there.
fn fresh_table(family: &str) -> String {
    format!("table {family} cloister\ndelete table {family} cloister\n")
}

fn chain(text: &mut String, name: &str, hook: &str, fill: impl FnOnce(&mut Vec<String>)) {
    let mut rules = vec![hook.to_owned()];
    fill(&mut rules);
    let _ = writeln!(text, "  chain {name} {{");
    for rule in rules {
        let _ = writeln!(text, "    {rule}");
    }
    text.push_str("  }\n");
}
