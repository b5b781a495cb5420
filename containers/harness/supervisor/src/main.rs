//! The supervisor: runs the harness in its container and speaks the harness protocol with the Worker.
//!
//! It is process 1. Its standard error carries codes and counts, never contents. If it is given a grant for a history, it
//! fetches that first; before the harness runs it does not listen.
//!
//! | what happens | what it does |
//! |---|---|
//! | the link is cut | goes on; events wait in the [`outbox`] |
//! | too much waits in the outbox | reads nothing more from the harness until the Worker acknowledges |
//! | the harness ends | tells `harness_lost`, ends when that is acknowledged or after 30 s |
//! | the harness does not answer in time | kills it, then the same |
//! | SIGTERM, SIGINT | asks the harness to end, kills it after 2 s, ends |
//! | the history cannot be fetched | ends; it has never listened |
//!
//! Its exit code is 0 when it ends as in this table, but 3 without the history; 2 if its settings are bad; 1 if something
//! else failed.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod codex;
mod history;
mod link;
mod outbox;
mod reaper;
mod settings;

use std::io;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Duration;

use cloister_protocol::Event;
use tokio::net::TcpListener;
use tokio::signal::unix::{signal, SignalKind};
use tokio::sync::mpsc;
use tokio::time::Instant;

use codex::driver::{Driver, Effect};
use codex::process::Codex;
use history::History;
use link::Shared;
use settings::Settings;

/// How long the last event waits for its acknowledgement.
const FAREWELL: Duration = Duration::from_secs(30);
/// How long the end of an interrupted turn waits for its processes to be killed.
const HOLD: Duration = Duration::from_secs(10);
/// Commands of the link that wait for us.
const MAX_WAITING_COMMANDS: usize = 64;

/// Why the supervisor fails.
enum Failure {
    /// The system did not do something.
    Io(io::Error),
    /// There is no history to start with. The reason is for logs.
    Restore(&'static str),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

fn main() -> ExitCode {
    let Some(settings) = Settings::read(|name| std::env::var(name).ok()) else {
        eprintln!("supervisor: bad_settings");
        return ExitCode::from(2);
    };
    match start(&settings) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Io(error)) => {
            eprintln!("supervisor: failed kind={:?}", error.kind());
            ExitCode::FAILURE
        }
        Err(Failure::Restore(reason)) => {
            eprintln!("supervisor: restore_failed reason={reason:?}");
            ExitCode::from(3)
        }
    }
}

fn start(settings: &Settings) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let result = tokio::task::LocalSet::new().block_on(&runtime, run(settings));
    // A thread that waits for the store does not hold the end.
    runtime.shutdown_background();
    result
}

async fn run(settings: &Settings) -> Result<(), Failure> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    codex::home::write(settings)?;
    let history = History::new(codex::home::sessions(settings), &settings.store_url);
    if let Some(grant) = &settings.restore {
        tokio::select! {
            restored = history.restore(grant) => restored.map_err(Failure::Restore)?,
            _ = terminate.recv() => return Ok(()),
            _ = interrupt.recv() => return Ok(()),
        }
    }
    let mut codex = Codex::start(settings)?;
    let (commands, mut from_link) = mpsc::channel(MAX_WAITING_COMMANDS);
    let shared = Shared::new(commands, history);
    let listener = TcpListener::bind(&settings.listen).await?;
    tokio::task::spawn_local(link::accept(listener, Rc::clone(&shared)));

    tokio::select! {
        () = drive(settings, &mut codex, &shared, &mut from_link) => {}
        _ = terminate.recv() => { codex.stop().await; return Ok(()) }
        _ = interrupt.recv() => { codex.stop().await; return Ok(()) }
    }
    let exit_code = codex.stop().await.exit_code;
    eprintln!(
        "supervisor: harness_lost exit_code={exit_code:?} dropped_lines={}",
        codex.lines.dropped
    );
    emit(&shared, Event::HarnessLost { exit_code });
    tokio::select! {
        () = all_acknowledged(&shared) => {}
        () = tokio::time::sleep(FAREWELL) => {}
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}

/// Carries commands and events until Codex ends or takes nothing more.
async fn drive(
    settings: &Settings,
    codex: &mut Codex,
    shared: &Shared,
    from_link: &mut mpsc::Receiver<cloister_protocol::Command>,
) {
    let read_rollout = codex::home::rollout_reader(settings);
    let (mut driver, effects) = Driver::new(&settings.workspace, read_rollout);
    let mut changes = shared.changes();
    let mut effects = Some(effects);
    let mut held_until: Option<Instant> = None;
    let mut was_full = false;
    loop {
        for effect in effects.take().into_iter().flatten() {
            match effect {
                Effect::Emit(event) => emit(shared, event),
                Effect::Send(line) => {
                    if codex.send(line).is_err() {
                        return;
                    }
                }
            }
        }
        held_until = driver
            .is_holding()
            .then(|| held_until.unwrap_or_else(|| Instant::now() + HOLD));
        let full = shared.outbox.borrow().is_full();
        if was_full && !full {
            driver.renew_due();
        }
        was_full = full;
        if !codex.lines.has_more() {
            // What has been read is sent before more is read.
            tokio::task::yield_now().await;
        }
        effects = tokio::select! {
            line = codex.lines.next(), if !full => match line {
                Ok(Some(line)) => Some(driver.line(&line)),
                Ok(None) | Err(_) => return,
            },
            () = until(driver.due()), if !full => {
                eprintln!("supervisor: harness_hangs");
                return;
            }
            command = from_link.recv() => command.map(|command| driver.command(command)),
            _ = changes.changed(), if full => None,
            () = until(held_until) => Some(driver.release()),
        };
    }
}

/// Puts an event into the outbox.
fn emit(shared: &Shared, event: Event) {
    if shared.outbox.borrow_mut().push(event).is_err() {
        eprintln!("supervisor: event_too_large");
    }
    shared.touch();
}

async fn until(instant: Option<Instant>) {
    match instant {
        Some(instant) => tokio::time::sleep_until(instant).await,
        None => std::future::pending().await,
    }
}

async fn all_acknowledged(shared: &Shared) {
    let mut changes = shared.changes();
    while !shared.outbox.borrow().is_empty() {
        if changes.changed().await.is_err() {
            return;
        }
    }
}
