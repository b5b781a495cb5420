//! Which state the workspace is in: a text that the Worker chose, or none, when that is in doubt.
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use cloister_archive::beneath;

const NAME: &str = "marker";
const NEW_NAME: &str = "marker.new";

pub struct Marker {
    folder: PathBuf,
}

impl Marker {
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
        }
    }

    /// Whether it is this one. Whatever stands in its place is not.
    pub fn is(&self, expected: &str) -> bool {
        self.begins(expected.len() + 1)
            .is_ok_and(|text| text == expected.as_bytes())
    }

    /// Whether it is one of this container: `<instance>/<what the workspace is>`.
    pub fn is_of(&self, instance: &str) -> bool {
        let instance = format!("{instance}/");
        self.begins(instance.len())
            .is_ok_and(|text| text == instance.as_bytes())
    }

    fn begins(&self, bytes: usize) -> io::Result<Vec<u8>> {
        let folder = beneath::open_root(&self.folder)?;
        let Some((file, _)) = beneath::open_file(&folder, NAME.as_bytes())? else {
            return Ok(Vec::new());
        };
        let mut text = Vec::new();
        file.take(bytes as u64).read_to_end(&mut text)?;
        Ok(text)
    }

    pub fn remove(&self) -> io::Result<()> {
        remove(&self.folder.join(NAME))
    }

    /// Writes all of it at once.
    pub fn write(&self, marker: &str) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let new = self.folder.join(NEW_NAME);
        remove(&new)?;
        File::create_new(&new)?.write_all(marker.as_bytes())?;
        fs::rename(&new, self.folder.join(NAME))
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}
