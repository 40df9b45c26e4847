//! Fetches packages: from a file behind HTTPS, a repository, or a directory.

use std::path::Path;
use std::time::Duration;

use http::header::{ETAG, IF_NONE_MATCH};
use http::{Request, StatusCode};
use tenter_http::{HttpClient, HttpSettings, ResponseLimits};
use tenter_plugins::bundle::{MAX_PACKAGE, TEMPORARY};
use tenter_plugins::{FetchError, Fetcher, Spec};
use tenter_proc::Cancel;
use tenter_protocol::{Diagnostic, Severity};
use tenter_terminal::Env;

use super::configured::BundleSource;
use super::read_file;
use crate::{authorities, proxy};

/// Maximum duration of one git command, or of a download.
const TIMEOUT: Duration = Duration::from_mins(10);
/// Maximum time without a byte from a server.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// A package that was fetched.
pub(super) enum FetchedPackage {
    /// The server's file still has the given ETag.
    Unchanged,
    /// The bytes, and their ETag.
    Bytes(Vec<u8>, Option<String>),
}

/// Fetches a package. `etag` is of the one that was checked last.
///
/// # Errors
/// There is no whole package.
pub(super) fn fetch(
    env: &Env,
    source: &BundleSource,
    etag: Option<&str>,
    cancel: &Cancel,
) -> Result<FetchedPackage, Diagnostic> {
    match source {
        BundleSource::Url(url) => download(env, url, etag, cancel),
        BundleSource::Git { repository, reference, file } => {
            fetch_from_git(env, (repository, reference.as_deref()), file, cancel)
        }
        BundleSource::Directory { path, file } => {
            read_file(&Path::new(path).join(file)).map(|bytes| FetchedPackage::Bytes(bytes, None))
        }
    }
}

fn failed(message: String) -> Diagnostic {
    Diagnostic::new(TEMPORARY, Severity::Error, message)
}

fn download(
    env: &Env,
    url: &str,
    etag: Option<&str>,
    cancel: &Cancel,
) -> Result<FetchedPackage, Diagnostic> {
    let unreachable = |why: String| failed(format!("cannot download {url}: {why}"));
    let authorities = authorities::from_environment(env).map_err(|one| unreachable(one.message))?;
    let client = HttpClient::new(HttpSettings {
        proxy: proxy::find(url, None, env),
        authorities: authorities.authorities,
        idle_timeout: IDLE_TIMEOUT,
        limits: ResponseLimits { bytes: MAX_PACKAGE as u64, time: TIMEOUT },
    });
    let client = client.map_err(unreachable)?;
    let mut request = Request::get(url);
    if let Some(etag) = etag {
        request = request.header(IF_NONE_MATCH, etag);
    }
    let request = request.body(Vec::new()).map_err(|error| unreachable(error.to_string()))?;
    let response = client.send(request, cancel).map_err(unreachable)?;
    let status = response.status();
    if status == StatusCode::NOT_MODIFIED && etag.is_some() {
        return Ok(FetchedPackage::Unchanged);
    }
    if status != StatusCode::OK {
        return Err(unreachable(format!("the server responded with HTTP {}", status.as_u16())));
    }
    let etag = response.headers().get(ETAG).and_then(|etag| etag.to_str().ok()).map(str::to_owned);
    let bytes: Result<Vec<Vec<u8>>, String> = response.into_body().collect();
    Ok(FetchedPackage::Bytes(bytes.map_err(unreachable)?.concat(), etag))
}

fn fetch_from_git(
    env: &Env,
    (repository, reference): (&str, Option<&str>),
    file: &str,
    cancel: &Cancel,
) -> Result<FetchedPackage, Diagnostic> {
    let unusable = |why: String| failed(format!("cannot fetch {repository}: {why}"));
    let text = match reference {
        Some(reference) => format!("{repository}@{reference}"),
        None => repository.to_owned(),
    };
    let spec = Spec::parse(&text, &env.cwd).map_err(unusable)?;
    let scratch = tempfile::tempdir().map_err(|error| unusable(error.to_string()))?;
    let fetcher = Fetcher { env: &env.vars, cancel, timeout: TIMEOUT };
    let place = (&spec.source, spec.reference.as_deref());
    let fetched = fetcher.fetch_file(place, file, MAX_PACKAGE, scratch.path());
    match fetched {
        Ok(bytes) => Ok(FetchedPackage::Bytes(bytes, None)),
        Err(FetchError::Cancelled) => Err(unusable("interrupted".to_owned())),
        Err(FetchError::Refused(findings)) => {
            let first = findings.into_iter().next();
            Err(unusable(first.map_or_else(String::new, |finding| finding.message)))
        }
    }
}
