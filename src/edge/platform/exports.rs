use super::{js_error, to_js};
use crate::props::ContainerProps;
use wasm_bindgen::prelude::*;
use worker::Result;

#[wasm_bindgen]
extern "C" {
    type HasExports;
    #[wasm_bindgen(method, getter, js_name = exports)]
    fn exports(this: &HasExports) -> Exports;

    type Exports;
    #[wasm_bindgen(method, catch, js_name = BackupGateway)]
    fn backup_gateway(
        this: &Exports,
        options: &JsValue,
    ) -> std::result::Result<worker_sys::Fetcher, JsValue>;
    #[wasm_bindgen(method, catch, js_name = HarnessEgress)]
    fn harness_egress(
        this: &Exports,
        options: &JsValue,
    ) -> std::result::Result<worker_sys::Fetcher, JsValue>;
    #[wasm_bindgen(method, catch, js_name = SandboxEgress)]
    fn sandbox_egress(
        this: &Exports,
        options: &JsValue,
    ) -> std::result::Result<worker_sys::Fetcher, JsValue>;
}

/// Named entrypoints that containers' requests go to.
#[derive(Clone, Copy, Debug)]
pub enum EgressClass {
    /// For what sandboxes store and fetch.
    Backup,
    /// For harness containers.
    Harness,
    /// For sandbox containers.
    Sandbox,
}

/// A fetcher of this Worker's own entrypoint, with props. `context` is a Durable Object's state or a request's context.
pub fn egress_fetcher(
    context: &JsValue,
    class: EgressClass,
    props: &ContainerProps,
) -> Result<worker_sys::Fetcher> {
    let options = to_js(&serde_json::json!({ "props": props }))?;
    let exports = context.unchecked_ref::<HasExports>().exports();
    match class {
        EgressClass::Backup => exports.backup_gateway(&options),
        EgressClass::Harness => exports.harness_egress(&options),
        EgressClass::Sandbox => exports.sandbox_egress(&options),
    }
    .map_err(js_error)
}
