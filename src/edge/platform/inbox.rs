use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};
use wasm_bindgen::prelude::*;
use worker::{Result, WebSocket};

/// What arrived on a WebSocket.
#[derive(Debug, PartialEq, Eq)]
pub enum Frame {
    /// A text frame.
    Text(String),
    /// The socket is closed, by the peer or because it broke a bound.
    Closed,
}

/// Receives text frames of a WebSocket within bounds.
///
/// The runtime has no back-pressure for incoming frames, and the stream of workers-rs queues without end, so a hostile
/// peer could fill the isolate. Here a frame or a queue over its bound closes the socket, as does a binary frame.
pub struct Inbox {
    socket: WebSocket,
    shared: Rc<RefCell<Shared>>,
    _listeners: [Closure<dyn FnMut(JsValue)>; 3],
}

#[derive(Default)]
struct Shared {
    queue: VecDeque<String>,
    bytes: usize,
    closed: bool,
    waker: Option<Waker>,
}

impl Shared {
    fn close(&mut self) {
        self.closed = true;
        self.wake();
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

impl Inbox {
    /// Accepts the socket and listens. `max_frame` and `max_queue` are in bytes.
    pub fn open(socket: WebSocket, max_frame: usize, max_queue: usize) -> Result<Self> {
        let shared = Rc::new(RefCell::new(Shared::default()));
        let on_message = {
            let (shared, socket) = (shared.clone(), socket.clone());
            Closure::<dyn FnMut(JsValue)>::own_assert_unwind_safe(move |event: JsValue| {
                let text = event
                    .unchecked_into::<web_sys::MessageEvent>()
                    .data()
                    .as_string();
                let mut shared = shared.borrow_mut();
                // After one that was refused none is taken, even if there is room again: nothing may be missing between.
                if shared.closed {
                    return;
                }
                match text {
                    Some(text)
                        if text.len() <= max_frame && shared.bytes + text.len() <= max_queue =>
                    {
                        shared.bytes += text.len();
                        shared.queue.push_back(text);
                        shared.wake();
                    }
                    Some(_) | None => {
                        let _ = socket.close(Some(1009), Some("frame refused"));
                        shared.close();
                    }
                }
            })
        };
        let on_end = || {
            let shared = shared.clone();
            Closure::<dyn FnMut(JsValue)>::own_assert_unwind_safe(move |_: JsValue| {
                shared.borrow_mut().close()
            })
        };
        let listeners = [on_message, on_end(), on_end()];
        let raw: &web_sys::WebSocket = socket.as_ref();
        for (name, listener) in ["message", "close", "error"].iter().zip(&listeners) {
            raw.add_event_listener_with_callback(name, listener.as_ref().unchecked_ref())?;
        }
        socket.accept()?;
        Ok(Self {
            socket,
            shared,
            _listeners: listeners,
        })
    }

    /// Sends a text frame.
    pub fn send(&self, text: &str) -> Result<()> {
        self.socket.send_with_str(text)
    }

    /// The next frame. Frames that arrived before a close come first.
    pub async fn next(&self) -> Frame {
        poll_fn(|cx| {
            let mut shared = self.shared.borrow_mut();
            match shared.queue.pop_front() {
                Some(text) => {
                    shared.bytes -= text.len();
                    Poll::Ready(Frame::Text(text))
                }
                None if shared.closed => Poll::Ready(Frame::Closed),
                None => {
                    shared.waker = Some(cx.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }

    /// A frame that has arrived already.
    pub fn ready(&self) -> Option<String> {
        let mut shared = self.shared.borrow_mut();
        let text = shared.queue.pop_front()?;
        shared.bytes -= text.len();
        Some(text)
    }

    /// Whether frames can still be sent.
    pub fn is_open(&self) -> bool {
        !self.shared.borrow().closed
    }

    /// Closes the socket; `next` gives what has arrived, then `Closed`.
    pub fn close(&self) {
        let _ = self.socket.close(Some(1000), Some("done"));
        self.shared.borrow_mut().close();
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        let raw: &web_sys::WebSocket = self.socket.as_ref();
        for (name, listener) in ["message", "close", "error"].iter().zip(&self._listeners) {
            let _ =
                raw.remove_event_listener_with_callback(name, listener.as_ref().unchecked_ref());
        }
        self.close();
    }
}
