//! A conversation with one server.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use rmcp::model::{ClientCapabilities, ClientConfig, ErrorData, Implementation};
use rmcp::service::{
    NotificationContext, RequestContext, RunningService, RunningServiceCancellationToken,
    serve_client,
};
use rmcp::{ClientHandler, Peer, RoleClient};
use tenter_base::lock;

use crate::definition::{ServerDefinition, ServerProgram, Transport};
use crate::errors::refused;
use crate::listing::{self, Listing};
use crate::stdio::{GRACE, RunningProgram, StdioTransport};
use crate::{http, roots};

/// Is called when a server says that its list of tools changed.
pub(crate) type OnListChanged = Arc<dyn Fn() + Send + Sync>;

/// The client that a server sees: it offers the project as a root, but neither its model nor its user.
pub(crate) struct Client {
    on_list_changed: OnListChanged,
    roots: Vec<PathBuf>,
}

impl ClientHandler for Client {
    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        (self.on_list_changed)();
    }

    #[expect(deprecated, reason = "servers use roots until the protocol removes them")]
    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<rmcp::model::ListRootsResult, ErrorData> {
        Ok(roots::listed(&self.roots))
    }

    fn get_info(&self) -> ClientConfig {
        let client = Implementation::new("tenter", env!("CARGO_PKG_VERSION"));
        let mut capabilities = ClientCapabilities::default();
        capabilities.roots = (!self.roots.is_empty()).then(Default::default);
        ClientConfig::new(capabilities, client)
    }
}

/// A connection that is open.
#[derive(Clone)]
pub(crate) struct ServerConnection {
    /// Sends requests.
    pub(crate) peer: Peer<RoleClient>,
    /// The program, if the server is one.
    program: Option<Arc<RunningProgram>>,
    end: Arc<ConnectionEnd>,
}

/// The end of a connection: ends it, and reports that it has ended.
struct ConnectionEnd {
    token: Mutex<Option<RunningServiceCancellationToken>>,
    is_over: Mutex<bool>,
    changes: Condvar,
}

impl ServerConnection {
    fn new(
        service: &RunningService<RoleClient, Client>,
        program: Option<Arc<RunningProgram>>,
    ) -> Self {
        let token = Mutex::new(Some(service.cancellation_token()));
        let end = ConnectionEnd { token, is_over: Mutex::new(false), changes: Condvar::new() };
        Self { peer: service.peer().clone(), program, end: Arc::new(end) }
    }

    /// Begins to end the conversation, and the server if it is a program.
    pub(crate) fn close(&self) {
        if let Some(program) = &self.program {
            program.close();
        }
        if let Some(token) = lock(&self.end.token).take() {
            token.cancel();
        }
    }

    /// Handles the end of the conversation.
    pub(crate) fn ended(&self) {
        *lock(&self.end.is_over) = true;
        self.end.changes.notify_all();
    }

    /// Waits until the conversation, and the program if there is one, has ended, for a moment.
    pub(crate) fn wait(&self) {
        let is_over = lock(&self.end.is_over);
        let waited = self.end.changes.wait_timeout_while(is_over, GRACE, |is_over| !*is_over);
        drop(waited);
        if let Some(program) = &self.program {
            program.wait();
        }
    }
}

/// A server that was greeted and has listed its tools.
pub(crate) struct OpenedConnection {
    pub(crate) connection: ServerConnection,
    /// Runs until the connection ends.
    pub(crate) service: RunningService<RoleClient, Client>,
    pub(crate) listing: Listing,
}

/// Starts a server, greets it and asks for its tools, within `limit`.
///
/// # Errors
/// Returns why there is no connection, as a sentence about the server.
pub(crate) async fn open(
    definition: &ServerDefinition,
    on_list_changed: OnListChanged,
    limit: Duration,
) -> Result<OpenedConnection, String> {
    let client = Client { on_list_changed, roots: definition.roots.clone() };
    match definition.transport.clone() {
        Transport::Program(program) => {
            let name = program.invocation.program.display().to_string();
            let (program, transport) = start(program)
                .await
                .map_err(|error| format!("{name} cannot be started: {error}"))?;
            let greeted = within(limit, greet(client, transport, definition)).await;
            match greeted {
                Ok((service, listing)) => {
                    let connection = ServerConnection::new(&service, Some(program));
                    Ok(OpenedConnection { connection, service, listing })
                }
                Err(why) => Err(with_account(&why, program).await),
            }
        }
        Transport::Http(server) => {
            let transport = http::transport(server)?;
            let greeted = within(limit, greet(client, transport, definition)).await;
            greeted.map(|(service, listing)| {
                let connection = ServerConnection::new(&service, None);
                OpenedConnection { connection, service, listing }
            })
        }
    }
}

async fn start(program: ServerProgram) -> io::Result<(Arc<RunningProgram>, StdioTransport)> {
    // Starting a program may wait.
    let program = tokio::task::spawn_blocking(|| RunningProgram::start(program)).await;
    program.unwrap_or_else(|error| Err(io::Error::other(error)))
}

async fn greet<T>(
    client: Client,
    transport: T,
    definition: &ServerDefinition,
) -> Result<(RunningService<RoleClient, Client>, Listing), String>
where
    T: rmcp::transport::Transport<RoleClient> + Send + 'static,
{
    let service = serve_client(client, transport).await.map_err(|error| refused(&error))?;
    let listing = listing::list(service.peer(), definition).await?;
    Ok((service, listing))
}

async fn within<T>(
    limit: Duration,
    work: impl Future<Output = Result<T, String>>,
) -> Result<T, String> {
    let late = || format!("it did not answer within {} s", limit.as_secs());
    tokio::time::timeout(limit, work).await.unwrap_or_else(|_| Err(late()))
}

/// Returns an error with what is known of the program, which is ended.
async fn with_account(why: &str, program: Arc<RunningProgram>) -> String {
    program.close();
    let account = tokio::task::spawn_blocking(move || {
        program.wait();
        program.account()
    });
    let account = account.await.unwrap_or_default();
    let parts: Vec<&str> = std::iter::once(why).chain(account.iter().map(String::as_str)).collect();
    parts.join("; ")
}
