//! What can be done.
use cloister_archive::store::{Store, Timeouts};
use cloister_archive::{restore, save};

use crate::arguments::{Arguments, Command};
use crate::exit::Exit;
use crate::marker::Marker;
use crate::outputs;

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
        Command::Restore { grant, marker } => {
            current.remove()?;
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
