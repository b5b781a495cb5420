//! What is done to the parts of a gateway while it works.
use crate::support::{cut_connections, docker, processes, sidecar, Docker};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Where the supervisor and the exec server listen in their containers.
const SUPERVISOR_PORT: u16 = 8700;
const EXEC_PORT: u16 = 8300;
/// How long a container's network stands still: long enough to be noticed, shorter than any part is given to come back.
const HOLD: Duration = Duration::from_secs(10);
/// How long a blow waits for what it is to hit.
const AIM: Duration = Duration::from_secs(5);

/// A blow to one part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blow {
    /// SIGKILL of the process that runs the Worker, and a start on the same storage.
    Worker,
    /// SIGKILL of the harness container.
    Harness,
    /// SIGKILL of the sandbox container.
    Sandbox,
    /// SIGKILL of the supervisor, process 1 of the harness container.
    Supervisor,
    /// SIGKILL of Codex inside the harness container.
    Codex,
    /// SIGKILL of the exec server inside the sandbox.
    ExecServer,
    /// SIGSTOP of the supervisor.
    StopSupervisor,
    /// SIGSTOP of Codex.
    StopCodex,
    /// SIGSTOP of the exec server.
    StopExecServer,
    /// The client closes its stream and opens another.
    CutStream,
    /// The TCP connections of the harness link are broken.
    CutLink,
    /// The TCP connections of the exec link are broken.
    CutExecLink,
    /// Nothing passes to or from the harness container for a while.
    HoldHarness,
    /// Nothing passes to or from the sandbox for a while.
    HoldSandbox,
}

impl Blow {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::Worker,
        Self::Harness,
        Self::Sandbox,
        Self::Supervisor,
        Self::Codex,
        Self::ExecServer,
        Self::StopSupervisor,
        Self::StopCodex,
        Self::StopExecServer,
        Self::CutStream,
        Self::CutLink,
        Self::CutExecLink,
        Self::HoldHarness,
        Self::HoldSandbox,
    ];

    /// Whether a turn that is hit only like this loses nothing: it completes, with each of its items once.
    pub fn is_harmless(self) -> bool {
        match self {
            Self::Worker | Self::CutStream | Self::CutLink | Self::HoldHarness => true,
            Self::Harness
            | Self::Sandbox
            | Self::Supervisor
            | Self::Codex
            | Self::ExecServer
            | Self::StopSupervisor
            | Self::StopCodex
            | Self::StopExecServer
            | Self::CutExecLink
            | Self::HoldSandbox => false,
        }
    }

    /// Whether a turn that is hit is lost for certain. Then what it runs in the sandbox must end as well.
    pub fn ends_the_turn(self) -> bool {
        match self {
            Self::Harness | Self::Supervisor | Self::Codex | Self::StopSupervisor => true,
            Self::Worker
            | Self::Sandbox
            | Self::ExecServer
            | Self::StopCodex
            | Self::StopExecServer
            | Self::CutStream
            | Self::CutLink
            | Self::CutExecLink
            | Self::HoldHarness
            | Self::HoldSandbox => false,
        }
    }

    /// Whether nothing but the turn's deadline, or a cancel, ends what it does.
    pub fn needs_a_cancel(self) -> bool {
        self == Self::StopCodex
    }

    /// Whether the part that is hit must be working then: one that is idle is only missed by the next turn.
    pub fn needs_work(self) -> bool {
        matches!(
            self,
            Self::StopSupervisor | Self::StopCodex | Self::StopExecServer
        )
    }
}

/// Names of a session's two containers. They stay when a container is replaced.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// The harness container's.
    pub harness: String,
    /// The sandbox's.
    pub sandbox: String,
}

/// Strikes a container; `Worker` and `CutStream` are not ours to do. Whether there was something to hit. What goes on is
/// given back by `later`.
pub fn strike(blow: Blow, names: &Names, later: &mut Vec<JoinHandle<()>>) -> bool {
    let Names { harness, sandbox } = names;
    within(AIM, || match blow {
        Blow::Worker | Blow::CutStream => true,
        Blow::Harness => kill(harness),
        Blow::Sandbox => kill(sandbox),
        Blow::Supervisor => signal(harness, "supervisor", "KILL"),
        Blow::Codex => signal(harness, "app-server", "KILL"),
        Blow::ExecServer => signal(sandbox, "exec-server", "KILL"),
        Blow::StopSupervisor => signal(harness, "supervisor", "STOP"),
        Blow::StopCodex => signal(harness, "app-server", "STOP"),
        Blow::StopExecServer => signal(sandbox, "exec-server", "STOP"),
        Blow::CutLink => cut_connections(harness, SUPERVISOR_PORT) > 0,
        Blow::CutExecLink => cut_connections(sandbox, EXEC_PORT) > 0,
        Blow::HoldHarness => hold(harness, later),
        Blow::HoldSandbox => hold(sandbox, later),
    })
}

fn within(limit: Duration, mut hits: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + limit;
    loop {
        if hits() {
            return true;
        }
        if Instant::now() > end {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn kill(container: &str) -> bool {
    docker(&["kill", container]).trim() == container
}

fn signal(container: &str, program: &str, signal: &str) -> bool {
    let processes = processes(container);
    let process = processes
        .iter()
        .find(|process| process.line.contains(program));
    process.is_some_and(|process| process.signal(signal))
}

/// The interceptor is what a container's network goes through, so the network stands still while it is paused.
fn hold(container: &str, later: &mut Vec<JoinHandle<()>>) -> bool {
    let Some(interceptor) = sidecar(container) else {
        return false;
    };
    if docker(&["pause", &interceptor]).trim() != interceptor {
        return false;
    }
    later.push(std::thread::spawn(move || {
        std::thread::sleep(HOLD);
        docker(&["unpause", &interceptor]);
    }));
    true
}

/// Marks that no process of a sandbox may carry: those that do.
pub fn leftovers(docker: &Docker, mark: &str) -> Vec<String> {
    let sandboxes = docker.names("CLOISTER_SANDBOX_IMAGE");
    let lines = sandboxes.iter().flat_map(|name| processes(name));
    let lines = lines.map(|process| process.line);
    lines.filter(|line| line.contains(mark)).collect()
}
