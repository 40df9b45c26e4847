//! One call of a tool: its answer, its limit of time, and its cancellation.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{CallToolRequest, CallToolRequestParams, CallToolResult, ServerResult};
use rmcp::service::{PeerRequestOptions, RequestHandle};
use rmcp::{Peer, RoleClient};
use tenter_proc::Cancel;
use tenter_protocol::Object;
use tokio::sync::Notify;

use crate::errors::describe;
use crate::server::Server;

/// Maximum time to wait until a server reads the message that a call was cancelled.
const CANCEL_LIMIT: Duration = Duration::from_secs(1);

/// Calls a tool by the server's own name for it.
///
/// # Errors
/// The error for the model if there is no result.
pub(crate) fn call(
    server: &Arc<Server>,
    tool: &str,
    input: &Object,
    cancel: &Cancel,
) -> Result<CallToolResult, String> {
    let connection = server.connection(cancel)?;
    let mut params = CallToolRequestParams::new(tool.to_owned());
    params.arguments = Some(input.clone());
    let limit = server.definition.call_timeout;
    let answer = server.runtime().wait(cancel, request(connection.peer, params, limit));
    match answer {
        Some(Ok(result)) => Ok(result),
        Some(Err(why)) => {
            Err(format!("the MCP server {}: {}", server.definition.name, server.message(&why)))
        }
        None => Err("interrupted".to_owned()),
    }
}

async fn request(
    peer: Peer<RoleClient>,
    params: CallToolRequestParams,
    limit: Duration,
) -> Result<CallToolResult, String> {
    let request = CallToolRequest::new(params);
    let options = PeerRequestOptions::no_options();
    let handle = peer.send_cancellable_request(request.into(), options).await;
    let handle = handle.map_err(|error| describe(&error))?;
    let mut call = OpenCall { handle: Some(handle) };
    let Some(handle) = &mut call.handle else { return Err("interrupted".to_owned()) };
    let answer = tokio::time::timeout(limit, &mut handle.rx).await;
    let Ok(answer) = answer else {
        return Err(format!("it did not answer within {} s", limit.as_secs()));
    };
    call.handle = None;
    match answer {
        Ok(Ok(ServerResult::CallToolResult(result))) => Ok(result),
        Ok(Ok(_)) => Err("its answer is not valid".to_owned()),
        Ok(Err(error)) => Err(describe(&error)),
        Err(_) => Err("it ended before it answered".to_owned()),
    }
}

/// A call that has no answer yet. Dropping it tells the server that it is cancelled.
struct OpenCall {
    handle: Option<RequestHandle<RoleClient>>,
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        if let Some(handle) = self.handle.take()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            let cancelled = handle.cancel(Some("the call is not wanted any more".to_owned()));
            runtime.spawn(async { tokio::time::timeout(CANCEL_LIMIT, cancelled).await });
        }
    }
}

impl crate::runtime::Runtime {
    /// Runs a task and waits for it; `None` if it was cancelled, and then it is dropped.
    pub(crate) fn wait<T: Send + 'static>(
        &self,
        cancel: &Cancel,
        task: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        let handle = self.handle().ok()?;
        let (sender, outcome) = std::sync::mpsc::sync_channel(1);
        let stop = Arc::new(Notify::new());
        let handler_stop = Arc::clone(&stop);
        let _handler = cancel.on_cancel(move || handler_stop.notify_one());
        handle.spawn(async move {
            let outcome = tokio::select! {
                outcome = task => Some(outcome),
                () = stop.notified() => None,
            };
            let _ = sender.send(outcome);
        });
        outcome.recv().ok().flatten()
    }
}
