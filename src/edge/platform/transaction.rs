use wasm_bindgen::prelude::*;
use worker::{Error, Result, Storage};

#[wasm_bindgen]
extern "C" {
    type SyncStorage;
    #[wasm_bindgen(method, catch, js_name = transactionSync)]
    fn js_transaction_sync(
        this: &SyncStorage,
        body: &mut dyn FnMut() -> std::result::Result<(), JsValue>,
    ) -> std::result::Result<(), JsValue>;
}

/// Runs `body` in one SQLite transaction; an `Err` rolls all of it back. (An `Err` from `fetch` alone rolls back nothing.)
pub fn transaction_sync<T>(storage: &Storage, body: impl FnOnce() -> Result<T>) -> Result<T> {
    let mut result = None;
    let mut captured = std::panic::AssertUnwindSafe((Some(body), &mut result));
    let ended = storage
        .as_raw()
        .unchecked_ref::<SyncStorage>()
        .js_transaction_sync(&mut move || {
            // The whole, or the closure captures its fields and loses the assertion.
            let captured = &mut captured;
            let Some(body) = captured.0 .0.take() else {
                return Ok(());
            };
            let outcome = body();
            let verdict = if outcome.is_ok() {
                Ok(())
            } else {
                Err(JsValue::from_str("rollback"))
            };
            *captured.0 .1 = Some(outcome);
            verdict
        });
    match result {
        Some(Ok(value)) => ended.map(|()| value).map_err(Error::from),
        Some(Err(error)) => Err(error),
        None => Err("the transaction did not run".into()),
    }
}
