#![allow(clippy::unwrap_used)]
use super::*;

fn steered(n: u64) -> Event {
    Event::Steered {
        input_id: n.to_string(),
    }
}

fn filled(n: u64) -> Outbox {
    let mut outbox = Outbox::default();
    for i in 1..=n {
        outbox.push(steered(i)).unwrap();
    }
    outbox
}

/// Every number that would be sent to a link that has seen `seq`.
fn numbers_after(outbox: &Outbox, mut seq: u64) -> Vec<u64> {
    let mut numbers = Vec::new();
    while let Some((next, frame)) = outbox.after(seq) {
        let expected = FromSupervisor::Event {
            seq: next,
            event: steered(next),
        };
        assert_eq!(
            serde_json::from_str::<FromSupervisor>(&frame).unwrap(),
            expected
        );
        numbers.push(next);
        seq = next;
    }
    numbers
}

#[test]
fn empty() {
    let mut outbox = Outbox::default();
    assert_eq!((outbox.last(), outbox.is_empty()), (0, true));
    assert_eq!(outbox.after(0), None);
    assert_eq!(outbox.acknowledge(0), Ok(()));
    assert_eq!(outbox.acknowledge(1), Err(OutboxError::Ahead));
}

#[test]
fn resends_what_is_not_acknowledged() {
    let mut outbox = filled(5);
    assert_eq!(numbers_after(&outbox, 0), [1, 2, 3, 4, 5]);
    outbox.acknowledge(2).unwrap();
    assert_eq!(
        numbers_after(&outbox, 0),
        [3, 4, 5],
        "forgotten ones are never sent"
    );
    assert_eq!(numbers_after(&outbox, 4), [5]);
    assert_eq!(numbers_after(&outbox, 5), [0; 0]);
    assert_eq!(numbers_after(&outbox, u64::MAX), [0; 0]);
    outbox.acknowledge(1).unwrap();
    assert_eq!(
        numbers_after(&outbox, 0),
        [3, 4, 5],
        "an old acknowledgement changes nothing"
    );
    outbox.acknowledge(5).unwrap();
    assert!(outbox.is_empty());
    outbox.push(steered(6)).unwrap();
    assert_eq!(numbers_after(&outbox, 5), [6]);
}

#[test]
fn an_acknowledgement_ahead_forgets_nothing() {
    let mut outbox = filled(2);
    assert_eq!(outbox.acknowledge(3), Err(OutboxError::Ahead));
    assert_eq!(numbers_after(&outbox, 0), [1, 2]);
}

#[test]
fn bounds() {
    let mut outbox = Outbox::default();
    let too_large = Event::Steered {
        input_id: "x".repeat(MAX_FRAME_BYTES),
    };
    assert_eq!(outbox.push(too_large), Err(OutboxError::TooLarge));
    assert_eq!(outbox.last(), 0, "a refused event takes no number");
    let large = || Event::Steered {
        input_id: "x".repeat(MAX_FRAME_BYTES / 2),
    };
    while !outbox.is_full() {
        outbox.push(large()).unwrap();
    }
    assert!(outbox.bytes < FULL_BYTES + MAX_FRAME_BYTES);
    outbox.acknowledge(outbox.last()).unwrap();
    assert_eq!((outbox.bytes, outbox.is_full()), (0, false));
}
