//! Which request, on which connection, and where does it go next? Public cases, named after their ids.
use crate::kit::World;
use crate::raw::{head, part, Try};
use serde_json::json;

const ALLOWED: &str = "allowed.example";
const EVIL: &str = "evil.example";

#[test]
fn b7_b8_b10_another_host_in_the_request_in_tls_or_later_on_the_connection() {
    let world = World::allowing(&[ALLOWED]);
    let [here, there] = [ALLOWED, EVIL].map(|host| format!("http://{host}/host"));
    let within = |sni: &str, target: &str, host: &str| Try::tls(sni, head("GET", target, host, ""));
    world.judges(&[
        // B7: a whole URL and a Host that differs, in every combination.
        (Try::ask("GET", &here, ALLOWED), "200"),
        (Try::ask("GET", &here, EVIL), "host_mismatch"),
        (Try::ask("GET", &there, ALLOWED), "host_mismatch"),
        (Try::ask("GET", &there, EVIL), "host_not_allowed"),
        (
            Try::ask("GET", &here, "allowed.example:8080"),
            "host_mismatch",
        ),
        (
            Try::ask("GET", "http://allowed.example:8080/", ALLOWED),
            "host_mismatch",
        ),
        (
            Try::ask("GET", "http://allowed.example@evil.example/", ALLOWED),
            "userinfo_in_url",
        ),
        (
            Try::ask("GET", "http://allowed.example@evil.example/", EVIL),
            "userinfo_in_url",
        ),
        (
            Try::ask("GET", "//evil.example/host", ALLOWED),
            "host_mismatch",
        ),
        (
            Try::ask("GET", "https://evil.example/host", ALLOWED),
            "host_mismatch",
        ),
        (
            Try::ask("GET", "ftp://allowed.example/", ALLOWED),
            "scheme_unknown",
        ),
        (Try::ask("GET", "host", ALLOWED), "url_malformed"),
        (Try::ask("OPTIONS", "*", ALLOWED), "url_malformed"),
        // Two Hosts, or none that is one.
        (
            Try::plain(format!(
                "GET /host HTTP/1.1\r\nHost: {ALLOWED}\r\nHost: {EVIL}\r\n\r\n"
            )),
            "host_malformed",
        ),
        (
            Try::plain(format!(
                "GET /host HTTP/1.1\r\nHost: {EVIL}\r\nHost: {ALLOWED}\r\n\r\n"
            )),
            "host_malformed",
        ),
        (
            Try::plain(format!("GET /host HTTP/1.1\r\nHost : {ALLOWED}\r\n\r\n")),
            "400",
        ),
        (
            Try::plain(format!(
                "GET /host HTTP/1.1\r\nX: y\r\n Host: {EVIL}\r\nHost: {ALLOWED}\r\n\r\n"
            )),
            "400",
        ),
        (
            Try::plain(format!(
                "GET /host HTTP/1.1\r\nHost: {EVIL}\rHost: {ALLOWED}\r\n\r\n"
            )),
            "host_malformed",
        ),
        (Try::plain("GET /host HTTP/1.1\r\n\r\n"), "host_not_allowed"),
        (Try::plain("GET /host HTTP/1.0\r\n\r\n"), "host_not_allowed"),
        (
            Try::plain(format!("GET {there} HTTP/1.0\r\n\r\n")),
            "host_not_allowed",
        ),
        // Headers that some servers take for a host.
        (
            Try::plain(head(
                "GET",
                "/host",
                EVIL,
                "X-Forwarded-Host: allowed.example\r\nForwarded: host=allowed.example\r\n",
            )),
            "host_not_allowed",
        ),
        // B8: the name in TLS opens nothing, the request inside is judged.
        (within(ALLOWED, "/host", ALLOWED), "200"),
        (within(ALLOWED, "/host", EVIL), "host_not_allowed"),
        (within(EVIL, "/host", EVIL), "host_not_allowed"),
        (within(ALLOWED, "/host", "model.internal"), "name_reserved"),
        (
            within("model.internal", "/v1/responses", "model.internal"),
            "name_reserved",
        ),
        (within(ALLOWED, &there, EVIL), "host_not_allowed"),
        (
            within(ALLOWED, "https://evil.example/", ALLOWED),
            "host_mismatch",
        ),
    ]);
    // The reverse: what is judged is what is asked, and nobody at the other name learns of it.
    world.judges(&[(within(EVIL, "/host", ALLOWED), "200")]);
    // B10: each request of a connection by itself, also those sent before the first answer.
    let later = [
        part("/host", ALLOWED),
        part("/host", EVIL),
        part(&there, ALLOWED),
        part("/host", ALLOWED),
    ]
    .concat();
    for one in [Try::plain(later.clone()), Try::tls(ALLOWED, later)] {
        let came = world.one(one.answers(4));
        assert_eq!(came.statuses(), [200, 403, 421, 200], "{came:?}");
        assert_eq!(
            came.codes(),
            ["host_not_allowed", "host_mismatch"],
            "{came:?}"
        );
    }
    // In a body whose length is told twice, what follows the end that counts is a request of its own.
    let twice = head(
        "POST",
        "/echo",
        ALLOWED,
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
    );
    let came = world.one(Try::plain(twice + "0\r\n\r\n" + &part("/host", EVIL)).answers(2));
    assert_eq!(came.statuses(), [200, 403], "{came:?}");
    assert_eq!(came.codes(), ["host_not_allowed"], "{came:?}");
    world.reached_only(&[ALLOWED]);
}

