//! What a session holds: items, turns and subagents.
use super::{json, Answer, Call};
use crate::edge::calls::SessionCall;
use crate::wire::query::ListQuery;
use worker::Response;

pub async fn items(
    call: Call<'_>,
    id: &str,
    subagent: Option<&str>,
    query: ListQuery,
) -> Answer<Response> {
    let question = SessionCall::Items {
        subagent: subagent.map(str::to_owned),
        query,
    };
    answer(call, id, subagent.unwrap_or(id), question).await
}

pub async fn turns(
    call: Call<'_>,
    id: &str,
    subagent: Option<&str>,
    query: ListQuery,
) -> Answer<Response> {
    let question = SessionCall::Turns {
        subagent: subagent.map(str::to_owned),
        query,
    };
    answer(call, id, subagent.unwrap_or(id), question).await
}

pub async fn turn(
    call: Call<'_>,
    id: &str,
    subagent: Option<&str>,
    turn_id: &str,
) -> Answer<Response> {
    let question = SessionCall::Turn {
        turn_id: turn_id.to_owned(),
        subagent: subagent.map(str::to_owned),
    };
    answer(call, id, turn_id, question).await
}

pub async fn turn_items(
    call: Call<'_>,
    id: &str,
    subagent: Option<&str>,
    turn_id: &str,
    query: ListQuery,
) -> Answer<Response> {
    let question = SessionCall::TurnItems {
        turn_id: turn_id.to_owned(),
        subagent: subagent.map(str::to_owned),
        query,
    };
    answer(call, id, turn_id, question).await
}

pub async fn subagents(call: Call<'_>, id: &str, query: ListQuery) -> Answer<Response> {
    answer(call, id, id, SessionCall::Subagents { query }).await
}

pub async fn subagent(call: Call<'_>, id: &str, subagent: &str) -> Answer<Response> {
    let question = SessionCall::Subagent {
        subagent: subagent.to_owned(),
    };
    answer(call, id, subagent, question).await
}

async fn answer(call: Call<'_>, id: &str, about: &str, question: SessionCall) -> Answer<Response> {
    json(200, call.ask(id, about, &question).await?.get())
}
