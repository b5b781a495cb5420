//! The rules in force: loads [`Ruleset`] with `nft` and reloads it when workerd's egress port changes.

use std::{io, process::Stdio, time::Duration};

use tokio::{io::AsyncWriteExt, process::Command, time::timeout};

use crate::ruleset::Ruleset;

/// Environment variable that, set to `1`, lets the interceptor start on a kernel where raw packets cannot be stopped.
pub const RELAX_VARIABLE: &str = "CLOISTER_INTERCEPTOR_ALLOW_RAW_PACKETS";
/// How long `nft` may take.
const LOAD_TIMEOUT: Duration = Duration::from_secs(20);

/// The loaded rules.
#[derive(Debug)]
pub struct Firewall {
    ruleset: Ruleset,
    /// Whether the filter below IP is in force.
    egress_hook: bool,
}

impl Firewall {
    /// Loads the rules for the first time. If the kernel has no egress hook this fails, unless `relaxed`.
    pub async fn raise(ruleset: Ruleset, relaxed: bool) -> io::Result<Self> {
        let whole = Self {
            ruleset,
            egress_hook: true,
        };
        let Err(refused) = whole.load().await else {
            return Ok(whole);
        };
        let partial = Self {
            egress_hook: false,
            ..whole
        };
        // If this fails as well, then nftables itself does not work here.
        partial.load().await?;
        if relaxed {
            eprintln!(
                "interceptor: WARNING: no egress hook ({refused}); {RELAX_VARIABLE}=1 is set, so root in the \
                 container CAN send raw packets past the interceptor. Do not run hostile code here."
            );
            return Ok(partial);
        }
        Err(io::Error::other(format!(
            "refusing to start: the kernel has no nftables egress hook (CONFIG_NETFILTER_EGRESS and NF_TABLES_NETDEV, \
             Linux 5.16 or later), so raw packets would go past the interceptor. Use such a kernel, or, if nothing \
             hostile will run in the container, set {RELAX_VARIABLE}=1 in the interceptor's image. nft said: {refused}"
        )))
    }

    /// Puts rules for another egress port in force. On an error the old rules stay.
    pub async fn change_port(&mut self, egress_port: u16) -> io::Result<()> {
        let previous = std::mem::replace(&mut self.ruleset.egress_port, egress_port);
        let loaded = self.load().await;
        if loaded.is_err() {
            self.ruleset.egress_port = previous;
        }
        loaded
    }

    async fn load(&self) -> io::Result<()> {
        let mut text = self.ruleset.ip_tables();
        if self.egress_hook {
            text.push_str(&self.ruleset.egress_table());
        }
        let mut nft = Command::new("nft")
            .args(["-f", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        if let Some(mut input) = nft.stdin.take() {
            input.write_all(text.as_bytes()).await?;
        }
        let output = timeout(LOAD_TIMEOUT, nft.wait_with_output())
            .await
            .map_err(|_| io::Error::other("nft timed out"))??;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(io::Error::other(
            said.lines().next().unwrap_or("nft failed").to_owned(),
        ))
    }
}
