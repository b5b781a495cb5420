//! The decision.
use super::address;
use super::compile::{CompiledPolicy, Layer};
use super::host::Host;
use super::mode::Mode;
use super::pattern::HostPattern;
use super::reason::{Denial, Reason};
use super::reserved::is_reserved;
use super::rules;
use super::target::{check_method, Head, Target};
use std::net::IpAddr;

/// The verdict on one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision<'a> {
    /// It may be sent, to this target and no other.
    Allow {
        /// What to dial.
        target: Target<'a>,
        /// What allowed it.
        rule: Matched<'a>,
    },
    /// It may not.
    Deny(Denial<'a>),
}

/// What allowed a request: the policy itself, not those that narrow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matched<'a> {
    /// Public hosts are allowed.
    Public,
    /// The host is not blocked.
    NotBlocked,
    /// The host is listed.
    Listed {
        /// The nearest entry.
        pattern: &'a HostPattern,
        /// Which of the entry's rules, in canonical order; `None` if it has none.
        rule: Option<usize>,
    },
}

impl Decision<'_> {
    /// Whether it is a yes.
    pub fn is_allowed(&self) -> bool {
        match self {
            Self::Allow { .. } => true,
            Self::Deny(_) => false,
        }
    }

    /// Why not.
    pub fn reason(&self) -> Option<Reason> {
        match self {
            Self::Allow { .. } => None,
            Self::Deny(denial) => Some(denial.reason),
        }
    }
}

impl CompiledPolicy {
    /// Decides on one request. Each request is judged by itself: a redirect's next hop is a request like any other.
    pub fn decide<'a>(&'a self, head: &Head<'a>) -> Decision<'a> {
        let target = check_method(head.method).and_then(|()| Target::parse(head.url));
        let target = match target {
            Ok(target) => target,
            Err(reason) => {
                return Decision::Deny(Denial {
                    reason,
                    host: None,
                    port: None,
                    narrowed: false,
                })
            }
        };
        match self.judge(head, &target) {
            Ok(rule) => Decision::Allow { target, rule },
            Err((reason, narrowed)) => Decision::Deny(Denial {
                reason,
                port: Some(target.port),
                host: Some(target.host),
                narrowed,
            }),
        }
    }

    fn judge(&self, head: &Head, target: &Target) -> Result<Matched<'_>, (Reason, bool)> {
        let here = |reason| (reason, false);
        if head.host.is_some_and(|header| !target.is_named_by(header)) {
            return Err(here(Reason::HostMismatch));
        }
        self.check_host(&target.host).map_err(here)?;
        let (first, narrowing) = self
            .layers
            .split_first()
            .ok_or(here(Reason::PolicyUnreadable))?;
        let matched = first.check(target, head.method).map_err(here)?;
        for layer in narrowing {
            layer
                .check(target, head.method)
                .map_err(|reason| (reason, true))?;
        }
        Ok(matched)
    }

    /// Refuses what no policy can allow.
    fn check_host(&self, host: &Host) -> Result<(), Reason> {
        let class = match host {
            Host::Name(name) if is_reserved(name) => return Err(Reason::NameReserved),
            Host::Name(_) => None,
            Host::V4(address) => address::class(IpAddr::V4(*address)),
            Host::V6(address) => address::class(IpAddr::V6(*address)),
        };
        if let Some(class) = class {
            return Err(Reason::AddressRefused(class));
        }
        if self.own.contain(host) {
            return Err(Reason::OwnHost);
        }
        Ok(())
    }
}

impl Layer {
    fn check(&self, target: &Target, method: &str) -> Result<Matched<'_>, Reason> {
        match self.mode.as_ref() {
            Mode::DenyAll => Err(Reason::NetworkDisabled),
            Mode::Public => Ok(Matched::Public),
            Mode::AllExcept(_) => {
                match target.host {
                    Host::Name(_) => {}
                    Host::V4(_) | Host::V6(_) => return Err(Reason::AddressNotAllowed),
                }
                if self.index.nearest(&target.host).is_some() {
                    return Err(Reason::HostBlocked);
                }
                rules::check(&[], target, method).map(|_| Matched::NotBlocked)
            }
            Mode::AllowOnly(entries) => {
                let found = self.index.nearest(&target.host);
                let entry = found.and_then(|at| entries.get(at as usize));
                let entry = entry.ok_or(Reason::HostNotAllowed)?;
                let rule = rules::check(&entry.rules, target, method)?;
                Ok(Matched::Listed {
                    pattern: &entry.pattern,
                    rule,
                })
            }
        }
    }
}
