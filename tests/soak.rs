//! The long versions: many kills, much history, many objects, slow readers, large workspaces. `./dev soak` runs them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods
)]
mod support;

#[path = "recovery/kit.rs"]
mod kit;

use kit::check::wrong_records;
use kit::subject::{Request, Script, Subject};
use serde_json::json;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use support::{docker, Gateway, Model};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// As in `./dev test`, ten times, with other seeds each time it is run.
#[test]
#[ignore = "long: ./dev soak"]
fn two_hundred_seeded_kills() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    for n in 0..10 {
        kit::campaign::campaign(now.as_secs() + n);
    }
}

/// A turn of commands, each with `lines` lines of output, of which the model is shown little: 140,000 lines are 870 kB.
fn loud(commands: u64, lines: u64) -> Request {
    let shell = json!({ "shell": format!("seq 1 {lines}"), "args": { "yield_time_ms": 60_000, "max_output_tokens": 100 } });
    let mut steps: Vec<_> = (0..commands).map(|_| shell.clone()).collect();
    steps.push(json!({ "say": "Enough." }));
    Request::Turn(Script {
        steps,
        ..Script::default()
    })
}

/// A session whose commands wrote 200 MB: what is kept of it is bounded, and after a restart it is answered as fast as any,
/// from little memory, in pages.
#[test]
#[ignore = "long: ./dev soak"]
fn d17_two_hundred_megabytes_of_history() {
    let model = Model::start();
    let mut gateway = Gateway::start_with_faults(&model);
    let mut small = Subject::start(&gateway, "small");
    let mut large = Subject::start(&gateway, "large");
    let turns = 24;
    for turn in 1..=turns {
        large.ask(loud(10, 140_000), turn);
        large
            .settle(Instant::now() + Duration::from_secs(120))
            .unwrap();
    }
    let stored = gateway.stored_bytes();
    eprintln!("{} MiB stored", stored / MIB);
    assert!(stored < 250 * MIB, "{stored} bytes");
    gateway.kill();
    gateway.restart();
    let path = |subject: &Subject| format!("/v1/agents/sessions/{}", subject.id);
    let before = gateway.workerd().1;
    let time = |path: &str| {
        let begun = Instant::now();
        let (status, body) = small.client.get(path);
        assert_eq!(status, 200, "{body}");
        begun.elapsed()
    };
    let waking = (time(&path(&small)), time(&path(&large)));
    let listing = time(&format!("{}/items?limit=20", path(&large)));
    let grown = gateway.workerd().1.saturating_sub(before);
    eprintln!(
        "waking: small and large {waking:?}; a page of items {listing:?}; {} MiB more",
        grown / MIB
    );
    assert!(
        waking.1 < waking.0 * 4 + Duration::from_millis(200),
        "{waking:?}"
    );
    assert!(listing < Duration::from_secs(2), "{listing:?}");
    assert!(grown < 100 * MIB, "{grown} bytes");
    let count = large.client.whole(&large.id, "turns").len() as u64;
    assert_eq!(count, turns + 1);
    large.probe(turns + 1).unwrap();
    small.probe(turns + 1).unwrap();
}

/// Ten thousand sessions are created and left alone: the memory of objects that were evicted is used again.
#[test]
#[ignore = "long: ./dev soak"]
fn g2_memory_of_ten_thousand_objects() {
    let model = Model::start();
    let gateway = Gateway::start_with_faults(&model);
    let create = |count: u64| {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                let client = gateway.client("acme");
                scope.spawn(move || (0..count / 4).for_each(|_| drop(client.session(None))));
            }
        });
        // An object that is not used is evicted after ten seconds.
        std::thread::sleep(Duration::from_secs(15));
        let resident = gateway.workerd().1;
        eprintln!("{count} more: {} MiB", resident / MIB);
        resident
    };
    create(2_000);
    let half = create(3_000);
    create(2_000);
    let whole = create(3_000);
    let each = whole.saturating_sub(half) / 5_000;
    assert!(
        each < 4 << 10,
        "{each} bytes for each of the last 5,000 objects"
    );
}

/// A client that does not read for a minute while turns write 24 MB: the gateway holds a bounded part of it, and the
/// client misses nothing.
#[test]
#[ignore = "long: ./dev soak"]
fn c11_a_reader_that_stops_for_a_minute() {
    let model = Model::start();
    let gateway = Gateway::start_with_faults(&model);
    let mut subject = Subject::start(&gateway, "slow");
    let mut slow = subject.client.follow(&subject.id, None).unwrap();
    let begun = Instant::now();
    let before = gateway.workerd().1;
    let mut most = before;
    for round in 1..=4 {
        subject.ask(loud(7, 140_000), round);
        subject
            .settle(Instant::now() + Duration::from_secs(120))
            .unwrap();
        most = most.max(gateway.workerd().1);
    }
    std::thread::sleep(Duration::from_secs(60).saturating_sub(begun.elapsed()));
    eprintln!("{} MiB before, {} MiB at most", before / MIB, most / MIB);
    assert!(
        most < before + 160 * MIB,
        "{before} bytes before, {most} at most"
    );
    let wrong = wrong_records(&gateway, &model, &[subject]);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let stored = gateway.stored_events();
    let last = &stored.last().unwrap()["event_id"];
    let mut seen = Vec::new();
    while seen.last() != Some(last) {
        seen.push(slow.next().expect("the stream goes on")["event_id"].clone());
    }
    let from = stored
        .iter()
        .position(|event| event["event_id"] == seen[0])
        .unwrap();
    let missed = stored[from..]
        .iter()
        .zip(&seen)
        .position(|(event, seen)| event["event_id"] != *seen);
    assert_eq!((missed, seen.len()), (None, stored.len() - from));
}

