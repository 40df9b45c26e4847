//! Looks up the names of servers for requests.

use std::io;
use std::time::Duration;

use http::Uri;
use tenter_base::server_names::{self, GETENT, GETENT_ARGUMENTS};
use tenter_proc::{Cancel, Invocation, Limits, ProcessEnd};
use ureq::Error;
use ureq::config::Config;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

/// Maximum number of addresses of a server, as in the library.
const MAX_ADDRESSES: usize = 16;

/// Looks up names with a program of the system. A request that is cancelled ends it.
#[derive(Debug)]
pub(crate) struct ServerNames {
    pub(crate) cancel: Cancel,
    pub(crate) timeout: Duration,
}

impl Resolver for ServerNames {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        _timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        let server = uri.scheme().zip(uri.authority());
        let server = server.and_then(|(scheme, it)| DefaultResolver::host_and_port(scheme, it));
        let server = server.ok_or_else(|| Error::BadUri(uri.to_string()))?;
        let (name, port) = server.rsplit_once(':').ok_or_else(|| Error::BadUri(server.clone()))?;
        let port = port.parse().map_err(|_| Error::BadUri(server.clone()))?;
        let addresses = server_names::look_up(name, port, |name| self.getent(name))?;
        let mut result = self.empty();
        for address in config.ip_family().keep_wanted(addresses.into_iter()).take(MAX_ADDRESSES) {
            result.push(address);
        }
        if result.is_empty() { Err(Error::HostNotFound) } else { Ok(result) }
    }
}

impl ServerNames {
    /// Returns what the program prints for a name, or `None` if it does not know the name.
    fn getent(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        let invocation = Invocation {
            program: GETENT.into(),
            args: GETENT_ARGUMENTS.iter().chain([&name]).map(Into::into).collect(),
            cwd: "/".into(),
            limits: Limits { timeout: self.timeout, ..Limits::default() },
            ..Invocation::default()
        };
        let completion = tenter_proc::run(&invocation, &self.cancel);
        match completion.end {
            ProcessEnd::Exited(0) => Ok(Some(completion.stdout.head)),
            ProcessEnd::Exited(_) => Ok(None),
            ProcessEnd::NotStarted(error) => Err(error),
            ProcessEnd::Cancelled => Err(io::Error::other("interrupted")),
            ProcessEnd::TimedOut => Err(io::Error::other("looking up its name takes too long")),
            ProcessEnd::Signalled(signal) => {
                Err(io::Error::other(format!("signal {signal} ended {GETENT}")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look_up(uri: &str) -> Result<Vec<String>, Error> {
        look_up_until(uri, Cancel::new())
    }

    fn look_up_until(uri: &str, cancel: Cancel) -> Result<Vec<String>, Error> {
        let names = ServerNames { cancel, timeout: Duration::from_secs(20) };
        let uri = uri.parse().unwrap();
        let addresses = names.resolve(&uri, &Config::default(), NextTimeout::default())?;
        Ok(addresses.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn names_and_addresses_have_the_port_of_the_scheme_unless_they_name_one() {
        assert_eq!(look_up("https://127.0.0.1/v1").unwrap(), ["127.0.0.1:443"]);
        assert_eq!(look_up("http://[::1]:8080").unwrap(), ["[::1]:8080"]);
        assert!(look_up("http://localhost").unwrap().iter().all(|it| it.ends_with(":80")));
    }

    #[test]
    fn a_cancelled_request_does_not_wait_for_a_name() {
        let cancel = Cancel::new();
        cancel.cancel();
        assert_eq!(look_up_until("http://127.0.0.1", cancel.clone()).unwrap(), ["127.0.0.1:80"]);
        let error = look_up_until("http://localhost", cancel).unwrap_err();
        assert!(error.to_string().contains("interrupted"), "{error}");
    }

    #[test]
    fn an_unknown_name_is_an_error_that_says_so() {
        let error = look_up("https://no.such.name.invalid/").unwrap_err();
        assert!(error.to_string().contains("not known"), "{error}");
        assert!(matches!(look_up("nowhere://x/"), Err(Error::BadUri(_))));
    }
}
