#![allow(clippy::unwrap_used)]
use std::os::unix::fs::symlink;

use tempfile::TempDir;

use super::*;

const SYSTEM: &str = "-----BEGIN CERTIFICATE-----\nsystem\n-----END CERTIFICATE-----";
const CA: &str = "-----BEGIN CERTIFICATE-----\nplatform\n-----END CERTIFICATE-----\n";

/// An image, and what it trusts.
struct Image {
    folder: TempDir,
    now: Instant,
    trust: Trust,
}

impl Image {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let now = Instant::now();
        let paths = ["ca", "system", "run/bundle"].map(|name| folder.path().join(name));
        let trust = Trust::at(paths, now);
        fs::write(&trust.system, SYSTEM).unwrap();
        Self { folder, now, trust }
    }

    fn keep(&mut self) -> Result<bool, Fault> {
        self.now += PAUSE;
        self.trust.keep(self.now)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap()
    }
}

#[test]
fn the_bundle_is_there_before_the_authority_and_holds_it_after() {
    let mut image = Image::new();
    image.trust.begin().unwrap();
    assert_eq!(image.text("run/bundle"), SYSTEM);
    assert_eq!(image.keep(), Ok(false));
    assert_eq!(image.text("system"), SYSTEM);

    fs::write(&image.trust.ca, CA).unwrap();
    assert_eq!(image.keep(), Ok(true));
    let both = format!("{SYSTEM}\n{CA}");
    for name in ["run/bundle", "system"] {
        assert_eq!(image.text(name), both);
        let meta = fs::metadata(image.folder.path().join(name)).unwrap();
        assert_eq!(meta.permissions().mode() & 0o7777, 0o644);
    }
    assert_eq!(fs::read_dir(image.folder.path()).unwrap().count(), 3);

    // Never again, and not twice by another process 1.
    fs::remove_file(&image.trust.bundle).unwrap();
    assert_eq!(image.keep(), Ok(false));
    assert!(!image.trust.bundle.exists());
    image.trust.done = false;
    assert_eq!(image.keep(), Ok(true));
    assert_eq!(image.text("system"), both);
    assert_eq!(image.text("run/bundle"), both);
}

#[test]
fn an_image_that_trusts_nobody_gets_a_bundle_of_one() {
    let mut image = Image::new();
    fs::remove_file(&image.trust.system).unwrap();
    image.trust.begin().unwrap();
    assert_eq!(image.text("run/bundle"), "");
    fs::write(&image.trust.ca, CA).unwrap();
    assert_eq!(image.keep(), Ok(true));
    assert_eq!(image.text("run/bundle"), CA);
    assert!(!image.trust.system.exists());
}

#[test]
fn an_authority_that_is_not_whole_is_waited_for() {
    let mut image = Image::new();
    fs::write(&image.trust.ca, &CA[..40]).unwrap();
    assert_eq!(image.keep(), Err(Fault::Ca));
    // Told once.
    assert_eq!(image.keep(), Ok(false));
    fs::write(&image.trust.ca, CA).unwrap();
    // Not before the pause is over.
    assert_eq!(image.trust.keep(image.now), Ok(false));
    assert_eq!(image.text("system"), SYSTEM);
    assert_eq!(image.keep(), Ok(true));
}

#[test]
fn what_is_too_large_or_no_file_is_not_read() {
    let mut image = Image::new();
    let ca = image.trust.ca.clone();
    let large = |path: &Path, bytes| File::create(path).unwrap().set_len(bytes).unwrap();
    large(&ca, MAX_CA + 1);
    assert_eq!(image.trust.extend(), Err(Fault::Ca));
    fs::remove_file(&ca).unwrap();
    fs::create_dir(&ca).unwrap();
    assert_eq!(image.trust.extend(), Err(Fault::Ca));
    fs::remove_dir(&ca).unwrap();
    symlink("/dev/zero", &ca).unwrap();
    assert_eq!(image.trust.extend(), Err(Fault::Ca));
    fs::remove_file(&ca).unwrap();
    fs::write(&ca, CA).unwrap();
    large(&image.trust.system, MAX_BUNDLE + 1);
    assert_eq!(image.keep(), Err(Fault::System));
    assert_eq!(image.trust.begin(), Err(Fault::System));
}

#[test]
fn a_place_that_cannot_be_written_is_a_fault() {
    let mut image = Image::new();
    fs::write(image.folder.path().join("run"), "in the way").unwrap();
    assert_eq!(image.trust.begin(), Err(Fault::Write));
    fs::write(&image.trust.ca, CA).unwrap();
    assert_eq!(image.keep(), Err(Fault::Write));
}
