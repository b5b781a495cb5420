//! The limits of the sandbox, from the environment of its container.
//!
//! Each has a default. A value that is there must be a plain decimal number within its bounds; anything else, and the
//! sandbox does not start: a limit that was meant and misspelt must not become a larger one.

/// What a sandbox may use. Wall clock, memory and processors are not ours to limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Processes and their threads at a time. `CLOISTER_MAX_PROCESSES`.
    pub processes: u64,
    /// Bytes written since the start, as blocks on disk. `CLOISTER_MAX_DISK_BYTES`.
    pub disk_bytes: u64,
    /// Files and folders created since the start. `CLOISTER_MAX_FILES`.
    pub files: u64,
    /// Bytes of one file. `CLOISTER_MAX_FILE_BYTES`.
    pub file_bytes: u64,
    /// Open files of one process. `CLOISTER_MAX_OPEN_FILES`.
    pub open_files: u64,
    /// Bytes that must stay free on the disk, whoever uses the rest. `CLOISTER_MIN_FREE_BYTES`.
    pub free_bytes: u64,
}

/// A variable whose value is not acceptable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadLimit(pub &'static str);

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

impl Limits {
    /// Reads the limits through `var`.
    pub fn read(var: impl Fn(&str) -> Option<String>) -> Result<Self, BadLimit> {
        let number = |name: &'static str, default: u64, min: u64, max: u64| {
            let Some(text) = var(name) else {
                return Ok(default);
            };
            // Strict: `parse` alone would take a plus sign.
            let digits = text.bytes().all(|b| b.is_ascii_digit());
            let value = text
                .parse()
                .ok()
                .filter(|value| digits && (min..=max).contains(value));
            value.ok_or(BadLimit(name))
        };
        Ok(Self {
            processes: number("CLOISTER_MAX_PROCESSES", 2048, 32, 100_000)?,
            disk_bytes: number("CLOISTER_MAX_DISK_BYTES", 8 * GIB, MIB, 1024 * GIB)?,
            files: number("CLOISTER_MAX_FILES", 1_000_000, 100, 10_000_000)?,
            file_bytes: number("CLOISTER_MAX_FILE_BYTES", 4 * GIB, MIB, 1024 * GIB)?,
            open_files: number("CLOISTER_MAX_OPEN_FILES", 16_384, 256, 1 << 20)?,
            free_bytes: number("CLOISTER_MIN_FREE_BYTES", 256 * MIB, 0, 1024 * GIB)?,
        })
    }
}

#[cfg(test)]
mod tests;
