//! What it takes for a workspace that is larger than memory should be.
use std::fs::{self, File};
use std::io::{self, Read};
use std::process::Child;
use std::thread;
use std::time::Duration;

use super::Sandbox;

/// Waits for the end. The most memory that the process had, in MiB.
fn peak(mut child: Child) -> u64 {
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    loop {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let number = line.and_then(|line| line.split_whitespace().next());
        peak = number.map_or(peak, |number| peak.max(number.parse().unwrap()));
        match child.try_wait().unwrap() {
            Some(status) => {
                assert!(status.success());
                return peak >> 10;
            }
            None => thread::sleep(Duration::from_millis(2)),
        }
    }
}

#[test]
fn f7_memory_does_not_grow_with_the_workspace() {
    let from = Sandbox::new();
    let mut noise = File::open("/dev/urandom").unwrap().take(300 << 20);
    let mut file = File::create(from.root.join("noise")).unwrap();
    io::copy(&mut noise, &mut file).unwrap();
    assert_eq!(from.exit(&["mark", "--marker", "i/a"]), 0);
    let grant = from.memory.to_store("workspace");
    let save = [&super::SAVE[..], &["--grant", &grant]].concat();
    let saving = peak(from.command(&save).spawn().unwrap());
    assert!(from.memory.parts("workspace").len() >= 19);
    let to = Sandbox::with(from.memory.clone());
    let grant = to.memory.to_fetch("workspace");
    let restore = ["restore", "--marker", "b", "--grant", &grant];
    let restoring = peak(to.command(&restore).spawn().unwrap());
    println!("MiB: {saving} to save, {restoring} to restore");
    // Two parts of 16, and what compression and the program itself take.
    assert!((32..64).contains(&saving), "{saving} MiB");
    assert!((16..64).contains(&restoring), "{restoring} MiB");
    let metadata = |sandbox: &Sandbox| fs::metadata(sandbox.root.join("noise")).unwrap().len();
    assert_eq!(metadata(&from), metadata(&to));
}
