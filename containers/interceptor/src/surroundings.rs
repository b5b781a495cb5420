//! What the network namespace looks like when the interceptor starts: interface, addresses, gateway.

use std::{
    fs, io,
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use tokio::{net::UdpSocket, time::sleep};

use crate::args::Subnet;

#[cfg(test)]
mod tests;

/// Name under which the container engine announces the host to the interceptor.
const HOST_NAME: &str = "host.docker.internal";
/// The discard port: a datagram to it makes the kernel look up the gateway's hardware address and means nothing else.
const DISCARD_PORT: u16 = 9;
/// Most bytes read of any file here.
const MAX_FILE_BYTES: usize = 64 << 10;

/// A hardware address, in the notation that the kernel and `nft` share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HardwareAddress(String);

/// The namespace's one link to the outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surroundings {
    /// Interface of the default route.
    pub interface: String,
    /// Its IPv4 address.
    pub address: Ipv4Addr,
    /// Its hardware address.
    pub hardware: HardwareAddress,
    /// The bridge's address: where workerd's connections come from.
    pub gateway: Ipv4Addr,
    /// The bridge's hardware address.
    pub gateway_hardware: HardwareAddress,
    /// The host as `host.docker.internal`: where workerd's egress listener is. With a plain engine it is the gateway.
    pub host: Ipv4Addr,
}

// === impl HardwareAddress ===

impl HardwareAddress {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let pairs = text
            .split(':')
            .filter(|pair| pair.len() == 2 && pair.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let whole = text.len() == 17 && pairs.count() == 6 && text != "00:00:00:00:00:00";
        whole.then(|| Self(text.to_ascii_lowercase()))
    }
}

impl std::fmt::Display for HardwareAddress {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

// === impl Surroundings ===

impl Surroundings {
    /// Reads them from the kernel's tables and `/etc/hosts`.
    pub async fn find(subnet: Subnet) -> io::Result<Self> {
        let missing = |what: &str| io::Error::other(format!("cannot find {what}"));
        let (interface, gateway) =
            default_route(&read("/proc/net/route")?).ok_or_else(|| missing("a default route"))?;
        let host = host_address(&read("/etc/hosts")?)
            .ok_or_else(|| missing("host.docker.internal in /etc/hosts"))?;
        if !subnet.contains(gateway) {
            return Err(io::Error::other(
                "the gateway is not in the network of --docker-gateway-cidr",
            ));
        }
        if host != gateway && subnet.contains(host) {
            return Err(io::Error::other(
                "host.docker.internal is a neighbour other than the gateway",
            ));
        }
        let hardware =
            HardwareAddress::parse(&read(&format!("/sys/class/net/{interface}/address"))?)
                .ok_or_else(|| missing("the interface's hardware address"))?;
        let (address, gateway_hardware) = meet(gateway)
            .await?
            .ok_or_else(|| missing("the gateway's hardware address"))?;
        Ok(Self {
            interface,
            address,
            hardware,
            gateway,
            gateway_hardware,
            host,
        })
    }
}

/// Makes the kernel resolve the gateway; returns our address on that way and the gateway's hardware address.
async fn meet(gateway: Ipv4Addr) -> io::Result<Option<(Ipv4Addr, HardwareAddress)>> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).await?;
    socket.connect((gateway, DISCARD_PORT)).await?;
    let SocketAddr::V4(own) = socket.local_addr()? else {
        return Ok(None);
    };
    for _ in 0..100 {
        // Nobody listens there, so a later send may report that; only the look-up matters.
        let _ = socket.send(&[]).await;
        if let Some(found) = neighbour(&read("/proc/net/arp")?, gateway) {
            return Ok(Some((*own.ip(), found)));
        }
        sleep(Duration::from_millis(20)).await;
    }
    Ok(None)
}

fn read(path: &str) -> io::Result<String> {
    let mut text =
        fs::read_to_string(path).map_err(|error| io::Error::other(format!("{path}: {error}")))?;
    if text.len() > MAX_FILE_BYTES {
        text.clear();
    }
    Ok(text)
}

/// Interface and gateway of the default route in the format of `/proc/net/route`.
fn default_route(table: &str) -> Option<(String, Ipv4Addr)> {
    table.lines().skip(1).find_map(|line| {
        let mut fields = line.split_ascii_whitespace();
        let (interface, destination, gateway) = (fields.next()?, fields.next()?, fields.next()?);
        let plain = interface.len() < 16
            && interface
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        // The kernel prints the address as a number in the machine's byte order.
        let gateway = Ipv4Addr::from(u32::from_str_radix(gateway, 16).ok()?.to_ne_bytes());
        (plain && destination == "00000000" && !gateway.is_unspecified())
            .then(|| (interface.to_owned(), gateway))
    })
}

/// IPv4 address of [`HOST_NAME`] in the format of `/etc/hosts`. Read by hand: a static program has no resolver.
fn host_address(hosts: &str) -> Option<Ipv4Addr> {
    hosts.lines().find_map(|line| {
        let mut words = line.split('#').next()?.split_ascii_whitespace();
        let address = words.next()?.parse().ok()?;
        words
            .any(|name| name.eq_ignore_ascii_case(HOST_NAME))
            .then_some(address)
    })
}

/// Hardware address of a neighbour in the format of `/proc/net/arp`.
fn neighbour(table: &str, address: Ipv4Addr) -> Option<HardwareAddress> {
    table.lines().skip(1).find_map(|line| {
        let mut fields = line.split_ascii_whitespace();
        let found: Ipv4Addr = fields.next()?.parse().ok()?;
        (found == address).then_some(())?;
        HardwareAddress::parse(fields.nth(2)?)
    })
}

#[cfg(test)]
impl Surroundings {
    /// A namespace as Docker makes it, for tests of what is built on it.
    pub fn sample() -> Self {
        Self {
            interface: "eth0".to_owned(),
            address: Ipv4Addr::new(172, 17, 0, 2),
            hardware: HardwareAddress("02:42:ac:11:00:02".to_owned()),
            gateway: Ipv4Addr::new(172, 17, 0, 1),
            gateway_hardware: HardwareAddress("02:42:0a:0b:0c:0d".to_owned()),
            host: Ipv4Addr::new(172, 17, 0, 1),
        }
    }
}
