//! Finds the name that a client asks for in the first bytes of its connection.

use rustls::server::Acceptor;

#[cfg(test)]
mod tests;

/// Most bytes that are read to find a name.
pub const MAX_PEEK_BYTES: usize = 16 << 10;
/// Most headers of a request that is looked into.
const MAX_HEADERS: usize = 128;
/// First byte of a TLS record that carries a handshake.
const TLS_HANDSHAKE: u8 = 0x16;
/// The port on which HTTP is looked for.
const HTTP_PORT: u16 = 80;
/// The longest host name.
const MAX_NAME_BYTES: usize = 253;

/// What the first bytes say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Peek {
    /// They may become TLS or HTTP with more bytes.
    More,
    /// A TLS ClientHello with this server name, in lower case.
    Tls(String),
    /// An HTTP request with this host, in lower case and without its port.
    Http(String),
    /// Something else, or no usable name.
    Nameless,
}

impl Peek {
    /// Judges the bytes that came so far on a connection to this port. With [`MAX_PEEK_BYTES`] of them, or at the `end`
    /// of what will come, the answer is never [`Peek::More`].
    pub fn at(bytes: &[u8], port: u16, end: bool) -> Self {
        let full = end || bytes.len() >= MAX_PEEK_BYTES;
        let found = match bytes.first() {
            None => Self::More,
            Some(&TLS_HANDSHAKE) => tls(bytes),
            Some(_) if port == HTTP_PORT => http(bytes, full),
            Some(_) => Self::Nameless,
        };
        match found {
            Self::More if full => Self::Nameless,
            Self::More | Self::Tls(_) | Self::Http(_) | Self::Nameless => found,
        }
    }
}

fn tls(mut bytes: &[u8]) -> Peek {
    let mut acceptor = Acceptor::default();
    while !bytes.is_empty() {
        if acceptor.read_tls(&mut bytes).is_err() {
            return Peek::Nameless;
        }
        match acceptor.accept() {
            Ok(None) => {}
            Ok(Some(accepted)) => {
                return accepted
                    .client_hello()
                    .server_name()
                    .and_then(host_name)
                    .map_or(Peek::Nameless, Peek::Tls);
            }
            Err(_) => return Peek::Nameless,
        }
    }
    Peek::More
}

fn http(bytes: &[u8], full: bool) -> Peek {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(bytes) {
        Ok(httparse::Status::Complete(_)) => host_header(request.headers),
        Ok(httparse::Status::Partial) if full => long_head(bytes),
        Ok(httparse::Status::Partial) => Peek::More,
        Err(_) => Peek::Nameless,
    }
}

/// Looks into a head that is longer than what is read, up to its last whole line.
fn long_head(bytes: &[u8]) -> Peek {
    let Some(last) = bytes.windows(2).rposition(|pair| pair == b"\r\n") else {
        return Peek::Nameless;
    };
    let cut = [&bytes[..last], b"\r\n\r\n"].concat();
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(&cut) {
        Ok(httparse::Status::Complete(_)) => host_header(request.headers),
        Ok(httparse::Status::Partial) | Err(_) => Peek::Nameless,
    }
}

fn host_header(headers: &[httparse::Header<'_>]) -> Peek {
    let mut hosts = headers
        .iter()
        .filter(|header| header.name.eq_ignore_ascii_case("host"));
    // Two hosts would let the interceptor and workerd judge different names.
    let (Some(host), None) = (hosts.next(), hosts.next()) else {
        return Peek::Nameless;
    };
    let host = std::str::from_utf8(host.value).ok().map(str::trim);
    let name = host.map(|host| match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        Some(_) | None => host,
    });
    name.and_then(host_name).map_or(Peek::Nameless, Peek::Http)
}

/// The name in lower case if it is one that can stand in a header as it is.
fn host_name(name: &str) -> Option<String> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let fits = !name.is_empty() && name.len() <= MAX_NAME_BYTES && name.bytes().all(plain);
    fits.then(|| name.to_ascii_lowercase())
}
