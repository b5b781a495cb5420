use super::*;
use proptest::prelude::*;

#[test]
fn the_last_segment_is_named_twice() {
    for (path, header) in [
        (
            "/workspace/outputs/report.pdf",
            "attachment; filename=\"report.pdf\"; filename*=UTF-8''report.pdf",
        ),
        (
            "/workspace/outputs/a/b c.txt",
            "attachment; filename=\"b c.txt\"; filename*=UTF-8''b%20c.txt",
        ),
        (
            "/workspace/outputs/größe €.csv",
            "attachment; filename=\"gr__e _.csv\"; filename*=UTF-8''gr%C3%B6%C3%9Fe%20%E2%82%AC.csv",
        ),
        (
            "/workspace/outputs/100%25.txt",
            "attachment; filename=\"100_25.txt\"; filename*=UTF-8''100%2525.txt",
        ),
        (
            "/workspace/outputs/.bashrc",
            "attachment; filename=\".bashrc\"; filename*=UTF-8''.bashrc",
        ),
    ] {
        assert_eq!(disposition(path), header);
    }
}

#[test]
fn a_name_does_not_end_the_header() {
    for (name, header) in [
        (
            "a\"; filename=\"b.exe",
            "attachment; filename=\"a_; filename=_b.exe\"; filename*=UTF-8''a%22%3B%20filename%3D%22b.exe",
        ),
        (
            "a\r\nset-cookie: b",
            "attachment; filename=\"a__set-cookie_ b\"; filename*=UTF-8''a__set-cookie_%20b",
        ),
    ] {
        assert_eq!(disposition(&format!("/workspace/outputs/{name}")), header);
    }
}

#[test]
fn a_name_does_not_lead_elsewhere() {
    for (name, header) in [
        (
            "..\\..\\start.bat",
            "attachment; filename=\".._.._start.bat\"; filename*=UTF-8''.._.._start.bat",
        ),
        (
            "invoice\u{202e}fdp.exe",
            "attachment; filename=\"invoice_fdp.exe\"; filename*=UTF-8''invoice_fdp.exe",
        ),
        (
            "..",
            "attachment; filename=\"artifact\"; filename*=UTF-8''artifact",
        ),
        (
            "",
            "attachment; filename=\"artifact\"; filename*=UTF-8''artifact",
        ),
        (
            " . ",
            "attachment; filename=\"artifact\"; filename*=UTF-8''artifact",
        ),
    ] {
        assert_eq!(disposition(&format!("/workspace/outputs/{name}")), header);
    }
}

proptest! {
    /// Both forms are what their grammar says, whatever the name holds.
    #[test]
    fn every_header_is_well_formed(path in any::<String>()) {
        let header = disposition(&path);
        let rest = header.strip_prefix("attachment; filename=\"").unwrap_or_default();
        let (plain, extended) = rest.split_once("\"; filename*=UTF-8''").unwrap_or_default();
        prop_assert!(!plain.is_empty() && !extended.is_empty());
        prop_assert!(plain.bytes().all(|b| matches!(b, b' '..=b'~') && !b"\"\\/%".contains(&b)));
        prop_assert!(extended.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$&+-.^_`|~%".contains(&b)));
    }
}
