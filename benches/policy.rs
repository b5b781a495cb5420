//! What a decision costs, and what it would cost otherwise: `cargo bench --bench policy`.
//!
//! The same requests are judged by a policy, by a walk through its entries and by a set of regular expressions, the
//! latter two behind the `url` crate. Ratios of one run compare; nanoseconds are those of one core.
#![allow(missing_docs, clippy::unwrap_used, clippy::disallowed_methods)]
use std::hint::black_box;
use std::time::{Duration, Instant};

use cloister::policy::{
    limits::MAX_ENTRIES, Access, CompiledPolicy, EgressPolicy, Head, OwnHosts, PolicyConfig,
};
use regex::{RegexSet, RegexSetBuilder};
use url::Url;

const SIZES: [usize; 3] = [10, 1_000, MAX_ENTRIES];
const REQUESTS: usize = 1024;

/// Every tenth entry is a wildcard.
fn entry(n: usize) -> String {
    match n % 10 {
        9 => format!("*.team{n}.example.org"),
        _ => format!("service-{n}.api.example.com"),
    }
}

/// A half by name, a quarter below wildcards, a quarter not listed.
fn url(n: usize, size: usize) -> String {
    let spread = n * 7919 % size;
    let tens = spread / 10 * 10;
    let host = match n % 4 {
        0 | 1 => format!("service-{}.api.example.com", tens + n % 9),
        2 => format!("a.team{}.example.org", (tens + 9).min(size - 1)),
        _ => format!("service-{n}.api.example.net"),
    };
    format!("https://{host}/v1/things/{n}?page=2")
}

/// The best of many rounds, in nanoseconds a request.
fn time(urls: &[String], mut decide: impl FnMut(&str) -> bool) -> (f64, usize) {
    let mut best = f64::MAX;
    let mut allowed = 0;
    let begun = Instant::now();
    let mut rounds = 0;
    while rounds < 3 || (rounds < 300 && begun.elapsed() < Duration::from_secs(2)) {
        rounds += 1;
        let start = Instant::now();
        allowed = urls.iter().filter(|url| decide(black_box(url))).count();
        best = best.min(start.elapsed().as_nanos() as f64 / urls.len() as f64);
    }
    (best, allowed)
}

fn linear(entries: &[String], url: &str) -> bool {
    let url = Url::parse(url).unwrap();
    let host = url.host_str().unwrap_or_default();
    entries.iter().any(|entry| match entry.strip_prefix('*') {
        Some(suffix) => host.ends_with(suffix),
        None => host == entry,
    })
}

fn regexes(entries: &[String]) -> RegexSet {
    let regex = |entry: &String| match entry.strip_prefix("*.") {
        Some(base) => format!(r"^(?:[^.]+\.)+{}$", regex::escape(base)),
        None => format!("^{}$", regex::escape(entry)),
    };
    RegexSetBuilder::new(entries.iter().map(regex))
        .size_limit(1 << 30)
        .build()
        .unwrap()
}

/// A list and a name for which each name above it is looked up, in vain.
fn worst() -> f64 {
    let config = PolicyConfig {
        allowed_domains: (1..126).map(|n| format!("*.b{}", ".a".repeat(n))).collect(),
        ..PolicyConfig::new(Access::Restricted)
    };
    let policy = CompiledPolicy::new(&EgressPolicy::parse(&config).unwrap(), &OwnHosts::default());
    let urls = vec![format!("https://a{}/", ".a".repeat(126)); REQUESTS];
    let (worst, allowed) = time(&urls, |url| {
        let head = Head {
            url,
            method: "GET",
            host: None,
        };
        policy.decide(&head).is_allowed()
    });
    assert_eq!(allowed, 0);
    worst
}

fn main() {
    println!("entries  decision       linear              RegexSet            compile");
    let mut smallest = None;
    for size in SIZES {
        let entries: Vec<String> = (0..size).map(entry).collect();
        let urls: Vec<String> = (0..REQUESTS).map(|n| url(n, size)).collect();
        let config = PolicyConfig {
            allowed_domains: entries.clone(),
            ..PolicyConfig::new(Access::Restricted)
        };
        let own = OwnHosts::parse(&["gateway.example.net"]).unwrap();
        let stored = serde_json::to_string(&EgressPolicy::parse(&config).unwrap()).unwrap();
        let start = Instant::now();
        let policy = CompiledPolicy::of_stored(&stored, &own);
        let compile = start.elapsed();

        let (decision, allowed) = time(&urls, |url| {
            let head = Head {
                url,
                method: "GET",
                host: None,
            };
            policy.decide(&head).is_allowed()
        });
        let (walk, same) = time(&urls, |url| linear(&entries, url));
        assert_eq!(allowed, same);
        let set = regexes(&entries);
        let (regex, same) = time(&urls, |url| {
            set.is_match(Url::parse(url).unwrap().host_str().unwrap_or_default())
        });
        assert_eq!(allowed, same);

        let first = *smallest.get_or_insert(decision);
        println!(
            "{size:7}  {decision:4.0} ns {:4.2}×  {walk:7.0} ns {:6.1}×  {regex:7.0} ns {:6.1}×  {:6.1} ms",
            decision / first,
            walk / decision,
            regex / decision,
            compile.as_secs_f64() * 1e3,
        );
    }
    println!(
        "the longest name, wildcards of every length: {:.0} ns",
        worst()
    );
    let urls: Vec<String> = (0..REQUESTS).map(|n| url(n, 10)).collect();
    let (parse, _) = time(&urls, |url| Url::parse(url).is_ok());
    println!("url::Url::parse alone: {parse:.0} ns");
}
