//! What makes programs in the sandbox trust the border, which answers HTTPS under its own certificate authority.
//!
//! The image's process 1 writes [`BUNDLE`] and gives [`VARIABLES`] to the commands of the exec server; the Worker gives them
//! to what it starts itself.

/// The platform's certificate authority, PEM. There only if HTTPS is intercepted, and maybe only after the start.
pub const PLATFORM_CA: &str = "/etc/cloudflare/certs/cloudflare-containers-ca.crt";

/// The authorities that the image trusts, PEM, where programs look that are told nothing.
pub const SYSTEM_BUNDLE: &str = "/etc/ssl/certs/ca-certificates.crt";

/// What the image trusts, and [`PLATFORM_CA`] once it is there, PEM.
pub const BUNDLE: &str = "/run/cloister/ca-bundle.crt";

/// Environment variables that name it, and their values. Node adds the file to the authorities that it has built in; for all
/// others the file takes the place of theirs.
pub const VARIABLES: [(&str, &str); 5] = [
    ("NODE_EXTRA_CA_CERTS", PLATFORM_CA),
    ("REQUESTS_CA_BUNDLE", BUNDLE),
    ("SSL_CERT_FILE", BUNDLE),
    ("CURL_CA_BUNDLE", BUNDLE),
    ("GIT_SSL_CAINFO", BUNDLE),
];
