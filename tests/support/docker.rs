use sha2::{Digest, Sha256};
use std::path::Path;
use std::process::{Command, Stdio};

/// The containers of one gateway, by the label that its runner gives them.
pub struct Docker {
    label: String,
}

impl Docker {
    /// Containers of the runner with this state folder.
    pub fn of(state: &Path) -> Self {
        let state = std::path::absolute(state).unwrap();
        let digest = Sha256::digest(state.to_str().unwrap().as_bytes());
        let session: String = digest[..8]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        Self {
            label: format!("label=dev.workerd.session={session}"),
        }
    }

    /// Ids of running containers made of `image`.
    pub fn running(&self, image: &str) -> Vec<String> {
        let ancestor = format!("ancestor={image}");
        let out = docker(&[
            "ps",
            "-q",
            "--no-trunc",
            "--filter",
            &self.label,
            "--filter",
            &ancestor,
        ]);
        out.lines().map(str::to_owned).collect()
    }

    /// The harness container, waited for.
    pub fn harness(&self) -> String {
        self.one("CLOISTER_HARNESS_IMAGE")
    }

    /// The sandbox container, waited for.
    pub fn sandbox(&self) -> String {
        self.one("CLOISTER_SANDBOX_IMAGE")
    }

    fn one(&self, image: &str) -> String {
        let image = std::env::var(image).unwrap();
        super::wait_for(&image, std::time::Duration::from_secs(30), || {
            self.running(&image).pop()
        })
    }

    /// Every container of this gateway, running or not.
    pub fn all(&self) -> Vec<String> {
        docker(&["ps", "-aq", "--filter", &self.label])
            .lines()
            .map(str::to_owned)
            .collect()
    }

    /// Removes them.
    pub fn remove_all(&self) {
        for id in self.all() {
            let _ = Command::new("docker")
                .args(["rm", "-f", &id])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
        }
    }
}

/// Runs docker; its output, also when it fails.
pub fn docker(argv: &[&str]) -> String {
    let out = Command::new("docker").args(argv).output().expect("docker");
    String::from_utf8_lossy(&out.stdout).into_owned()
}

/// Runs a shell line in a container as root: output and exit code.
pub fn shell(container: &str, line: &str) -> (String, i32) {
    let out = Command::new("docker")
        .args(["exec", "-u", "0", container, "sh", "-c", line])
        .output()
        .expect("docker exec");
    (
        String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr),
        out.status.code().unwrap_or(-1),
    )
}
