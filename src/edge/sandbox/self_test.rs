//! The test of the sandbox's border, before anything of the tenant is behind it: a request to one reserved name must be seen
//! by SandboxEgress, one to another must be refused there, and a connection past it must not come about. What is seen counts,
//! and what the image's program says.
use super::object::Sandbox;
use super::workspace::packer;
use crate::deployment::SELF_TEST_ADDRESS;
use crate::edge::log;
use crate::edge::platform::{random, Container};
use crate::environment::Tally;
use crate::tenant::hex;
use cloister_protocol::self_test::DENIED_HOST;
use std::cell::Cell;
use std::time::Duration;
use worker::Result;

/// How long it may take; the program itself ends earlier.
const DEADLINE: Duration = Duration::from_secs(5);

/// A test that is going on.
pub struct SelfTest {
    nonce: String,
    seen: Cell<bool>,
    refused: Cell<bool>,
}

impl Sandbox {
    /// Whether the border of this new container is as it must be.
    pub(super) async fn is_isolated(&self, container: &Container) -> Result<bool> {
        let nonce = hex(&random::<16>());
        self.testing.replace(Some(SelfTest {
            nonce: nonce.clone(),
            seen: Cell::default(),
            refused: Cell::default(),
        }));
        let arguments = ["probe", "--nonce", &nonce, "--raw", SELF_TEST_ADDRESS];
        let arguments = arguments.map(str::to_owned).into();
        let code = packer(container, arguments, DEADLINE).await;
        let seen = self
            .testing
            .take()
            .is_some_and(|test| test.seen.get() && test.refused.get());
        let isolated = seen && code == Some(0);
        if !isolated {
            let code = code.map_or_else(|| "killed".to_owned(), |code| code.to_string());
            let seen = if seen { "yes" } else { "no" };
            log::event("not_isolated", &[("code", &code), ("seen", seen)]);
        }
        Ok(isolated)
    }

    /// Whether it is what the test that is going on says.
    pub(super) fn is_nonce(&self, nonce: &str) -> bool {
        let testing = self.testing.borrow();
        let test = testing.as_ref().filter(|test| test.nonce == nonce);
        if let Some(test) = test {
            test.seen.set(true);
        }
        test.is_some()
    }

    /// Whether a decision belongs to the test that is going on, and not into the audit.
    pub(super) fn tests(&self, tally: &Tally) -> bool {
        let testing = self.testing.borrow();
        let test = testing.as_ref().filter(|_| tally.host == DENIED_HOST);
        if let Some(test) = test {
            test.refused.set(true);
        }
        test.is_some()
    }
}
