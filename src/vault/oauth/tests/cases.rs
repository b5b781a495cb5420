use super::*;

const GOOD: &str = r#"{"access_token":"access-2","token_type":"Bearer","expires_in":3600,"refresh_token":"refresh-2","x":1}"#;
const SAME: &str = r#"{"access_token":"access-2","token_type":"bearer"}"#;

#[test]
fn a_token_is_used_until_it_is_about_to_expire() {
    for (life, due) in [
        (None, false),
        (Some(MARGIN + 1), false),
        (Some(MARGIN), true),
        (Some(0), true),
    ] {
        let mut oauth = oauth(life);
        let decision = decide(&mut oauth, Need::Call, NOW);
        assert_eq!(matches!(decision, Decision::Refresh(_)), due, "{life:?}");
        assert_eq!(decision == Decision::Use, !due, "{life:?}");
    }
}

#[test]
fn a_short_token_is_refreshed_in_the_last_quarter_of_its_life() {
    let mut oauth = oauth(Some(0));
    let (_, ticket) = begin(&mut oauth, NOW);
    let short = r#"{"access_token":"a","token_type":"Bearer","expires_in":20}"#;
    oauth.settle(ticket, answered(200, short), NOW).unwrap();
    assert_eq!(decide(&mut oauth, Need::Call, NOW + 14), Decision::Use);
    assert!(matches!(
        decide(&mut oauth, Need::Call, NOW + 15),
        Decision::Refresh(_)
    ));
}

#[test]
fn a_refresh_is_reserved_before_it_is_sent_and_only_once() {
    let mut oauth = oauth(Some(10));
    let step = oauth.decide(Need::Call, NOW);
    let reserved = Phase::Reserved {
        attempt: 1,
        until: NOW + LEASE,
    };
    assert!(matches!(step.decision, Decision::Refresh(_)));
    assert_eq!(phase(&oauth), reserved);
    // Meanwhile others use the old token while it lasts, and then wait.
    assert_eq!(decide(&mut oauth, Need::Call, NOW + 9), Decision::Use);
    let until = NOW + LEASE;
    assert_eq!(
        decide(&mut oauth, Need::Call, NOW + 10),
        Decision::Wait { until }
    );
    let refused = Need::Refused { version: 1 };
    assert_eq!(decide(&mut oauth, refused, NOW), Decision::Wait { until });
}

#[test]
fn an_answer_is_taken_in_one_step() {
    let mut oauth = oauth(Some(0));
    let (_, ticket) = begin(&mut oauth, NOW);
    let event = oauth.settle(ticket, answered(200, GOOD), NOW + 1).unwrap();
    assert_eq!(event, Event::Refreshed);
    assert_eq!(
        (oauth.access_token.expose(), refresh_token(&oauth)),
        ("access-2", "refresh-2")
    );
    assert_eq!((oauth.expires_at, oauth.version), (Some(NOW + 3_601), 2));
    assert_eq!(phase(&oauth), Phase::Ready { not_before: 0 });
    assert_eq!(decide(&mut oauth, Need::Call, NOW + 1), Decision::Use);
}

#[test]
fn a_refresh_token_that_is_not_rotated_is_used_again() {
    let mut oauth = oauth(Some(0));
    let (_, ticket) = begin(&mut oauth, NOW);
    oauth.settle(ticket, answered(200, SAME), NOW).unwrap();
    assert_eq!(
        (refresh_token(&oauth), oauth.expires_at),
        ("refresh-1", None)
    );
    let later = NOW + REST;
    let refused = Need::Refused { version: 2 };
    assert!(matches!(
        decide(&mut oauth, refused, later),
        Decision::Refresh(_)
    ));
}

#[test]
fn a_401_is_answered_by_a_refresh_but_not_for_ever() {
    let mut oauth = oauth(None);
    let refused = Need::Refused { version: 1 };
    let Decision::Refresh(reserved) = decide(&mut oauth, refused, NOW) else {
        panic!("no refresh")
    };
    let (_, ticket) = reserved.when_stored();
    oauth.settle(ticket, answered(200, GOOD), NOW).unwrap();
    // Another call that was still made with the old one.
    assert_eq!(decide(&mut oauth, refused, NOW), Decision::Use);
    let again = Need::Refused { version: 2 };
    let refused = Decision::Unusable(Unusable::Refused);
    assert_eq!(decide(&mut oauth, again, NOW + REST - 1), refused);
    assert!(matches!(
        decide(&mut oauth, again, NOW + REST),
        Decision::Refresh(_)
    ));
}

