//! Sending a request on, and its answer back. The runtime moves both bodies; this code sees neither.
use super::refusal::Fault;
use super::under_way::UnderWay;
use crate::edge::platform::{js_error, End, Outgoing};
use cloister_protocol::self_test::EGRESS_HEADER;
use futures_channel::oneshot;
use futures_util::future::{pending, select, Either};
use std::cell::Cell;
use std::pin::pin;
use std::rc::Rc;
use worker::Result;

/// What a request came to.
pub enum Fetched {
    /// An answer of the host, whatever its status.
    Response(web_sys::Response),
    /// No answer, and why.
    Failed(Fault),
}

/// Headers that are not for the host. Those that belong to one connection; the Host, which is made of the URL; and those in
/// which networks say where a request comes from, which here only the sandbox could have made up.
const NOT_FOR_THE_HOST: &[&str] = &[
    "host",
    "connection",
    "expect",
    "keep-alive",
    "proxy-connection",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    // That of the gateway's own answers.
    EGRESS_HEADER,
    "cdn-loop",
    "cf-connecting-ip",
    "cf-connecting-ipv6",
    "cf-ew-via",
    "cf-ipcountry",
    "cf-ray",
    "cf-visitor",
    "cf-worker",
    "forwarded",
    "true-client-ip",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-real-ip",
];

/// Fetches `url`, which is what was judged of `request`, and gives the answer back while it comes. Both end when the policy
/// changes and refuses it.
pub async fn forward(
    request: &web_sys::Request,
    url: &str,
    under_way: UnderWay,
) -> Result<Fetched> {
    let headers = web_sys::Headers::new_with_headers(&request.headers())?;
    for name in NOT_FOR_THE_HOST {
        headers.delete(name)?;
    }
    let upgrade = headers.get("upgrade")?;
    if upgrade.is_some_and(|to| !to.eq_ignore_ascii_case("websocket")) {
        headers.delete("upgrade")?;
    }
    let context = under_way.context();
    let outgoing = Rc::new(Outgoing::new(request, url, &headers)?);
    let (tell, end) = oneshot::channel();
    let why = Rc::new(Cell::new(Fault::Unreachable));
    let (watched, reason) = (outgoing.clone(), why.clone());
    // One task from the beginning to the end: a timer of workers-rs wakes only the task that polled it first.
    context.wait_until(async move {
        let must_end = pin!(under_way.must_end());
        if let Either::Right((fault, _)) = select(pin!(come(end)), must_end).await {
            reason.set(fault);
            watched.abort();
            under_way.note_end(fault).await;
        }
    });
    let response = match outgoing.fetch().await {
        Ok(response) => response,
        Err(_) => return Ok(Fetched::Failed(why.get())),
    };
    let (answer, end) = outgoing
        .hand_on(response, EGRESS_HEADER)
        .map_err(js_error)?;
    // Nobody listens if it was aborted just now.
    let _ = tell.send(end);
    Ok(Fetched::Response(answer))
}

/// Resolves when the answer has ended, or there will be none.
async fn come(end: oneshot::Receiver<End>) {
    match end.await {
        Ok(End::At(end)) => end.await,
        Ok(End::Untold) => pending().await,
        Ok(End::Now) | Err(oneshot::Canceled) => {}
    }
}

/// Whether the runtime would drop its body, as it does of GET and HEAD; better that its sender knows.
pub fn loses_body(request: &web_sys::Request) -> Result<bool> {
    let headers = request.headers();
    let length = headers.get("content-length")?;
    let empty = length.is_none_or(|length| length.trim() == "0");
    let bodiless = matches!(request.method().as_str(), "GET" | "HEAD");
    Ok(bodiless && (!empty || headers.has("transfer-encoding")?))
}
