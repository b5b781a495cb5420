use super::process::{scratch, setting, Served};
use super::upstream::Upstream;
use std::io::Write;
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

const CONFIG: &str = r#"
name = "forward"
main = "entry.js"
compatibility_date = "2026-11-17"
compatibility_flags = ["global_fetch_strictly_public"]
"#;

/// The runner with a Worker that only forwards, for tests of the runner itself.
pub struct Forward {
    served: Served,
}

impl Forward {
    /// Starts one whose requests to names go to `upstream`, and which may dial this machine.
    pub fn start(upstream: &Upstream) -> Self {
        let folder = scratch("forward");
        let build = folder.join("build");
        std::fs::create_dir(&build).unwrap();
        std::fs::copy("tests/support/forward.js", build.join("index.js")).unwrap();
        let entry = r#"export { default } from "./build/index.js";"#;
        std::fs::write(folder.join("entry.js"), entry).unwrap();
        std::fs::write(folder.join("wrangler.toml"), CONFIG).unwrap();
        let mut command = Command::new(setting("CLOISTER_NODE"));
        command.args(["runner/run.mjs", "--reach", "127.0.0.0/8"]);
        command.args(["--upstream", upstream.address()]);
        command.arg("--config").arg(folder.join("wrangler.toml"));
        command.arg("--state").arg(folder.join("state"));
        Self {
            served: Served::start(command, folder.join("runner.log")),
        }
    }

    /// Has it send a request to `url`: a method, header lines that each end in CRLF, and the body as far as it goes.
    pub fn send(&self, method: &str, url: &str, headers: &str, body: &str) -> TcpStream {
        let authority = self.served.url.trim_start_matches("http://");
        let mut connection = TcpStream::connect(authority).unwrap();
        let patience = Some(Duration::from_secs(20));
        connection.set_read_timeout(patience).unwrap();
        let head =
            format!("{method} / HTTP/1.1\r\nHost: forward\r\nX-Target: {url}\r\n{headers}\r\n");
        connection.write_all((head + body).as_bytes()).unwrap();
        connection
    }
}
