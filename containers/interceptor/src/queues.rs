//! Takes every `AF_XDP` queue of the interface, so that the app cannot.
//!
//! Such a socket needs only `CAP_NET_RAW` and hands frames to the driver directly, around the egress hook. But a queue
//! has one owner: the kernel answers `EBUSY` to anyone else who binds to it.

use std::{io, os::fd::OwnedFd};

use rustix::{
    io::Errno,
    net::{
        bind, socket_with,
        sockopt::{
            set_xdp_tx_ring_size, set_xdp_umem_completion_ring_size, set_xdp_umem_fill_ring_size,
            set_xdp_umem_reg,
        },
        xdp::{SocketAddrXdp, SocketAddrXdpFlags, XdpUmemReg, XdpUmemRegFlags},
        AddressFamily, SocketFlags, SocketType,
    },
};

use crate::firewall::RELAX_VARIABLE;

/// More queues than any virtual interface of a container has.
const MAX_QUEUES: u32 = 4096;
const FRAME_BYTES: u32 = 4096;

/// Memory of a socket that never sends: one frame, which must be a whole page.
#[repr(align(4096))]
struct Page([u8; FRAME_BYTES as usize]);

/// The sockets that hold the queues; free again when dropped.
#[derive(Debug)]
pub struct Occupied(#[expect(dead_code, reason = "held for their side effect")] Vec<OwnedFd>);

/// Takes all queues of the interface, or fails if one stays free, unless `relaxed`.
pub fn occupy(interface: &str, relaxed: bool) -> io::Result<Occupied> {
    let index = std::fs::read_to_string(format!("/sys/class/net/{interface}/ifindex"))?;
    let index = index.trim().parse().map_err(io::Error::other)?;
    let mut held = Vec::new();
    let failed = loop {
        let queue = u32::try_from(held.len()).unwrap_or(MAX_QUEUES);
        if queue == MAX_QUEUES {
            break "too many queues".to_owned();
        }
        match take(index, queue) {
            Ok(socket) => held.push(socket),
            // No such sockets on this kernel, or no queue of that number: nothing is left to take.
            Err(Errno::AFNOSUPPORT) => return Ok(Occupied(held)),
            Err(Errno::INVAL) if queue > 0 => return Ok(Occupied(held)),
            Err(errno) => break errno.to_string(),
        }
    };
    if relaxed {
        eprintln!("interceptor: WARNING: AF_XDP queues stay free ({failed}); root in the container CAN send raw packets.");
        return Ok(Occupied(held));
    }
    Err(io::Error::other(format!(
        "refusing to start: cannot take the interface's AF_XDP queues ({failed}), so raw packets would go past the \
         interceptor. If nothing hostile will run in the container, set {RELAX_VARIABLE}=1 in the interceptor's image"
    )))
}

fn take(interface: u32, queue: u32) -> Result<OwnedFd, Errno> {
    let socket = socket_with(
        AddressFamily::XDP,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        None,
    )?;
    // The kernel keeps the page pinned as long as the socket lives, which is as long as the process.
    let page: &'static Page = Box::leak(Box::new(Page([0; FRAME_BYTES as usize])));
    let memory = XdpUmemReg {
        addr: page.0.as_ptr() as u64,
        len: u64::from(FRAME_BYTES),
        chunk_size: FRAME_BYTES,
        headroom: 0,
        flags: XdpUmemRegFlags::empty(),
        tx_metadata_len: 0,
    };
    set_xdp_umem_reg(&socket, memory)?;
    set_xdp_umem_fill_ring_size(&socket, 1)?;
    set_xdp_umem_completion_ring_size(&socket, 1)?;
    set_xdp_tx_ring_size(&socket, 1)?;
    bind(
        &socket,
        &SocketAddrXdp::new(SocketAddrXdpFlags::XDP_COPY, interface, queue),
    )?;
    Ok(socket)
}
