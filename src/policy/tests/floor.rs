//! What no policy allows.
use super::super::limits;
use super::*;

fn public_says(code: &str, hosts: &[&str]) {
    let policy = compiled(&public());
    for host in hosts {
        assert_eq!(get(&policy, &format!("http://{host}/")), code, "{host}");
    }
}

#[test]
fn addresses_that_are_not_public_are_refused() {
    public_says(
        "address_loopback",
        &[
            "127.0.0.1",
            "127.255.255.255",
            "0.0.0.0",
            "0.1.2.3",
            "[::1]",
            "[::]",
            "[0:0::0:1]",
        ],
    );
    public_says(
        "address_private",
        &[
            "10.0.0.0",
            "10.255.255.255",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.0.1",
            "[fc00::1]",
            "[fdff::1]",
            "[fec0::1]",
        ],
    );
    public_says(
        "address_link_local",
        &["169.254.0.1", "169.254.255.255", "[fe80::1]", "[febf::1]"],
    );
    public_says(
        "address_special_use",
        &[
            "192.0.0.1",
            "192.0.2.1",
            "192.88.99.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "[ff02::1]",
            "[2001:db8::1]",
            "[3fff::1]",
            "[2001:2::1]",
            "[2001:10::1]",
            "[2001:20::1]",
            "[100::1]",
            "[5f00::1]",
            "[4000::1]",
            "[1fff::1]",
        ],
    );
}

#[test]
fn their_neighbours_are_public() {
    public_says(
        "ok",
        &[
            "1.0.0.0",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.0.3.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "203.0.112.255",
            "203.0.114.0",
            "223.255.255.255",
            "168.63.129.15",
            "168.63.129.17",
            "[2000::1]",
            "[2001:200::1]",
            "[2001:db9::1]",
            "[2001:4860:4860::8888]",
            "[2003::1]",
            "[3ffe::1]",
            "[2606:4700::1111]",
        ],
    );
}

#[test]
fn names_that_are_not_public_are_refused() {
    public_says(
        "name_reserved",
        &[
            "localhost",
            "a.localhost",
            "LOCALHOST.",
            "printer.local",
            "metadata.google.internal",
            "a.internal",
            "router.home.arpa",
            "1.0.0.127.in-addr.arpa",
            "ipv4only.arpa",
            "x.invalid",
            "abc.onion",
            "x.alt",
            "nas.lan",
            "x.corp",
            "x.home",
            "x.mail",
            "x.intranet",
            "x.private",
            "localhost.localdomain",
            "intranet",
            "com",
            "metadata",
            "metadata.goog",
            "x.metadata.goog",
            "metadata.tencentyun.com",
        ],
    );
    public_says(
        "ok",
        &[
            "example.com",
            "a.test",
            "a.example",
            "internal.com",
            "localhost.com",
            "xmetadata.goog",
            "local.de",
            "tencentyun.com",
        ],
    );
}

#[test]
fn odd_names_are_refused_and_common_ones_pass() {
    let (label, name) = ("a".repeat(64), format!("{}com", "abc.".repeat(63)));
    public_says(
        "host_malformed",
        &[
            "-a.com",
            "a-.com",
            "a.-b.com",
            "a b.com",
            "a,b.com",
            "a!b.com",
            "",
            ".",
            "a\\b.com",
            "a;b.com",
            "*.a.com",
            &format!("{label}.com"),
            &name,
        ],
    );
    let long = format!("{}com.", "abc.".repeat(62));
    public_says(
        "ok",
        &[
            "my_bucket.s3.amazonaws.com",
            "r3---sn-4g5e.gvt1.com",
            "1.example.com",
            "0x7f.example.com",
            "a.1x",
            &long,
            &format!("{}.com", &label[1..]),
        ],
    );
}

#[test]
fn own_hosts_are_checked_when_read() {
    let error = OwnHosts::parse(&["a.com", "https://b.com", "*.c.com"]).unwrap_err();
    let paths: Vec<&str> = error.flaws.iter().map(|flaw| flaw.path.as_str()).collect();
    assert_eq!(paths, ["own_hosts[1]", "own_hosts[2]"]);
    assert!(OwnHosts::parse(&["a.com"; limits::MAX_OWN_HOSTS]).is_ok());
    assert!(OwnHosts::parse(&["a.com"; limits::MAX_OWN_HOSTS + 1]).is_err());
}
