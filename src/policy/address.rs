//! Addresses that are never reachable: everything that the registries of special-purpose addresses (RFC 6890 and what IANA
//! added since) do not call global, and those where clouds keep their metadata.
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What an address is, if it is not public.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressClass {
    /// The machine itself, or no machine.
    Loopback,
    /// A private network: RFC 1918, unique local, shared with a carrier.
    Private,
    /// One link only.
    LinkLocal,
    /// A cloud's metadata or control service.
    Metadata,
    /// An IPv6 address that carries an IPv4 address, which some gateway would dial.
    EmbedsIpv4,
    /// Documentation, benchmarks, multicast, broadcast, protocols, reserved.
    SpecialUse,
}

use AddressClass::{EmbedsIpv4, LinkLocal, Loopback, Metadata, Private, SpecialUse};

/// The first that fits counts.
const V4: &[(Ipv4Addr, u32, AddressClass)] = &[
    // AWS, Azure, Google and most others; Alibaba; Azure's agent; Oracle.
    (Ipv4Addr::new(169, 254, 169, 254), 32, Metadata),
    (Ipv4Addr::new(100, 100, 100, 200), 32, Metadata),
    (Ipv4Addr::new(168, 63, 129, 16), 32, Metadata),
    (Ipv4Addr::new(192, 0, 0, 192), 32, Metadata),
    (Ipv4Addr::new(0, 0, 0, 0), 8, Loopback),
    (Ipv4Addr::new(127, 0, 0, 0), 8, Loopback),
    (Ipv4Addr::new(10, 0, 0, 0), 8, Private),
    (Ipv4Addr::new(172, 16, 0, 0), 12, Private),
    (Ipv4Addr::new(192, 168, 0, 0), 16, Private),
    (Ipv4Addr::new(100, 64, 0, 0), 10, Private),
    (Ipv4Addr::new(169, 254, 0, 0), 16, LinkLocal),
    (Ipv4Addr::new(192, 0, 0, 0), 24, SpecialUse),
    (Ipv4Addr::new(192, 0, 2, 0), 24, SpecialUse),
    (Ipv4Addr::new(192, 88, 99, 0), 24, SpecialUse),
    (Ipv4Addr::new(198, 18, 0, 0), 15, SpecialUse),
    (Ipv4Addr::new(198, 51, 100, 0), 24, SpecialUse),
    (Ipv4Addr::new(203, 0, 113, 0), 24, SpecialUse),
    // Multicast, reserved and broadcast.
    (Ipv4Addr::new(224, 0, 0, 0), 3, SpecialUse),
];

/// The first that fits counts.
const V6: &[(Ipv6Addr, u32, AddressClass)] = &[
    // AWS and Google.
    (v6([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254]), 128, Metadata),
    (v6([0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254]), 128, Metadata),
    (Ipv6Addr::UNSPECIFIED, 128, Loopback),
    (Ipv6Addr::LOCALHOST, 128, Loopback),
    (v6([0xfc00, 0, 0, 0, 0, 0, 0, 0]), 7, Private),
    (v6([0xfec0, 0, 0, 0, 0, 0, 0, 0]), 10, Private),
    (v6([0xfe80, 0, 0, 0, 0, 0, 0, 0]), 10, LinkLocal),
    // Compatible, mapped, translated; NAT64, also of a network's own; 6to4; Teredo.
    (Ipv6Addr::UNSPECIFIED, 96, EmbedsIpv4),
    (v6([0, 0, 0, 0, 0, 0xffff, 0, 0]), 96, EmbedsIpv4),
    (v6([0, 0, 0, 0, 0xffff, 0, 0, 0]), 96, EmbedsIpv4),
    (v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0]), 96, EmbedsIpv4),
    (v6([0x64, 0xff9b, 1, 0, 0, 0, 0, 0]), 48, EmbedsIpv4),
    (v6([0x2002, 0, 0, 0, 0, 0, 0, 0]), 16, EmbedsIpv4),
    (v6([0x2001, 0, 0, 0, 0, 0, 0, 0]), 32, EmbedsIpv4),
    // Protocols, documentation.
    (v6([0x2001, 0, 0, 0, 0, 0, 0, 0]), 23, SpecialUse),
    (v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0]), 32, SpecialUse),
    (v6([0x3fff, 0, 0, 0, 0, 0, 0, 0]), 20, SpecialUse),
];

const fn v6(parts: [u16; 8]) -> Ipv6Addr {
    let [a, b, c, d, e, f, g, h] = parts;
    Ipv6Addr::new(a, b, c, d, e, f, g, h)
}

/// What `address` is; `None` for a public one.
pub fn class(address: IpAddr) -> Option<AddressClass> {
    match address {
        IpAddr::V4(address) => V4
            .iter()
            .find(|(net, bits, _)| (address.to_bits() ^ net.to_bits()) >> (32 - bits) == 0)
            .map(|&(_, _, class)| class),
        IpAddr::V6(address) => class_v6(address),
    }
}

fn class_v6(address: Ipv6Addr) -> Option<AddressClass> {
    let known = V6
        .iter()
        .find(|(net, bits, _)| (address.to_bits() ^ net.to_bits()) >> (128 - bits) == 0)
        .map(|&(_, _, class)| class);
    let [first, _, _, _, e, f, _, _] = address.segments();
    // ISATAP hides an IPv4 address in the lower half, behind any prefix.
    let isatap = e & 0xfdff == 0 && f == 0x5efe;
    // Nothing outside 2000::/3 is global unicast.
    let foreign = first >> 13 != 1;
    known
        .or(isatap.then_some(EmbedsIpv4))
        .or(foreign.then_some(SpecialUse))
}
