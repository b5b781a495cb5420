//! The command line.
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

use cloister_archive::{Excludes, Limits};
use cloister_protocol::WORKSPACE;
use lexopt::Arg::{Long, Short, Value};
use lexopt::Parser;

use crate::exit::Exit;

/// Longest marker.
const MAX_MARKER: usize = 256;

pub struct Arguments {
    pub command: Command,
    pub root: PathBuf,
    /// Folder of the marker.
    pub run: PathBuf,
    /// Base URL, if not the real store's.
    pub store: Option<String>,
    pub limits: Limits,
}

pub enum Command {
    Mark {
        marker: String,
    },
    Check {
        expect: String,
    },
    Probe {
        nonce: String,
        raw: SocketAddr,
        via: Option<String>,
    },
    Restore {
        grant: String,
        marker: String,
    },
    Save {
        instance: String,
        marker: String,
        grant: String,
        announce: Option<String>,
        excludes: Excludes,
    },
}

/// What was given, each once.
#[derive(Default)]
struct Given {
    values: Vec<(String, OsString)>,
    excludes: Vec<String>,
}

impl Arguments {
    pub fn parse(mut parser: Parser) -> Result<Self, Exit> {
        let usage = |_| Exit::Usage;
        let command = match parser.next().map_err(usage)? {
            Some(Value(command)) => command.into_string().map_err(|_| Exit::Usage)?,
            Some(Short(_) | Long(_)) | None => return Err(Exit::Usage),
        };
        let mut given = Given::default();
        while let Some(argument) = parser.next().map_err(usage)? {
            let Long(name) = argument else {
                return Err(Exit::Usage);
            };
            let name = name.to_owned();
            let value = parser.value().map_err(usage)?;
            if name == "exclude" {
                given
                    .excludes
                    .push(value.into_string().map_err(|_| Exit::Usage)?);
            } else if given.values.iter().any(|(other, _)| *other == name) {
                return Err(Exit::Usage);
            } else {
                given.values.push((name, value));
            }
        }
        let run = given.take("run").unwrap_or_else(|| "/run/cloister".into());
        let root = given.take("root").unwrap_or_else(|| WORKSPACE.into());
        let arguments = Self {
            root: root.into(),
            run: run.into(),
            store: given.text("store")?,
            limits: match command.as_str() {
                "restore" | "save" => given.limits()?,
                _ => Limits::default(),
            },
            command: match command.as_str() {
                "mark" => Command::Mark {
                    marker: given.marker("marker")?,
                },
                "check" => Command::Check {
                    expect: given.marker("expect")?,
                },
                "probe" => Command::Probe {
                    nonce: given.nonce()?,
                    raw: given.needed("raw")?.parse().map_err(|_| Exit::Usage)?,
                    via: given.text("via")?,
                },
                "restore" => Command::Restore {
                    grant: given.needed("grant")?,
                    marker: given.marker("marker")?,
                },
                "save" => Command::Save {
                    instance: given.marker("instance")?,
                    marker: given.marker("marker")?,
                    grant: given.needed("grant")?,
                    announce: given.text("announce")?,
                    excludes: Excludes::new(&std::mem::take(&mut given.excludes))
                        .map_err(|_| Exit::Usage)?,
                },
                _ => return Err(Exit::Usage),
            },
        };
        // What is left, the command does not know.
        if given.values.is_empty() && given.excludes.is_empty() {
            Ok(arguments)
        } else {
            Err(Exit::Usage)
        }
    }
}

impl Given {
    fn take(&mut self, name: &str) -> Option<OsString> {
        let index = self.values.iter().position(|(other, _)| other == name)?;
        Some(self.values.swap_remove(index).1)
    }

    fn text(&mut self, name: &str) -> Result<Option<String>, Exit> {
        let text = self.take(name).map(OsString::into_string);
        text.transpose().map_err(|_| Exit::Usage)
    }

    fn needed(&mut self, name: &str) -> Result<String, Exit> {
        self.text(name)?.ok_or(Exit::Usage)
    }

    fn marker(&mut self, name: &str) -> Result<String, Exit> {
        let marker = self.needed(name)?;
        let good = !marker.is_empty() && marker.len() <= MAX_MARKER;
        if good && marker.bytes().all(|byte| byte.is_ascii_graphic()) {
            Ok(marker)
        } else {
            Err(Exit::Usage)
        }
    }

    /// 128 bits in lower-case hexadecimal.
    fn nonce(&mut self) -> Result<String, Exit> {
        let nonce = self.needed("nonce")?;
        let hex = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if nonce.len() == 32 && nonce.bytes().all(hex) {
            Ok(nonce)
        } else {
            Err(Exit::Usage)
        }
    }

    fn limits(&mut self) -> Result<Limits, Exit> {
        let mut limits = Limits::default();
        for (name, limit) in [
            ("max-bytes", &mut limits.bytes),
            ("max-file-bytes", &mut limits.file_bytes),
            ("max-entries", &mut limits.entries),
        ] {
            if let Some(value) = self.text(name)? {
                *limit = value.parse().map_err(|_| Exit::Usage)?;
            }
        }
        Ok(limits)
    }
}