#[test]
fn without_refresh_an_expired_token_just_fails() {
    let mut oauth = without_refresh(Some(1));
    assert_eq!(decide(&mut oauth, Need::Call, NOW), Decision::Use);
    let expired = Decision::Unusable(Unusable::Expired);
    assert_eq!(decide(&mut oauth, Need::Call, NOW + 1), expired);
    let refused = Decision::Unusable(Unusable::Refused);
    assert_eq!(
        decide(&mut oauth, Need::Refused { version: 1 }, NOW),
        refused
    );
}

#[test]
fn h10_a_lost_answer_burns_the_refresh_token() {
    let long = format!("{}{}", " ".repeat(64 << 10), GOOD);
    for outcome in [
        Outcome::Lost,
        answered(500, ""),
        answered(502, GOOD),
        answered(408, ""),
        answered(101, ""),
        answered(200, ""),
        answered(200, "{}"),
        answered(200, &GOOD[..GOOD.len() - 1]),
        answered(
            200,
            r#"{"access_token":"a","access_token":"b","token_type":"Bearer"}"#,
        ),
        answered(200, r#"{"access_token":"a","token_type":"DPoP"}"#),
        answered(200, r#"{"access_token":"a\r\nx: y","token_type":"Bearer"}"#),
        answered(200, r#"{"access_token":"","token_type":"Bearer"}"#),
        answered(
            200,
            r#"{"access_token":"a","token_type":"Bearer","refresh_token":""}"#,
        ),
        answered(
            200,
            r#"{"access_token":"a","token_type":"Bearer","expires_in":-1}"#,
        ),
        answered(200, &long),
    ] {
        let mut oauth = oauth(Some(50));
        let (_, ticket) = begin(&mut oauth, NOW);
        assert_eq!(
            oauth.settle(ticket, outcome, NOW),
            Ok(Event::Unknown),
            "{outcome:?}"
        );
        // The access token is good for as long as it was.
        assert_eq!(decide(&mut oauth, Need::Call, NOW + 49), Decision::Use);
        for later in [50, 1_000, 1_000_000_000] {
            let unknown = Decision::Unusable(Unusable::Unknown);
            assert_eq!(decide(&mut oauth, Need::Call, NOW + later), unknown);
        }
        // Only a new one helps.
        let access_token = Some(Secret::new("access-9"));
        let expires_at = Some(Some(NOW + 2_000));
        let new_access = OauthRotation {
            access_token,
            expires_at,
            refresh: None,
        };
        rotate(&mut oauth, new_access);
        assert_eq!(decide(&mut oauth, Need::Call, NOW + 50), Decision::Use);
        let unknown = Decision::Unusable(Unusable::Unknown);
        assert_eq!(decide(&mut oauth, Need::Call, NOW + 2_000), unknown);
        rotate(&mut oauth, new_refresh_token("refresh-9"));
        let (request, _) = begin(&mut oauth, NOW + 2_000);
        assert!(request.form.expose().contains("refresh-9"));
    }
}

#[test]
fn h10_a_lease_that_ends_unheard_is_a_lost_answer() {
    let mut oauth = oauth(Some(0));
    let (_, ticket) = begin(&mut oauth, NOW);
    let step = oauth.decide(Need::Call, NOW + LEASE);
    assert_eq!(step.event, Some(Event::Unknown));
    assert_eq!(step.decision, Decision::Unusable(Unusable::Unknown));
    assert_eq!(oauth.decide(Need::Call, NOW + LEASE).event, None);
    // One that comes late after all is still the truth.
    let event = oauth.settle(ticket, answered(200, GOOD), NOW + LEASE + 5);
    assert_eq!(
        (event, refresh_token(&oauth)),
        (Ok(Event::Refreshed), "refresh-2")
    );
}

#[test]
fn h10_a_rejection_frees_the_reservation_and_is_seen() {
    for (body, rejection) in [
        (r#"{"error":"invalid_grant"}"#, Rejection::InvalidGrant),
        (
            r#"{"error":"invalid_client","error_description":"canary"}"#,
            Rejection::InvalidClient,
        ),
        (
            r#"{"error":"unauthorized_client"}"#,
            Rejection::InvalidClient,
        ),
        (r#"{"error":"invalid_scope"}"#, Rejection::InvalidScope),
        (r#"{"error":"invalid_target"}"#, Rejection::InvalidTarget),
        (r#"{"error":"canary"}"#, Rejection::Other),
        ("canary", Rejection::Other),
    ] {
        let mut oauth = oauth(Some(0));
        let (_, ticket) = begin(&mut oauth, NOW);
        let event = oauth.settle(ticket, answered(400, body), NOW).unwrap();
        assert_eq!(event, Event::Rejected(rejection));
        assert_eq!(phase(&oauth), Phase::Rejected { rejection });
        let unusable = Unusable::Rejected(rejection);
        assert_eq!(
            decide(&mut oauth, Need::Call, NOW),
            Decision::Unusable(unusable)
        );
        let text = event.to_string();
        assert!(
            text.contains(rejection.code()) && !text.contains("canary"),
            "{text}"
        );
        assert_eq!(event.code(), unusable.code());

        // Another scope helps, unless it was the refresh token.
        let scope = RefreshRotation {
            scope: Some(None),
            ..RefreshRotation::default()
        };
        rotate(
            &mut oauth,
            OauthRotation {
                refresh: Some(scope),
                ..OauthRotation::default()
            },
        );
        let again = matches!(decide(&mut oauth, Need::Call, NOW), Decision::Refresh(_));
        assert_eq!(again, rejection != Rejection::InvalidGrant);
        rotate(&mut oauth, new_refresh_token("refresh-9"));
        begin(&mut oauth, NOW);
    }
}

#[test]
fn h11_a_redirect_of_the_token_endpoint_is_a_no() {
    for status in [301, 302, 303, 307, 308] {
        let mut oauth = oauth(Some(0));
        let (_, ticket) = begin(&mut oauth, NOW);
        let event = oauth.settle(ticket, answered(status, GOOD), NOW);
        assert_eq!(event, Ok(Event::Rejected(Rejection::Redirected)));
        assert_eq!(oauth.access_token.expose(), "access-1");
    }
}

#[test]
fn what_certainly_was_not_looked_at_is_sent_again_later() {
    for (outcome, pause) in [
        (Outcome::NotSent, 30),
        (answered(429, ""), 30),
        (retry_after(5), 5),
        (retry_after(0), 1),
        (retry_after(u64::MAX), 3_600),
    ] {
        let mut oauth = oauth(Some(0));
        let (first, ticket) = begin(&mut oauth, NOW);
        let until = NOW + pause;
        assert_eq!(
            oauth.settle(ticket, outcome, NOW),
            Ok(Event::Postponed { until })
        );
        assert_eq!(
            decide(&mut oauth, Need::Call, until - 1),
            Decision::Wait { until }
        );
        assert_eq!(begin(&mut oauth, until).0, first);
    }
}

fn retry_after(seconds: u64) -> Outcome<'static> {
    Outcome::Answered {
        status: 429,
        body: b"",
        retry_after: Some(seconds),
    }
}

#[test]
fn a_rotation_meanwhile_wins() {
    let mut oauth = oauth(Some(0));
    let (_, ticket) = begin(&mut oauth, NOW);
    rotate(&mut oauth, new_refresh_token("refresh-9"));
    let before = oauth.clone();
    assert_eq!(oauth.settle(ticket, answered(200, GOOD), NOW), Err(Stale));
    assert_eq!(oauth, before);

    // A new access token alone does not make the rotated refresh token worthless.
    let (_, ticket) = begin(&mut oauth, NOW);
    let access_token = Some(Secret::new("access-9"));
    rotate(
        &mut oauth,
        OauthRotation {
            access_token,
            ..OauthRotation::default()
        },
    );
    assert_eq!(
        oauth.settle(ticket, answered(200, GOOD), NOW),
        Ok(Event::Refreshed)
    );
    assert_eq!((refresh_token(&oauth), oauth.version), ("refresh-2", 3));
}

#[test]
fn an_old_ticket_settles_no_new_attempt() {
    let mut oauth = oauth(Some(0));
    let (_, first) = begin(&mut oauth, NOW);
    rotate(&mut oauth, new_refresh_token("refresh-9"));
    let (_, second) = begin(&mut oauth, NOW);
    assert_eq!(oauth.settle(first, Outcome::Lost, NOW), Err(Stale));
    assert_eq!(
        oauth.settle(second, answered(200, GOOD), NOW),
        Ok(Event::Refreshed)
    );
}

#[test]
fn a_life_without_end_is_not_believed() {
    let mut oauth = oauth(Some(0));
    let (_, ticket) = begin(&mut oauth, NOW);
    let body = format!(
        r#"{{"access_token":"a","token_type":"Bearer","expires_in":{}}}"#,
        u64::MAX
    );
    oauth.settle(ticket, answered(200, &body), NOW).unwrap();
    assert_eq!(oauth.expires_at, Some(NOW + 315_360_000));
}
