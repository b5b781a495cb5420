//! A small HTTP server that answers as it is told.
#![allow(dead_code, reason = "no test needs all of it")]
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// What came.
pub struct Request {
    pub verb: String,
    /// The path without its slash.
    pub grant: String,
    /// Lower-case names.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// What is answered.
pub enum Answer {
    /// A whole answer.
    Whole {
        status: u16,
        headers: Vec<(&'static str, String)>,
        body: Vec<u8>,
    },
    /// These bytes, and the end of the connection.
    Raw(Vec<u8>),
    /// These bytes without end.
    Flood(Vec<u8>),
    /// These bytes, then nothing for so long.
    Stall(Vec<u8>, Duration),
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers
            .find(|(other, _)| other == name)
            .map(|(_, value)| value.as_str())
    }
}

/// Answers until the process ends. Its base URL.
pub fn serve(answer: impl Fn(Request) -> Answer + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, answer) = (stream.unwrap(), Arc::clone(&answer));
            thread::spawn(move || {
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let mut writer = stream;
                while let Some(request) = read(&mut reader) {
                    if !write(&mut writer, answer(request)) {
                        break;
                    }
                }
            });
        }
    });
    base
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut line = String::new();
    reader
        .read_line(&mut line)
        .ok()
        .filter(|bytes| *bytes > 0)?;
    let mut words = line.split(' ');
    let (verb, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        headers.push((name.to_lowercase(), value.to_owned()));
    }
    let mut request = Request {
        verb,
        grant: path.trim_start_matches('/').to_owned(),
        headers,
        body: Vec::new(),
    };
    let length = request
        .header("content-length")
        .map_or(0, |length| length.parse().unwrap());
    request.body = vec![0; length];
    reader.read_exact(&mut request.body).ok()?;
    Some(request)
}

/// Whether the connection goes on.
fn write(writer: &mut TcpStream, answer: Answer) -> bool {
    match answer {
        Answer::Whole {
            status,
            headers,
            body,
        } => {
            let mut head = format!("HTTP/1.1 {status} x\r\ncontent-length: {}\r\n", body.len());
            for (name, value) in headers {
                head += &format!("{name}: {value}\r\n");
            }
            let bytes = [head.as_bytes(), b"\r\n", &body].concat();
            writer.write_all(&bytes).is_ok()
        }
        Answer::Raw(bytes) => {
            let _ = writer.write_all(&bytes);
            false
        }
        Answer::Flood(bytes) => {
            while writer.write_all(&bytes).is_ok() {}
            false
        }
        Answer::Stall(bytes, time) => {
            let _ = writer.write_all(&bytes);
            thread::sleep(time);
            false
        }
    }
}
