//! The process of the proxy, and the launcher's end of it.

use std::ffi::OsString;
use std::io::{self, IoSlice, IoSliceMut, Read as _};
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use tenter_protocol::confinement::DomainRule;

use super::connection::{self, start_thread};
use super::router::Router;
use super::upstream::Upstream;
use crate::landlock_layer;

/// The launcher's first argument.
pub(crate) const COMMAND: &str = "confine";
/// The argument after it that makes a launcher the proxy. The lists of rules follow it, as JSON.
pub(crate) const ARGUMENT: &str = "--proxy";
/// The variables that say where the proxy is. Programs read them in either case.
const VARIABLES: [&str; 6] =
    ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
/// Maximum number of open connections.
const MAX_CONNECTIONS: usize = 512;
/// The newest ABI of Landlock without scopes: the proxy's resolver may need sockets of others.
const UNSCOPED_ABI: u8 = 5;

/// Sending to a proxy that ended is no signal, and a command inherits no listener. Systems that confine nothing have no such flags.
#[cfg(target_os = "linux")]
const FLAGS: (SendFlags, RecvFlags) = (SendFlags::NOSIGNAL, RecvFlags::CMSG_CLOEXEC);
#[cfg(not(target_os = "linux"))]
const FLAGS: (SendFlags, RecvFlags) = (SendFlags::empty(), RecvFlags::empty());

/// The proxy's process, as the launcher sees it. It ends with this value.
#[derive(Debug)]
pub(crate) struct ProxyProcess {
    channel: UnixStream,
    /// True if a host of this machine may be reached through the proxy.
    reaches_localhost: bool,
    has_upstream: bool,
}

impl ProxyProcess {
    /// Starts the process. It stays in the network in which this process is now.
    ///
    /// # Errors
    /// It cannot be started.
    #[expect(clippy::disallowed_methods, reason = "this process must not have threads")]
    pub(crate) fn start(
        rules: &[Vec<DomainRule>],
        env: &[(OsString, OsString)],
    ) -> Result<Self, String> {
        let failure = |error: io::Error| format!("the proxy does not start ({error})");
        let (channel, theirs) = UnixStream::pair().map_err(failure)?;
        let rules_json = serde_json::to_string(rules).map_err(|error| failure(error.into()))?;
        Command::new("/proc/self/exe")
            .args([COMMAND, ARGUMENT, &rules_json])
            .current_dir("/")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            // Signals of the terminal are for the command, which decides what they mean.
            .process_group(0)
            .spawn()
            .map_err(failure)?;
        let names_localhost = |list: &Vec<DomainRule>| list.iter().any(DomainRule::is_local);
        Ok(Self {
            channel,
            reaches_localhost: rules.iter().all(names_localhost),
            has_upstream: Upstream::in_variables(env).is_some(),
        })
    }

    /// Makes a listener in the network in which this process is now, and gives it to the process.
    ///
    /// # Errors
    /// There is no loopback interface, or the process ended.
    pub(crate) fn listen(self) -> Result<RunningProxy, String> {
        let failure = |error: io::Error| format!("the proxy has no listener ({error})");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failure)?;
        let address = listener.local_addr().map_err(failure)?;
        let descriptors = [listener.as_fd()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(&descriptors));
        sendmsg(&self.channel, &[IoSlice::new(b"\n")], &mut control, FLAGS.0)
            .map_err(|error| failure(error.into()))?;
        Ok(RunningProxy { address, process: self })
    }
}

/// A proxy with a listener.
#[derive(Debug)]
pub(crate) struct RunningProxy {
    address: SocketAddr,
    process: ProxyProcess,
}

impl RunningProxy {
    /// Returns true if another proxy resolves names and connects.
    pub(crate) fn has_upstream(&self) -> bool {
        self.process.has_upstream
    }

    /// Returns the variables of the command's environment that make programs use it.
    pub(crate) fn variables(&self) -> Vec<(&'static str, String)> {
        let url = format!("http://{}", self.address);
        let own = if self.process.reaches_localhost { "" } else { "localhost,127.0.0.1,::1" };
        VARIABLES
            .into_iter()
            .map(|name| (name, url.clone()))
            .chain(["NO_PROXY", "no_proxy"].map(|name| (name, own.to_owned())))
            .chain([("NODE_USE_ENV_PROXY", "1".to_owned())])
            .collect()
    }
}

/// Runs the proxy until the launcher ends, which closes its end of stdin.
///
/// # Errors
/// The rules cannot be read, or there is no listener.
pub(crate) fn run(rules: &OsString, env: &[(OsString, OsString)]) -> Result<(), String> {
    let rules =
        serde_json::from_slice(rules.as_encoded_bytes()).map_err(|error| error.to_string())?;
    let Some(listener) = receive_listener().map_err(|error| error.to_string())? else {
        return Ok(());
    };
    // An addition: the proxy reads what the command sends, and has nothing to write.
    let _ = landlock_layer::restrict(&[Vec::new()], landlock_layer::abi(UNSCOPED_ABI));
    let router = Arc::new(Router::new(rules, Upstream::in_variables(env)));
    start_thread(move || accept(&listener, &router)).map_err(|error| error.to_string())?;
    let mut rest = Vec::new();
    io::stdin().read_to_end(&mut rest).map_err(|error| error.to_string())?;
    Ok(())
}

/// Receives the listener from the launcher; `None` if it ended before.
fn receive_listener() -> io::Result<Option<TcpListener>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    recvmsg(io::stdin(), &mut [IoSliceMut::new(&mut byte)], &mut control, FLAGS.1)?;
    let descriptor = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    Ok(descriptor.map(TcpListener::from))
}

fn accept(listener: &TcpListener, router: &Arc<Router>) {
    let open = Arc::new(AtomicUsize::new(0));
    for client in listener.incoming() {
        // A connection that ended before it was accepted is an error, too.
        let Ok(client) = client else { continue };
        if open.fetch_add(1, Ordering::Relaxed) >= MAX_CONNECTIONS {
            open.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let (router, guard) = (Arc::clone(router), OpenConnection(Arc::clone(&open)));
        let _ = start_thread(move || {
            let _guard = guard;
            connection::serve(client, &router);
        });
    }
}

/// Counts a connection while it is open.
struct OpenConnection(Arc<AtomicUsize>);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
