#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
use super::*;
use cloister_protocol::backup::AnnouncedFile;

fn file(path: &str, bytes: u64) -> AnnouncedFile {
    AnnouncedFile {
        path: path.to_owned(),
        bytes,
        sha256: Digest::of(path.as_bytes()).as_str().to_owned(),
    }
}

fn of(files: Vec<AnnouncedFile>) -> Result<Vec<SavedArtifact>, InvalidAnnouncement> {
    wanted(Announcement { files }, &HashMap::new())
}

#[test]
fn new_and_changed_files_are_wanted() {
    let path = |name: &str| path_name(&format!("{OUTPUTS}/{name}"));
    let published = HashMap::from([
        (path("same"), Digest::of(b"same")),
        (path("changed"), Digest::of(b"earlier")),
    ]);
    let files = vec![file("same", 1), file("changed", 2), file("d/new", 0)];
    let wanted = wanted(Announcement { files }, &published).unwrap();
    let wanted: Vec<_> = wanted
        .iter()
        .map(|file| (file.index, file.path.as_str(), file.bytes))
        .collect();
    assert_eq!(
        wanted,
        [
            (1, "/workspace/outputs/changed", 2),
            (2, "/workspace/outputs/d/new", 0)
        ]
    );
}

#[test]
fn no_path_leaves_the_root() {
    for path in [
        "",
        "/",
        "/etc/passwd",
        "..",
        "../x",
        "a/../../x",
        "a//b",
        "a/",
        "./a",
        "a/.",
        "a\0b",
        &"a".repeat(1025),
    ] {
        assert_eq!(
            of(vec![file(path, 1)]),
            Err(InvalidAnnouncement),
            "{path:?}"
        );
    }
    assert_eq!(
        of(vec![file("a", 1), file("a", 1)]),
        Err(InvalidAnnouncement)
    );
    let digest = AnnouncedFile {
        sha256: "x".into(),
        ..file("a", 1)
    };
    assert_eq!(of(vec![digest]), Err(InvalidAnnouncement));
    // Odd names are still names.
    for path in [
        "...",
        "..a",
        "a b",
        "\u{202e}gpj.exe",
        "a\\b",
        "-rf",
        "a\nb",
        &"é".repeat(512),
    ] {
        assert_eq!(of(vec![file(path, 1)]).unwrap().len(), 1, "{path:?}");
    }
}

#[test]
fn what_is_over_a_limit_is_left_out() {
    let mb = 1 << 20;
    let files = [
        ("a", 201),
        ("b", 200),
        ("c", 200),
        ("d", 101),
        ("e", 100),
        ("f", 1),
    ];
    let wanted = of(files.map(|(path, size)| file(path, size * mb)).into()).unwrap();
    let wanted: Vec<_> = wanted.iter().map(|file| file.index).collect();
    assert_eq!(wanted, [1, 2, 4]);
    let many = |n: usize| (0..n).map(|n| file(&n.to_string(), u64::MAX)).collect();
    assert_eq!(of(many(1000)), Ok(Vec::new()));
    assert_eq!(of(many(1001)), Err(InvalidAnnouncement));
}
