#![allow(clippy::unwrap_used)]

use super::*;

fn parse(line: &str) -> Result<Args, String> {
    Args::parse(line.split_whitespace().map(str::to_owned))
}

#[test]
fn reads_what_workerd_says() {
    let expected = Args {
        egress_port: 4000,
        ingress: "0.0.0.0:39001".parse().unwrap(),
        subnet: Subnet {
            address: Ipv4Addr::new(172, 17, 0, 0),
            prefix: 16,
        },
        dns: true,
        tls_intercept: true,
    };
    for line in [
        "--http-egress-port 4000 --http-ingress-address 0.0.0.0:39001 --docker-gateway-cidr 172.17.0.0/16 --dns-enabled --tls-intercept --disable-ipv6",
        "--tls-intercept --dns-enabled --docker-gateway-cidr=172.17.0.0/16 --http-ingress-address=0.0.0.0:39001 --http-egress-port=4000",
        "--some-day --http-egress-port 4000 --http-ingress-address 0.0.0.0:39001 --docker-gateway-cidr 172.17.0.0/16 --dns-enabled --tls-intercept",
    ] {
        assert_eq!(parse(line).unwrap(), expected, "{line}");
    }
}

#[test]
fn refuses_what_is_missing_or_wrong() {
    let cases = [
        ("", "--http-ingress-address is missing"),
        (
            "--http-ingress-address 0.0.0.0:1",
            "--http-egress-port is missing",
        ),
        (
            "--http-ingress-address 0.0.0.0:1 --http-egress-port 1",
            "--docker-gateway-cidr is missing",
        ),
        (
            "--http-ingress-address 0.0.0.0:0",
            "--http-ingress-address needs a port",
        ),
        (
            "--http-ingress-address [::]:1",
            "--http-ingress-address must be ip:port",
        ),
        ("--http-egress-port", "--http-egress-port needs a value"),
        (
            "--http-egress-port --dns-enabled",
            "--http-egress-port needs a value",
        ),
        (
            "--http-egress-port 0",
            "--http-egress-port must be 1 to 65535",
        ),
        (
            "--http-egress-port 65536",
            "--http-egress-port must be 1 to 65535",
        ),
        (
            "--docker-gateway-cidr 172.17.0.0/33",
            "--docker-gateway-cidr must be an IPv4 network",
        ),
        (
            "--docker-gateway-cidr 172.17.0.0",
            "--docker-gateway-cidr must be an IPv4 network",
        ),
        (
            "--docker-gateway-cidr fd00::/8",
            "--docker-gateway-cidr must be an IPv4 network",
        ),
    ];
    for (line, error) in cases {
        assert_eq!(parse(line).unwrap_err(), error, "{line}");
    }
}

#[test]
fn subnet_contains() {
    let cases = [
        ("172.17.0.0/16", "172.17.255.255", true),
        ("172.17.0.1/16", "172.17.9.9", true),
        ("172.17.0.0/16", "172.18.0.0", false),
        ("0.0.0.0/0", "255.0.0.1", true),
        ("10.0.0.1/32", "10.0.0.1", true),
        ("10.0.0.1/32", "10.0.0.2", false),
    ];
    for (subnet, address, expected) in cases {
        assert_eq!(
            Subnet::parse(subnet)
                .unwrap()
                .contains(address.parse().unwrap()),
            expected,
            "{subnet} {address}"
        );
    }
}
