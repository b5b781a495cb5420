//! What becomes of the environment, as events tell it.
//!
//! ```text
//! pending ──a turn is brought to its harness──▶ ready, connected ──▶ …
//!    connected ──that has a new sandbox──▶ ready, connected
//!    connected ──the sandbox was lost in mid-turn──▶ disconnected, end of the turn ──the next is brought──▶ reset, ready, connected
//!    any ──it cannot be made──▶ failed, and the session with it
//! ```
//!
//! `pending` follows `session.created`. `ready` and `connected` come before anything that the harness says of the turn, and at
//! most once in a turn. Whichever comes first brings them about: the answer of the harness's object, or a report of the harness.
use super::failure::environment_text;
use super::state::{Core, Session};
use super::step::{Seeds, Step};
use crate::environment::EnvironmentFault;
use crate::wire::event::{
    EnvironmentError, EnvironmentEvent, EnvironmentKind, EnvironmentResetEvent, EnvironmentState,
    EnvironmentStatus, ErrorEvent, Event, StreamError,
};
use crate::wire::session::SessionStatus;
use crate::wire::turn::TurnErrorCode;
use serde::{Deserialize, Serialize};

/// The type of its errors.
const ERROR: &str = "environment_error";

/// What events have said of the environment. That it failed, the session says.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Told {
    standing: Standing,
    /// How often a sandbox was lost in mid-turn and then replaced.
    resets: u32,
}

/// Where the environment stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Standing {
    /// No turn has had a sandbox.
    #[default]
    Pending,
    /// The newest turn that was brought to a harness had one.
    Connected,
    /// That turn lost it.
    Lost,
}

impl Session {
    /// The session was just created.
    pub(super) fn environment_pending(&mut self, step: &mut Step) {
        self.emit_environment(Event::EnvironmentPending, EnvironmentStatus::Pending, step);
    }

    /// The running turn is with its harness, so its sandbox is there: a new one, or as far as is known the one before. Only the
    /// first who says so is heard.
    pub(super) fn brought(&mut self, turn_id: &str, new_sandbox: bool, step: &mut Step) {
        let Core {
            running: Some(running),
            environment: Told { standing, resets },
            ..
        } = &mut self.core
        else {
            return;
        };
        if running.turn.id != turn_id || std::mem::replace(&mut running.brought, true) {
            return;
        }
        let before = std::mem::replace(standing, Standing::Connected);
        match (before, new_sandbox) {
            (Standing::Connected, false) => return,
            (Standing::Lost, true | false) => {
                *resets = resets.saturating_add(1);
                self.emit_reset(step);
            }
            (Standing::Pending, true | false) | (Standing::Connected, true) => {}
        }
        self.emit_environment(Event::EnvironmentReady, EnvironmentStatus::Ready, step);
        let status = EnvironmentStatus::Connected;
        self.emit_environment(Event::EnvironmentConnected, status, step);
    }

    /// The turn that is about to end has lost its sandbox.
    pub(super) fn sandbox_lost(&mut self, step: &mut Step) {
        self.core.environment.standing = Standing::Lost;
        let status = EnvironmentStatus::Disconnected;
        self.emit_environment(Event::EnvironmentDisconnected, status, step);
    }

    /// The environment of the running turn cannot be made: the session fails for good.
    ///
    /// What waited is shown with the turn, so that nothing that was accepted vanishes; the agent never hears of it. Then come
    /// `environment.failed`, `error`, the end of the turn, and `session.failed`, which ends every stream. Who gives up on the
    /// first of these that it knows finds the reason there, before the turn says no more than that it failed; who follows the
    /// turn sees it end, once, and no event of it after that.
    pub(super) fn environment_failed(
        &mut self,
        turn_id: &str,
        fault: EnvironmentFault,
        seeds: &mut Seeds<'_>,
        step: &mut Step,
    ) {
        if !self.runs(turn_id) {
            return;
        }
        self.show_unheard(seeds, step);
        self.close_subagents(seeds, step);
        let message = environment_text(fault);
        self.emit_failed(fault, &message, step);
        self.emit(
            Event::Error(ErrorEvent {
                session_id: self.public.id.clone(),
                error: StreamError {
                    kind: ERROR.to_owned(),
                    code: Some(fault.code().to_owned()),
                    message: message.clone(),
                    param: None,
                },
            }),
            step,
        );
        self.end_turn(Err(TurnErrorCode::SandboxError), None, seeds, step);
        self.public.status = SessionStatus::Failed;
        self.public.error = Some(message);
        self.public_changed(seeds);
        self.emit_session(Event::SessionFailed, step);
    }

    fn emit_failed(&mut self, fault: EnvironmentFault, message: &str, step: &mut Step) {
        let error = EnvironmentError {
            kind: ERROR.to_owned(),
            code: fault.code().to_owned(),
            message: message.to_owned(),
        };
        let event = self.environment_event(EnvironmentStatus::Failed, Some(error));
        if let Some(event) = event {
            self.emit(Event::EnvironmentFailed(event), step);
        }
    }

    fn emit_reset(&mut self, step: &mut Step) {
        if let Some(environment_id) = self.identity.environment_id.clone() {
            let event = EnvironmentResetEvent {
                session_id: self.public.id.clone(),
                turn_id: None,
                environment_id,
                reset_count: self.core.environment.resets,
            };
            self.emit(Event::EnvironmentReset(event), step);
        }
    }

    fn emit_environment(
        &mut self,
        event: impl FnOnce(EnvironmentEvent) -> Event,
        status: EnvironmentStatus,
        step: &mut Step,
    ) {
        if let Some(payload) = self.environment_event(status, None) {
            self.emit(event(payload), step);
        }
    }

    /// None for a session that only talks.
    fn environment_event(
        &self,
        status: EnvironmentStatus,
        error: Option<EnvironmentError>,
    ) -> Option<EnvironmentEvent> {
        let id = self.identity.environment_id.clone()?;
        Some(EnvironmentEvent {
            session_id: self.public.id.clone(),
            turn_id: None,
            environment: EnvironmentState {
                id,
                kind: EnvironmentKind::OpenaiHosted,
                status,
                error,
            },
        })
    }
}