#[test]
fn b11_b13_b14_b31_where_a_redirect_leads_is_a_new_request() {
    let world = World::allowing(&[ALLOWED, "second.example"]);
    let from = |to: &str, status: u16| {
        let to = to
            .replace('%', "%25")
            .replace('#', "%23")
            .replace('&', "%26");
        format!("'https://allowed.example/redirect?status={status}&to={to}'")
    };
    let secrets = "-H 'authorization: Bearer tok' -H 'cookie: a=tok' -H 'x-api-key: tok'";
    let places = [
        ("http://evil.example/", "host_not_allowed"),
        ("https://evil.example/", "host_not_allowed"),
        (
            "http://169.254.169.254/latest/meta-data/",
            "address_metadata",
        ),
        ("http://10.0.0.1/", "address_private"),
        ("//evil.example", "host_not_allowed"),
        ("https://allowed.example@evil.example", "host_not_allowed"),
        ("http://model.internal/v1/responses", "name_reserved"),
        ("https://allowed.example.evil.example/", "host_not_allowed"),
    ];
    for ((to, code), status) in places
        .into_iter()
        .zip([301, 302, 303, 307, 308].into_iter().cycle())
    {
        // Back as it came: nothing was followed, nothing was changed.
        let url = from(to, status);
        let answer = world.curl(&format!("{secrets} {url}"));
        assert_eq!(
            (answer.status, answer.body.as_str()),
            (status, "elsewhere\n"),
            "{answer:?}"
        );
        assert!(
            answer.head.contains(&format!("\r\nLocation: {to}\r\n")),
            "{answer:?}"
        );
        // Where its reader goes by itself is judged as what it is.
        let followed = world.shell(&format!(
            "curl -sL -m 10 --cacert /etc/cloudflare/certs/cloudflare-containers-ca.crt {secrets} {url}"
        ));
        let said: serde_json::Value =
            serde_json::from_str(&followed).unwrap_or_else(|_| panic!("{to}: {followed}"));
        assert_eq!(said["code"], code, "{to}");
    }
    // B14: the second origin gets a request only if the client sends one.
    let before = world.upstream.requests().len();
    let answer = world.curl(&format!(
        "{secrets} {}",
        from("https://second.example/echo", 307)
    ));
    assert_eq!(answer.status, 307);
    assert_eq!(world.upstream.requests().len(), before + 1);
    assert!(!world
        .upstream
        .hosts()
        .contains(&"second.example".to_owned()));
    let settings = include_str!("../../wrangler.toml");
    let date = settings
        .lines()
        .find_map(|line| line.strip_prefix("compatibility_date = "));
    assert!(
        date.unwrap().trim_matches('"') >= "2025-09-01",
        "the runtime strips nothing before that"
    );
    assert!(!settings.contains("no_strip_authorization"), "{settings}");
    // B13: from https to http is another request too.
    world.replace(&json!({
        "access": "restricted", "allowed_domains": [ALLOWED], "rules": [{ "host": ALLOWED, "schemes": ["https"] }],
    }));
    let down = world.curl(&format!(
        "{secrets} {}",
        from("http://allowed.example/echo", 302)
    ));
    assert_eq!(down.status, 302, "{down:?}");
    assert_eq!(
        world
            .curl(&format!("{secrets} http://allowed.example/echo"))
            .refused(),
        "scheme_not_allowed"
    );
    let urls = world.upstream.requests();
    let plain = urls
        .iter()
        .filter(|request| request["url"].as_str().unwrap().starts_with("http://"));
    assert_eq!(plain.count(), 0, "{urls:?}");
    world.reached_only(&[ALLOWED]);
}

