//! Names of a tenant's environment variables.

/// Longest name, bytes.
pub const MAX_NAME_BYTES: usize = 128;

/// What the sandbox's own programs, or what they start, depend on.
const OURS: [&str; 2] = ["PATH", "OPENAI_API_KEY"];
const OUR_PREFIXES: [&str; 3] = ["CODEX_", "CLOISTER_", "CLOUDFLARE_"];
/// In capitals; programs read both spellings.
const PROXIES: [&str; 4] = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"];
/// Where programs look for the authorities they trust, among them the one that the sandbox's requests go through.
const AUTHORITIES: [&str; 6] = [
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
];

/// Variables of the loader, which the gateway's own programs in the sandbox would follow too: some make every program print
/// and do nothing, so that no border could be proven.
const LOADER_PREFIXES: [&str; 2] = ["LD_", "GLIBC_"];

/// What is wrong with a name that a tenant gives a variable, in words that follow the name.
pub fn name_flaw(name: &str) -> Option<&'static str> {
    let mut bytes = name.bytes();
    let begins = bytes
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == b'_');
    if !begins || !bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return Some("a name is made of letters, digits and underscores, and begins with no digit");
    }
    if name.len() > MAX_NAME_BYTES {
        return Some("a name has at most 128 characters");
    }
    if OURS.contains(&name) || OUR_PREFIXES.iter().any(|ours| name.starts_with(ours)) {
        return Some("this name is the sandbox's own");
    }
    if LOADER_PREFIXES.iter().any(|one| name.starts_with(one)) {
        return Some("set variables of the loader in the commands that need them");
    }
    if PROXIES.contains(&name.to_ascii_uppercase().as_str()) {
        return Some("requests of the sandbox have their way already, and go through no proxy");
    }
    if AUTHORITIES.contains(&name) {
        return Some("the sandbox says itself which authorities are trusted");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_identifiers_that_nothing_depends_on() {
        let longest = "A".repeat(MAX_NAME_BYTES);
        for good in [
            "A",
            "_",
            "a_1",
            "DEBUG",
            "path",
            "Path",
            "PATHS",
            "CODEX",
            "LD",
            "PROXY",
            "OPENAI_API_KEY_2",
            &longest,
        ] {
            assert_eq!(name_flaw(good), None, "{good}");
        }
        let long = "A".repeat(MAX_NAME_BYTES + 1);
        for bad in [
            "",
            "1A",
            "A-B",
            "A B",
            "A=B",
            "A\0",
            "Ä",
            "A.B",
            "LD_PRELOAD",
            "LD_TRACE_LOADED_OBJECTS",
            "GLIBC_TUNABLES",
            &long,
            "PATH",
            "OPENAI_API_KEY",
            "CODEX_",
            "CODEX_HOME",
            "CLOISTER_X",
            "CLOUDFLARE_API_TOKEN",
            "HTTP_PROXY",
            "http_proxy",
            "Https_Proxy",
            "all_proxy",
            "NO_PROXY",
            "SSL_CERT_FILE",
            "SSL_CERT_DIR",
            "NODE_EXTRA_CA_CERTS",
            "REQUESTS_CA_BUNDLE",
            "CURL_CA_BUNDLE",
            "GIT_SSL_CAINFO",
        ] {
            assert!(name_flaw(bad).is_some(), "{bad}");
        }
    }
}
