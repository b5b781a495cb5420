//! A session whose turn is held, with a sandbox to try things in.
use crate::support::{script, shell, wait_for, Client, Gateway, Model, Upstream};
use serde_json::{json, Value};
use std::time::Duration;

/// A gateway, what it reaches in place of the network, and a session of `acme`.
pub struct World {
    pub model: Model,
    pub upstream: Upstream,
    pub gateway: Gateway,
    pub acme: Client,
    /// Id of the session.
    pub session: String,
    /// Id of its sandbox's container.
    pub sandbox: String,
}

/// An answer as curl prints it.
#[derive(Debug)]
pub struct Answer {
    /// 0 if there was none.
    pub status: u16,
    /// All lines of its head.
    pub head: String,
    pub body: String,
}

impl Answer {
    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{self:?}"))
    }

    /// The code of a refusal, from body and header alike.
    pub fn refused(&self) -> String {
        let code = self.json()["code"].as_str().unwrap_or_default().to_owned();
        let header = format!("x-cloister-egress: {code}");
        assert!(self.head.to_lowercase().contains(&header), "{self:?}");
        code
    }
}

impl World {
    /// A session with this `environment.network`, in mid-turn.
    pub fn with_network(network: Value) -> Self {
        Self::with(json!({ "type": "openai_hosted", "network": network }))
    }

    /// A session that reaches these hosts.
    pub fn allowing(hosts: &[&str]) -> Self {
        Self::with_network(json!({ "access": "restricted", "allowed_domains": hosts }))
    }

    /// A session with this environment, in mid-turn.
    pub fn with(environment: Value) -> Self {
        let model = Model::start();
        let upstream = Upstream::start();
        let gateway = Gateway::start_with_upstream(&model, &upstream);
        let acme = gateway.client("acme");
        let input = script("go", &[json!({ "wait": "held", "say": "ok" })]);
        let body =
            json!({ "agent": { "model": "codex" }, "environment": environment, "input": input });
        let (status, session) = acme.post("/v1/agents/sessions", &body);
        assert_eq!(status, 201, "{session}");
        wait_for("the model call", Duration::from_secs(60), || {
            (!model.requests().is_empty()).then_some(())
        });
        Self {
            session: session["id"].as_str().unwrap().to_owned(),
            sandbox: gateway.docker().sandbox(),
            model,
            upstream,
            gateway,
            acme,
        }
    }

    /// Runs a line in the sandbox, as root: what it prints.
    pub fn shell(&self, line: &str) -> String {
        shell(&self.sandbox, line).0
    }

    /// What curl gets for these arguments.
    pub fn curl(&self, arguments: &str) -> Answer {
        let trust = "--cacert /etc/cloudflare/certs/cloudflare-containers-ca.crt";
        let printed = self.shell(&format!("curl -s -i -m 10 {trust} {arguments}"));
        let (head, body) = printed
            .split_once("\r\n\r\n")
            .unwrap_or((printed.as_str(), ""));
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        Answer {
            status: status.unwrap_or_default(),
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    /// Path of the session's network.
    pub fn network(&self) -> String {
        format!("/v1/agents/sessions/{}/network", self.session)
    }

    /// Replaces the policy.
    pub fn replace(&self, network: &Value) -> Value {
        let (status, answer) = self.acme.post(&self.network(), network);
        assert_eq!(status, 200, "{answer}");
        answer
    }

    /// What was decided of requests to this host so far, once there is `wanted` of it: (verdict, reason, count) of its rows.
    pub fn audited(&self, host: &str, wanted: u64) -> Vec<(String, Value, u64)> {
        wait_for("the audit", Duration::from_secs(10), || {
            let (status, list) = self.acme.get(&format!("{}/audit", self.network()));
            assert_eq!(status, 200, "{list}");
            let rows = list["data"].as_array().unwrap();
            let rows = rows.iter().filter(|row| row["host"] == host);
            let rows: Vec<_> = rows
                .map(|row| {
                    let verdict = row["verdict"].as_str().unwrap().to_owned();
                    (
                        verdict,
                        row["reason"].clone(),
                        row["count"].as_u64().unwrap(),
                    )
                })
                .collect();
            let count: u64 = rows.iter().map(|(_, _, count)| count).sum();
            (count >= wanted).then_some(rows)
        })
    }
}
