//! Answers DNS queries from the settings alone; nothing is ever looked up.
//!
//! An allowed name has one placeholder address. Its connections are intercepted by name (SNI or `Host`), so the address
//! only has to be somewhere outside. There is no IPv6 here: `AAAA` of an allowed name exists and is empty, which keeps
//! clients from trying an address without a route.

use std::net::Ipv4Addr;

use simple_dns::{
    rdata::{RData, A},
    Name, Packet, PacketFlag, ResourceRecord, CLASS, OPCODE, QCLASS, QTYPE, RCODE, TYPE,
};
use tokio::{net::UdpSocket, sync::watch};

use crate::settings::Settings;

#[cfg(test)]
mod tests;

/// Address of every allowed name.
const PLACEHOLDER: Ipv4Addr = Ipv4Addr::new(11, 0, 0, 1);
const TTL_SECONDS: u32 = 60;
/// Longest query that is read; the rest of a longer one is cut off, so it does not parse.
const MAX_QUERY_BYTES: usize = 1232;
/// Length of the header.
const HEADER_BYTES: usize = 12;
/// Room for queries that wait, in bytes; the kernel may grant less.
const RECEIVE_BUFFER_BYTES: usize = 1 << 20;

/// Answers queries on one socket.
#[derive(Debug)]
pub struct Resolver {
    settings: watch::Receiver<Settings>,
}

impl Resolver {
    /// A resolver that follows the settings.
    pub fn new(settings: watch::Receiver<Settings>) -> Self {
        Self { settings }
    }

    /// Answers one query after the other, forever.
    pub async fn serve(self, socket: UdpSocket) {
        // Only helps bursts; the default works.
        let _ = socket2::SockRef::from(&socket).set_recv_buffer_size(RECEIVE_BUFFER_BYTES);
        let mut buffer = [0; MAX_QUERY_BYTES];
        loop {
            // An error here is an earlier answer's (its port was closed meanwhile).
            let Ok((length, from)) = socket.recv_from(&mut buffer).await else {
                continue;
            };
            let answer = answer(&buffer[..length], &self.settings.borrow());
            if let Some(answer) = answer {
                let _ = socket.send_to(&answer, from).await;
            }
        }
    }
}

/// The answer to a query, or `None` if what came is no query.
pub fn answer(query: &[u8], settings: &Settings) -> Option<Vec<u8>> {
    let header = query.get(..HEADER_BYTES)?;
    let id = u16::from_be_bytes([header[0], header[1]]);
    let is_response = header[2] & 0x80 != 0;
    if is_response {
        return None;
    }
    let questions = u16::from_be_bytes([header[4], header[5]]);
    let parsed = if questions == 1 {
        Packet::parse(query).ok()
    } else {
        None
    };
    let mut reply = Packet::new_reply(id);
    reply.set_flags(PacketFlag::AUTHORITATIVE_ANSWER | PacketFlag::RECURSION_AVAILABLE);
    let Some(packet) = parsed.as_ref() else {
        *reply.rcode_mut() = RCODE::FormatError;
        return reply.build_bytes_vec().ok();
    };
    if packet.has_flags(PacketFlag::RECURSION_DESIRED) {
        reply.set_flags(PacketFlag::RECURSION_DESIRED);
    }
    let (OPCODE::StandardQuery, Some(question)) = (packet.opcode(), packet.questions.first())
    else {
        *reply.rcode_mut() = RCODE::NotImplemented;
        return reply.build_bytes_vec().ok();
    };
    reply.questions.push(question.clone());
    if !plain_name(&question.qname).is_some_and(|name| settings.allows(&name)) {
        *reply.rcode_mut() = RCODE::NameError;
    } else if question.qtype == QTYPE::TYPE(TYPE::A) && question.qclass == QCLASS::CLASS(CLASS::IN)
    {
        let address = RData::A(A {
            address: PLACEHOLDER.to_bits(),
        });
        reply.answers.push(ResourceRecord::new(
            question.qname.clone(),
            CLASS::IN,
            TTL_SECONDS,
            address,
        ));
    }
    reply.build_bytes_vec_compressed().ok()
}

/// The name in lower case, or `None` if a label holds anything but the characters of host names.
fn plain_name(name: &Name<'_>) -> Option<String> {
    let mut plain = String::new();
    for label in name.as_bytes() {
        if !plain.is_empty() {
            plain.push('.');
        }
        for byte in label {
            let allowed = byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
            plain.push(char::from(allowed.then(|| byte.to_ascii_lowercase())?));
        }
    }
    Some(plain)
}
