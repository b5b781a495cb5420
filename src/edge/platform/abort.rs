use js_sys::{Function, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use worker::{Error, Result, State};

/// Ends this instance of a Durable Object when what runs now has returned, as a deploy or an eviction does: what is not
/// stored is gone. The next request gets a new instance.
///
/// The runtime itself makes the call: an exception of it that went through this code would take the other objects of the
/// isolate along.
pub fn abort(state: &State) -> Result<()> {
    let method = |object: &JsValue, name: &str| -> Result<Function> {
        Reflect::get(object, &name.into())?
            .dyn_into()
            .map_err(|_| Error::from("not a function"))
    };
    let state: &JsValue = state.as_raw().as_ref();
    let abort = method(state, "abort")?.bind1(state, &"asked to".into());
    let global = js_sys::global();
    method(&global, "setTimeout")?.call2(&global, &abort, &0.into())?;
    Ok(())
}
