#![allow(clippy::unwrap_used)]
use super::*;

fn read(vars: &[(&str, &str)]) -> Option<Settings> {
    let find = |name: &str| {
        vars.iter()
            .find(|(n, _)| *n == name)
            .map(|(_, v)| (*v).to_owned())
    };
    Settings::read(find)
}

#[test]
fn the_epoch_is_all_it_needs() {
    let settings = read(&[("CLOISTER_EPOCH", "17")]).unwrap();
    assert_eq!(settings.exec_url, "ws://exec.internal/17");
    assert_eq!(settings.model_url, "http://model.internal/v1");
    assert_eq!(settings.listen, "0.0.0.0:8700");
    assert_eq!(settings.workspace, "/workspace");
    assert_eq!(settings.store_url, "http://backup.internal");
    assert_eq!(settings.restore, None);
}

#[test]
fn a_container_that_continues_a_session_is_given_a_grant() {
    let settings = read(&[("CLOISTER_EPOCH", "17"), ("CLOISTER_RESTORE", "a-grant")]).unwrap();
    assert_eq!(settings.restore.as_deref(), Some("a-grant"));
}

#[test]
fn strict() {
    for epoch in [
        "",
        "+1",
        "-1",
        " 1",
        "1.0",
        "0x1",
        "18446744073709551616",
        "1\n",
    ] {
        assert_eq!(read(&[("CLOISTER_EPOCH", epoch)]), None, "{epoch:?}");
    }
    assert_eq!(read(&[]), None);
    for url in ["ws://a\"b", "ws://a\nb", "ws://a\\b"] {
        assert_eq!(
            read(&[("CLOISTER_EPOCH", "1"), ("CLOISTER_EXEC_URL", url)]),
            None
        );
    }
}
