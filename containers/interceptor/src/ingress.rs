//! The port where workerd comes in: tunnels to the app, the authority's certificate, changes of settings.
//!
//! The packet filter lets only the gateway's address connect. The port is open before the filter is there, so who calls is
//! looked at again when a call is accepted. What comes is parsed strictly all the same.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, SocketAddrV4},
    sync::Arc,
    time::Duration,
};

use tokio::{
    io::{copy_bidirectional_with_sizes, AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::{watch, Mutex, Semaphore},
    time::{sleep, timeout},
};

use crate::{
    authority::Authority,
    firewall::Firewall,
    head::{read_head, MAX_HEADERS},
    outbound::COPY_BYTES,
    settings::Settings,
    surroundings::Surroundings,
};

#[cfg(test)]
mod tests;

const MAX_CONNECTIONS: usize = 1024;
const MAX_BODY_BYTES: usize = 256 << 10;
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
const DIAL_TIMEOUT: Duration = Duration::from_secs(10);

/// Serves workerd.
pub struct Ingress {
    authority: Arc<Authority>,
    /// Held while settings change, so that rules and settings never disagree.
    firewall: Mutex<Firewall>,
    settings: watch::Sender<Settings>,
    /// Where workerd's calls come from.
    gateway: Ipv4Addr,
    own: Ipv4Addr,
}

/// A request of workerd.
#[derive(Debug, PartialEq, Eq)]
enum Request {
    /// Tunnel to a port of the app.
    Connect(SocketAddrV4),
    /// The authority's certificate.
    Certificate,
    /// Change the settings by a body of this length.
    Change(usize),
    /// Anything else, by the status it is answered with.
    Refused(&'static str),
}

impl Ingress {
    /// Serves the port with what its requests read and change.
    pub fn new(
        authority: Arc<Authority>,
        firewall: Firewall,
        settings: watch::Sender<Settings>,
        around: &Surroundings,
    ) -> Self {
        Self {
            authority,
            firewall: Mutex::new(firewall),
            settings,
            gateway: around.gateway,
            own: around.address,
        }
    }

    /// Accepts connections forever.
    pub async fn serve(self: Arc<Self>, listener: TcpListener) {
        let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        loop {
            let Ok(place) = Arc::clone(&places).acquire_owned().await else {
                return;
            };
            let peer = match listener.accept().await {
                Ok((peer, from)) if from.ip() == IpAddr::V4(self.gateway) => peer,
                Ok(_) => continue,
                Err(_) => {
                    sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            let ingress = Arc::clone(&self);
            tokio::spawn(async move {
                let _ = ingress.handle(peer).await;
                drop(place);
            });
        }
    }

    /// One request; the connection ends with it.
    async fn handle(&self, mut peer: TcpStream) -> io::Result<()> {
        peer.set_nodelay(true)?;
        let (head, beyond) = read_head(&mut peer, REQUEST_TIMEOUT).await?;
        match Request::parse(&head, self.own) {
            Request::Connect(target) => connect(peer, target, &beyond).await,
            Request::Certificate => respond(&mut peer, "200 OK", self.authority.pem()).await,
            Request::Change(length) => {
                let status =
                    match timeout(REQUEST_TIMEOUT, read_body(&mut peer, beyond, length)).await {
                        Ok(Ok(body)) => self.change(&body).await,
                        Ok(Err(_)) | Err(_) => "400 Bad Request",
                    };
                respond(&mut peer, status, "").await
            }
            Request::Refused(status) => respond(&mut peer, status, "").await,
        }
    }

    /// Changes the settings, rules first; returns the status to answer with.
    async fn change(&self, body: &[u8]) -> &'static str {
        let mut firewall = self.firewall.lock().await;
        let (next, port_changes) = {
            let current = self.settings.borrow();
            let Some(next) = current.updated(body) else {
                return "400 Bad Request";
            };
            let port_changes = next.egress_port != current.egress_port;
            (next, port_changes)
        };
        if port_changes {
            if let Err(error) = firewall.change_port(next.egress_port).await {
                eprintln!("interceptor: cannot change the egress port: {error}");
                return "500 Internal Server Error";
            }
        }
        self.settings.send_replace(next);
        "204 No Content"
    }
}

// === impl Request ===

impl Request {
    /// Parses the head of a request.
    fn parse(head: &[u8], own: Ipv4Addr) -> Self {
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut request = httparse::Request::new(&mut headers);
        match request.parse(head) {
            Ok(httparse::Status::Complete(_)) => {}
            Ok(httparse::Status::Partial) | Err(_) => return Self::Refused("400 Bad Request"),
        }
        match (request.method, request.path) {
            (Some("CONNECT"), _) => {
                let target = single(request.headers, "x-dst-addr")
                    .and_then(|value| value.parse::<SocketAddrV4>().ok());
                // Only the app: a tunnel to anywhere else would pass the rules as our own.
                match target {
                    Some(target) if is_local(*target.ip(), own) && target.port() != 0 => {
                        Self::Connect(target)
                    }
                    Some(_) | None => Self::Refused("400 Bad Request"),
                }
            }
            (Some("GET"), Some("/ca")) => Self::Certificate,
            (Some("PUT"), Some("/egress")) => {
                if request
                    .headers
                    .iter()
                    .any(|header| header.name.eq_ignore_ascii_case("transfer-encoding"))
                {
                    return Self::Refused("411 Length Required");
                }
                match single(request.headers, "content-length").map(str::parse::<usize>) {
                    Some(Ok(length)) if length <= MAX_BODY_BYTES => Self::Change(length),
                    Some(Ok(_)) => Self::Refused("413 Content Too Large"),
                    Some(Err(_)) => Self::Refused("400 Bad Request"),
                    None => Self::Refused("411 Length Required"),
                }
            }
            (Some(_) | None, _) => Self::Refused("404 Not Found"),
        }
    }
}

/// The value of a header that must be there exactly once.
fn single<'a>(headers: &[httparse::Header<'a>], name: &str) -> Option<&'a str> {
    let mut found = headers
        .iter()
        .filter(|header| header.name.eq_ignore_ascii_case(name));
    match (found.next(), found.next()) {
        (Some(header), None) => std::str::from_utf8(header.value).ok().map(str::trim),
        (Some(_) | None, _) => None,
    }
}

