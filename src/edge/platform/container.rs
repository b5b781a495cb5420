use super::{js_error, to_js};
use serde::Serialize;
use std::collections::BTreeMap;
use wasm_bindgen::prelude::*;
use worker::{Fetcher, Response, Result, State, WebSocket};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(extends = js_sys::Object)]
    #[derive(Clone)]
    type JsContainer;
    #[wasm_bindgen(method, getter)]
    fn running(this: &JsContainer) -> bool;
    #[wasm_bindgen(method, getter)]
    fn images(this: &JsContainer) -> JsValue;
    #[wasm_bindgen(method, catch)]
    fn start(this: &JsContainer, options: &JsValue) -> std::result::Result<(), JsValue>;
    #[wasm_bindgen(method, catch)]
    async fn monitor(this: &JsContainer) -> std::result::Result<JsValue, JsValue>;
    #[wasm_bindgen(method, catch)]
    async fn destroy(this: &JsContainer) -> std::result::Result<JsValue, JsValue>;
    #[wasm_bindgen(method, catch, js_name = getTcpPort)]
    fn get_tcp_port(
        this: &JsContainer,
        port: u16,
    ) -> std::result::Result<worker_sys::Fetcher, JsValue>;
    #[wasm_bindgen(method, catch, js_name = setInactivityTimeout)]
    async fn set_inactivity_timeout(
        this: &JsContainer,
        ms: f64,
    ) -> std::result::Result<JsValue, JsValue>;
    #[wasm_bindgen(method, catch, js_name = interceptAllOutboundHttp)]
    async fn intercept_all_outbound_http(
        this: &JsContainer,
        to: &worker_sys::Fetcher,
    ) -> std::result::Result<JsValue, JsValue>;
    #[wasm_bindgen(method, catch, js_name = interceptOutboundHttp)]
    async fn intercept_outbound_http(
        this: &JsContainer,
        addr: &str,
        to: &worker_sys::Fetcher,
    ) -> std::result::Result<JsValue, JsValue>;
    #[wasm_bindgen(method, catch, js_name = interceptOutboundHttps)]
    async fn intercept_outbound_https(
        this: &JsContainer,
        addr: &str,
        to: &worker_sys::Fetcher,
    ) -> std::result::Result<JsValue, JsValue>;
}

/// The container of a Durable Object.
#[derive(Clone)]
pub struct Container(JsContainer);

/// How a container starts. Internet is always off: what it reaches is what is intercepted.
#[derive(Serialize)]
pub struct StartOptions {
    /// Reference of the image, from [`Container::image`].
    pub image: String,
    /// Environment variables.
    pub env: BTreeMap<String, String>,
    #[serde(rename = "enableInternet")]
    enable_internet: bool,
}

impl StartOptions {
    /// Starts `image` with `env`.
    pub fn new(image: String, env: BTreeMap<String, String>) -> Self {
        Self {
            image,
            env,
            enable_internet: false,
        }
    }
}

impl Container {
    /// The container of this object, if its class has one.
    pub fn of(state: &State) -> Result<Self> {
        let container =
            js_sys::Reflect::get(state.as_raw(), &"container".into()).map_err(js_error)?;
        if container.is_undefined() || container.is_null() {
            return Err("this class has no container in wrangler.toml".into());
        }
        Ok(Self(container.unchecked_into()))
    }

    /// Whether it runs, as far as the runtime knows.
    pub fn running(&self) -> bool {
        self.0.running()
    }

    /// Reference of an image named in wrangler.toml.
    pub fn image(&self, name: &str) -> Result<String> {
        let image = js_sys::Reflect::get(&self.0.images(), &name.into()).map_err(js_error)?;
        image
            .as_string()
            .ok_or_else(|| format!("wrangler.toml names no image '{name}' for this class").into())
    }

    /// Starts it. Returns at once; a failure shows in [`monitor`](Self::monitor).
    pub fn start(&self, options: &StartOptions) -> Result<()> {
        self.0.start(&to_js(options)?).map_err(js_error)
    }

    /// Resolves when it ends; `Err` if it did not end with code 0 or did not start.
    pub async fn monitor(&self) -> Result<()> {
        self.0.monitor().await.map(|_| ()).map_err(js_error)
    }

    /// Ends it. Succeeds if it does not run.
    pub async fn destroy(&self) -> Result<()> {
        self.0.destroy().await.map(|_| ()).map_err(js_error)
    }

    /// Keeps it alive for `ms` from now, also when the object is evicted.
    pub async fn keep_alive(&self, ms: u64) -> Result<()> {
        self.0
            .set_inactivity_timeout(ms as f64)
            .await
            .map(|_| ())
            .map_err(js_error)
    }

    /// Sends plain HTTP for `host` (port 80) to `to`. The first match wins and none can be removed.
    pub async fn intercept_http(&self, host: &str, to: &worker_sys::Fetcher) -> Result<()> {
        self.0
            .intercept_outbound_http(host, to)
            .await
            .map(|_| ())
            .map_err(js_error)
    }

    /// Sends HTTP and HTTPS of every host to `to`.
    pub async fn intercept_everything(&self, to: &worker_sys::Fetcher) -> Result<()> {
        self.0
            .intercept_all_outbound_http(to)
            .await
            .map_err(js_error)?;
        self.0
            .intercept_outbound_https("*", to)
            .await
            .map(|_| ())
            .map_err(js_error)
    }

    /// HTTP to a port of the container.
    pub async fn fetch(&self, port: u16, path: &str) -> Result<Response> {
        self.port(port)?
            .fetch(format!("http://container{path}"), None)
            .await
    }

    /// The answer to a WebSocket upgrade at a port of the container, to be handed on as it is.
    pub async fn upgrade(&self, port: u16, path: &str) -> Result<Response> {
        let request = super::request::upgrade(&format!("http://container{path}"))?;
        self.port(port)?.fetch_request(request).await
    }

    /// A WebSocket to a port of the container, not yet accepted.
    pub async fn connect(&self, port: u16, path: &str) -> Result<WebSocket> {
        self.upgrade(port, path)
            .await?
            .websocket()
            .ok_or_else(|| "the container did not take the WebSocket".into())
    }

    pub(super) fn as_js(&self) -> &JsValue {
        self.0.as_ref()
    }

    fn port(&self, port: u16) -> Result<Fetcher> {
        self.0
            .get_tcp_port(port)
            .map(Fetcher::from)
            .map_err(js_error)
    }
}
