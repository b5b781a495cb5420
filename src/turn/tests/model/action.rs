//! What can happen in the model, and walks through it.
use crate::environment::EnvironmentFault;

/// One thing that happens. Numbers choose among what there is; what cannot happen does nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// The client says something.
    Say,
    Cancel,
    /// The client gives the result of a call, maybe one that is over.
    Answer {
        pick: u8,
        success: bool,
    },
    /// It sends an earlier result again, or another one for the same call.
    Repeat {
        pick: u8,
        same: bool,
    },
    /// It answers a request for approval.
    Decide {
        pick: u8,
        approve: bool,
    },
    /// It changes the session.
    Update,
    /// Time passes until the session's alarm.
    Alarm,
    /// Some time passes.
    Moment,
    /// The session's object loses its memory.
    Crash,
    /// The session's object sends the effects that are not under way.
    Dispatch,
    /// A call or its answer arrives.
    Carry(u8),
    /// A call arrives and cannot be carried out.
    Refuse(u8),
    /// The environment of the next turn cannot be made.
    Spoil(EnvironmentFault),
    /// A call or its answer is lost.
    Drop(u8),
    /// A call or its answer is doubled.
    Double(u8),
    /// Events go to the session; if not answered, they go again.
    Report {
        count: u8,
        answered: bool,
    },
    /// Events of an instance that is gone arrive.
    Late {
        pick: u8,
    },
    /// All that is on its way arrives, and the harness takes what it was told.
    Flow,
    /// The harness's object goes on with a checkpoint.
    Save {
        pick: u8,
        answered: bool,
    },
    /// It makes all of it.
    SaveAll(u8),
    /// It loses its memory.
    Restart,
    /// Something of a checkpoint that was given up is stored.
    Stray(u8),
    /// Garbage is deleted.
    Sweep,
    /// The alarm of the harness's object.
    Beat {
        answered: bool,
    },
    /// The harness does something.
    Work(Work),
    /// All are reachable and willing: the session must become idle without any deadline.
    Calm,
    /// Nobody answers any more: the session must become idle by its deadlines.
    Settle,
}

/// What a harness does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Work {
    /// It takes the next command.
    Command {
        willing: bool,
    },
    Begin(u8),
    More(u8),
    Finish(u8),
    Call(u8),
    Ask,
    Unask(u8),
    Spend,
    Spawn(u8),
    /// A subagent does something.
    Child(u8),
    End(u8),
    /// The harness dies, and the supervisor says so.
    Die,
    /// The container is gone.
    Vanish,
    /// It does nothing any more.
    Hang,
}

impl Action {
    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Say => "the client says something",
            Self::Cancel => "the client cancels",
            Self::Answer { success: true, .. } => "the client gives a result",
            Self::Answer { .. } => "the client says that a function failed",
            Self::Repeat { same: true, .. } => "the client gives a result again",
            Self::Repeat { .. } => "the client gives another result for a call",
            Self::Decide { .. } => "the client answers a request",
            Self::Update => "the client updates the session",
            Self::Alarm => "the alarm of the session rings",
            Self::Moment => "some time passes",
            Self::Crash => "the session's object is started anew",
            Self::Dispatch => "effects are sent",
            Self::Carry(_) => "something arrives",
            Self::Refuse(_) => "something arrives and cannot be done",
            Self::Spoil(_) => "something is wrong with the environment from here",
            Self::Drop(_) => "something is lost on its way",
            Self::Double(_) => "something is on its way twice",
            Self::Report { answered: true, .. } => "the harness reports",
            Self::Report { .. } => "the harness reports, and hears no answer",
            Self::Late { .. } => "a harness that is gone reports",
            Self::Flow => "all that is on its way arrives, and is reported",
            Self::Save { answered: true, .. } => "the harness's object goes on with a checkpoint",
            Self::Save { .. } => {
                "the harness's object goes on with a checkpoint, and hears no answer"
            }
            Self::SaveAll(_) => "the harness's object makes a checkpoint",
            Self::Restart => "the harness's object is started anew",
            Self::Stray(_) => "something is stored that nobody waits for",
            Self::Sweep => "garbage is deleted",
            Self::Beat { answered: true } => "the harness's object looks after its turn",
            Self::Beat { .. } => "the harness's object looks after its turn, and hears no answer",
            Self::Work(Work::Command { willing: true }) => "the harness does what it was told",
            Self::Work(Work::Command { .. }) => "the harness refuses what it was told",
            Self::Work(Work::Vanish) => "the container is gone",
            Self::Work(Work::Hang) => "the harness hangs",
            Self::Work(_) => "the harness works",
            Self::Calm => "all goes well from here",
            Self::Settle => "nothing arrives any more, and time passes",
        }
    }
}

