#![allow(clippy::unwrap_used, clippy::expect_used)]
use super::*;

fn sealer(key: &str, owner: &str) -> Sealer {
    let root = RootKey::parse(&Secret::new(key.repeat(32))).expect("a key");
    Sealer::new(&root, owner)
}

#[test]
fn what_is_sealed_opens_only_for_its_owner_place_and_key() {
    let acme = sealer("5e", "acme/env_1");
    let text = Secret::new("pass:\u{1f511}\n");
    let sealed = acme.seal("env", &text, [7; 12]);
    assert_eq!(acme.open("env", &sealed), Ok(text.clone()));
    assert_eq!(acme.open("setup", &sealed), Err(NotSealedHere));
    assert_eq!(
        sealer("5e", "acme/env_2").open("env", &sealed),
        Err(NotSealedHere)
    );
    assert_eq!(
        sealer("5f", "acme/env_1").open("env", &sealed),
        Err(NotSealedHere)
    );
    assert_ne!(acme.seal("env", &text, [8; 12]), sealed);
}

#[test]
fn every_changed_byte_is_noticed() {
    let acme = sealer("5e", "acme/env_1");
    let Sealed(sealed) = acme.seal("env", &Secret::new("value"), [7; 12]);
    let bytes = STANDARD.decode(&sealed).expect("base64");
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        let changed = Sealed(STANDARD.encode(changed));
        assert_eq!(acme.open("env", &changed), Err(NotSealedHere), "byte {at}");
    }
    for length in 0..bytes.len() {
        let cut = Sealed(STANDARD.encode(&bytes[..length]));
        assert_eq!(acme.open("env", &cut), Err(NotSealedHere), "{length} bytes");
    }
    assert_eq!(
        acme.open("env", &Sealed("no base64!".to_owned())),
        Err(NotSealedHere)
    );
}

#[test]
fn the_text_is_nowhere_in_what_is_stored() {
    let sealed = sealer("5e", "a").seal("env", &Secret::new("hunter2hunter2"), [0; 12]);
    let stored = serde_json::to_string(&sealed).expect("JSON");
    let raw = STANDARD.decode(&sealed.0).expect("base64");
    assert!(!stored.contains("hunter2") && !raw.windows(7).any(|bytes| bytes == b"hunter2"));
}
