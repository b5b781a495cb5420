//! Requests that the parts of the Worker make to one another.
use wasm_bindgen::JsValue;
use worker::{Request, Result};

/// `POST` with a body.
pub fn post(url: &str, body: &str) -> Result<Request> {
    with_body(url, "POST", Some(JsValue::from_str(body)))
}

/// Any method, with a body as it is.
pub fn with_body(url: &str, method: &str, body: Option<JsValue>) -> Result<Request> {
    let init = web_sys::RequestInit::new();
    init.set_method(method);
    if let Some(body) = body {
        init.set_body(&body);
    }
    Ok(web_sys::Request::new_with_str_and_init(url, &init)?.into())
}

/// An upgrade to a WebSocket.
pub fn upgrade(url: &str) -> Result<Request> {
    let headers = web_sys::Headers::new()?;
    headers.set("upgrade", "websocket")?;
    let init = web_sys::RequestInit::new();
    init.set_headers(&headers);
    Ok(web_sys::Request::new_with_str_and_init(url, &init)?.into())
}

/// `GET`.
pub fn get(url: &str) -> Result<Request> {
    with_body(url, "GET", None)
}
