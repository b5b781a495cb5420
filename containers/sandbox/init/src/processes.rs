//! All processes of the container: counting, collecting, killing.

use rustix::process::{getpid, kill_process, kill_process_group, wait, Pid, Signal, WaitOptions};

/// Files of the control group that count processes and threads: version 2, version 1.
const COUNTERS: [&str; 2] = [
    "/sys/fs/cgroup/pids.current",
    "/sys/fs/cgroup/pids/pids.current",
];

/// Whether we are process 1. [`kill_all`] would be a disaster elsewhere.
pub fn is_init() -> bool {
    getpid() == Pid::INIT
}

/// Processes and threads in the container; without a control group to ask, processes alone.
pub fn count() -> u64 {
    let counted = COUNTERS
        .iter()
        .find_map(|path| std::fs::read_to_string(path).ok()?.trim().parse().ok());
    counted.unwrap_or_else(|| {
        let Ok(entries) = std::fs::read_dir("/proc") else {
            return 0;
        };
        let is_process =
            |name: &std::ffi::OsStr| name.as_encoded_bytes().iter().all(u8::is_ascii_digit);
        entries
            .flatten()
            .filter(|entry| is_process(&entry.file_name()))
            .count() as u64
    })
}

/// Collects the dead; true if `watched` was among them.
pub fn collect(watched: Option<u32>) -> bool {
    let mut found = false;
    while let Ok(Some((pid, _))) = wait(WaitOptions::NOHANG) {
        found |= u32::try_from(pid.as_raw_nonzero().get()).ok() == watched;
    }
    found
}

/// Kills a child of ours. Until it is [collected](collect) no other process can have its id.
pub fn kill(pid: u32) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid.filter(|pid| *pid != Pid::INIT) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// Kills every process but us; the kernel spares process 1. It does so at one stroke: nothing can fork its way out.
pub fn kill_all() {
    if is_init() {
        // The group of process 1, in the kernel's words -1, means all there are. None being left is no error.
        let _ = kill_process_group(Pid::INIT, Signal::KILL);
    }
}
