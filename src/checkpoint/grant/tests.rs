#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
use super::*;
use crate::checkpoint::CheckpointId;
use proptest::prelude::*;

const FULL: u64 = PART_BYTES as u64;
const TERMS: Terms = Terms {
    epoch: 7,
    expires_at: 1000,
};

fn part(bytes: u64) -> Part {
    Part {
        bytes,
        sha256: Digest::of(&bytes.to_be_bytes()),
    }
}

fn ask(grant: &str, verb: Verb, part: Option<Part>) -> Ask {
    Ask {
        grant: grant.to_owned(),
        epoch: 7,
        verb,
        part,
    }
}

fn store(grant: &str, bytes: u64) -> Ask {
    ask(grant, Verb::Store, Some(part(bytes)))
}

/// Spends `grant` for a part of `bytes`; the next one is called `next`.
fn spend(grants: &mut Grants, grant: &str, bytes: u64, next: &str) -> (String, Option<String>) {
    let allowed = grants
        .take(&store(grant, bytes), "unused".into(), 1)
        .unwrap();
    let next = grants.stored(grant, next.into(), 2).unwrap();
    (allowed.key, next)
}

fn open(grants: &mut Grants) -> Task {
    grants.store("a".into(), TERMS, "home/s/".into(), Length::Open)
}

#[test]
fn a_stream_is_stored_part_by_part_under_keys_of_the_grant() {
    let mut grants = Grants::default();
    let task = open(&mut grants);
    assert_eq!(
        spend(&mut grants, "a", FULL, "b"),
        ("home/s/00000".into(), Some("b".into()))
    );
    assert_eq!(
        spend(&mut grants, "b", 5, "c"),
        ("home/s/00001".into(), None)
    );
    // The part was not full, so it was the last.
    assert_eq!(
        grants.take(&store("c", 5), "d".into(), 3),
        Err(GrantError::Unknown)
    );
    let stored = grants.end(task);
    assert_eq!(
        stored,
        Stored {
            parts: vec![part(FULL), part(5)],
            whole: true
        }
    );
}

#[test]
fn f4_a_grant_is_for_one_use_one_verb_one_instance_and_a_time() {
    let mut grants = Grants::default();
    let task = open(&mut grants);
    assert_eq!(
        grants.take(&store("x", 1), "n".into(), 1),
        Err(GrantError::Unknown)
    );
    assert_eq!(
        grants.take(&store("", 1), "n".into(), 1),
        Err(GrantError::Unknown)
    );
    for verb in [Verb::Fetch, Verb::Announce] {
        assert_eq!(
            grants.take(&ask("a", verb, None), "n".into(), 1),
            Err(GrantError::Verb)
        );
    }
    let stale = Ask {
        epoch: 6,
        ..store("a", 1)
    };
    assert_eq!(grants.take(&stale, "n".into(), 1), Err(GrantError::Stale));
    assert_eq!(
        grants.take(&store("a", 1), "n".into(), 1000),
        Err(GrantError::Expired)
    );
    assert_eq!(
        grants.take(&store("a", 0), "n".into(), 1),
        Err(GrantError::Size)
    );
    assert_eq!(
        grants.take(&store("a", FULL + 1), "n".into(), 1),
        Err(GrantError::Size)
    );
    assert_eq!(
        grants.take(&ask("a", Verb::Store, None), "n".into(), 1),
        Err(GrantError::Size)
    );
    // None of this has spent it.
    grants.take(&store("a", 1), "n".into(), 1).unwrap();
    // Replayed, while it is being spent and after.
    assert_eq!(
        grants.take(&store("a", 1), "n".into(), 1),
        Err(GrantError::Unknown)
    );
    assert_eq!(grants.stored("a", "n".into(), 2), Ok(None));
    assert_eq!(
        grants.take(&store("a", 1), "n".into(), 2),
        Err(GrantError::Unknown)
    );
    assert_eq!(grants.stored("a", "n".into(), 2), Err(GrantError::Unknown));
    grants.end(task);
    assert_eq!(
        grants.take(&store("n", 1), "m".into(), 2),
        Err(GrantError::Unknown)
    );
}

#[test]
fn the_end_of_a_task_revokes_its_grant_and_counts_nothing_that_is_under_way() {
    let mut grants = Grants::default();
    let task = open(&mut grants);
    spend(&mut grants, "a", FULL, "b");
    grants.take(&store("b", FULL), "c".into(), 1).unwrap();
    let other = grants.store("o".into(), TERMS, "home/o/".into(), Length::Open);
    assert!(!grants.end(task).whole);
    assert_eq!(grants.stored("b", "c".into(), 2), Err(GrantError::Unknown));
    // The other task is untouched.
    spend(&mut grants, "o", 1, "p");
    assert!(grants.end(other).whole);
    // Nothing was stored at all.
    let task = open(&mut grants);
    assert!(!grants.end(task).whole);
}