fn is_local(address: Ipv4Addr, own: Ipv4Addr) -> bool {
    address.is_loopback() || address.is_unspecified() || address == own
}

async fn read_body(peer: &mut TcpStream, beyond: Vec<u8>, length: usize) -> io::Result<Vec<u8>> {
    let mut body = beyond;
    if body.len() > length {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let rest = u64::try_from(length - body.len()).unwrap_or(0);
    peer.take(rest).read_to_end(&mut body).await?;
    (body.len() == length)
        .then_some(body)
        .ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

async fn respond(peer: &mut TcpStream, status: &str, body: &str) -> io::Result<()> {
    let length = if status.starts_with("204") {
        String::new()
    } else {
        format!("Content-Length: {}\r\n", body.len())
    };
    peer.write_all(
        format!("HTTP/1.1 {status}\r\n{length}Connection: close\r\n\r\n{body}").as_bytes(),
    )
    .await?;
    peer.shutdown().await
}

async fn connect(mut peer: TcpStream, target: SocketAddrV4, beyond: &[u8]) -> io::Result<()> {
    let mut app = match timeout(DIAL_TIMEOUT, TcpStream::connect(target)).await {
        Ok(Ok(app)) => app,
        Ok(Err(_)) | Err(_) => return respond(&mut peer, "400 Bad Request", "").await,
    };
    app.set_nodelay(true)?;
    peer.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await?;
    app.write_all(beyond).await?;
    copy_bidirectional_with_sizes(&mut peer, &mut app, COPY_BYTES, COPY_BYTES)
        .await
        .map(|_| ())
}
