#![allow(clippy::unwrap_used)]
use super::*;
use crate::secret::Secret;

fn key() -> RootKey {
    RootKey::parse(&Secret::new("5".repeat(64))).unwrap()
}

#[test]
fn verifies_what_it_issued_until_it_expires() {
    let props = ContainerProps::issue(&key(), Label::HarnessEgress, "t/s", 3, 1_000);
    assert_eq!(props.verify(&key(), Label::HarnessEgress, 999), Ok(()));
    assert_eq!(
        props.verify(&key(), Label::HarnessEgress, 1_000),
        Err(PropsError::Expired)
    );
}

#[test]
fn props_of_one_entrypoint_are_worthless_at_another() {
    let labels = [Label::HarnessEgress, Label::SandboxEgress, Label::Backup];
    for made in labels {
        let props = ContainerProps::issue(&key(), made, "t/s", 3, 1_000);
        for shown in labels {
            let expected = if made == shown {
                Ok(())
            } else {
                Err(PropsError::Forged)
            };
            let got = props.verify(&key(), shown, 0);
            assert_eq!(got, expected, "{made:?} at {shown:?}");
        }
    }
}

#[test]
fn any_changed_field_is_forged() {
    let props = ContainerProps::issue(&key(), Label::HarnessEgress, "t/s", 3, 1_000);
    let forged = [
        ContainerProps {
            object: "t/r".into(),
            ..props.clone()
        },
        ContainerProps {
            epoch: 4,
            ..props.clone()
        },
        ContainerProps {
            expires_at: 2_000,
            ..props.clone()
        },
        ContainerProps {
            mac: "0".repeat(64),
            ..props.clone()
        },
        ContainerProps {
            mac: String::new(),
            ..props.clone()
        },
        ContainerProps {
            mac: "ä".repeat(32),
            ..props.clone()
        },
    ];
    for props in forged {
        assert_eq!(
            props.verify(&key(), Label::HarnessEgress, 0),
            Err(PropsError::Forged),
            "{props:?}"
        );
    }
}
