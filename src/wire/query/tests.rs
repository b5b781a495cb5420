#![allow(clippy::unwrap_used)]
use super::*;

fn list(raw: &str) -> Result<ListQuery, ApiError> {
    ListQuery::read(raw, OutOfRange::Refuse)
}

/// E22: a bad limit is a 400, or is clamped where the API clamps.
#[test]
fn e22_limits() {
    for (text, value, clamped) in [
        ("1", Some(1), 1),
        ("100", Some(100), 100),
        ("20", Some(20), 20),
        ("007", Some(7), 7),
        ("0", None, 1),
        ("101", None, 100),
        ("-1", None, 1),
        ("99999999999999999999", None, 100),
        ("-99999999999999999999", None, 1),
    ] {
        let raw = format!("limit={text}");
        assert_eq!(list(&raw).ok().map(|q| q.limit), value, "{text}");
        assert_eq!(
            ListQuery::read(&raw, OutOfRange::Clamp).unwrap().limit,
            clamped,
            "{text}"
        );
    }
    assert_eq!(
        list("limit=0").unwrap_err().message,
        "limit must be between 1 and 100"
    );
    for text in [
        "abc", "", "1.0", "1e1", "+5", "%205", "-", "0x10", "1,2", "٣", "null",
    ] {
        for out_of_range in [OutOfRange::Refuse, OutOfRange::Clamp] {
            let error = ListQuery::read(&format!("limit={text}"), out_of_range).unwrap_err();
            assert_eq!(
                (error.status, error.param.as_deref()),
                (400, Some("limit")),
                "{text}"
            );
        }
    }
}

#[test]
fn defaults_and_what_is_ignored() {
    let default = ListQuery {
        after: None,
        limit: 20,
        order: Order::Descending,
    };
    for raw in [
        "",
        "&",
        "&&=&",
        "x=1&x=2",
        "before=a",
        "limits=0",
        "LIMIT=0",
        "%zz=1",
        "%ff=2",
        "metadata[a]=b&metadata[a]=b",
    ] {
        assert_eq!(list(raw), Ok(default.clone()), "{raw}");
    }
    let full = ListQuery {
        after: Some("turn_1 é".into()),
        limit: 5,
        order: Order::Ascending,
    };
    assert_eq!(list("after=turn_1+%C3%A9&l%69mit=5&order=asc"), Ok(full));
}

#[test]
fn scalars_occur_once_and_are_well_formed() {
    for raw in [
        "limit=1&limit=1",
        "limit=1&%6cimit=2",
        "order=asc&order=asc",
        "after=a&after=b",
    ] {
        assert!(
            list(raw)
                .unwrap_err()
                .message
                .starts_with("Duplicate query parameter"),
            "{raw}"
        );
    }
    for raw in [
        "order=up",
        "order=",
        "order",
        "after=",
        "after=%",
        "after=%4",
        "after=%gg",
        "after=%ff",
        "after=%00",
        "after=%+1",
    ] {
        assert_eq!(list(raw).unwrap_err().status, 400, "{raw}");
    }
    assert!(list(&format!("after={}", "a".repeat(257))).is_err());
}

#[test]
fn sessions_filter_by_metadata() {
    let query = SessionListQuery::read(
        "metadata%5Bteam%5D=red+one&metadata[a]b]=&agent_id=agent_1&limit=3",
    )
    .unwrap();
    assert_eq!(query.page.limit, 3);
    assert_eq!(query.agent_id.as_deref(), Some("agent_1"));
    let expected = [("team", "red one"), ("a]b", "")].map(|(k, v)| (k.to_owned(), v.to_owned()));
    assert_eq!(query.metadata, BTreeMap::from(expected));

    let many = |n: usize| {
        (0..n)
            .map(|i| format!("metadata[k{i}]=v"))
            .collect::<Vec<_>>()
            .join("&")
    };
    assert!(SessionListQuery::read(&many(16)).is_ok());
    for raw in [
        many(17),
        "metadata[a]=1&metadata[a]=1".into(),
        "metadata[]=1".into(),
        format!("metadata[{}]=1", "k".repeat(65)),
        format!("metadata[k]={}", "v".repeat(513)),
        "metadata[k]=%ff".into(),
        "metadata[k]=%00".into(),
        "limit=101".into(),
        format!("agent_id={}", "a".repeat(65)),
    ] {
        assert_eq!(
            SessionListQuery::read(&raw).unwrap_err().status,
            400,
            "{raw}"
        );
    }
    assert!(
        SessionListQuery::read("metadata=1&metadata[k=1&metadatak]=1")
            .unwrap()
            .metadata
            .is_empty()
    );
}

#[test]
fn artifacts_filter_by_environment() {
    for (raw, environment) in [
        ("", None),
        ("environment_id=", None),
        ("environment_id=env_1&limit=3", Some("env_1")),
        ("environment_id=%65nv+1&limit=3", Some("env 1")),
        ("environment=env_1", None),
    ] {
        let query = ArtifactListQuery::read(raw).unwrap();
        assert_eq!(query.environment_id.as_deref(), environment, "{raw}");
        assert_eq!(query.page, list(raw).unwrap(), "{raw}");
    }
    for raw in [
        "limit=0",
        "limit=101",
        "order=up",
        "after=",
        "environment_id=a&environment_id=a",
        "environment_id=%ff",
        "environment_id=%00",
        &format!("environment_id={}", "e".repeat(257)),
    ] {
        let error = ArtifactListQuery::read(raw).unwrap_err();
        assert_eq!(error.status, 400, "{raw}");
    }
}

#[test]
fn streams_take_a_flag_and_a_place() {
    for (raw, after) in [
        ("stream=true&stream=x&limit=0", None),
        ("include_obfuscation=false", None),
        ("include_obfuscation=true&after=evt_1", Some("evt_1")),
    ] {
        let read = EventsQuery::read(raw).unwrap();
        assert_eq!(read.after.as_deref(), after, "{raw}");
    }
    for raw in [
        "include_obfuscation=0",
        "include_obfuscation=true&include_obfuscation=true",
        "after=",
        "after=a&after=b",
        "after=%00",
        &format!("after={}", "e".repeat(257)),
    ] {
        assert_eq!(EventsQuery::read(raw).unwrap_err().status, 400, "{raw}");
    }
}
