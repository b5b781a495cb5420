//! Seeded blows at random moments to a gateway at work, in rounds. After each round every record is checked.
use super::blow::{leftovers, strike, Blow};
use super::check::wrong_records;
use super::random::Random;
use super::subject::{Request, Subject};
use crate::support::{wait_for, Gateway, Model};
use std::time::{Duration, Instant};

/// Sessions that work at once.
const SESSIONS: u64 = 4;
/// Blows in all.
const KILLS: usize = 20;
/// Blows in a round.
const BLOWS: usize = 5;
/// When the last blow of a round falls.
const SPAN_MS: u64 = 6_000;
/// How long everything may take to be well again.
const RECOVERY: Duration = Duration::from_secs(120);

struct Planned {
    at: u64,
    blow: Blow,
    to: usize,
    /// How long the Worker stays away.
    away: u64,
}

fn setting(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{name} is not a number")),
    )
}

/// Strikes twenty blows. `CLOISTER_KILL_SEED` replaces the seed, `CLOISTER_KILL_ROUND` picks one round of it.
pub fn campaign(seed: u64) {
    let seed = setting("CLOISTER_KILL_SEED").unwrap_or(seed);
    let only = setting("CLOISTER_KILL_ROUND");
    eprintln!("seed {seed}");
    let model = Model::start();
    let mut gateway = Gateway::start_with_faults(&model);
    let mut subjects: Vec<_> = (0..SESSIONS)
        .map(|n| Subject::start(&gateway, &format!("s{n}")))
        .collect();
    let deck = deck(seed);
    let mut missed = 0;
    for (round, blows) in (1..).zip(deck.chunks(BLOWS)) {
        if only.is_some_and(|only| only != round) {
            continue;
        }
        let mut random = Random::of(seed, round);
        let plan = plan(&mut random, blows);
        eprintln!("round {round}");
        let begun = Instant::now();
        missed += play(&mut gateway, &mut subjects, &plan, round, &mut random);
        let mut wrong = settle(&gateway, &mut subjects, &plan, round);
        wrong.extend(wrong_records(&gateway, &model, &subjects));
        let moves: Vec<_> = plan
            .iter()
            .map(|blow| format!("{} ms: {:?} to s{}", blow.at, blow.blow, blow.to))
            .collect();
        eprintln!(
            "round {round}: {} s; {}",
            begun.elapsed().as_secs(),
            moves.join(", ")
        );
        assert!(
            wrong.is_empty(),
            "after round {round}:\n  {}\nblows: {}\nagain: CLOISTER_KILL_SEED={seed} CLOISTER_KILL_ROUND={round} ./dev test twenty_seeded_kills",
            wrong.join("\n  "),
            moves.join(", ")
        );
    }
    nothing_is_left(&gateway);
    assert!(
        missed * 4 <= KILLS,
        "{missed} of {KILLS} blows found nothing to hit"
    );
}

/// Every kind comes before one comes again.
fn deck(seed: u64) -> Vec<Blow> {
    let mut random = Random::of(seed, 0);
    let mut deck = Vec::new();
    while deck.len() < KILLS {
        deck.extend(random.shuffled(&Blow::ALL));
    }
    deck.truncate(KILLS);
    deck
}

/// The blows fall on all sessions alike.
fn plan(random: &mut Random, blows: &[Blow]) -> Vec<Planned> {
    let order = random.shuffled(&(0..SESSIONS as usize).collect::<Vec<_>>());
    let mut plan: Vec<_> = blows
        .iter()
        .zip(order.iter().cycle())
        .map(|(blow, to)| Planned {
            at: random.within(if blow.needs_work() { 2_000 } else { 50 }, SPAN_MS),
            blow: *blow,
            to: *to,
            away: random.within(0, 3_000),
        })
        .collect();
    plan.sort_by_key(|planned| planned.at);
    plan
}

/// What each session's client does in the round, while the blows fall. How many of them found nothing to hit.
fn play(
    gateway: &mut Gateway,
    subjects: &mut [Subject],
    plan: &[Planned],
    round: u64,
    random: &mut Random,
) -> usize {
    let begun = Instant::now();
    let sleep_until = move |ms: u64| {
        std::thread::sleep(Duration::from_millis(ms).saturating_sub(begun.elapsed()))
    };
    let agendas: Vec<_> = subjects
        .iter()
        .enumerate()
        .map(|(n, subject)| agenda(n, subject, plan, random))
        .collect();
    let names: Vec<_> = subjects
        .iter()
        .map(|subject| subject.names.clone())
        .collect();
    let watched: Vec<_> = subjects
        .iter()
        .map(|subject| subject.watcher.handle())
        .collect();
    std::thread::scope(|scope| {
        for (subject, agenda) in subjects.iter_mut().zip(agendas) {
            scope.spawn(move || {
                for (at, request) in agenda {
                    sleep_until(at);
                    subject.ask(request, round);
                }
            });
        }
        let mut going_on = Vec::new();
        let mut missed = 0;
        for Planned { at, blow, to, away } in plan {
            sleep_until(*at);
            eprintln!("  {:5} ms: {blow:?} to s{to}", begun.elapsed().as_millis());
            match blow {
                Blow::Worker => {
                    gateway.kill();
                    std::thread::sleep(Duration::from_millis(*away));
                    gateway.restart();
                }
                Blow::CutStream => watched[*to].cut(),
                _ => {
                    if !strike(*blow, &names[*to], &mut going_on) {
                        eprintln!("            missed");
                        missed += 1;
                    }
                }
            }
        }
        for handle in going_on {
            handle.join().unwrap();
        }
        missed
    })
}

