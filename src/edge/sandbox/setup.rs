//! Set-up: the tenant's commands, run in a new container that holds nothing of the session yet. What they print goes nowhere.
use super::object::Sandbox;
use super::record::{Phase, ENV, SETUP};
use crate::deployment::LIMITS;
use crate::edge::container;
use crate::edge::log;
use crate::edge::platform::{now, Container, Exec};
use crate::environment::{EnvironmentFault, SetupCommand};
use cloister_protocol::{trust, EXEC_PORT};
use std::collections::BTreeMap;
use std::time::Duration;
use worker::Result;

/// Runs the line in its argument, and lets nothing of what it prints out of the container.
const QUIETLY: &str = r#"exec /bin/bash -c "$1" >/dev/null 2>&1 </dev/null"#;
/// Kills every process but process 1 and itself; three times, for those that multiply.
const END_ALL: &str = "for round in 1 2 3; do for d in /proc/[0-9]*; do p=${d#/proc/}; \
                       [ $p = 1 ] || [ $p = $$ ] || kill -9 $p; done; done >/dev/null 2>&1; exit 0";
/// What the platform itself may print, bytes. None of it is read.
const MAX_OUTPUT: usize = 4096;
const END_DEADLINE: Duration = Duration::from_secs(10);
/// How long the exec server may take to start again.
const READY_DEADLINE: Duration = Duration::from_secs(20);

/// How set-up ended.
pub enum SetUp {
    /// Well.
    Done,
    /// The container ended, or does not answer.
    Lost,
    /// A command failed.
    Failed(EnvironmentFault),
}

impl Sandbox {
    /// Variables for everything that runs in the container: the tenant's own, and those that make it trust the border's
    /// certificates, which win.
    pub(super) fn variables(&self) -> Result<BTreeMap<String, String>> {
        let own: BTreeMap<String, String> = self.unseal(ENV)?;
        let trust = trust::VARIABLES.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Ok(own.into_iter().chain(trust).collect())
    }

    /// Runs the set-up commands under a policy of their own, then ends all that they left, and puts the tenant's in force.
    pub(super) async fn set_up(&self, container: &Container) -> Result<SetUp> {
        let commands: Vec<SetupCommand> = self.unseal(SETUP)?;
        if commands.is_empty() {
            self.enter(Phase::Open, true).await?;
            return Ok(SetUp::Done);
        }
        self.enter(Phase::SetUp, true).await?;
        let end = now() + LIMITS.setup_deadline.as_millis() as u64;
        for (command, place) in commands.into_iter().zip(0..) {
            let timeout = Duration::from_millis(end.saturating_sub(now()));
            let exit_code = run(container, command, timeout).await;
            if !container.running() {
                return Ok(SetUp::Lost);
            }
            if exit_code != Some(0) {
                let fault = EnvironmentFault::SetupFailed {
                    command: place,
                    exit_code,
                };
                log::event("environment_failed", &[("code", fault.code())]);
                return Ok(SetUp::Failed(fault));
            }
        }
        // The policy first: what is not killed yet has no way out any more.
        self.enter(Phase::Open, true).await?;
        shell(container, END_ALL, "", "/", END_DEADLINE).await;
        let ready = container::answers(container, EXEC_PORT, "/readyz", READY_DEADLINE).await;
        Ok(if ready { SetUp::Done } else { SetUp::Lost })
    }
}

async fn run(container: &Container, command: SetupCommand, timeout: Duration) -> Option<i32> {
    let SetupCommand { command, cwd } = command;
    shell(container, QUIETLY, &command.0, &cwd, timeout).await
}

/// The exit code; none if it was killed or could not be started.
async fn shell(
    container: &Container,
    line: &str,
    argument: &str,
    cwd: &str,
    timeout: Duration,
) -> Option<i32> {
    let argv = ["/bin/sh", "-c", line, "set-up", argument];
    let exec = Exec {
        argv: argv.map(str::to_owned).into(),
        cwd: cwd.to_owned(),
        env: BTreeMap::new(),
        stdin: None,
        timeout,
        max_output: MAX_OUTPUT,
    };
    exec.run(container).await.ok()?.exit_code
}
