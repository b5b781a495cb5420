//! The command line that workerd gives the interceptor.

use std::net::{Ipv4Addr, SocketAddrV4};

#[cfg(test)]
mod tests;

/// What workerd says at the start. Flags that are not known are reported and ignored: none can open anything here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Args {
    /// Port of workerd's egress listener on the host.
    pub egress_port: u16,
    /// Where workerd reaches the interceptor.
    pub ingress: SocketAddrV4,
    /// Network of the container engine's bridge.
    pub subnet: Subnet,
    /// Answer DNS; without it queries are rejected.
    pub dns: bool,
    /// Terminate TLS where workerd asks for it.
    pub tls_intercept: bool,
}

/// An IPv4 network in CIDR notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subnet {
    address: Ipv4Addr,
    prefix: u8,
}

// === impl Args ===

impl Args {
    /// Parses the arguments after the program's name. The error says what is missing or wrong.
    pub fn parse(arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let (mut port, mut ingress, mut subnet) = (None, None, None);
        let (mut dns, mut tls_intercept) = (false, false);
        let mut arguments = arguments.peekable();
        while let Some(argument) = arguments.next() {
            let (flag, inline) = match argument.split_once('=') {
                Some((flag, value)) => (flag.to_owned(), Some(value.to_owned())),
                None => (argument, None),
            };
            let mut value = || {
                inline
                    .clone()
                    .or_else(|| arguments.next_if(|next| !next.starts_with("--")))
                    .ok_or(format!("{flag} needs a value"))
            };
            match flag.as_str() {
                "--http-egress-port" => port = Some(parse_port(&value()?)?),
                "--http-ingress-address" => {
                    ingress = Some(
                        value()?
                            .parse::<SocketAddrV4>()
                            .map_err(|_| "--http-ingress-address must be ip:port")?,
                    );
                }
                "--docker-gateway-cidr" => subnet = Some(Subnet::parse(&value()?)?),
                "--dns-enabled" => dns = true,
                "--tls-intercept" => tls_intercept = true,
                // There is no IPv6 here with or without it.
                "--disable-ipv6" => {}
                _ => eprintln!("interceptor: ignoring an argument that it does not know"),
            }
        }
        let ingress = ingress.ok_or("--http-ingress-address is missing")?;
        if ingress.port() == 0 {
            return Err("--http-ingress-address needs a port".to_owned());
        }
        Ok(Self {
            egress_port: port.ok_or("--http-egress-port is missing")?,
            ingress,
            subnet: subnet.ok_or("--docker-gateway-cidr is missing")?,
            dns,
            tls_intercept,
        })
    }
}

fn parse_port(text: &str) -> Result<u16, String> {
    match text.parse() {
        Ok(port) if port != 0 => Ok(port),
        Ok(_) | Err(_) => Err("--http-egress-port must be 1 to 65535".to_owned()),
    }
}

// === impl Subnet ===

impl Subnet {
    /// Parses `a.b.c.d/n`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let parsed = text.split_once('/').and_then(|(address, prefix)| {
            let prefix = prefix.parse().ok().filter(|prefix| *prefix <= 32)?;
            Some(Self {
                address: address.parse().ok()?,
                prefix,
            })
        });
        parsed.ok_or_else(|| "--docker-gateway-cidr must be an IPv4 network".to_owned())
    }

    /// Whether the address lies in the network.
    pub fn contains(self, address: Ipv4Addr) -> bool {
        let mask = u32::MAX
            .checked_shl(32 - u32::from(self.prefix))
            .unwrap_or(0);
        (self.address.to_bits() ^ address.to_bits()) & mask == 0
    }
}