/// A whole turn of commands, which completes: what each printed.
fn outputs(subject: &mut Subject, commands: &[String], round: u64) -> Vec<String> {
    let shell = |line| json!({ "shell": line, "args": { "yield_time_ms": 30_000 } });
    let mut steps: Vec<_> = commands.iter().map(shell).collect();
    steps.push(json!({ "say": "Done." }));
    subject.ask(
        Request::Turn(Script {
            steps,
            ..Script::default()
        }),
        round,
    );
    subject
        .settle(Instant::now() + Duration::from_secs(30 * 60))
        .unwrap();
    let turn = subject.client.whole(&subject.id, "turns").pop().unwrap();
    assert_eq!(turn["status"], "completed", "{turn}");
    let items = subject.client.whole(&subject.id, "items");
    let of_turn = items
        .iter()
        .filter(|item| item["turn_id"] == turn["id"] && item["type"] == "command_execution");
    of_turn
        .map(|item| item["output"].as_str().unwrap_or_default().to_owned())
        .collect()
}

/// Files that no compression makes smaller, each as large as the sandbox lets it be: they are stored, both containers are
/// lost, and they come back byte by byte, while the gateway holds a bounded part of them.
///
/// Stored is the workspace, and of its checkpoints the old one while the new is made: three times its size is needed on disk.
#[test]
#[ignore = "long: ./dev soak"]
fn f7_a_workspace_of_5_gib_is_byte_identical() {
    let gib = std::env::var("CLOISTER_SOAK_GIB");
    let gib = gib.map_or(5, |gib| gib.parse::<usize>().expect("a number"));
    let model = Model::start();
    let gateway = Gateway::start(&model);
    let mut subject = Subject::start(&gateway, "huge");
    let make = (0..gib).map(|n| {
        format!(
            "head -c {GIB} /dev/urandom > file{n}; chmod 64{} file{n}",
            n % 8
        )
    });
    let look = (0..gib).map(|n| format!("sha256sum file{n}; stat -c '%a %s %y' file{n}"));
    let look: Vec<_> = look.collect();

    let (pid, before) = gateway.workerd();
    let wasm_before = wasm_memory(pid);
    // From here on the kernel notes the most that the process holds.
    std::fs::write(format!("/proc/{pid}/clear_refs"), "5").unwrap();
    let begun = Instant::now();
    let both: Vec<_> = make.chain(look.clone()).collect();
    let made = outputs(&mut subject, &both, 1).split_off(gib);
    let stored = begun.elapsed();
    let whole = made.iter().filter(|output| output.len() > 64).count();
    assert_eq!(whole, gib, "{made:?}");
    docker(&[
        "rm",
        "-f",
        &gateway.docker().harness(),
        &gateway.docker().sandbox(),
    ]);
    let begun = Instant::now();
    let restored = outputs(&mut subject, &look, 2);
    assert_eq!(restored, made);
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = most.unwrap().trim().trim_end_matches(" kB");
    let grown = (kib.parse::<u64>().unwrap() * 1024).saturating_sub(before);
    let wasm = wasm_memory(pid) - wasm_before;
    eprintln!(
        "{gib} GiB: made, looked at and stored in {stored:?}; restored, looked at and stored in {:?}; \
         at most {} MiB more, {} KiB of them in the Worker's own memory",
        begun.elapsed(),
        grown / MIB,
        wasm / 1024
    );
    assert!(wasm <= 16 * MIB, "{wasm} bytes");
    // Most of it is what the runtime has not collected yet, of the streams here and in the stand-in for R2.
    assert!(grown < 512 * MIB, "{grown} bytes");
}

/// Bytes of the memory of the only Wasm module in a process. V8 reserves 4 GiB for it; the beginning of that can be used.
fn wasm_memory(pid: u32) -> u64 {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
    let areas: Vec<(u64, u64, &str)> = maps
        .lines()
        .map(|line| {
            let (range, rest) = line.split_once(' ').unwrap();
            let (from, to) = range.split_once('-').unwrap();
            let address = |hex| u64::from_str_radix(hex, 16).unwrap();
            (address(from), address(to), &rest[..4])
        })
        .collect();
    let found = areas.windows(2).filter(|two| {
        let ((from, to, mode), (next, end, rest)) = (two[0], two[1]);
        (mode, rest) == ("rw-p", "---p") && to == next && end - from >= 4 * GIB
    });
    let found: Vec<_> = found.map(|two| two[0].1 - two[0].0).collect();
    assert_eq!(
        found.len(),
        1,
        "areas that look like the memory of a Wasm module"
    );
    found[0]
}