fn agenda(
    n: usize,
    subject: &Subject,
    plan: &[Planned],
    random: &mut Random,
) -> Vec<(u64, Request)> {
    let ours = || plan.iter().filter(move |planned| planned.to == n);
    let long = ours().any(|planned| planned.blow.needs_work() || planned.blow.ends_the_turn());
    let script = subject.script(random, long);
    let mut agenda = vec![(random.within(0, 400), Request::Turn(script))];
    for _ in 0..random.within(0, 3) {
        agenda.push((random.within(300, SPAN_MS), Request::Steer));
    }
    if random.once_in(4) {
        agenda.push((random.within(100, SPAN_MS), Request::Cancel));
    }
    if let Some(stopped) = ours().find(|planned| planned.blow.needs_a_cancel()) {
        agenda.push((stopped.at + 5_000, Request::Cancel));
    }
    agenda.sort_by_key(|(at, _)| *at);
    agenda
}

/// Waits until all is well again; what does not become well.
fn settle(
    gateway: &Gateway,
    subjects: &mut [Subject],
    plan: &[Planned],
    round: u64,
) -> Vec<String> {
    let mut wrong = Vec::new();
    let end = Instant::now() + RECOVERY;
    for (n, subject) in subjects.iter_mut().enumerate() {
        let session = match subject.settle(end) {
            Ok(session) => session,
            Err(error) => {
                wrong.push(error);
                continue;
            }
        };
        let mark = format!("load-{}", subject.name);
        let end = Instant::now() + Duration::from_secs(5);
        while !leftovers(&gateway.docker(), &mark).is_empty() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(100));
        }
        wrong.extend(
            leftovers(&gateway.docker(), &mark)
                .iter()
                .map(|line| format!("{}: still runs: {line}", subject.name)),
        );
        if session["status"] == "failed" {
            wrong.push(format!("{}: {session}", subject.name));
            continue;
        }
        let harmless = plan
            .iter()
            .all(|planned| planned.to != n || planned.blow.is_harmless());
        wrong.extend(unharmed(subject, harmless, round));
        wrong.extend(subject.probe(round).err());
    }
    wrong
}

/// A scripted turn that completed said what it was to say, and if nothing worse than harmless befell it, it completed, and
/// each of its commands ran once.
fn unharmed(subject: &Subject, harmless: bool, round: u64) -> Vec<String> {
    let (turns, items) = (
        subject.client.whole(&subject.id, "turns"),
        subject.client.whole(&subject.id, "items"),
    );
    let mut wrong = Vec::new();
    for said in subject
        .said
        .iter()
        .filter(|said| said.round == round && !said.may_be_dropped)
    {
        let has_mark = |item: &&serde_json::Value| {
            item["content"][0]["text"]
                .as_str()
                .is_some_and(|text| text.contains(&said.mark))
        };
        let (Some(script), Some(item)) = (&said.script, items.iter().find(has_mark)) else {
            continue;
        };
        let turn = turns
            .iter()
            .find(|turn| turn["id"] == item["turn_id"])
            .unwrap();
        if turn["status"] != "completed" {
            if harmless {
                wrong.push(format!(
                    "{}: no harm was done, and its turn is {turn}",
                    subject.name
                ));
            }
            continue;
        }
        let ours: Vec<_> = items
            .iter()
            .filter(|item| item["turn_id"] == turn["id"])
            .collect();
        if !ours
            .iter()
            .any(|item| item["content"][0]["text"] == script.words.as_str())
        {
            wrong.push(format!(
                "{}: {} did not get its answer",
                subject.name, said.mark
            ));
        }
        let outputs: Vec<_> = ours
            .iter()
            .filter_map(|item| item["output"].as_str())
            .collect();
        let same = outputs.len() == script.outputs.len()
            && outputs
                .iter()
                .zip(&script.outputs)
                .all(|(got, wanted)| similar(got, wanted));
        if harmless && !same {
            let short: Vec<_> = outputs
                .iter()
                .map(|output| output.chars().take(80).collect::<String>())
                .collect();
            wrong.push(format!(
                "{}: {} outputs instead of {}: {short:?}",
                subject.name,
                outputs.len(),
                script.outputs.len()
            ));
        }
    }
    wrong
}

/// A long output is shown with its middle left out.
fn similar(got: &str, wanted: &str) -> bool {
    got == wanted
        || wanted.len() > 10_000
            && got.starts_with(&wanted[..1000])
            && got.ends_with(&wanted[wanted.len() - 1000..])
}

/// After the idle timeout a session costs nothing but what is stored: no container, no alarm. A container's interceptor stays
/// for the next start.
pub fn nothing_is_left(gateway: &Gateway) {
    let docker = gateway.docker();
    wait_for("the idle timeout", Duration::from_secs(60), || {
        let interceptors = docker.names("CLOISTER_INTERCEPTOR_IMAGE").len();
        (docker.all().len() == interceptors).then_some(())
    });
    // What an attempt that was given up may still store is swept when its grants have expired: 45 s after it began.
    let end = Instant::now() + Duration::from_secs(60);
    while !gateway.alarms().is_empty() {
        assert!(
            Instant::now() < end,
            "alarms are set: {:?}",
            gateway.alarms()
        );
        std::thread::sleep(Duration::from_millis(500));
    }
}
