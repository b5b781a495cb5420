//! `environment.setup_commands`. No error repeats a command or a folder.
use crate::environment::{Confidential, SetupCommand};
use crate::wire::error::ApiError;
use crate::wire::fields::{self, Fields};
use crate::wire::json::Value;
use cloister_protocol::WORKSPACE;

/// Most commands.
const MAX_COMMANDS: usize = 32;
/// Longest command, bytes.
const MAX_COMMAND: usize = 32 << 10;
/// Most bytes of all commands together.
const MAX_ALL: usize = 256 << 10;
/// Longest path of a folder, bytes.
const MAX_CWD: usize = 4096;

pub(super) fn take(environment: &mut Fields) -> Result<Vec<SetupCommand>, ApiError> {
    let commands = environment.array("setup_commands", MAX_COMMANDS)?;
    let commands = commands.unwrap_or_default().into_iter().map(command);
    let commands: Vec<SetupCommand> = commands.collect::<Result<_, _>>()?;
    let all = commands.iter().map(|each| each.command.0.len()).sum();
    if all > MAX_ALL {
        let path = environment.path_of("setup_commands");
        return Err(ApiError::too_many_bytes(&path, MAX_ALL, all));
    }
    Ok(commands)
}

fn command((value, path): (Value, String)) -> Result<SetupCommand, ApiError> {
    let mut fields = Fields::of(value, path)?;
    let line = fields.require("command")?;
    let line = fields::string_of_bytes(line, &fields.path_of("command"), 1, MAX_COMMAND)?;
    let cwd = match fields.take("cwd") {
        Some(cwd) => folder(cwd, &fields.path_of("cwd"))?,
        None => WORKSPACE.to_owned(),
    };
    fields.finish()?;
    Ok(SetupCommand {
        command: Confidential(line),
        cwd,
    })
}

fn folder(value: Value, path: &str) -> Result<String, ApiError> {
    let folder = fields::string_of_bytes(value, path, 1, MAX_CWD)?;
    if !folder.starts_with('/') || folder.split('/').any(|part| part == "..") {
        let text = format!("Invalid '{path}': expected an absolute path without '..'.");
        return Err(ApiError::invalid(text).at(path));
    }
    Ok(folder)
}
