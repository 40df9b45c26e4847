//! The logins of the user with MCP servers: a private file for each URL, below the state directory.

use std::path::PathBuf;
use std::sync::Arc;
use std::{fs, io};

use sha2::{Digest as _, Sha256};
use tenter_base::{FileLock, hex, replace_file, untrusted_file};
use tenter_commands::project::Project;
use tenter_commands::{authorities, proxy};
use tenter_mcp::{Authorization, Grant, Network, RegisteredClient};
use tenter_proc::Cancel;
use tenter_terminal::{Env, now};

/// Maximum size of a file, in bytes.
const MAX_SIZE: u64 = 256 << 10;

/// The login with the server at one URL.
#[derive(Clone)]
pub(crate) struct GrantFile {
    env: Env,
    url: String,
    path: PathBuf,
}

impl GrantFile {
    /// Returns the place of the login with the server at `url`.
    pub(crate) fn new(project: &Project, url: &str) -> Self {
        let name = hex(&Sha256::digest(url.as_bytes())[..16]);
        let path = project.env.state_dir().join("mcp").join(format!("{name}.json"));
        Self { env: project.env.clone(), url: url.to_owned(), path }
    }

    /// Reads the login; `None` if the user has not logged in, or the file cannot be read.
    pub(crate) fn read(&self) -> Option<Grant> {
        let bytes = untrusted_file::read(&self.path, MAX_SIZE).ok()?;
        serde_json::from_slice(&bytes).ok().filter(|grant: &Grant| grant.url == self.url)
    }

    /// Logs in; `show` gets the address that the user opens in a browser.
    ///
    /// # Errors
    /// The user is not logged in; the error says why.
    pub(crate) fn log_in(
        &self,
        client: &RegisteredClient,
        cancel: &Cancel,
        show: &dyn Fn(&str),
    ) -> Result<(), String> {
        let grant = self.with_network(cancel, |network| {
            tenter_mcp::login(network, &self.url, client, seconds(), show)
        })?;
        self.write(&grant)
    }

    /// Removes the login; returns whether there was one.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub(crate) fn remove(&self) -> io::Result<bool> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            removed => removed.map(|()| true),
        }
    }

    /// Returns what gives each request its header, if the user has logged in.
    pub(super) fn authorization(&self) -> Option<(Grant, Authorization)> {
        let grant = self.read()?;
        let file = self.clone();
        Some((grant, Arc::new(move || file.current().map(|grant| grant.authorization()))))
    }

    /// Returns the login with a token that has not ended. Another process may renew it, too.
    fn current(&self) -> Result<Grant, String> {
        let absent = || "the user is not logged in".to_owned();
        let grant = self.read().ok_or_else(absent)?;
        if !grant.ends_soon(seconds()) {
            return Ok(grant);
        }
        let _lock = FileLock::acquire(&self.path.with_extension("lock"))
            .map_err(|error| format!("the login cannot be locked: {error}"))?;
        let grant = self.read().ok_or_else(absent)?;
        if !grant.ends_soon(seconds()) {
            return Ok(grant);
        }
        let renewed = self.with_network(&Cancel::new(), |network| grant.renew(network, seconds()));
        let renewed = renewed
            .map_err(|why| format!("{why}; log in again: `tenter mcp login` and its name"))?;
        self.write(&renewed)?;
        Ok(renewed)
    }

    fn write(&self, grant: &Grant) -> Result<(), String> {
        let text = serde_json::to_vec_pretty(grant).map_err(|error| error.to_string())?;
        replace_file::replace(&self.path, &text)
            .map_err(|error| format!("{}: {error}", self.path.display()))
    }

    fn with_network<T>(
        &self,
        cancel: &Cancel,
        run: impl FnOnce(Network<'_>) -> Result<T, String>,
    ) -> Result<T, String> {
        let certificates =
            authorities::from_environment(&self.env).map_err(|failure| failure.message)?;
        let proxy = |url: &str| proxy::find(url, None, &self.env);
        let authorities = certificates.authorities.as_ref();
        run(Network { proxy: &proxy, authorities, cancel })
    }
}

/// Returns the time in seconds since 1970.
fn seconds() -> u64 {
    now().as_second().try_into().unwrap_or_default()
}
