//! One sandbox: its container, exec link, processes and files.
mod files;
mod object;
