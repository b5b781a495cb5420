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

    /// Occurs in the name of each of them.
    pub fn session(&self) -> &str {
        self.label.rsplit('=').next().unwrap()
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

    /// Names of running containers made of `image`. A container that replaces another of the same object has its name.
    pub fn names(&self, image: &str) -> Vec<String> {
        let ancestor = format!("ancestor={}", std::env::var(image).unwrap());
        let filters = ["--filter", &self.label, "--filter", &ancestor];
        let out = docker(&[&["ps", "--format", "{{.Names}}"][..], &filters].concat());
        out.lines().map(str::to_owned).collect()
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

/// A process as this machine sees it, in whatever container.
#[derive(Clone, Debug)]
pub struct Process {
    /// Its id outside.
    pub pid: u32,
    /// Its command line, words parted by blanks.
    pub line: String,
}

impl Process {
    /// Sends a signal, by its name. Whether the process was there.
    pub fn signal(&self, name: &str) -> bool {
        let mut kill = Command::new("kill");
        kill.args(["-s", name, "--", &self.pid.to_string()]);
        kill.stderr(Stdio::null()).status().unwrap().success()
    }
}

/// Process 1 of a container, then all that descend from it. None if it does not run.
pub fn processes(container: &str) -> Vec<Process> {
    let first = docker(&["inspect", "-f", "{{.State.Pid}}", container]);
    let first: u32 = first.trim().parse().unwrap_or(0);
    if first == 0 {
        return Vec::new();
    }
    let folders = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = folders.filter_map(|folder| folder.file_name().to_str()?.parse::<u32>().ok());
    let parents: Vec<(u32, u32)> = pids.filter_map(|pid| Some((pid, parent(pid)?))).collect();
    let mut found = vec![first];
    let mut at = 0;
    while at < found.len() {
        let children = parents.iter().filter(|(_, parent)| *parent == found[at]);
        found.extend(children.map(|(pid, _)| *pid).collect::<Vec<_>>());
        at += 1;
    }
    let line = |pid| {
        let bytes = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).replace('\0', " ")
    };
    let process = |pid| Process {
        pid,
        line: line(pid),
    };
    found.into_iter().map(process).collect()
}

fn parent(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

/// The container whose network `container` uses: its interceptor.
pub fn sidecar(container: &str) -> Option<String> {
    let mode = docker(&["inspect", "-f", "{{.HostConfig.NetworkMode}}", container]);
    mode.trim().strip_prefix("container:").map(str::to_owned)
}

/// Breaks every TCP connection to a port inside a container, at both of its ends. How many there were.
pub fn cut_connections(container: &str, port: u16) -> usize {
    let Some(first) = processes(container).first().cloned() else {
        return 0;
    };
    let mut cut = Command::new("nsenter");
    cut.args([
        "-t",
        &first.pid.to_string(),
        "-n",
        "ss",
        "-H",
        "-K",
        "-t",
        "state",
        "established",
    ]);
    cut.args([
        "(",
        "sport",
        "=",
        &format!(":{port}"),
        "or",
        "dport",
        "=",
        &format!(":{port}"),
        ")",
    ]);
    let out = cut.output().expect("nsenter and ss");
    // It may have ended just now.
    let complaint = String::from_utf8_lossy(&out.stderr);
    assert!(
        out.status.success() || complaint.contains("No such file"),
        "{complaint}"
    );
    String::from_utf8_lossy(&out.stdout).lines().count()
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
