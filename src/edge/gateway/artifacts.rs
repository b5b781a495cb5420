//! Files that turns published.
use super::{json, refused, Answer, Call};
use crate::checkpoint::key;
use crate::edge::calls::{self, ArtifactContent, CallError, CallResult, Refusal, SessionCall};
use crate::edge::log;
use crate::edge::platform::Pipe;
use crate::wire::attachment;
use crate::wire::deleted::Deleted;
use crate::wire::error::ApiError;
use crate::wire::query::ArtifactListQuery;
use crate::wire::range::{self, Piece, Span, Wanted};
use cloister_protocol::backup::PART_BYTES;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use worker::{Bucket, Method, Range, Response, ResponseBody};

/// A page of the session's artifacts.
pub async fn list(call: Call<'_>, id: &str, query: ArtifactListQuery) -> Answer<Response> {
    let question = SessionCall::Artifacts {
        environment: query.environment_id,
        query: query.page,
    };
    json(200, call.ask(id, id, &question).await?.get())
}

pub async fn retrieve(call: Call<'_>, id: &str, artifact: &str) -> Answer<Response> {
    let question = SessionCall::Artifact {
        id: artifact.to_owned(),
    };
    let answer: Box<RawValue> = ask(&call, id, artifact, &question).await?;
    json(200, answer.get())
}

/// Deleting an artifact again succeeds again.
pub async fn delete(call: Call<'_>, id: &str, artifact: &str) -> Answer<Response> {
    let question = SessionCall::DeleteArtifact {
        id: artifact.to_owned(),
    };
    let () = ask(&call, id, artifact, &question).await?;
    let deleted = Deleted::artifact(artifact.to_owned());
    Ok(Response::from_json(&deleted)?)
}

/// The file itself, or the range of it that is asked for. It is the work of a model, and opens nowhere as a page.
pub async fn content(call: Call<'_>, id: &str, artifact: &str) -> Answer<Response> {
    let question = SessionCall::ArtifactContent {
        id: artifact.to_owned(),
    };
    let stored: ArtifactContent = ask(&call, id, artifact, &question).await?;
    let etag = format!("\"{artifact}\"");
    let head = call.request.method() == Method::Head;
    let wanted = if head {
        Wanted::Whole
    } else {
        let headers = call.request.headers();
        let (range, if_range) = (headers.get("range")?, headers.get("if-range")?);
        range::wanted(range.as_deref(), if_range.as_deref(), &etag, stored.bytes)
    };
    let (span, range) = match wanted {
        Wanted::Whole => (Span::whole(stored.bytes), None),
        Wanted::Part(span) => (span, Some(span.content_range(stored.bytes))),
        Wanted::Nothing => return Err(ApiError::no_range(stored.bytes)),
    };
    let mut response = Response::builder()
        .with_status(if range.is_some() { 206 } else { 200 })
        .with_header("content-type", "application/octet-stream")?
        .with_header("content-length", &span.bytes.to_string())?
        .with_header(
            "content-disposition",
            &attachment::disposition(&stored.path),
        )?
        .with_header("x-content-type-options", "nosniff")?
        .with_header("content-security-policy", "sandbox; default-src 'none'")?
        .with_header("cache-control", "private, no-store")?
        .with_header("accept-ranges", "bytes")?
        .with_header("etag", &etag)?;
    if let Some(range) = range {
        response = response.with_header("content-range", &range)?;
    }
    if head {
        return Ok(response.empty());
    }
    match body(&call, stored.key_prefix, span).await? {
        Some(body) => Ok(response.body(body)),
        None => Err(ApiError::no_artifact(artifact)),
    }
}

/// Asks the session `id` about one of its artifacts.
async fn ask<T: DeserializeOwned>(
    call: &Call<'_>,
    id: &str,
    artifact: &str,
    question: &SessionCall,
) -> Answer<T> {
    let object = call.session(id).await?;
    let answer: CallResult<T> = calls::call(&object, question).await;
    answer.map_err(|error| match error {
        CallError::Refused(Refusal::NotFound) => ApiError::no_artifact(artifact),
        error => refused(error, id),
    })
}

/// The bytes of `span`, as a body; none if they have been deleted meanwhile.
async fn body(call: &Call<'_>, key_prefix: String, span: Span) -> Answer<Option<ResponseBody>> {
    let mut pieces = span.pieces(PART_BYTES as u64).into_iter();
    let Some(first) = pieces.next() else {
        return Ok(Some(ResponseBody::Empty));
    };
    let bucket = call.env.bucket("FILES")?;
    // The first before the headers go out, the others when their turn comes.
    let Some(first) = read(&bucket, &key_prefix, first).await? else {
        return Ok(None);
    };
    let pipe = Pipe::new(span.bytes)?;
    let reader = pipe.reader();
    call.context.wait_until(async move {
        let sent = async {
            pipe.add(&first).await?;
            for piece in pieces {
                let next = read(&bucket, &key_prefix, piece).await?;
                pipe.add(&next.ok_or("a part is missing")?).await?;
            }
            Ok::<(), worker::Error>(())
        };
        let ended = match sent.await {
            Ok(()) => pipe.end().await,
            Err(error) => {
                pipe.abort().await;
                Err(error)
            }
        };
        // Mostly a client that left.
        if ended.is_err() {
            log::event("artifact_broken_off", &[]);
        }
    });
    Ok(Some(ResponseBody::Stream(reader)))
}

/// The bytes of a piece; none without its part.
async fn read(
    bucket: &Bucket,
    key_prefix: &str,
    piece: Piece,
) -> worker::Result<Option<web_sys::ReadableStream>> {
    let range = Range::OffsetWithLength {
        offset: piece.span.first,
        length: piece.span.bytes,
    };
    let part = bucket.get(key::part(key_prefix, piece.part)).range(range);
    let Some(object) = part.execute().await? else {
        return Ok(None);
    };
    match object
        .body()
        .ok_or("a part without a body")?
        .response_body()?
    {
        ResponseBody::Stream(stream) => Ok(Some(stream)),
        ResponseBody::Body(_) | ResponseBody::Empty => Err("a part that is no stream".into()),
    }
}
