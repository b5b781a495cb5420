//! Saves and restores the workspace of a sandbox.
//!
//! The Worker runs this in the container and learns from the exit code how it went. What runs in the workspace is root and
//! may have replaced this program, so the code is a hint like all that comes from a container: what was stored is verified
//! by those who granted it.
//!
//! | code | line on standard error | meaning |
//! |---|---|---|
//! | 0 | | done |
//! | 2 | `usage` | the command line is not understood; nothing was done |
//! | 10 | `marker` | the workspace is not the one that was expected; nothing was done |
//! | 11 | `refused` | the store did not accept a grant |
//! | 12 | `too_large` | the workspace or the archive exceeds a limit |
//! | 13 | `invalid` | what was fetched is not an archive of a workspace |
//! | 14 | `failed` | the workspace cannot be read or written, or the store does not work |
//! | 20 | `mute` | the sandbox's border does not answer as it must |
//! | 21 | `lenient` | the border does not refuse what it must refuse |
//! | 22 | `open` | something gets past the border |
//!
//! Commands:
//!
//! * `probe --nonce N --raw ADDRESS:PORT` tests the border, in two seconds at most: see `cloister_protocol::self_test`. The
//!   address is one whose DNS over TCP must not be reachable.
//! * `mark --marker M` says that the workspace is M from now on.
//! * `check --expect M` finds out whether it is.
//! * `restore --grant G --marker M` empties the workspace, unpacks the stream of G, and marks.
//! * `save --instance I --marker N --grant G [--announce A] [--exclude PATTERN]…` packs the workspace into the stream of G,
//!   announces what is in `outputs` under A and stores what is wanted of that, and marks. The marker before it must begin
//!   with `I/`, whatever follows: this container, in any state.
//!
//! The marker is written last, and taken away before a restore: a workspace without it is in doubt. `restore` and `save` take
//! `--max-bytes`, `--max-file-bytes` and `--max-entries`. For tests, `--root`, `--run`, `--store` and `--via` name another workspace,
//! folder of the marker, URL of the store, and host and port in place of the reserved names.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod arguments;
mod commands;
mod exit;
mod marker;
mod outputs;
mod probe;

use std::io::Write;
use std::process::ExitCode;

use arguments::Arguments;

fn main() -> ExitCode {
    let arguments = Arguments::parse(lexopt::Parser::from_env());
    let exit = match arguments.and_then(|arguments| commands::run(&arguments)) {
        Ok(()) => return ExitCode::SUCCESS,
        Err(exit) => exit,
    };
    // Nobody may be listening.
    let _ = writeln!(std::io::stderr(), "packer: {}", exit.line());
    ExitCode::from(exit.code())
}