#[test]
fn b16_paths_that_can_be_read_in_several_ways() {
    let world = World::with_network(json!({
        "access": "restricted",
        "allowed_domains": [ALLOWED, "free.example"],
        "rules": [{ "host": ALLOWED, "path_prefixes": ["/public"] }],
    }));
    let get = |path: &str| Try::ask("GET", path, ALLOWED);
    let whole = |path: &str| Try::ask("GET", &format!("http://allowed.example{path}"), ALLOWED);
    let mut rows = vec![
        (get("/public"), "200"),
        (get("/public/a?x=/../y"), "200"),
        (get("/publica"), "path_not_allowed"),
        (get("/Public"), "path_not_allowed"),
        (get("/"), "path_not_allowed"),
        (get("/%70ublic"), "path_not_allowed"),
        (get("/admin?/public"), "path_not_allowed"),
        // Of a path alone the runtime makes a URL, which has no dot segments any more.
        (get("/public/../admin"), "path_not_allowed"),
        (get("/public/%2e%2e/admin"), "path_not_allowed"),
        (get("/public/.%2E/admin"), "path_not_allowed"),
        (get("/public/..\\admin"), "path_not_allowed"),
        (get("\\public"), "url_malformed"),
    ];
    for path in [
        "/public//a",
        "//public",
        "/public/a%2Fb",
        "/public/a%5cb",
        "/public;x",
        "/public/%252e%252e/x",
        "/public/%00",
        "/public/%",
    ] {
        rows.push((
            get(path),
            if path.starts_with("//") {
                "host_mismatch"
            } else {
                "path_ambiguous"
            },
        ));
        rows.push((whole(path), "path_ambiguous"));
    }
    for path in [
        "/public/../admin",
        "/public/%2e%2e/admin",
        "/public/..\\admin",
        "/public/./a",
        "/public/\\a",
    ] {
        rows.push((whole(path), "path_ambiguous"));
    }
    world.judges(&rows);
    // Where no rule looks at the path it goes on as it is, byte for byte.
    let free = |path: &str| Try::ask("GET", path, "free.example");
    let kept = ["/o/a%2Fb", "/a%2f%2Fb/%41;x=1//c?q=%2F&&=?", "/%E4/~x"];
    world.judges(&kept.map(|path| (free(path), "200")));
    let mut urls: Vec<String> = world
        .upstream
        .requests()
        .iter()
        .map(|request| request["url"].as_str().unwrap().to_owned())
        .collect();
    urls.sort();
    let mut wanted: Vec<String> = kept
        .iter()
        .map(|path| format!("http://free.example{path}"))
        .collect();
    wanted.extend(
        ["/public", "/public/a?x=/../y"].map(|path| format!("http://allowed.example{path}")),
    );
    wanted.sort();
    assert_eq!(urls, wanted);
}

#[test]
fn b17_b19_methods_that_echo_or_tunnel_and_bodies_that_hide_requests() {
    let world = World::allowing(&[ALLOWED]);
    let hidden = "POST /x HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 0\r\n\r\n";
    let chunked = format!("{:x}\r\n{hidden}\r\n0\r\n\r\n", hidden.len());
    let length = format!("Content-Length: {}\r\n", hidden.len());
    let with_body = |method: &str, more: &str, body: &str| {
        Try::plain(head(method, "/echo", ALLOWED, more) + body)
    };
    const CHUNKED: &str = "Transfer-Encoding: chunked\r\n";
    world.judges(&[
        // B17. What the runtime knows is refused by the border, the rest by the runtime before it.
        (Try::ask("TRACE", "/", ALLOWED), "method_refused"),
        (Try::ask("TRACE", "/", EVIL), "method_refused"),
        (Try::ask("TRACK", "/", ALLOWED), "501"),
        (Try::ask("trace", "/", ALLOWED), "501"),
        (Try::ask("get", "/", ALLOWED), "501"),
        (
            Try::ask("CONNECT", "allowed.example:443", "allowed.example:443"),
            "501",
        ),
        (Try::ask("CONNECT", "evil.example:443", ALLOWED), "501"),
        (
            Try::tls(
                ALLOWED,
                head("CONNECT", "evil.example:443", "evil.example:443", ""),
            ),
            "501",
        ),
        (
            Try::tls(ALLOWED, head("TRACE", "/", ALLOWED, "")),
            "method_refused",
        ),
        (Try::plain("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), "501"),
        // B19
        (with_body("GET", CHUNKED, &chunked), "body_with_get"),
        (with_body("GET", &length, hidden), "body_with_get"),
        (with_body("HEAD", CHUNKED, &chunked), "body_with_get"),
        (with_body("GET", "Content-Length: 0\r\n", ""), "200"),
        // Lengths that readers disagree about.
        (
            with_body(
                "POST",
                "Content-Length: 5\r\nContent-Length: 6\r\n",
                "helloX",
            ),
            "500",
        ),
        (with_body("POST", "Content-Length: +5\r\n", "hello"), "500"),
        (with_body("POST", "Content-Length: -1\r\n", "hello"), "500"),
        (
            with_body(
                "POST",
                "Transfer-Encoding: xchunked\r\n",
                "5\r\nhello\r\n0\r\n\r\n",
            ),
            "500",
        ),
        (
            with_body(
                "POST",
                "Transfer-Encoding: gzip, chunked\r\n",
                "5\r\nhello\r\n0\r\n\r\n",
            ),
            "500",
        ),
        (
            with_body(
                "POST",
                "Transfer-Encoding : chunked\r\n",
                "5\r\nhello\r\n0\r\n\r\n",
            ),
            "400",
        ),
    ]);
    assert_eq!(world.upstream.requests().len(), 1, "the one without a body");
    // As a body it goes on, in a frame.
    world.judges(&[
        (with_body("POST", CHUNKED, &chunked), "200"),
        (with_body("DELETE", &length, hidden), "200"),
    ]);
    let requests = world.upstream.requests();
    let bodies: Vec<_> = requests
        .iter()
        .map(|request| request["body_bytes"].as_u64().unwrap())
        .collect();
    let whole = hidden.len() as u64;
    assert_eq!(bodies, [0, whole, whole]);
    world.reached_only(&[ALLOWED]);
}
