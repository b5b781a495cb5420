#![allow(clippy::unwrap_used)]
use super::*;
use crate::vault::NotSecure;
use crate::wire::error::ApiError;

fn url(text: &str) -> SecureUrl {
    SecureUrl::parse(text).unwrap()
}

fn attached(credentials: &[(&str, &str)]) -> Attached {
    let candidates: Vec<Candidate> = credentials
        .iter()
        .map(|(credential, server)| Candidate {
            credential: (*credential).to_owned(),
            server: url(server),
        })
        .collect();
    Attached::new(&["vault_1".to_owned()], |_| Some(candidates.clone())).unwrap()
}

fn answer(error: ChoiceError) -> (u16, String) {
    let error = ApiError::from(error);
    (error.status, error.message)
}

const A: &str = "https://a.example.com/mcp";
const B: &str = "https://b.example.com/mcp";

#[test]
fn a_named_credential_needs_a_vault() {
    let none = Attached::new(&[], |_| None).unwrap();
    assert_eq!(
        answer(choose(&none, &url(A), Some("cred_1")).unwrap_err()),
        (
            400,
            "MCP credential_id requires an attached vault".to_owned()
        )
    );
}

#[test]
fn a_named_credential_is_in_an_attached_vault() {
    let error = choose(&attached(&[("cred_1", A)]), &url(A), Some("cred_2")).unwrap_err();
    assert_eq!(
        answer(error),
        (
            400,
            "MCP credential_id `cred_2` was not found in an attached vault".to_owned()
        )
    );
}

#[test]
fn a_named_credential_is_for_that_server() {
    let error = choose(&attached(&[("cred_1", A)]), &url(B), Some("cred_1")).unwrap_err();
    assert_eq!(
        answer(error),
        (
            400,
            format!("MCP credential_id `cred_1` does not match server_url `{B}`")
        )
    );
    let all = attached(&[("cred_1", A), ("cred_2", A)]);
    assert_eq!(choose(&all, &url(A), Some("cred_2")), Ok(Some("cred_2")));
}

#[test]
fn the_only_one_for_a_server_is_taken() {
    let all = attached(&[("cred_1", A), ("cred_2", B)]);
    assert_eq!(choose(&all, &url(B), None), Ok(Some("cred_2")));
}

#[test]
fn several_for_a_server_are_a_conflict() {
    let error = choose(&attached(&[("cred_1", A), ("cred_2", A)]), &url(A), None).unwrap_err();
    let text = format!(
        "multiple attached vault credentials match MCP server_url `{A}`; specify credential_id"
    );
    assert_eq!(answer(error), (409, text));
}

#[test]
fn without_one_for_a_server_there_is_none() {
    assert_eq!(choose(&attached(&[("cred_1", A)]), &url(B), None), Ok(None));
    let none = Attached::new(&[], |_| None).unwrap();
    assert_eq!(choose(&none, &url(A), None), Ok(None));
}

#[test]
fn an_unknown_vault_is_nobodys() {
    let vaults = ["vault_1".to_owned(), "vault_2".to_owned()];
    let error = Attached::new(&vaults, |id| (id == "vault_1").then(Vec::new)).unwrap_err();
    assert_eq!(ApiError::from(error), ApiError::not_found("vault_2"));
}

#[test]
fn a_vault_that_is_named_twice_is_attached_once() {
    let vaults = ["vault_1".to_owned(), "vault_1".to_owned()];
    let candidate = Candidate {
        credential: "cred_1".to_owned(),
        server: url(A),
    };
    let twice = Attached::new(&vaults, |_| Some(vec![candidate.clone()])).unwrap();
    assert_eq!(choose(&twice, &url(A), None), Ok(Some("cred_1")));
}

#[test]
fn spellings_of_one_server() {
    for same in [
        A,
        "https://A.Example.COM/mcp",
        "HTTPS://a.example.com:443/mcp",
        "https://a.example.com./mcp",
    ] {
        assert!(url(same).is_same(&url(A)), "{same}");
        assert_eq!(url(same).as_str(), same);
    }
    for other in [
        "https://a.example.com/mcp/",
        "https://a.example.com/MCP",
        "https://a.example.com/mcp?x",
        "https://a.example.com:8443/mcp",
        "https://a.example.com",
        B,
    ] {
        assert!(!url(other).is_same(&url(A)), "{other}");
    }
}

#[test]
fn where_no_credential_may_go() {
    for bad in [
        "",
        "https",
        "https://",
        "http://a.example.com/",
        "https:a.example.com",
        "https://user:password@a.example.com/",
        "https://a.example.com/#x",
        "https://localhost/",
        "https://127.0.0.1/",
        "https://169.254.169.254/",
        "https://[::1]/",
        "https://0x7f.1/",
        "https://a.example.com/ x",
        "https://a.example.com:0/",
        "https://h\u{f6}st.example.com/",
    ] {
        assert_eq!(SecureUrl::parse(bad), Err(NotSecure), "{bad}");
    }
}
