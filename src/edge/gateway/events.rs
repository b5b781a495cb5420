use super::stream::{self, Ends};
use super::{body, refused, Answer, Call};
use crate::edge::calls::{self, CallResult, ClientInput, InputError, SessionCall};
use crate::tenant::hex;
use crate::turn::{bytes_of, Refused, ToolResult, UserMessage, MAX_INPUT_BYTES};
use crate::wire::error::ApiError;
use crate::wire::query::EventsQuery;
use crate::wire::request::{self, idempotency_key, EventsCreate, SessionInput};
use sha2::{Digest, Sha256};
use worker::Response;

pub async fn create(call: Call<'_>, id: &str) -> Answer<Response> {
    let header = call.request.headers().get("idempotency-key")?;
    let key = idempotency_key(header.as_deref())?;
    let (fields, bytes) = body::read(&call.request).await?;
    let wanted = EventsCreate::read(fields)?;
    let inputs: Vec<ClientInput> = wanted
        .events
        .into_iter()
        .map(client_input)
        .collect::<Answer<_>>()?;
    let idempotency = key.map(|key| (key, hex(&Sha256::digest(&bytes))));
    let object = call.session(id).await?;
    let question = SessionCall::Input {
        inputs,
        idempotency,
    };
    let taken: Result<(), InputError> = calls::call(&object, &question).await;
    match taken {
        Ok(()) => Ok(Response::empty()?.with_status(202)),
        Err(InputError::Call(error)) => Err(call.lost(id, error).await?),
        Err(InputError::Refused(refused)) => Err(match refused {
            Refused::UnknownCall(call_id) => ApiError::unknown_call(&call_id),
            Refused::OtherTurn(call_id) => ApiError::call_of_other_turn(&call_id),
            Refused::Answered(call_id) => ApiError::call_is_over(&call_id),
            Refused::UnknownApproval(request_id) => ApiError::unknown_approval(&request_id),
            Refused::Failed => ApiError::session_has_failed(),
        }),
    }
}

fn client_input(input: SessionInput) -> Answer<ClientInput> {
    Ok(match input {
        SessionInput::Message { input } => {
            let messages = said(input);
            check_input(&messages)?;
            ClientInput::Messages(messages)
        }
        SessionInput::Cancel => ClientInput::Cancel,
        SessionInput::ToolResult {
            turn_id,
            call_id,
            success,
            output,
            error,
        } => ClientInput::ToolResult(ToolResult {
            turn_id,
            call_id,
            success,
            output,
            error,
        }),
        SessionInput::McpApproval {
            request_id,
            decision,
        } => ClientInput::Approval {
            request_id,
            decision,
        },
        // No agent has the tool that asks.
        SessionInput::ComputerUseApproval { request_id } => {
            return Err(ApiError::unknown_approval(&request_id))
        }
    })
}

pub async fn stream(call: Call<'_>, id: &str) -> Answer<Response> {
    let query = EventsQuery::read(&call.query)?;
    let object = call.session(id).await?;
    let mut cursor = None;
    if let Some(event_id) = query.after {
        let place: CallResult<Option<u64>> =
            calls::call(&object, &SessionCall::Place { event_id }).await;
        match place {
            Ok(Some(place)) => cursor = Some(place),
            Ok(None) => return Err(ApiError::unknown_cursor()),
            Err(error) => return Err(call.lost(id, error).await?),
        }
    }
    if call.request.inner().method() == "HEAD" {
        // A stream that nobody reads would never end.
        let builder = Response::builder().with_header("content-type", "text/event-stream")?;
        return Ok(builder.empty());
    }
    stream::open(call.stream_of(id), cursor, Ends::Session, 200)
        .await
        .map_err(|error| refused(error, id))
}

/// What messages say.
pub fn said(messages: Vec<request::UserMessage>) -> Vec<UserMessage> {
    messages
        .into_iter()
        .map(|message| message.content)
        .collect()
}

/// A turn's input is one row and one frame, which have their limits.
pub fn check_input(messages: &[UserMessage]) -> Answer<()> {
    let bytes: usize = messages.iter().map(|message| bytes_of(message)).sum();
    if bytes > MAX_INPUT_BYTES {
        return Err(ApiError::too_large(MAX_INPUT_BYTES).at("input"));
    }
    Ok(())
}
