//! The container engine, through its command line.

use std::{
    process::{Command, Output},
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

/// Runs `docker`; fails the test with what it said if it fails.
pub fn docker(arguments: &[&str]) -> String {
    let output = try_docker(arguments);
    assert!(
        output.status.success(),
        "docker {} failed: {}",
        arguments.join(" "),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn try_docker(arguments: &[&str]) -> Output {
    Command::new("docker")
        .args(arguments)
        .env("DOCKER_BUILDKIT", "0")
        .output()
        .expect("this test needs the docker command")
}

/// An image that the caller must have made; its name comes from the environment.
pub fn required_image(variable: &str) -> String {
    let image = std::env::var(variable).unwrap_or_else(|_| {
        panic!("set {variable} to a local image: this test proves nothing without containers")
    });
    docker(&["image", "inspect", "--format", "{{.Id}}", &image]);
    image
}

/// A container, removed at the end.
pub struct Container {
    name: String,
}

impl Container {
    /// Starts a container with the options, image and arguments given.
    pub fn run(options: &[&str]) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "cloister-leaks-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        // From here on the container is removed even if it fails to start.
        let container = Self { name };
        docker(&[&["run", "--detach", "--name", &container.name], options].concat());
        container
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A field of its description, as a Go template.
    pub fn field(&self, template: &str) -> String {
        docker(&["inspect", "--format", template, &self.name])
    }

    /// Its address on the bridge.
    pub fn address(&self) -> String {
        self.field("{{.NetworkSettings.Networks.bridge.IPAddress}}")
    }

    /// Its hardware address on the bridge.
    pub fn hardware(&self) -> String {
        self.field("{{.NetworkSettings.Networks.bridge.MacAddress}}")
    }

    /// What it has printed, both streams.
    pub fn logs(&self) -> String {
        let output = try_docker(&["logs", &self.name]);
        format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        )
    }

    /// Waits until it has printed a text.
    pub fn wait_for(&self, text: &str) {
        let end = Instant::now() + Duration::from_secs(20);
        while !self.logs().contains(text) {
            assert!(
                Instant::now() < end,
                "{} never said {text:?}: {}",
                self.name,
                self.logs()
            );
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Runs a command of the probe in it, and returns its answer.
    pub fn probe(&self, command: &str, config: &Value) -> Value {
        let said = docker(&[
            "exec",
            &self.name,
            "python3",
            "/probe.py",
            command,
            &config.to_string(),
        ]);
        serde_json::from_str(&said).unwrap_or_else(|_| panic!("the probe said {said:?}"))
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        let _ = try_docker(&["rm", "--force", "--volumes", &self.name]);
    }
}
