//! Which address? Named after the public cases they come from.
use super::*;

#[test]
fn b1_addresses_in_odd_spellings_are_denied() {
    let policies = [
        public(),
        blocking(&["x.com"]),
        allowing(&["127.example.com", "8.8.8.8"]),
    ];
    let urls = [
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0177.0.0.1/",
        "http://127.1/",
        "http://0/",
        "http://0x/",
        "http://127.0.0.0x1/",
        "http://127.0.0.1.1/",
        "http://8.8.8.08/",
        "http://134744072/",
        "http://example.com.1/",
        "http://256.8.8.8/",
    ];
    all_say(&policies, &urls, "address_spelling");
}

#[test]
fn b1_plain_addresses_are_allowed_if_listed_or_public() {
    let urls = [
        "http://8.8.8.8/",
        "https://8.8.8.8:443/",
        "http://8.8.8.8./",
    ];
    all_say(&[public(), allowing(&["8.8.8.8"])], &urls, "ok");
    all_say(
        &[allowing(&["8.8.8.9", "*.8.example"])],
        &urls,
        "host_not_allowed",
    );
    all_say(&[blocking(&["x.com"])], &urls, "address_not_allowed");
    all_say(
        &[allowing(&["[2606:4700:0::1111]"])],
        &["https://[2606:4700::1111]/"],
        "ok",
    );
}

#[test]
fn b2_ipv6_addresses_that_carry_ipv4_are_denied() {
    let urls = [
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:7f00:1]/",
        "http://[::7f00:1]/",
        "http://[::127.0.0.1]/",
        "http://[::ffff:0:7f00:1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://[64:ff9b:1::7f00:1]/",
        "http://[2002:7f00:1::]/",
        "http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/",
        "http://[2606:4700::5efe:7f00:1]/",
        "http://[2606:4700::200:5efe:7f00:1]/",
        "http://[2606:4700::8.8.8.8]/",
        "http://[::ffff:8.8.8.8]/",
    ];
    all_say(
        &[public(), allowing(&["8.8.8.8"])],
        &urls,
        "address_embeds_ipv4",
    );
}

#[test]
fn b4_metadata_and_shared_addresses_are_denied() {
    let urls = [
        "http://169.254.169.254/latest/meta-data/",
        "http://100.100.100.200/",
        "http://168.63.129.16/",
        "http://192.0.0.192/",
        "http://[fd00:ec2::254]/",
        "http://[fd20:ce::254]/",
    ];
    all_say(&[public(), allowing(&["x.com"])], &urls, "address_metadata");
    all_say(
        &[public()],
        &["http://100.64.0.1/", "http://100.127.255.255/"],
        "address_private",
    );
    for entry in [
        "169.254.169.254",
        "100.100.100.200",
        "168.63.129.16",
        "[fd00:ec2::254]",
    ] {
        assert!(flaws(&allowing(&[entry]))
            .concat()
            .contains("never reachable"));
    }
}
