use super::stream::{self, Ends};
use super::{body, refused, Answer, Call};
use crate::edge::calls::{self, CallResult, ClientInput, SessionCall};
use crate::tenant::hex;
use crate::turn::{UserMessage, MAX_INPUT_BYTES};
use crate::wire::error::ApiError;
use crate::wire::query;
use crate::wire::request::{idempotency_key, EventsCreate, SessionInput};
use sha2::{Digest, Sha256};
use worker::Response;

pub async fn create(call: Call<'_>, id: &str) -> Answer<Response> {
    let header = call.request.headers().get("idempotency-key")?;
    let key = idempotency_key(header.as_deref())?;
    let (fields, bytes) = body::read(&call.request).await?;
    let wanted = EventsCreate::read(fields)?;
    let inputs = wanted.events.into_iter().map(|input| match input {
        SessionInput::Message { input } => {
            ClientInput::Messages(input.into_iter().map(|message| message.content).collect())
        }
        SessionInput::Cancel => ClientInput::Cancel,
    });
    let inputs: Vec<ClientInput> = inputs.collect();
    for input in &inputs {
        match input {
            ClientInput::Messages(messages) => check_size(messages)?,
            ClientInput::Cancel => {}
        }
    }
    let object = call.session(id).await?;
    let idempotency = key.map(|key| (key, hex(&Sha256::digest(&bytes))));
    let taken: CallResult<()> = calls::call(
        &object,
        &SessionCall::Input {
            inputs,
            idempotency,
        },
    )
    .await;
    taken.map_err(|error| refused(error, id))?;
    Ok(Response::empty()?.with_status(202))
}

pub async fn stream(call: Call<'_>, id: &str) -> Answer<Response> {
    // Padding against traffic analysis is never sent, whichever way it is asked for.
    query::include_obfuscation(&call.query)?;
    let object = call.session(id).await?;
    if call.request.inner().method() == "HEAD" {
        // A stream that nobody reads would never end.
        let builder = Response::builder().with_header("content-type", "text/event-stream")?;
        return Ok(builder.empty());
    }
    stream::open(object, None, None, Ends::WithSession, 200).await
}

/// A turn's input is one row and one frame, which have their limits.
pub fn check_size(messages: &[UserMessage]) -> Answer<()> {
    let bytes = serde_json::to_vec(messages).map_or(usize::MAX, |json| json.len());
    if bytes > MAX_INPUT_BYTES {
        return Err(ApiError::too_large(MAX_INPUT_BYTES).at("input"));
    }
    Ok(())
}
