//! Process 1 of the sandbox: starts the exec server and keeps everything in the container within its limits.
//!
//! Whatever runs here is root and hostile, and may kill or change anything but this process: it shares no state with the
//! rest, reads no configuration after the start, and needs no file to do its work. The border of the sandbox is the
//! container; these limits only keep it from harming its neighbours where the platform has none.
//!
//! * Size of a file, open files and core dumps are resource limits, set before anything starts and inherited by all.
//! * Processes are counted twenty times a second, the disk is walked when it has changed. Over the limit, every process is
//!   killed, a [marker](MARKER) says why, and the exec server starts anew.
//! * An exec server that no longer answers, because somebody has stopped it, is killed and starts anew. A workspace that was
//!   deleted is made again.
//! * The platform's certificate authority is made trusted, once it is there.
//! * SIGTERM kills everything and ends.
//!
//! Standard error carries codes and counts, never contents.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod disk;
mod exec_server;
mod health;
mod limits;
mod processes;
mod trust;
mod workspace;

use std::fs;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cloister_protocol::WORKSPACE;
use rustix::process::{getrlimit, setrlimit, Resource, Rlimit};
use signal_hook::consts::{SIGINT, SIGTERM};

use disk::Excess;
use exec_server::ExecServer;
use health::Health;
use limits::{BadLimit, Limits};
use trust::Trust;
use workspace::Workspace;

/// Names the limit that was exceeded last: `processes`, `disk_bytes`, `disk_files` or `disk_free`.
const MARKER: &str = "/run/cloister/limit";
const MARKER_FOLDER: &str = "/run/cloister";
/// How often processes are counted and collected.
const TICK: Duration = Duration::from_millis(50);

fn main() -> ExitCode {
    if !processes::is_init() {
        eprintln!("init: not_process_1");
        return ExitCode::from(2);
    }
    let limits =
        match Limits::read(|name| std::env::var_os(name).map(|v| v.to_string_lossy().into_owned()))
        {
            Ok(limits) => limits,
            Err(BadLimit(name)) => {
                eprintln!("init: bad_limit name={name}");
                return ExitCode::from(2);
            }
        };
    match run(&limits) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("init: failed kind={:?}", error.kind());
            ExitCode::FAILURE
        }
    }
}

fn run(limits: &Limits) -> io::Result<()> {
    let end = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGINT] {
        signal_hook::flag::register(signal, Arc::clone(&end))?;
    }
    for (resource, limit) in [
        (Resource::Core, 0),
        (Resource::Fsize, limits.file_bytes),
        (Resource::Nofile, limits.open_files),
    ] {
        // The container may have been given less; more would be refused.
        let limit = getrlimit(resource)
            .maximum
            .map_or(limit, |maximum| maximum.min(limit));
        setrlimit(
            resource,
            Rlimit {
                current: Some(limit),
                maximum: Some(limit),
            },
        )?;
    }
    fs::create_dir_all(WORKSPACE)?;
    let excesses = disk::watch(*limits)?;
    let probes = health::watch()?;
    let mut trust = Trust::new(Instant::now());
    if let Err(fault) = trust.begin() {
        eprintln!("init: not_trusted fault={}", fault.code());
    }
    let mut workspace = Workspace::new(WORKSPACE);
    let mut server = ExecServer::new(Instant::now());
    let mut health = Health::new(Instant::now());
    while !end.load(Ordering::Relaxed) {
        let now = Instant::now();
        if workspace.keep(now) {
            eprintln!("init: workspace_made");
        }
        match trust.keep(now) {
            Ok(true) => eprintln!("init: trusted"),
            Ok(false) => {}
            Err(fault) => eprintln!("init: not_trusted fault={}", fault.code()),
        }
        if server.start_if_due(now) {
            health = Health::new(now);
            eprintln!(
                "init: exec_server_started running={}",
                server.pid().is_some()
            );
        }
        let excess = excesses.try_iter().last();
        if processes::count() > limits.processes {
            punish("processes");
        } else if let Some(excess) = excess {
            punish(match excess {
                Excess::Bytes => "disk_bytes",
                Excess::Files => "disk_files",
                Excess::Free => "disk_free",
            });
        }
        probes.try_iter().for_each(|probe| health.note(probe));
        if let Some(pid) = server.pid().filter(|_| health.is_stuck(now)) {
            eprintln!("init: exec_server_stuck");
            processes::kill(pid);
        }
        if processes::collect(server.pid()) {
            server.died(now);
        }
        std::thread::sleep(TICK);
    }
    processes::kill_all();
    Ok(())
}

/// Kills everything and leaves the marker.
fn punish(limit: &str) {
    processes::kill_all();
    eprintln!("init: limit_exceeded limit={limit}");
    // Nobody else runs now, but whatever was left at this place must not stop us: a pipe, a folder.
    let _ = fs::remove_file(MARKER_FOLDER);
    let _ = fs::create_dir_all(MARKER_FOLDER);
    let _ = fs::remove_file(MARKER).or_else(|_| fs::remove_dir_all(MARKER));
    let marker = fs::File::create_new(MARKER);
    // Without it the Worker still sees that everything has died.
    let _ = marker.and_then(|mut marker| marker.write_all(limit.as_bytes()));
}
