#![allow(clippy::unwrap_used)]
use super::*;

fn key(digit: &str) -> RootKey {
    RootKey::parse(&Secret::new(digit.repeat(64))).unwrap()
}

#[test]
fn secrets_do_not_print() {
    assert_eq!(format!("{:?}", Secret::new("hunter2")), "Secret(…)");
}

#[test]
fn root_key_is_64_hex_digits() {
    assert!(RootKey::parse(&Secret::new("aB".repeat(32))).is_ok());
    for bad in ["", "ab", &"g".repeat(64), &"a".repeat(63), &"a".repeat(66)] {
        assert_eq!(
            RootKey::parse(&Secret::new(bad)).err(),
            Some(InvalidRootKey),
            "{bad}"
        );
    }
}

#[test]
fn a_code_is_useless_under_another_label_key_or_message() {
    let code = key("a").mac(Label::HarnessEgress, b"m");
    assert!(key("a").verify(Label::HarnessEgress, b"m", &code));
    assert!(!key("a").verify(Label::SandboxEgress, b"m", &code));
    assert!(!key("b").verify(Label::HarnessEgress, b"m", &code));
    assert!(!key("a").verify(Label::HarnessEgress, b"n", &code));
    assert!(!key("a").verify(Label::HarnessEgress, b"m", &code[..31]));
}
