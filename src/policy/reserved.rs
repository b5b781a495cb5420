//! Names that are never reachable, whatever a policy lists.
//!
//! | name | source |
//! |---|---|
//! | a single label | none is a host of the public DNS; search domains would make something of it |
//! | `localhost`, `invalid` and below | RFC 6761 |
//! | `local` and below | RFC 6762 |
//! | `internal` and below | reserved by ICANN in 2024; clouds keep their metadata there, this gateway its own hosts |
//! | `arpa` and below | infrastructure, no websites: `home.arpa` (RFC 8375), `ipv4only.arpa` (RFC 7050), reverse zones |
//! | `onion`, `alt` and below | RFC 7686, RFC 9476: no DNS names |
//! | `intranet`, `private`, `corp`, `home`, `lan`, `mail`, `localdomain` and below | RFC 6762 appendix G, and names that ICANN will not delegate since private networks use them |
//! | metadata services with public names | resolve to link-local addresses |
//!
//! `test` and `example` (RFC 6761) are not refused: they lead nowhere in the public DNS, and tests and documents need names.

/// Whether nothing at or below `name`, a canonical one, is reachable.
pub fn is_reserved(name: &str) -> bool {
    let Some((_, top)) = name.rsplit_once('.') else {
        return true;
    };
    is_reserved_top(top) || METADATA.iter().any(|one| is_at_or_below(name, one))
}

const METADATA: &[&str] = &["metadata.goog", "metadata.tencentyun.com"];

fn is_reserved_top(label: &str) -> bool {
    matches!(
        label,
        "localhost"
            | "invalid"
            | "local"
            | "internal"
            | "arpa"
            | "onion"
            | "alt"
            | "intranet"
            | "private"
            | "corp"
            | "home"
            | "lan"
            | "mail"
            | "localdomain"
    )
}

/// Whether `name` is `base`, or ends with it at the border of a label.
pub(super) fn is_at_or_below(name: &str, base: &str) -> bool {
    name.strip_suffix(base)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}
