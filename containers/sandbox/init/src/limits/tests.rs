#![allow(clippy::unwrap_used)]
use super::*;

fn read(name: &str, value: &str) -> Result<Limits, BadLimit> {
    Limits::read(|n| (n == name).then(|| value.to_owned()))
}

#[test]
fn defaults_are_finite() {
    let limits = Limits::read(|_| None).unwrap();
    assert_eq!(limits.processes, 2048);
    assert_eq!(limits.disk_bytes, 8 << 30);
    assert_eq!(limits.file_bytes, 4 << 30);
}

#[test]
fn values_are_taken_strictly() {
    assert_eq!(read("CLOISTER_MAX_PROCESSES", "64").unwrap().processes, 64);
    for value in [
        "",
        " 64",
        "64 ",
        "+64",
        "-1",
        "0",
        "31",
        "100001",
        "1e3",
        "0x40",
        "64k",
        "99999999999999999999",
        "٦٤",
    ] {
        assert_eq!(
            read("CLOISTER_MAX_PROCESSES", value),
            Err(BadLimit("CLOISTER_MAX_PROCESSES")),
            "{value:?}"
        );
    }
    assert_eq!(read("CLOISTER_MIN_FREE_BYTES", "0").unwrap().free_bytes, 0);
    assert_eq!(
        read("CLOISTER_MAX_DISK_BYTES", "1"),
        Err(BadLimit("CLOISTER_MAX_DISK_BYTES"))
    );
}
