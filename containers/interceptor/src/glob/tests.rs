#![allow(clippy::unwrap_used)]

use super::*;

#[test]
fn star_is_any_run_of_characters() {
    let cases = [
        ("*", "", true),
        ("*", "a.b", true),
        ("a.example", "a.example", true),
        ("A.Example.", "a.example", true),
        ("a.example", "b.example", false),
        ("a.example", "a.example.org", false),
        ("*.example", "a.b.example", true),
        ("*.example", "example", false),
        ("*.example", ".example", true),
        ("a*c", "abc", true),
        ("a*c", "ac", true),
        ("a*c", "acb", false),
        ("a*b*c", "a-b-b-c", true),
        ("a*b*c", "a-c-b", false),
        ("**", "x", true),
        ("a.b", "aXb", false),
        ("[a]", "a", false),
        ("?", "a", false),
        ("", "", true),
        ("", "a", false),
    ];
    for (pattern, name, expected) in cases {
        assert_eq!(
            Glob::new(pattern).unwrap().matches(name),
            expected,
            "{pattern:?} {name:?}"
        );
    }
}

#[test]
fn bad_patterns_cost_little() {
    assert_eq!(Glob::new(&"a".repeat(MAX_PATTERN_BYTES + 1)), None);
    // Exponential in matchers that try every way.
    let stars = Glob::new(&"a*".repeat(MAX_PATTERN_BYTES / 2)).unwrap();
    assert!(!stars.matches(&format!("{}b", "a".repeat(100))));
    assert!(!Glob::new("*a*a*a*a*a*a*b")
        .unwrap()
        .matches(&"a".repeat(253)));
}
