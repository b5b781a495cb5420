//! Settings of the deployment about environments, as they are written in `wrangler.toml`. What cannot be read is no setting.
use crate::policy::{Access, EgressPolicy, OwnHosts, PolicyConfig};

/// `NETWORK_DEFAULT`: what an environment may reach whose client did not say. One word, `disabled` or `enabled`.
pub fn network_default(text: &str) -> Option<EgressPolicy> {
    let access = match text {
        "disabled" => Access::Disabled,
        "enabled" => Access::Enabled,
        _ => return None,
    };
    EgressPolicy::parse(&PolicyConfig::new(access)).ok()
}

/// `OWN_HOSTS`: the names that the deployment answers under, separated by commas; at least one.
pub fn own_hosts(text: &str) -> Option<OwnHosts> {
    let hosts: Vec<&str> = text.split(',').map(str::trim).collect();
    OwnHosts::parse(&hosts).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::policy::{CompiledPolicy, Head};

    #[test]
    fn an_omitted_network_is_what_one_of_two_words_says() {
        assert_eq!(network_default("disabled"), Some(EgressPolicy::deny_all()));
        let enabled = network_default("enabled").unwrap();
        assert_eq!(enabled.to_config(), PolicyConfig::new(Access::Enabled));
        for bad in [
            "",
            "restricted",
            "Disabled",
            " disabled",
            "enabled,disabled",
            "true",
        ] {
            assert_eq!(network_default(bad), None, "{bad}");
        }
    }

    #[test]
    fn own_hosts_are_never_reached_and_at_least_one() {
        let own = own_hosts("Gateway.example.com, 8.8.8.8").unwrap();
        let compiled = CompiledPolicy::new(&network_default("enabled").unwrap(), &own);
        let is_allowed = |url| {
            let head = Head {
                url,
                method: "GET",
                host: None,
            };
            compiled.decide(&head).is_allowed()
        };
        assert!(is_allowed("https://example.com/"));
        for url in [
            "https://gateway.example.com/",
            "https://a.gateway.example.com/",
            "https://8.8.8.8/",
        ] {
            assert!(!is_allowed(url), "{url}");
        }
        for bad in [
            "",
            " ",
            ",",
            "a.com,",
            "a.com,,b.com",
            "https://a.com",
            "a.com:443",
            "*.a.com",
            "a b",
        ] {
            assert!(own_hosts(bad).is_none(), "{bad}");
        }
    }
}
