//! The runtime protocol for a hook behind HTTP: the payload of each event is one POST.

use std::collections::HashMap;
use std::io::{self, BufRead as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tenter_proc::Cancel;
use tenter_protocol::runtime::{CANCEL, Cancelled, INITIALIZE, PROTOCOL, SHUTDOWN};
use tenter_terminal::{Failure, ui};

use super::{Post, one_line};

/// The code of an error that is not about the protocol.
const SERVER_ERROR: i64 = -32000;
/// Maximum number of events that are posted at once.
const CONCURRENCY: usize = 16;

/// A message of the engine.
#[derive(Deserialize)]
struct EngineMessage {
    id: Option<u64>,
    method: String,
    params: Option<Box<RawValue>>,
}

/// Posts the events of one hook.
struct Server {
    /// The POST, or the reason why there is none, which answers every event.
    post: Result<Post, String>,
    /// The switches that cancel the open requests, by id.
    open: Mutex<HashMap<u64, Cancel>>,
}

/// Posts the payload of each event until the engine ends the process.
pub(super) fn run(post: Result<Post, String>) -> Result<(), Failure> {
    let server = Arc::new(Server { post, open: Mutex::default() });
    for line in io::stdin().lock().lines() {
        let line = line.map_err(|error| Failure::new(format!("cannot read stdin: {error}")))?;
        let message: EngineMessage = serde_json::from_str(&line)
            .map_err(|error| Failure::new(format!("cannot read a message: {error}")))?;
        if message.method == SHUTDOWN {
            break;
        }
        server.receive(message);
    }
    Ok(())
}

impl Server {
    fn receive(self: &Arc<Self>, EngineMessage { id, method, params }: EngineMessage) {
        let params = params.map_or_else(|| "{}".to_owned(), |params| params.get().to_owned());
        match id {
            Some(id) if method == INITIALIZE => {
                let result = json!({"protocol": PROTOCOL, "concurrency": CONCURRENCY});
                answer(id, "result", &result.to_string());
            }
            Some(id) => self.start(id, params),
            None if method == CANCEL => {
                let cancelled = serde_json::from_str(&params).ok();
                let id = cancelled.map(|Cancelled { id }| id);
                if let Some(cancel) = id.and_then(|id| self.open().remove(&id)) {
                    cancel.cancel();
                }
            }
            None => {}
        }
    }

    /// Posts a payload in a thread of its own, so that a slow answer delays no other.
    fn start(self: &Arc<Self>, id: u64, payload: String) {
        let cancel = Cancel::new();
        self.open().insert(id, cancel.clone());
        let server = Arc::clone(self);
        let post = move || {
            let reply = server.send(payload, &cancel);
            server.open().remove(&id);
            match reply {
                Ok(reply) => answer(id, "result", reply.as_deref().unwrap_or("null")),
                Err(message) => answer_error(id, &message),
            }
        };
        if let Err(error) = thread::Builder::new().spawn(post) {
            self.open().remove(&id);
            answer_error(id, &format!("cannot start a thread: {error}"));
        }
    }

    fn send(&self, payload: String, cancel: &Cancel) -> Result<Option<String>, String> {
        let post = self.post.as_ref().map_err(String::clone)?;
        post.send(payload.into_bytes(), cancel).map_err(one_line)
    }

    fn open(&self) -> MutexGuard<'_, HashMap<u64, Cancel>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn answer_error(id: u64, message: &str) {
    let error: Value = json!({"code": SERVER_ERROR, "message": message});
    answer(id, "error", &error.to_string());
}

/// Writes the answer to a request: `json` is the value of `result` or `error`. A line break in it is only between tokens.
fn answer(id: u64, field: &str, json: &str) {
    let json = json.replace(['\n', '\r'], " ");
    ui::out_raw(&format!("{{\"jsonrpc\": \"2.0\", \"id\": {id}, \"{field}\": {json}}}\n"));
}
