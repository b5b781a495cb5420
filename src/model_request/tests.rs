#![allow(clippy::unwrap_used)]
use super::{
    rules::{Fields, Rule, REQUEST},
    Code, Filter, Forced, Refusal, MAX_DEPTH,
};

mod properties;

pub(super) const FORCED: Forced<'static> = Forced {
    model: "up\"stream",
    prompt_cache_key: "k",
    service_tier: None,
};
const HEAD: &str = r#"{"model":"up\"stream","store":false,"prompt_cache_key":"k","stream":true"#;

pub(super) fn run(body: &[u8]) -> Result<String, Refusal> {
    let mut filter = Filter::new(&FORCED);
    let mut out = Vec::new();
    filter.push(body, &mut out)?;
    filter.finish()?;
    Ok(String::from_utf8(out).unwrap())
}

fn refused(body: impl AsRef<[u8]>) -> (Code, String) {
    let refusal = run(body.as_ref()).unwrap_err();
    (refusal.code, refusal.field)
}

/// The body with `item` in its input.
fn with_item(item: &str) -> String {
    format!(r#"{{"input":[{item}]}}"#)
}

/// The body with `part` in a message.
fn with_part(part: &str) -> String {
    with_item(&format!(
        r#"{{"type":"message","role":"user","content":[{part}]}}"#
    ))
}

/// A request of Codex 0.171.0, every member it sends, shortened.
const CODEX: &str = r#"{"model":"mock-model","stream":true,"input":[
 {"type":"message","id":"msg_1","role":"developer","content":[{"type":"input_text","text":"hi"}]},
 {"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"content":null,"encrypted_content":null},
 {"type":"function_call","status":"completed","id":"fc_1","name":"exec_command","arguments":"{}","call_id":"c1"},
 {"type":"function_call_output","id":"fco_1","call_id":"c1","output":[{"type":"input_image","image_url":"data:image/png;base64,iVBO","detail":"original"}]},
 {"type":"custom_tool_call","id":"ctc_1","status":"completed","call_id":"c2","name":"apply_patch","input":"*** Begin"},
 {"type":"custom_tool_call_output","id":"o","call_id":"c2","output":"ok"},
 {"type":"message","status":"completed","id":"m2","role":"assistant","content":[{"type":"output_text","text":"done","annotations":[]}]}],
 "tools":[{"type":"function","name":"exec_command","description":"d","strict":false,"parameters":{"type":"object","file_url":{"image_url":1}}},
  {"type":"custom","name":"apply_patch","description":"d","format":{"type":"grammar","syntax":"lark","definition":"start: x"}},
  {"type":"namespace","name":"mcp__probe","description":"d","tools":[{"type":"function","name":"lookup","description":"d","strict":false,"parameters":{}}]}],
 "tool_choice":"auto","parallel_tool_calls":true,"reasoning":{"effort":"low","summary":"auto"},"store":false,
 "include":["reasoning.encrypted_content"],"prompt_cache_key":"01a2","text":{"verbosity":"low","format":{"type":"json_schema","strict":true,"schema":{"type":"object"},"name":"codex_output_schema"}},
 "client_metadata":{"turn_id":"t","x":"{\"a\":1}"}}"#;

#[test]
fn a_codex_request_passes() {
    let out = run(CODEX.as_bytes()).unwrap();
    assert!(out.starts_with(HEAD), "{out}");
    let (had, has): (serde_json::Value, serde_json::Value) = (
        serde_json::from_str(CODEX).unwrap(),
        serde_json::from_str(&out).unwrap(),
    );
    for name in [
        "input",
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "reasoning",
        "include",
        "text",
    ] {
        assert_eq!(had[name], has[name]);
    }
    assert_eq!(has.as_object().unwrap().len(), 11);
}

#[test]
fn a_search_for_deferred_tools_passes() {
    let body = r#"{"input":[
      {"type":"tool_search_call","call_id":"c","execution":"client","status":"completed","arguments":{"query":"late"}},
      {"type":"tool_search_output","call_id":"c","execution":"client","status":"completed",
       "tools":[{"type":"namespace","name":"n","description":"d","tools":[{"type":"function","name":"late","defer_loading":true,"parameters":{}}]}]}],
     "tools":[{"type":"tool_search","execution":"client","description":"d","parameters":{}}]}"#;
    assert!(run(body.as_bytes()).is_ok());
}

