//! What can be done.
use std::time::Duration;

use cloister_archive::store::{Store, Timeouts};
use cloister_archive::{clear, restore, save};

use crate::arguments::{Arguments, Command};
use crate::exit::Exit;
use crate::marker::Marker;
use crate::{outputs, probe};

/// How long it may take to empty the workspace: a million files take some ten seconds.
const CLEARING: Duration = Duration::from_secs(120);

pub fn run(arguments: &Arguments) -> Result<(), Exit> {
    let Arguments {
        root,
        limits,
        run,
        store,
        command,
    } = arguments;
    let current = Marker::new(run);
    let store = || match store {
        Some(base) => Store::new(base, Timeouts::default()),
        None => Store::default(),
    };
    match command {
        Command::Mark { marker } => current.write(marker)?,
        Command::Check { expect } => {
            if !current.is(expect) {
                return Err(Exit::Marker);
            }
        }
        Command::Probe { nonce, raw, via } => probe::run(nonce, *raw, via.as_deref())?,
        Command::Restore { grant, marker } => {
            current.remove()?;
            // Set-up may have left something there, and only what was stored is to be in it.
            clear(root, CLEARING)?;
            restore(root, limits, &store(), grant)?;
            current.write(marker)?;
        }
        Command::Save {
            instance,
            marker,
            grant,
            announce,
            excludes,
        } => {
            // Not taken away: an attempt that is cut off must not keep the next from saving the same workspace.
            if !current.is_of(instance) {
                return Err(Exit::Marker);
            }
            let store = store();
            save(root, excludes, limits, &store, grant)?;
            if let Some(announce) = announce {
                outputs::publish(root, &store, announce)?;
            }
            current.write(marker)?;
        }
    }
    Ok(())
}
