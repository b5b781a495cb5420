//! Redirected TCP connections: asks workerd what to do with each, and does it.

use std::{
    io,
    net::{Ipv4Addr, SocketAddrV4},
    sync::Arc,
    time::Duration,
};

use socket2::SockRef;
use tokio::{
    io::{copy_bidirectional_with_sizes, AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpSocket, TcpStream},
    sync::{watch, Semaphore},
    time::{sleep, timeout, timeout_at, Instant},
};
use tokio_rustls::TlsAcceptor;

use crate::{
    head::{read_head, MAX_HEADERS},
    peek::{Peek, MAX_PEEK_BYTES},
    settings::Settings,
};

/// Most connections at once; more wait in the kernel's queue.
const MAX_CONNECTIONS: usize = 1024;
/// How long a client on a port where a name is expected may take to say it.
const PEEK_TIMEOUT: Duration = Duration::from_secs(10);
/// How long other ports are listened to: the protocol may be one where the server speaks first.
const QUIET_TIMEOUT: Duration = Duration::from_millis(200);
const DIAL_TIMEOUT: Duration = Duration::from_secs(10);
/// How long workerd may take to answer; it may be dialling itself.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// Buffer of a tunnel, each way.
pub const COPY_BYTES: usize = 32 << 10;

/// Serves redirected connections.
pub struct Outbound {
    /// Settings in force.
    pub settings: watch::Receiver<Settings>,
    /// Where workerd listens.
    pub host: Ipv4Addr,
    /// Our address: never a destination of a redirected connection.
    pub own: Ipv4Addr,
    /// Mark of our own packets.
    pub mark: u32,
    /// Terminates TLS, unless that is off.
    pub tls: Option<TlsAcceptor>,
}

/// What workerd wants done with a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// Carry plaintext: TLS, if there is any, ends here.
    Plain,
    /// Carry the bytes as they are.
    Raw,
}

impl Outbound {
    /// Accepts connections forever.
    pub async fn serve(self: Arc<Self>, listener: TcpListener) {
        let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        loop {
            let Ok(place) = Arc::clone(&places).acquire_owned().await else {
                return;
            };
            let client = match listener.accept().await {
                Ok((client, _)) => client,
                Err(_) => {
                    sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            let outbound = Arc::clone(&self);
            tokio::spawn(async move {
                // Names and addresses are the tenant's; failures are workerd's to report.
                let _ = outbound.carry(client).await;
                drop(place);
            });
        }
    }

    async fn carry(&self, mut client: TcpStream) -> io::Result<()> {
        // Until the connection is agreed, dropping it resets it, so that a refusal looks like one.
        SockRef::from(&client).set_linger(Some(Duration::ZERO))?;
        client.set_nodelay(true)?;
        let Some(target) = SockRef::from(&client).original_dst_v4()?.as_socket_ipv4() else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        if target.ip().is_loopback() || *target.ip() == self.own {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let (said, peek) = peek(&mut client, target.port()).await?;
        let (mut upstream, verdict, early) = self.ask(target, &peek).await?;
        match (verdict, &peek, &self.tls) {
            (Verdict::Plain, Peek::Tls(_), Some(tls)) => {
                let (from, to) = client.into_split();
                let client = tokio::io::join(io::Cursor::new(said).chain(from), to);
                let mut client = timeout(HANDSHAKE_TIMEOUT, tls.accept(client)).await??;
                let to = client.get_ref().0.writer();
                SockRef::from(to.as_ref()).set_linger(None)?;
                client.write_all(&early).await?;
                client.flush().await?;
                copy_bidirectional_with_sizes(&mut client, &mut upstream, COPY_BYTES, COPY_BYTES)
                    .await?;
            }
            // Without a name there is no certificate to show.
            (Verdict::Plain, Peek::Tls(_), None) => return Err(io::ErrorKind::Unsupported.into()),
            (Verdict::Plain | Verdict::Raw, _, _) => {
                SockRef::from(&client).set_linger(None)?;
                upstream.write_all(&said).await?;
                client.write_all(&early).await?;
                copy_bidirectional_with_sizes(&mut client, &mut upstream, COPY_BYTES, COPY_BYTES)
                    .await?;
            }
        }
        Ok(())
    }

    /// Asks workerd about a connection; returns the tunnel to it, its verdict and what it already sent.
    async fn ask(
        &self,
        target: SocketAddrV4,
        peek: &Peek,
    ) -> io::Result<(TcpStream, Verdict, Vec<u8>)> {
        let port = self.settings.borrow().egress_port;
        let socket = TcpSocket::new_v4()?;
        SockRef::from(&socket).set_mark(self.mark)?;
        let mut upstream = timeout(
            DIAL_TIMEOUT,
            socket.connect(SocketAddrV4::new(self.host, port).into()),
        )
        .await??;
        upstream.set_nodelay(true)?;
        upstream
            .write_all(question(target, peek).as_bytes())
            .await?;
        let (head, early) = read_head(&mut upstream, ANSWER_TIMEOUT).await?;
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut response = httparse::Response::new(&mut headers);
        response.parse(&head).map_err(io::Error::other)?;
        let verdict = match response.code {
            Some(200) => Verdict::Plain,
            Some(202) => Verdict::Raw,
            Some(_) | None => return Err(io::ErrorKind::ConnectionRefused.into()),
        };
        Ok((upstream, verdict, early))
    }
}

/// The request that asks about a connection. Names were checked to be plain when they were found.
fn question(target: SocketAddrV4, peek: &Peek) -> String {
    let name = match peek {
        Peek::Tls(name) => format!("X-Tls-Sni: {name}\r\n"),
        Peek::Http(name) => format!("X-Hostname: {name}\r\n"),
        Peek::More | Peek::Nameless => String::new(),
    };
    format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{name}\r\n")
}

/// Reads until it is clear whether the client names a host; returns all that was read.
async fn peek(client: &mut TcpStream, port: u16) -> io::Result<(Vec<u8>, Peek)> {
    let start = Instant::now();
    let expected = matches!(port, 80 | 443);
    let mut said = Vec::new();
    loop {
        let patience = if said.is_empty() && !expected {
            QUIET_TIMEOUT
        } else {
            PEEK_TIMEOUT
        };
        let room = u64::try_from(MAX_PEEK_BYTES - said.len()).unwrap_or(0);
        let mut limited = (&mut *client).take(room);
        // What was read is in `said` at once, so a timeout loses nothing.
        let end = match timeout_at(start + patience, limited.read_buf(&mut said)).await {
            Ok(read) => read? == 0,
            Err(_) => true,
        };
        match Peek::at(&said, port, end) {
            Peek::More => {}
            found @ (Peek::Tls(_) | Peek::Http(_) | Peek::Nameless) => return Ok((said, found)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn question_names_the_host_by_where_it_was_found() {
        let target = SocketAddrV4::new(Ipv4Addr::new(11, 0, 0, 1), 443);
        let head = "CONNECT 11.0.0.1:443 HTTP/1.1\r\nHost: 11.0.0.1:443\r\n";
        let cases = [
            (
                Peek::Tls("a.example".to_owned()),
                "X-Tls-Sni: a.example\r\n",
            ),
            (
                Peek::Http("a.example".to_owned()),
                "X-Hostname: a.example\r\n",
            ),
            (Peek::Nameless, ""),
            (Peek::More, ""),
        ];
        for (peek, name) in cases {
            assert_eq!(
                question(target, &peek),
                format!("{head}{name}\r\n"),
                "{peek:?}"
            );
        }
    }
}