/// A generator of numbers that look random (splitmix64).
pub struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn pick(&mut self) -> u8 {
        self.next() as u8
    }

    /// True `percent` times of a hundred.
    fn chance(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }
}

/// A walk. Most walks are kind, so that turns get far.
pub fn walk(seed: u64, length: usize) -> Vec<Action> {
    let mut random = Random(seed);
    let rough = random.chance(40);
    (0..length).map(|_| any(&mut random, rough)).collect()
}

fn any(random: &mut Random, rough: bool) -> Action {
    let rare = random.chance(if rough { 20 } else { 2 });
    if rare {
        return match random.next() % 11 {
            0 => Action::Crash,
            1 => Action::Refuse(random.pick()),
            2 | 3 => Action::Drop(random.pick()),
            4 => Action::Double(random.pick()),
            5 => Action::Late {
                pick: random.pick(),
            },
            6 => Action::Work(Work::Die),
            7 => Action::Work(Work::Vanish),
            8 => Action::Work(Work::Hang),
            9 => Action::Alarm,
            _ => match random.next() % 8 {
                0 | 1 => Action::Settle,
                2 | 3 => Action::Calm,
                4 => Action::Spoil(fault(random)),
                _ => Action::Update,
            },
        };
    }
    let answered = !rough || random.chance(80);
    match random.next() % 56 {
        0..=2 => Action::Say,
        20 if random.chance(40) => Action::Cancel,
        20 => Action::Moment,
        3 | 4 => Action::Answer {
            pick: random.pick(),
            success: random.chance(80),
        },
        5 => Action::Repeat {
            pick: random.pick(),
            same: random.chance(50),
        },
        6 => Action::Decide {
            pick: random.pick(),
            approve: random.chance(50),
        },
        7 | 8 => Action::Dispatch,
        9 | 10 => Action::Carry(random.pick()),
        11 | 21 => Action::Flow,
        12..=14 => Action::Report {
            count: 1 + random.pick() % 8,
            answered,
        },
        15..=18 if rough => Action::Carry(random.pick()),
        15..=18 => Action::Flow,
        19 => Action::Beat { answered },
        40..=47 => Action::Save {
            pick: random.pick(),
            answered: answered && random.chance(80),
        },
        48 | 49 => Action::SaveAll(random.pick()),
        50 => Action::Stray(random.pick()),
        51 => Action::Sweep,
        52 | 53 => Action::Late {
            pick: random.pick(),
        },
        54 => Action::Work(Work::More(random.pick())),
        55 => Action::Restart,
        _ => Action::Work(work(random)),
    }
}

fn fault(random: &mut Random) -> EnvironmentFault {
    if random.chance(50) {
        return EnvironmentFault::NotIsolated;
    }
    EnvironmentFault::SetupFailed {
        command: 1,
        exit_code: random.chance(50).then_some(2),
    }
}

fn work(random: &mut Random) -> Work {
    let pick = random.pick();
    match random.next() % 20 {
        0..=5 => Work::Command {
            willing: random.chance(70),
        },
        6 | 7 => Work::Begin(pick),
        8 | 9 => Work::More(pick),
        10 | 11 => Work::Finish(pick),
        12 | 13 => Work::Call(pick),
        14 => Work::Ask,
        15 => Work::Unask(pick),
        16 => Work::Spend,
        17 => Work::Spawn(pick),
        18 => Work::Child(pick),
        _ => Work::End(pick),
    }
}
