use super::*;

#[test]
fn default_route_is_the_one_without_destination() {
    // The table is in the machine's byte order, as the kernel prints it.
    let gateway = format!("{:08X}", u32::from_ne_bytes([172, 17, 0, 1]));
    let table = format!("Iface\tDestination\tGateway \tFlags\neth0\t000011AC\t00000000\t0001\neth0\t00000000\t{gateway}\t0003\n");
    assert_eq!(
        default_route(&table),
        Some(("eth0".to_owned(), Ipv4Addr::new(172, 17, 0, 1)))
    );
    for table in [
        "",
        "Iface\n",
        "Iface\neth0\t00000000\t00000000\n",
        "Iface\neth0\t00000000\tzz\n",
        "Iface\neth0\";drop\t00000000\t010011AC\n",
        "Iface\neth0\n",
    ] {
        assert_eq!(default_route(table), None, "{table:?}");
    }
}

#[test]
fn host_is_found_among_aliases_and_comments() {
    let cases = [
        (
            "127.0.0.1 localhost\n172.17.0.1\thost.docker.internal\n",
            Some([172, 17, 0, 1]),
        ),
        (
            "10.0.0.1 a HOST.docker.internal b # c\n",
            Some([10, 0, 0, 1]),
        ),
        ("# 10.0.0.1 host.docker.internal\n", None),
        ("10.0.0.1 a # host.docker.internal\n", None),
        (
            "fd00::1 host.docker.internal\n10.0.0.2 host.docker.internal\n",
            Some([10, 0, 0, 2]),
        ),
        ("10.0.0.1 host.docker.internal.example\n", None),
        ("\n\n", None),
    ];
    for (hosts, expected) in cases {
        assert_eq!(
            host_address(hosts),
            expected.map(Ipv4Addr::from),
            "{hosts:?}"
        );
    }
}

#[test]
fn neighbour_needs_a_whole_hardware_address() {
    let table = |mac: &str| {
        format!(
            "IP address HW type Flags HW address Mask Device\n172.17.0.1 0x1 0x2 {mac} * eth0\n"
        )
    };
    let gateway = Ipv4Addr::new(172, 17, 0, 1);
    let found = neighbour(&table("02:42:AA:bb:cc:dd"), gateway).map(|found| found.to_string());
    assert_eq!(found.as_deref(), Some("02:42:aa:bb:cc:dd"));
    assert_eq!(
        neighbour(&table("02:42:aa:bb:cc:dd"), Ipv4Addr::new(172, 17, 0, 2)),
        None
    );
    for mac in [
        "00:00:00:00:00:00",
        "02:42:aa:bb:cc",
        "02:42:aa:bb:cc:d}",
        "02:42:aa:bb:cc:dd:ee",
        "x",
    ] {
        assert_eq!(neighbour(&table(mac), gateway), None, "{mac}");
    }
}
