//! Files of the workspace, by programs of the image: nothing of ours has to run in the sandbox, which may be hostile.
use crate::deployment::LIMITS;
use crate::edge::calls::{CallResult, FileEntry, Refusal};
use crate::edge::platform::{Container, Exec, Executed};
use crate::workspace_path;
use std::collections::BTreeMap;
use worker::{Response, Result};

/// Largest listing of a folder, bytes; about ten thousand entries.
const MAX_LISTING: usize = 1 << 20;

fn program<const N: usize>(
    argv: [&str; N],
    stdin: Option<web_sys::ReadableStream>,
    max_output: usize,
) -> Exec {
    Exec {
        argv: argv.map(str::to_owned).into(),
        cwd: "/".to_owned(),
        env: BTreeMap::new(),
        stdin,
        timeout: LIMITS.exec_deadline,
        max_output,
    }
}

/// Reads a file; 404 if there is none.
pub async fn read(container: &Container, path: &str) -> Result<Response> {
    if !workspace_path::is_valid(path) || !container.running() {
        return Response::error("no such file", 404);
    }
    match program(["cat", "--", path], None, LIMITS.exec_output)
        .run(container)
        .await?
    {
        Executed {
            output,
            exit_code: Some(0),
            ..
        } => Response::from_bytes(output),
        Executed {
            killed: Some(_), ..
        } => Response::error("larger than can be read at once", 413),
        Executed { .. } => Response::error("no such file", 404),
    }
}

/// Writes a file and the folders above it.
pub async fn write(
    container: &Container,
    path: &str,
    body: Option<web_sys::ReadableStream>,
) -> Result<CallResult<()>> {
    const SCRIPT: &str = r#"mkdir -p -- "$(dirname -- "$1")" && cat > "$1""#;
    if !workspace_path::is_valid(path) {
        return Ok(Err(Refusal::Invalid.into()));
    }
    if !container.running() {
        return Ok(Err(Refusal::NotFound.into()));
    }
    let ended = program(["sh", "-c", SCRIPT, "sh", path], body, MAX_LISTING)
        .run(container)
        .await?;
    Ok(if ended.exit_code == Some(0) {
        Ok(())
    } else {
        Err(Refusal::Conflict.into())
    })
}

/// Entries of a folder, by name.
pub async fn list(container: &Container, path: &str) -> Result<CallResult<Vec<FileEntry>>> {
    if !workspace_path::is_valid(path) {
        return Ok(Err(Refusal::Invalid.into()));
    }
    if !container.running() {
        return Ok(Err(Refusal::NotFound.into()));
    }
    let find = [
        "find",
        path,
        "-mindepth",
        "1",
        "-maxdepth",
        "1",
        "-printf",
        r"%y %s %f\0",
    ];
    let ended = program(find, None, MAX_LISTING).run(container).await?;
    if ended.exit_code != Some(0) {
        return Ok(Err(Refusal::NotFound.into()));
    }
    let mut entries: Vec<FileEntry> = ended
        .output
        .split(|byte| *byte == 0)
        .filter_map(entry)
        .collect();
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(Ok(entries))
}

fn entry(line: &[u8]) -> Option<FileEntry> {
    let mut parts = std::str::from_utf8(line).ok()?.splitn(3, ' ');
    let kind = parts.next()?.chars().next()?;
    let size = parts.next()?.parse().ok()?;
    Some(FileEntry {
        name: parts.next()?.to_owned(),
        kind,
        size,
    })
}
