//! The interceptor: local stand-in for Cloudflare's outbound interception, one process beside every container.
//!
//! workerd starts it first and lets the app container join its network namespace, as root and with Docker's default
//! capabilities. So the app may open raw sockets but cannot change rules, routes or addresses here. What it sends meets,
//! in this order:
//!
//! 1. [`ruleset`]: every TCP connection is redirected to [`outbound`], which asks workerd by `CONNECT` what to do with it;
//!    every DNS query is redirected to [`dns`]; the rest is rejected, IPv6 included.
//! 2. A filter on the way out of the interface, below IP, which also sees packet sockets. It lets through the
//!    interceptor's own connections and the address resolution they need, and drops all else.
//! 3. [`queues`]: the one kind of socket that goes around that filter (`AF_XDP`) finds every queue taken.
//!
//! workerd itself comes in through [`ingress`], on a port that only the gateway's address can reach.
//!
//! The interceptor's packets carry a random mark. It tells them from the app's, but nothing rests on its secrecy, since a
//! root process can find it out: whoever knows it may send to workerd's egress port, where the same rules judge, or into
//! workerd's connections to this very container, which carry nothing of others.
//!
//! Limits: DNS is answered over UDP only and never forwarded, so with the internet enabled a container still resolves only
//! the names that workerd intercepts. There is no IPv6. `AF_VSOCK` sockets are not part of a network namespace, so a host
//! that offers them must forbid them by other means (a seccomp profile).
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod args;
mod authority;
mod dns;
mod firewall;
mod glob;
mod head;
mod ingress;
mod outbound;
mod peek;
mod queues;
mod ruleset;
mod settings;
mod surroundings;

use std::{io, net::Ipv4Addr, process::ExitCode, sync::Arc};

use tokio::{
    net::{TcpListener, TcpSocket, UdpSocket},
    signal::unix::{signal, SignalKind},
    sync::watch,
};

use crate::{
    args::Args, authority::Authority, dns::Resolver, firewall::Firewall, ingress::Ingress,
    outbound::Outbound, ruleset::Ruleset, settings::Settings, surroundings::Surroundings,
};

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("interceptor: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Serves until a signal ends it.
///
/// The ingress port listens first of all: workerd calls at once, and a call that is refused, or lost between rules and
/// port, costs it up to a second. No call is accepted before the rules are in force, since workerd takes the first answer
/// as the sign that the app may start.
async fn run() -> io::Result<()> {
    // The first process of a container has no default signal actions.
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;

    let args = Args::parse(std::env::args().skip(1)).map_err(io::Error::other)?;
    let mark = random_mark()?;
    let control = listen_marked(args.ingress, mark)?;
    let around = Surroundings::find(args.subnet).await?;
    let authority = Arc::new(Authority::new().map_err(io::Error::other)?);

    let redirected = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    // Replies must leave from the address that the redirected query went to, so no wildcard here.
    let queries = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let ruleset = Ruleset {
        around: around.clone(),
        mark,
        egress_port: args.egress_port,
        ingress_port: args.ingress.port(),
        tcp_port: redirected.local_addr()?.port(),
        dns_port: args.dns.then_some(queries.local_addr()?.port()),
    };
    let relaxed = std::env::var_os(firewall::RELAX_VARIABLE).is_some_and(|value| value == "1");
    let firewall = Firewall::raise(ruleset, relaxed).await?;
    let _taken = queues::occupy(&around.interface, relaxed)?;

    let (publish, settings) = watch::channel(Settings::new(args.egress_port));
    let outbound = Arc::new(Outbound {
        settings: settings.clone(),
        host: around.host,
        own: around.address,
        mark,
        tls: args
            .tls_intercept
            .then(|| authority.acceptor())
            .transpose()
            .map_err(io::Error::other)?,
    });
    let ingress = Arc::new(Ingress::new(authority, firewall, publish, &around));
    eprintln!("interceptor: ready");

    tokio::select! {
        () = outbound.serve(redirected) => {}
        () = ingress.serve(control) => {}
        () = Resolver::new(settings).serve(queries) => {}
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}

/// A mark that is never zero, since zero is what unmarked packets carry.
fn random_mark() -> io::Result<u32> {
    let mut drawn = [0; 4];
    getrandom::getrandom(&mut drawn)?;
    Ok(u32::from_ne_bytes(drawn).max(1))
}

/// Listens with the mark on, which accepted connections inherit: the filter below IP lets no other reply out.
fn listen_marked(address: std::net::SocketAddrV4, mark: u32) -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket2::SockRef::from(&socket).set_mark(mark)?;
    socket.bind(address.into())?;
    socket.listen(256)
}