#[test]
fn the_service_tier_is_the_sessions() {
    let mut filter = Filter::new(&Forced {
        service_tier: Some("flex"),
        ..FORCED
    });
    let mut out = Vec::new();
    filter
        .push(br#"{"input":[],"service_tier":"priority"}"#, &mut out)
        .unwrap();
    filter.finish().unwrap();
    assert_eq!(
        String::from_utf8(out).unwrap(),
        format!(r#"{HEAD},"service_tier":"flex","input":[]}}"#)
    );
}

#[test]
fn forced_members_replace_whatever_the_harness_chose() {
    let out = run(br#" { "store" : true, "stream":false,"input":[ ] , "model":"x","prompt_cache_key":null } "#).unwrap();
    assert_eq!(out, format!(r#"{HEAD},"input":[ ]}}"#));
    for (body, field) in [
        (r#"{"model":1}"#, "model"),
        (r#"{"store":"false"}"#, "store"),
        (r#"{"stream":null}"#, "stream"),
        (r#"{"prompt_cache_key":{}}"#, "prompt_cache_key"),
    ] {
        assert_eq!(refused(body), (Code::ValueNotAllowed, field.into()));
    }
}

#[test]
fn members_outside_the_list_are_refused() {
    for name in [
        "previous_response_id",
        "background",
        "conversation",
        "prompt",
        "metadata",
        "user",
        "max_output_tokens",
    ] {
        assert_eq!(
            refused(format!(r#"{{"{name}":null}}"#)),
            (Code::FieldNotAllowed, name.into())
        );
    }
    for name in [
        "Input",
        "input ",
        "",
        "input\\u0000",
        "inpu",
        "mcp_servers",
        &"i".repeat(1 << 20),
    ] {
        assert_eq!(
            refused(format!(r#"{{"{name}":[]}}"#)),
            (Code::FieldNotAllowed, "?".into())
        );
    }
    let out =
        run(br#"{"input":[],"client_metadata":{"secret":["x"]},"service_tier":"fast"}"#).unwrap();
    assert_eq!(out, format!(r#"{HEAD},"input":[]}}"#));
}

#[test]
fn names_are_compared_after_decoding() {
    assert_eq!(
        run(br#"{"\u0069nput":[]}"#).unwrap(),
        format!(r#"{HEAD},"input":[]}}"#)
    );
    assert_eq!(
        refused(r#"{"input":[],"in\u0070ut":[]}"#),
        (Code::FieldRepeated, "input".into())
    );
    assert_eq!(
        refused(r#"{"\u0070rompt":1}"#),
        (Code::FieldNotAllowed, "prompt".into())
    );
    assert_eq!(
        refused(with_part(
            r#"{"type":"input_image","image\u005furl":"https://a"}"#
        ))
        .1,
        "input[].content[].image_url"
    );
    assert_eq!(
        refused(with_item(r#"{"type":"message","type":"item_reference"}"#)),
        (Code::FieldRepeated, "input[].type".into())
    );
}

#[test]
fn items_that_act_or_refer_are_refused() {
    for kind in [
        "item_reference",
        "additional_tools",
        "mcp_call",
        "mcp_list_tools",
        "mcp_approval_response",
        "web_search_call",
        "computer_call_output",
        "local_shell_call",
        "shell_call",
        "configuration_update",
        "code_interpreter_call",
        "program",
        "compaction",
        "Message",
        "message ",
        "",
    ] {
        let body = with_item(&format!(r#"{{"type":"{kind}"}}"#));
        assert_eq!(
            refused(body),
            (Code::ValueNotAllowed, "input[].type".into()),
            "{kind}"
        );
    }
    assert_eq!(
        refused(with_item(r#"{"id":"msg_1"}"#)),
        (Code::FieldMissing, "input[].type".into())
    );
    assert_eq!(
        refused(with_item(r#"{"id":"msg_1","type":null}"#)),
        (Code::ValueNotAllowed, "input[].type".into())
    );
    assert_eq!(
        refused(with_item(r#"{"type":"message","metadata":[]}"#)),
        (Code::FieldNotAllowed, "input[].?".into())
    );
    let found = r#"{"type":"tool_search_output","tools":[{"type":"web_search"}]}"#;
    assert_eq!(
        refused(with_item(found)),
        (Code::ValueNotAllowed, "input[].tools[].type".into())
    );
    assert_eq!(refused(with_item("\"text\"")).0, Code::ValueNotAllowed);
    assert_eq!(
        refused(r#"{"input":"text"}"#),
        (Code::ValueNotAllowed, "input".into())
    );
    assert_eq!(refused("{}"), (Code::FieldMissing, "input".into()));
}

#[test]
fn urls_the_provider_would_fetch_are_refused() {
    let ok = r#"{"type":"input_image","image_url":"data:image\/\u0070ng;base64,AAAA"}"#;
    assert!(run(with_part(ok).as_bytes()).is_ok());
    for url in [
        "https://evil.example/x.png",
        "http://169.254.169.254/",
        " data:image/png;base64,A",
        "DATA:image/png;base64,A",
        "data:image/svg+xml;base64,A",
        "data:text/html,x",
        "data:image/png",
        "file:///etc/passwd",
        "",
    ] {
        let body = with_part(&format!(r#"{{"type":"input_image","image_url":"{url}"}}"#));
        assert_eq!(
            refused(body),
            (Code::ValueNotAllowed, "input[].content[].image_url".into()),
            "{url}"
        );
    }
    for part in [
        r#"{"type":"input_image","image_url":{"url":"https://a"}}"#,
        r#"{"type":"input_image","file_id":"file-1"}"#,
        r#"{"type":"input_file","file_url":"https://a"}"#,
        r#"{"file_data":"x","type":"input_text"}"#,
    ] {
        assert!(run(with_part(part).as_bytes()).is_err(), "{part}");
        let output = with_item(&format!(
            r#"{{"type":"function_call_output","call_id":"c","output":[{part}]}}"#
        ));
        assert!(run(output.as_bytes()).is_err(), "{part}");
    }
}

#[test]
fn only_the_harness_own_tools_are_offered() {
    for tool in [
        r#"{"type":"web_search"}"#,
        r#"{"type":"mcp","server_url":"https://a"}"#,
        r#"{"type":"code_interpreter"}"#,
        r#"{"type":"file_search","vector_store_ids":["v"]}"#,
        r#"{"type":"image_generation"}"#,
        r#"{"name":"x"}"#,
        r#"{"type":"function","server_url":"x"}"#,
        r#"{"type":"tool_search","execution":"server"}"#,
        r#"{"type":"namespace","tools":[{"type":"web_search"}]}"#,
        r#"{"type":"namespace","tools":[{"type":"namespace"}]}"#,
    ] {
        assert!(
            run(format!(r#"{{"input":[],"tools":[{tool}]}}"#).as_bytes()).is_err(),
            "{tool}"
        );
    }
    for choice in [
        r#""any""#,
        r#"{"type":"web_search"}"#,
        r#"{"type":"mcp","name":"x"}"#,
        "null",
        "1",
    ] {
        assert!(
            run(format!(r#"{{"input":[],"tool_choice":{choice}}}"#).as_bytes()).is_err(),
            "{choice}"
        );
    }
    for include in [
        r#"["web_search_call.results"]"#,
        r#""reasoning.encrypted_content""#,
        "[1]",
        "[null]",
    ] {
        assert_eq!(
            refused(format!(r#"{{"include":{include}}}"#)).0,
            Code::ValueNotAllowed
        );
    }
}

/// The request's size and depth decide before anything is held.
#[test]
fn size_and_depth_are_bounded() {
    let nest = |n: usize| {
        format!(
            r#"{{"input":[],"client_metadata":{}{}}}"#,
            "[".repeat(n),
            "]".repeat(n)
        )
    };
    assert!(run(nest(MAX_DEPTH - 1).as_bytes()).is_ok());
    assert_eq!(refused(nest(MAX_DEPTH)).0, Code::TooDeep);
    assert_eq!(refused(nest(100_000)).0, Code::TooDeep);

    let body = br#"{"input":[]}  "#;
    for (max, fits) in [
        (body.len(), true),
        (body.len() - 1, false),
        (3, false),
        (0, false),
    ] {
        let mut filter = Filter::new(&FORCED).max_bytes(max as u64);
        let mut out = Vec::new();
        let read = body
            .chunks(5)
            .try_for_each(|chunk| filter.push(chunk, &mut out));
        assert_eq!(
            read.as_ref().map_err(|r| (r.code, r.offset)),
            if fits {
                Ok(&())
            } else {
                Err((Code::TooLarge, max as u64))
            }
        );
        assert_eq!(filter.finish().is_ok(), fits);
    }
}

/// H8: a body that is not JSON is the caller's fault, at once.
#[test]
fn h8_what_is_not_json_is_refused() {
    for body in [
        "",
        " ",
        "{",
        "}",
        "{\"input\":[]",
        "{\"input\":[]}x",
        "{\"input\":[]}{}",
        "{\"input\":[],}",
        "{,}",
        "{\"input\" []}",
        "{\"input\":[,]}",
        "{\"instructions\":\"\\x\"}",
        "{input:[]}",
        "{'input':[]}",
        "{\"input\":[]]",
        "{\"input\":[}",
        "\u{feff}{}",
        "{\"client_metadata\":[01]}",
        "{\"client_metadata\":[1.]}",
        "{\"client_metadata\":[.5]}",
        "{\"client_metadata\":[+1]}",
        "{\"client_metadata\":[-]}",
        "{\"client_metadata\":[1e]}",
        "{\"client_metadata\":[NaN]}",
        "{\"client_metadata\":[tru]}",
        "{\"client_metadata\":[truee]}",
        "{\"client_metadata\":[1 2]}",
        "{\"client_metadata\":[1,]}",
        "{\"client_metadata\":/**/1}",
        "{\"client_metadata\":\"\u{1f}\"}",
        "{\"client_metadata\":\"\n\"}",
        "{\"client_metadata\":\"\\ud800\"}",
        "{\"client_metadata\":\"\\udc00\"}",
        "{\"client_metadata\":\"\\ud800\\n\"}",
        "{\"client_metadata\":\"\\ud800\\ud800\"}",
        "{\"client_metadata\":\"\\ud800x\"}",
        "{\"client_metadata\":\"\\u12g4\"}",
        "{\"client_metadata\" \"a\":1}",
    ] {
        let refusal = run(body.as_bytes()).unwrap_err();
        assert_eq!(
            (refusal.code, refusal.code.status()),
            (Code::NotJson, 400),
            "{body}"
        );
    }
    for bad in [
        &b"\xff"[..],
        b"\xc0\x80",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\xe2\x82",
        b"\x80",
        b"\xf0\x80\x80\x80",
    ] {
        let body = [br#"{"client_metadata":""#, bad, br#""}"#].concat();
        assert_eq!(refused(body).0, Code::NotJson);
    }
    for body in ["[]", "null", "1", "\"x\""] {
        assert_eq!(refused(body).0, Code::NotAnObject);
    }
    assert_eq!(
        refused(format!(r#"{{"client_metadata":{}}}"#, "1".repeat(65))).0,
        Code::ValueNotAllowed
    );
}

#[test]
fn a_refusal_is_final() {
    let mut filter = Filter::new(&FORCED);
    let mut out = Vec::new();
    let first = filter.push(br#"{"user":1,"#, &mut out).unwrap_err();
    let written = out.len();
    assert_eq!(filter.push(br#""input":[]}"#, &mut out).unwrap_err(), first);
    assert_eq!(filter.finish().unwrap_err(), first);
    assert_eq!(out.len(), written);
    assert_eq!(first.to_string(), "field_not_allowed at byte 6 (user)");
}

#[test]
fn tables_fit_the_bit_set_and_the_comparison() {
    fn walk(rule: &'static Rule, depth: usize) {
        if depth == 8 {
            return;
        }
        if let Some(Fields::Closed { table, required }) = rule.object {
            assert!(table.len() <= 64);
            for name in *required {
                assert!(table.iter().any(|field| field.name == *name));
            }
            for field in *table {
                assert!(field.name.len() <= super::rules::LONGEST_COMPARED);
                walk(field.rule, depth + 1);
            }
        }
        if let Some(element) = rule.array {
            walk(element, depth + 1);
        }
    }
    walk(&REQUEST, 0);
}
