//! One sandbox: its container, exec link, processes, files and workspace.
mod files;
mod object;
mod record;
mod workspace;
