use super::*;

#[test]
fn names_have_a_fixed_alphabet() {
    for good in ["a", "acme", "Acme-1.eu_west", &"x".repeat(128)] {
        assert_eq!(Tenant::new(good).map(String::from).as_deref(), Ok(good));
    }
    for bad in ["", "a/b", "a b", "ä", "a\0", &"x".repeat(129)] {
        assert_eq!(Tenant::new(bad), Err(InvalidTenant), "{bad:?}");
    }
}

#[test]
fn object_names_do_not_collide_between_tenants() {
    let name = |t: &str| {
        Tenant::new(t)
            .map(|t| t.hash().object_name("sess_1"))
            .unwrap_or_default()
    };
    assert_eq!(name("acme").len(), 32 + 1 + 6);
    assert_ne!(name("acme"), name("acme2"));
}
