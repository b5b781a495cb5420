//! The documents at the root: links lead to files, and promises name tests that exist.
#![allow(clippy::unwrap_used)]
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Longest line of prose, in characters. Tables, links and code are free.
const MAX_LINE: usize = 160;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The documents, with their texts.
fn documents() -> Vec<(PathBuf, String)> {
    let names = std::fs::read_dir(root())
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let documents =
        names.filter(|name| name.extension().is_some_and(|extension| extension == "md"));
    documents
        .map(|name| (name.clone(), std::fs::read_to_string(name).unwrap()))
        .collect()
}

/// The lines outside fenced code, numbered from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(n, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        (!fenced && !fence).then_some((n + 1, line))
    })
}

/// Targets of `[text](target)`.
fn links(line: &str) -> impl Iterator<Item = &str> {
    line.split("](")
        .skip(1)
        .filter_map(|rest| Some(rest.split_once(')')?.0))
}

/// Code spans, without their backticks.
fn code(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// The anchor that is made of a heading.
fn anchor(heading: &str) -> String {
    let kept = heading
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .collect::<String>();
    kept.trim().replace(' ', "-")
}

#[test]
fn every_link_leads_to_a_file() {
    let documents = documents();
    let anchors: BTreeMap<PathBuf, Vec<String>> = documents
        .iter()
        .map(|(name, text)| {
            let headings = prose(text).filter(|(_, line)| line.starts_with('#'));
            let anchors = headings.map(|(_, line)| anchor(line.trim_start_matches('#')));
            (name.clone(), anchors.collect())
        })
        .collect();
    let mut broken = Vec::new();
    for (name, text) in &documents {
        for (n, line) in prose(text) {
            for link in links(line).filter(|link| !link.contains("://")) {
                let (path, fragment) = link.split_once('#').unwrap_or((link, ""));
                let target = match path {
                    "" => name.clone(),
                    path => root().join(path),
                };
                let found = target.exists()
                    && (fragment.is_empty()
                        || anchors
                            .get(&target)
                            .is_some_and(|all| all.iter().any(|each| each == fragment)));
                if !found {
                    broken.push(format!("{}:{n}: {link}", name.display()));
                }
            }
        }
    }
    assert!(broken.is_empty(), "links that lead nowhere: {broken:#?}");
}

#[test]
fn every_test_of_the_specification_exists() {
    let text = std::fs::read_to_string(root().join("SPECIFICATION.md")).unwrap();
    let mut wrong = Vec::new();
    for (n, line) in prose(&text).filter(|(_, line)| line.starts_with("| ") && !is_head(line)) {
        let tests: Vec<_> = code(line)
            .filter_map(|span| span.split_once("::"))
            .filter(|(file, _)| [".rs", ".mjs", ".py"].iter().any(|end| file.ends_with(end)))
            .collect();
        if tests.is_empty() {
            wrong.push(format!("line {n} names no test"));
        }
        for (file, test) in tests {
            let source = std::fs::read_to_string(root().join(file)).unwrap_or_default();
            let has = match file.rsplit_once('.') {
                Some((_, "mjs")) => source.contains(&format!("test(\"{test}\"")),
                Some((_, "py")) => source.contains(&format!("    def {test}(self)")),
                _ => has_test(&source, test),
            };
            if !has {
                wrong.push(format!("line {n}: {file} has no test {test}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn is_head(line: &str) -> bool {
    line.starts_with("| no. |")
}

/// Whether `source` has a function of that name under an attribute that makes it a test.
fn has_test(source: &str, name: &str) -> bool {
    let lines: Vec<&str> = source.lines().map(str::trim_start).collect();
    let is_it = |line: &str| {
        let line = line.strip_prefix("async ").unwrap_or(line);
        line.strip_prefix("fn ")
            .and_then(|rest| rest.strip_prefix(name))
            .is_some_and(|rest| rest.starts_with('('))
    };
    lines
        .iter()
        .enumerate()
        .filter(|(_, line)| is_it(line))
        .any(|(at, _)| {
            let above = lines[..at].iter().rev();
            above
                .take_while(|line| line.starts_with("#[") || line.starts_with("//"))
                .any(|line| line.starts_with("#[test]") || line.starts_with("#[tokio::test"))
        })
}

#[test]
fn lines_are_short() {
    let mut long = Vec::new();
    for (name, text) in documents() {
        for (n, line) in prose(&text) {
            let is_free = line.starts_with('|') || line.contains("](");
            if !is_free && line.chars().count() > MAX_LINE {
                long.push(format!("{}:{n}", name.display()));
            }
        }
    }
    assert!(
        long.is_empty(),
        "lines over {MAX_LINE} characters: {long:#?}"
    );
}