#[test]
fn what_is_stored_too_late_does_not_count() {
    let mut grants = Grants::default();
    let task = open(&mut grants);
    grants.take(&store("a", 1), "b".into(), 999).unwrap();
    assert_eq!(
        grants.stored("a", "b".into(), 1000),
        Err(GrantError::Expired)
    );
    assert!(!grants.end(task).whole);
}

#[test]
fn a_stream_of_known_length_has_exactly_these_parts() {
    let mut grants = Grants::default();
    let task = grants.store(
        "a".into(),
        TERMS,
        "home/s/".into(),
        Length::Exactly(FULL + 3),
    );
    for wrong in [1, FULL - 1, FULL + 3] {
        assert_eq!(
            grants.take(&store("a", wrong), "n".into(), 1),
            Err(GrantError::Size)
        );
    }
    assert_eq!(spend(&mut grants, "a", FULL, "b").1, Some("b".into()));
    for wrong in [1, 2, 4, FULL] {
        assert_eq!(
            grants.take(&store("b", wrong), "n".into(), 1),
            Err(GrantError::Size)
        );
    }
    assert_eq!(spend(&mut grants, "b", 3, "c").1, None);
    assert!(grants.end(task).whole);
    // An empty file has no part.
    let task = grants.store("a".into(), TERMS, "home/s/".into(), Length::Exactly(0));
    assert_eq!(
        grants.take(&store("a", 1), "n".into(), 1),
        Err(GrantError::Size)
    );
    assert!(grants.end(task).whole);
    let task = grants.store("a".into(), TERMS, "home/s/".into(), Length::Exactly(2));
    assert!(!grants.end(task).whole);
}

#[test]
fn a_stream_is_fetched_as_the_manifest_has_it() {
    let mut grants = Grants::default();
    let held = Stream {
        checkpoint: CheckpointId::new([1; 16]),
        parts: vec![part(FULL), part(9)],
    };
    let task = grants.fetch("a".into(), TERMS, "home/s/".into(), &held);
    assert_eq!(
        grants.take(&store("a", 9), "n".into(), 1),
        Err(GrantError::Verb)
    );
    let first = grants
        .take(&ask("a", Verb::Fetch, None), "b".into(), 1)
        .unwrap();
    assert_eq!(
        (first.key.as_str(), first.part, first.next),
        ("home/s/00000", Some(part(FULL)), Some("b".into()))
    );
    assert_eq!(
        grants.take(&ask("a", Verb::Fetch, None), "c".into(), 1),
        Err(GrantError::Unknown)
    );
    let last = grants
        .take(&ask("b", Verb::Fetch, None), "c".into(), 1)
        .unwrap();
    assert_eq!((last.key.as_str(), last.next), ("home/s/00001", None));
    for grant in ["b", "c"] {
        assert_eq!(
            grants.take(&ask(grant, Verb::Fetch, None), "d".into(), 1),
            Err(GrantError::Unknown)
        );
    }
    grants.end(task);
}

#[test]
fn a_stream_ends_at_the_most_parts() {
    let mut grants = Grants::default();
    let task = open(&mut grants);
    let mut grant = "a".to_owned();
    for number in 1..=MAX_PARTS {
        let (_, next) = spend(&mut grants, &grant, FULL, &format!("g{number}"));
        assert_eq!(next.is_some(), number < MAX_PARTS);
        grant = next.unwrap_or_default();
    }
    assert_eq!(grants.end(task).parts.len(), MAX_PARTS);
}

proptest! {
    /// Whatever a container tries, in whatever order: only keys of its own stream, each at most once, and never more at a time than one.
    #[test]
    fn f4_no_order_of_requests_reaches_another_object(tries in prop::collection::vec((0usize..40, 0u8..3, prop_oneof![Just(FULL), 0..FULL * 2], any::<bool>()), 0..60)) {
        let mut grants = Grants::default();
        grants.store("g0".into(), TERMS, "home/s/".into(), Length::Open);
        let mut keys = Vec::new();
        let mut fresh = 0;
        for (name, verb, bytes, stored) in tries {
            let grant = format!("g{name}");
            let verb = [Verb::Store, Verb::Fetch, Verb::Announce][verb as usize];
            fresh += 1;
            if let Ok(allowed) = grants.take(&ask(&grant, verb, Some(part(bytes))), format!("g{fresh}"), 1) {
                prop_assert_eq!(verb, Verb::Store);
                prop_assert!((1..=FULL).contains(&bytes));
                prop_assert_eq!(&allowed.key, &format!("home/s/{:05}", keys.len()));
                keys.push(allowed.key);
                if !stored || grants.stored(&grant, format!("g{fresh}"), 2).unwrap().is_none() {
                    break;
                }
            }
        }
    }
}
