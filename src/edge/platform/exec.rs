use super::container::Container;
use super::{js_error, to_js};
use futures_util::future::{select, Either};
use futures_util::{AsyncReadExt, FutureExt};
use serde::Serialize;
use std::collections::BTreeMap;
use std::pin::pin;
use std::time::Duration;
use wasm_bindgen::prelude::*;
use worker::{Delay, Result};

#[wasm_bindgen]
extern "C" {
    type CanExec;
    #[wasm_bindgen(method, catch)]
    async fn exec(
        this: &CanExec,
        argv: Vec<String>,
        options: &JsValue,
    ) -> std::result::Result<JsProcess, JsValue>;

    type JsProcess;
    #[wasm_bindgen(method, getter)]
    fn stdout(this: &JsProcess) -> web_sys::ReadableStream;
    #[wasm_bindgen(method, getter, js_name = exitCode)]
    fn exit_code(this: &JsProcess) -> js_sys::Promise;
    #[wasm_bindgen(method, catch)]
    fn kill(this: &JsProcess, signal: i32) -> std::result::Result<(), JsValue>;
}

/// A process to run in a container.
pub struct Exec {
    /// Program and arguments; nothing is expanded.
    pub argv: Vec<String>,
    /// Where it starts.
    pub cwd: String,
    /// Variables added to the container's.
    pub env: BTreeMap<String, String>,
    /// What it reads; none for nothing.
    pub stdin: Option<web_sys::ReadableStream>,
    /// Killed after this time.
    pub timeout: Duration,
    /// Killed when it printed more bytes than this.
    pub max_output: usize,
}

/// How a process ended.
pub struct Executed {
    /// Standard output and error, each in its order, at most `max_output` bytes.
    pub output: Vec<u8>,
    /// Exit code; none if it was killed.
    pub exit_code: Option<i32>,
    /// Why it was killed.
    pub killed: Option<Killed>,
}

/// Why a process was killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Killed {
    /// It ran too long.
    Timeout,
    /// It printed too much.
    OutputLimit,
}

/// How long a killed process has to close its output. An exec that is left undrained wedges the container.
const DRAIN: Duration = Duration::from_secs(5);

impl Exec {
    /// Runs it to its end, within its limits.
    pub async fn run(self, container: &Container) -> Result<Executed> {
        #[derive(Serialize)]
        struct Options {
            cwd: String,
            env: BTreeMap<String, String>,
            stderr: &'static str,
        }
        let options = to_js(&Options {
            cwd: self.cwd,
            env: self.env,
            stderr: "combined",
        })?;
        if let Some(stdin) = self.stdin {
            js_sys::Reflect::set(&options, &"stdin".into(), &stdin).map_err(js_error)?;
        }
        let process = container
            .as_js()
            .unchecked_ref::<CanExec>()
            .exec(self.argv, &options)
            .await
            .map_err(js_error)?;
        let mut reader = wasm_streams::ReadableStream::from_raw(process.stdout().unchecked_into())
            .into_async_read();
        let mut output = Vec::new();
        let mut buffer = vec![0; 64 << 10];
        let killed = {
            let mut deadline = pin!(Delay::from(self.timeout).fuse());
            loop {
                let read = pin!(reader.read(&mut buffer));
                match select(read, &mut deadline).await {
                    Either::Left((Ok(0), _)) => break None,
                    Either::Left((Ok(n), _)) if output.len() + n > self.max_output => {
                        output.extend_from_slice(&buffer[..self.max_output - output.len()]);
                        break Some(Killed::OutputLimit);
                    }
                    Either::Left((Ok(n), _)) => output.extend_from_slice(&buffer[..n]),
                    Either::Left((Err(error), _)) => return Err(error.to_string().into()),
                    Either::Right(_) => break Some(Killed::Timeout),
                }
            }
        };
        if killed.is_none() {
            let code = wasm_bindgen_futures::JsFuture::from(process.exit_code())
                .await
                .map_err(js_error)?;
            return Ok(Executed {
                output,
                exit_code: code.as_f64().map(|code| code as i32),
                killed,
            });
        }
        process.kill(9).map_err(js_error)?;
        let drain = pin!(async { while matches!(reader.read(&mut buffer).await, Ok(1..)) {} });
        match select(drain, Delay::from(DRAIN)).await {
            Either::Left(_) => Ok(Executed {
                output,
                exit_code: None,
                killed,
            }),
            Either::Right(_) => Err("a killed process kept its output open".into()),
        }
    }
}
