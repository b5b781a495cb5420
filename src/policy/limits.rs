//! Limits of a policy and of what it judges.

/// Most entries of `allowed_domains` or `blocked_domains`.
pub const MAX_ENTRIES: usize = 16_384;

/// Longest entry, bytes; also the longest host name.
pub const MAX_ENTRY_BYTES: usize = 253;

/// Most text in all entries and rules together, bytes: a policy fits into a row of storage.
pub const MAX_TEXT_BYTES: usize = 1 << 20;

/// Most rules.
pub const MAX_RULES: usize = 256;

/// Most ports, schemes, methods or path prefixes in a rule, of each.
pub const MAX_RULE_VALUES: usize = 32;

/// Longest path prefix, bytes.
pub const MAX_PREFIX_BYTES: usize = 512;

/// Longest method, bytes.
pub const MAX_METHOD_BYTES: usize = 32;

/// Most policies that narrow one another; one with more denies all.
pub const MAX_LAYERS: usize = 8;

/// Most hosts of the deployment itself.
pub const MAX_OWN_HOSTS: usize = 64;

/// Longest URL that is judged, bytes.
pub const MAX_URL_BYTES: usize = 16 << 10;

/// Most mistakes that one error names.
pub const MAX_FLAWS: usize = 16;
