//! Root beside the honest packer.
use super::ended;
use super::session::command;
use super::support::{Gateway, Model};
use base64::{engine::general_purpose::STANDARD, Engine};
use serde_json::Value;

/// Exchanges a file and a folder in the outputs for links, and back, for ever.
const SWAP: &str = r#"import os
os.chdir("/workspace/outputs")
while True:
    os.symlink("/etc/shadow", "/tmp/link"); os.rename("/tmp/link", "swapped")
    os.symlink("/etc", "folder")
    open("/tmp/file", "w").write("mine"); os.rename("/tmp/file", "swapped")
    os.unlink("folder"); os.mkdir("folder"); open("folder/shadow", "w").write("mine")
    os.unlink("folder/shadow"); os.rmdir("folder")
"#;
/// Takes the grants out of the packer's command line, and spends them first.
const STEAL: &str = r#"import glob, hashlib, http.client
while True:
    for name in glob.glob("/proc/[0-9]*/cmdline"):
        try: words = open(name).read().split("\0")
        except OSError: continue
        if "save" in words and "--announce" in words:
            for flag, method, body in (("--announce", "POST", b'{"files":[]}'), ("--grant", "PUT", b"stolen")):
                store = http.client.HTTPConnection("backup.internal", 80)
                store.request(method, "/" + words[words.index(flag) + 1], body, {"x-cloister-sha256": hashlib.sha256(body).hexdigest()})
                open("/tmp/stolen", "a").write(f"{flag} {store.getresponse().status}\n")
"#;

/// The line of a shell that lets a Python program run on when the turn ends.
fn background(program: &str) -> String {
    let program = STANDARD.encode(program);
    format!("echo {program} | base64 -d > /tmp/program; setsid python3 /tmp/program >/dev/null 2>&1 & sleep 0.3")
}

#[test]
fn root_that_is_at_odds_with_the_packer_harms_its_own_session_only() {
    let model = Model::start();
    let gateway = Gateway::start_with_faults(&model);
    let acme = gateway.client("acme");
    let session = acme.session(None);
    let session = session["id"].as_str().unwrap();
    // The turn's status and code, and what the command has printed.
    let turn = |line: &str| {
        acme.say(session, &command(line));
        let turn = acme.settled_turn(session);
        let items = acme.items(session);
        let output = items.iter().rev().find_map(|item| item["output"].as_str());
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let ended = ended(&text(&turn["status"]), &text(&turn["error"]["code"]));
        (ended, output.unwrap_or_default().to_owned())
    };
    let completed = ended("completed", "");
    let failed = ended("failed", "sandbox_error");
    let published = || {
        let artifacts = acme.whole(session, "artifacts");
        let path = |artifact: &Value| artifact["path"].as_str().unwrap().to_owned();
        artifacts.iter().map(path).collect::<Vec<_>>()
    };

    // Links are not followed, whenever they appear.
    let links = "echo planted-canary >> /etc/shadow; head -c 50000000 /dev/urandom > large; mkdir outputs; echo kept > outputs/kept; \
                 ln -s /etc/shadow outputs/link; ln -s /etc outputs/etc; mkfifo outputs/pipe";
    let swap = background(SWAP);
    assert_eq!(
        turn(&format!("{links}; {swap}; pgrep -c python3")),
        (completed.clone(), "1\n".into())
    );
    for _ in 0..3 {
        assert_eq!(turn("touch outputs/kept").0, completed);
    }
    for artifact in acme.whole(session, "artifacts") {
        let id = artifact["id"].as_str().unwrap();
        let path = format!("/v1/agents/sessions/{session}/artifacts/{id}/content");
        let (status, text) = acme.get(&path);
        assert_eq!(status, 200, "{artifact}");
        let text = text.as_str().unwrap();
        assert!(matches!(text, "kept\n" | "mine"), "{artifact}: {text}");
    }
    assert!(published()
        .iter()
        .all(|path| !path.contains("etc") && !path.contains("link")));

    // Grants that are taken away from the packer do what they are for, or nothing.
    let before = published().len();
    let steal = background(STEAL);
    let (stolen, _) = turn(&format!("pkill python3; {steal}"));
    assert_eq!(stolen, failed);
    assert_eq!(published().len(), before);

    // A restored sandbox that has lost its marker is not stored.
    assert_eq!(
        turn("ls /tmp/stolen 2>&1; rm /run/cloister/marker").0,
        failed
    );
    // Nor is what lies behind a link.
    let (end, _) = turn("rm -rf outputs; ln -s /etc outputs");
    assert_eq!((end, published().len()), (completed.clone(), before));
    assert_eq!(
        turn("cd /; rm -rf /workspace; ln -s /etc /workspace").0,
        failed
    );
    assert_eq!(turn("pwd -P; ls").1, "/workspace\nlarge\noutputs\n");
}
