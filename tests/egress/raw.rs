//! Requests byte for byte, as no HTTP library would write them, from a process in the sandbox.
use crate::kit::World;
use crate::support::docker;
use serde_json::{json, Value};

/// Takes a JSON list of tries, makes them all at once, and prints the JSON list of what came back.
const PROGRAM: &str = r#"
import json, re, socket, ssl, sys, threading
tries = json.loads(sys.argv[1])
came = [None] * len(tries)
def whole(data, bare):
    count = 0
    while b"\r\n\r\n" in data:
        head, data = data.split(b"\r\n\r\n", 1)
        if re.match(rb"HTTP/1.1 100", head):
            continue
        if bare:
            count += 1
            continue
        length = re.search(rb"\r\ncontent-length: *(\d+)", head.lower())
        if b"\r\ntransfer-encoding: chunked" in head.lower():
            body, end, data = data.partition(b"0\r\n\r\n")
            if not end:
                return count
        elif length:
            if len(data) < int(length[1]):
                return count
            data = data[int(length[1]):]
        count += 1
    return count
def go(at, one):
    said = b""
    bare = one["parts"][0].startswith("HEAD ")
    try:
        s = socket.create_connection((one["to"], one["port"]), one["seconds"])
        s.settimeout(one["seconds"])
        if one["sni"] is not None:
            context = ssl.create_default_context(cafile="/etc/cloudflare/certs/cloudflare-containers-ca.crt")
            s = context.wrap_socket(s, server_hostname=one["sni"])
        for part in one["parts"]:
            s.sendall(part.encode("latin-1"))
        while len(said) < 1 << 20:
            # Once all that was hoped for is there, a moment for what was not.
            if whole(said, bare) >= one["answers"]:
                s.settimeout(0.4)
            more = s.recv(65536)
            if not more:
                break
            said += more
    except OSError:
        pass
    came[at] = said.decode("latin-1")
threads = [threading.Thread(target=go, args=pair) for pair in enumerate(tries)]
for t in threads: t.start()
for t in threads: t.join()
print(json.dumps(came))
"#;

/// One connection and what is said on it. Each character is one byte.
#[derive(Clone, Debug)]
pub struct Try {
    to: String,
    port: u16,
    sni: Option<String>,
    parts: Vec<String>,
    seconds: u64,
    answers: usize,
}

/// What came back until the peer closed, or nothing more came for a while.
#[derive(Debug)]
pub struct Came {
    /// Everything, each byte a character.
    pub said: String,
}

impl Try {
    /// Bytes for the placeholder address of all names, over plain TCP on port 80.
    pub fn plain(bytes: impl Into<String>) -> Self {
        Self {
            to: "11.0.0.1".to_owned(),
            port: 80,
            sni: None,
            parts: vec![bytes.into()],
            seconds: 10,
            answers: 1,
        }
    }

    /// Bytes inside TLS to this server name, on port 443.
    pub fn tls(sni: &str, bytes: impl Into<String>) -> Self {
        Self {
            port: 443,
            sni: Some(sni.to_owned()),
            ..Self::plain(bytes)
        }
    }

    /// A request of this method and target, with this Host, on a connection of its own.
    pub fn ask(method: &str, target: &str, host: &str) -> Self {
        Self::plain(head(method, target, host, ""))
    }

    /// The same to another address and port.
    pub fn at(self, to: &str, port: u16) -> Self {
        Self {
            to: to.to_owned(),
            port,
            ..self
        }
    }

    /// Waits this long for something to come, and no longer.
    pub fn within(self, seconds: u64) -> Self {
        Self { seconds, ..self }
    }

    /// Waits for so many answers.
    pub fn answers(self, answers: usize) -> Self {
        Self { answers, ..self }
    }
}

/// A text's bytes in UTF-8, each as a character.
pub fn bytes_of(text: &str) -> String {
    text.bytes().map(char::from).collect()
}

/// A head that ends the connection; `more` are lines with their ends.
pub fn head(method: &str, target: &str, host: &str, more: &str) -> String {
    format!("{method} {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\r\n")
}

/// The head of a request that lets its connection be used again.
pub fn part(target: &str, host: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n")
}

impl World {
    /// Makes these tries at once; what came of each.
    pub fn tries(&self, tries: &[Try]) -> Vec<Came> {
        let asked: Vec<Value> = tries
            .iter()
            .map(|one| {
                json!({ "to": one.to, "port": one.port, "sni": one.sni, "parts": one.parts, "seconds": one.seconds, "answers": one.answers })
            })
            .collect();
        let printed = docker(&[
            "exec",
            "-u",
            "0",
            &self.sandbox,
            "python3",
            "-c",
            PROGRAM,
            &Value::from(asked).to_string(),
        ]);
        let came: Vec<String> =
            serde_json::from_str(&printed).unwrap_or_else(|_| panic!("{printed:?}"));
        came.into_iter().map(|said| Came { said }).collect()
    }

    /// Makes these tries at once: each must come to the verdict beside it.
    pub fn judges(&self, tries: &[(Try, &str)]) {
        let (asked, wanted): (Vec<Try>, Vec<&str>) = tries.iter().cloned().unzip();
        let came = self.tries(&asked);
        let all = asked.iter().zip(&came).zip(&wanted);
        let wrong: Vec<String> = all
            .map(|((one, came), wanted)| (one, came.verdict(), wanted))
            .filter(|(_, verdict, wanted)| verdict != *wanted)
            .map(|(one, verdict, wanted)| {
                let shown: String = format!("{one:?}").chars().take(300).collect();
                format!("{shown} came to {verdict}, not {wanted}")
            })
            .collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    /// Nothing but these hosts was asked for anything since the beginning, and the model nothing since the turn began.
    pub fn reached_only(&self, hosts: &[&str]) {
        let reached = self.upstream.hosts();
        let others: Vec<_> = reached
            .iter()
            .filter(|host| !hosts.contains(&host.as_str()))
            .collect();
        assert!(others.is_empty(), "{others:?}");
        assert_eq!(self.model.requests().len(), 1, "the held turn's own");
    }

    /// Makes one.
    pub fn one(&self, one: Try) -> Came {
        self.tries(&[one]).pop().unwrap()
    }
}

impl Came {
    /// Statuses of the answers, in order; 100 is none.
    pub fn statuses(&self) -> Vec<u16> {
        let starts = self.said.match_indices("HTTP/1.1 ");
        let statuses = starts.filter_map(|(at, start)| {
            let rest = &self.said[at + start.len()..];
            rest.get(..3)?.parse().ok()
        });
        statuses.filter(|status| *status != 100).collect()
    }

    /// Codes that the border's own answers have, in order.
    pub fn codes(&self) -> Vec<&str> {
        let mark = "x-cloister-egress: ";
        let lines = self.said.split("\r\n");
        lines
            .filter_map(|line| {
                let (name, value) = line.split_at_checked(mark.len())?;
                name.eq_ignore_ascii_case(mark).then_some(value)
            })
            .collect()
    }

    /// In a word: the code of the one refusal, or the status of the one answer, or `nothing`.
    pub fn verdict(&self) -> String {
        match (self.codes().as_slice(), self.statuses().as_slice()) {
            ([code], [_]) => (*code).to_owned(),
            ([], [status]) => status.to_string(),
            ([], []) if self.said.is_empty() => "nothing".to_owned(),
            (codes, statuses) => format!("{codes:?} {statuses:?}"),
        }
    }
}
