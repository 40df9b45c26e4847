//! `tenter bundle update`: installs newer bundles. It is made for timers: it says nothing new if nothing is new, and fails if a bundle was
//! refused, or has expired.

use tenter_engine::ManagedDirectory;
use tenter_plugins::bundle::{
    BundleManifest, BundleStore, Expiry, Installation, KeyRing, Package, TEMPORARY, UpdateRecord,
};
use tenter_proc::Cancel;
use tenter_protocol::{Diagnostic, Severity};
use tenter_terminal::{CommandResult, Env, Exit, Failure, now, signals, ui};

use super::configured::{BundleSource, ConfiguredBundle};
use super::transport::{self, FetchedPackage};
use super::{report, with_ring};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The bundles; by default all in the managed settings.
    names: Vec<String>,
}

/// Updates every bundle; one that is refused does not stop the others.
pub(super) fn run(env: &Env, args: &Args) -> CommandResult {
    let cancel = signals::cancel()?;
    let all = ConfiguredBundle::all(env)?;
    if all.is_empty() {
        ui::note("No bundle is in the managed settings; `tenter help teams` says how to add one.");
    }
    let mut exit = Exit::Done;
    let (mut unknown, managed) = (args.names.clone(), env.directories().managed);
    for bundle in all {
        let bundle = match bundle {
            Ok(bundle) => bundle,
            Err(finding) => {
                ui::diagnostic(&finding);
                exit = Exit::Failed;
                continue;
            }
        };
        unknown.retain(|name| *name != bundle.name);
        let Some(source) = &bundle.source else { continue };
        if !args.names.is_empty() && !args.names.contains(&bundle.name) {
            continue;
        }
        if let Err(failure) = update(env, &managed, &bundle, source, &cancel) {
            ui::failure(&failure);
            exit = Exit::Failed;
        }
        if cancel.is_cancelled() {
            return Ok(Exit::Interrupted);
        }
    }
    if let Some(name) = unknown.first() {
        return Err(Failure::usage(format!("no bundle {name:?} is in the managed settings")));
    }
    Ok(exit)
}

/// Updates one bundle, and records the result.
fn update(
    env: &Env,
    managed: &ManagedDirectory,
    bundle: &ConfiguredBundle,
    source: &BundleSource,
    cancel: &Cancel,
) -> Result<(), Failure> {
    let store = bundle.store(managed)?;
    let update = Update { env, bundle, source, store: &store, cancel };
    let (record, result) = with_ring(env, &bundle.keys, |ring| Ok(update.run(ring)))?;
    let record_result = store.write_record(&record, now());
    match result {
        Ok((manifest, installation)) => report::installed(&manifest, installation),
        Err(finding) => return Err(refusal(&bundle.name, store.manifest().as_ref(), finding)),
    }
    Ok(record_result?)
}

/// Returns the failure of a bundle that was refused; it says what stays in force.
pub(super) fn refusal(
    name: &str,
    current: Option<&BundleManifest>,
    finding: Diagnostic,
) -> Failure {
    let consequence = current.map_or_else(
        || "no version is in force".to_owned(),
        |current| format!("version {} stays in force", current.version),
    );
    let failure = Failure::from(finding);
    let message = format!("the bundle {name} is refused: {}; {consequence}", failure.message);
    Failure { message, ..failure }
}

/// One update of one bundle.
struct Update<'u> {
    env: &'u Env,
    bundle: &'u ConfiguredBundle,
    source: &'u BundleSource,
    store: &'u BundleStore,
    cancel: &'u Cancel,
}

type UpdateResult = Result<(BundleManifest, Installation), Diagnostic>;

impl Update<'_> {
    /// Fetches the package, checks it and installs it. Returns the record and the result.
    fn run(&self, ring: &KeyRing) -> (UpdateRecord, UpdateResult) {
        // What was checked with other keys is checked again.
        let before = self.store.record().filter(|record| record.configuration == self.bundle.hash);
        let before = before.unwrap_or_default();
        let in_force = self.store.verify(ring).ok().flatten().map(|bundle| bundle.manifest);
        // A damaged bundle is fetched again. One that was refused is not, as long as the server has the same.
        let is_settled = in_force.is_some() || before.error.is_some();
        let etag = before.etag.as_deref().filter(|_| is_settled);
        let fetched = transport::fetch(self.env, self.source, etag, self.cancel);
        let record = UpdateRecord { configuration: self.bundle.hash.clone(), ..before };
        let (record, result) = match fetched {
            Err(finding) => (record, Err(finding)),
            Ok(FetchedPackage::Unchanged) => {
                let result = unchanged(&record, in_force);
                return (record, result.and_then(in_time));
            }
            Ok(FetchedPackage::Bytes(bytes, etag)) => {
                let result = self.install(&bytes, ring);
                let is_final = result.as_ref().err().is_none_or(|finding| finding.id != TEMPORARY);
                (UpdateRecord { etag: etag.filter(|_| is_final), ..record }, result)
            }
        };
        let result = result.and_then(in_time);
        let error = result.as_ref().err().map(|finding| finding.message.clone());
        (UpdateRecord { error, ..record }, result)
    }

    fn install(&self, bytes: &[u8], ring: &KeyRing) -> UpdateResult {
        let bundle = Package::read(bytes)?.verify(&self.bundle.name, ring)?.open()?;
        let installation = self.store.install(&bundle, ring, now())?;
        Ok((bundle.manifest, installation))
    }
}

/// Returns the result for a server that still has the package that was checked last.
fn unchanged(record: &UpdateRecord, in_force: Option<BundleManifest>) -> UpdateResult {
    if let Some(error) = &record.error {
        return Err(Diagnostic::new("bundle-refused-before", Severity::Error, error));
    }
    let manifest = in_force.ok_or_else(|| {
        Diagnostic::new(TEMPORARY, Severity::Error, "the server did not send the bundle")
    })?;
    Ok((manifest, Installation::Present))
}

/// Refuses to call a bundle up to date that has expired beyond its grace.
fn in_time((manifest, installation): (BundleManifest, Installation)) -> UpdateResult {
    match manifest.expiry(now()) {
        Expiry::Past => Err(report::past(&manifest)),
        Expiry::Grace | Expiry::Current => Ok((manifest, installation)),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use tenter_plugins::bundle::PinnedKey;

    use super::*;

    /// The bundle acme 1, signed with the key of minisign below. It expires in a hundred years.
    const BUNDLE: &[u8] = include_bytes!("fixtures/acme.bundle");
    const KEY: &str = include_str!("fixtures/acme.pub");
    const ETAG: &str = "\"acme-1\"";
    const CLIENTS: usize = 100;
    const THREADS: usize = 8;

    /// A server of one file: the number of times that it sent the body, and that it responded with 304.
    #[derive(Default)]
    struct FileServer {
        bodies: AtomicUsize,
        unchanged: AtomicUsize,
    }

    impl FileServer {
        fn answer(&self, mut connection: TcpStream) {
            let mut head = Vec::new();
            let mut byte = [0];
            while !head.ends_with(b"\r\n\r\n") {
                connection.read_exact(&mut byte).unwrap();
                head.push(byte[0]);
            }
            let head = String::from_utf8(head).unwrap().to_ascii_lowercase();
            if head.contains(&format!("if-none-match: {ETAG}\r\n")) {
                self.unchanged.fetch_add(1, Ordering::Relaxed);
                let text = b"HTTP/1.1 304 Not Modified\r\nconnection: close\r\n\r\n";
                connection.write_all(text).unwrap();
                return;
            }
            self.bodies.fetch_add(1, Ordering::Relaxed);
            let head = format!(
                "HTTP/1.1 200 OK\r\netag: {ETAG}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                BUNDLE.len()
            );
            connection.write_all(head.as_bytes()).unwrap();
            connection.write_all(BUNDLE).unwrap();
        }
    }

    /// Updates the bundle on a machine below `root`, twice.
    fn poll_twice(root: &std::path::Path, url: &str) {
        std::fs::create_dir_all(root.join("etc/tenter")).unwrap();
        let vars =
            vec![("HOME".into(), root.into()), ("TENTER_TEST_MANAGED_ROOT".into(), root.into())];
        let env = Env::from_variables(vars, root.to_owned());
        let managed = env.directories().managed;
        let bundle = ConfiguredBundle {
            name: "acme".to_owned(),
            keys: vec![PinnedKey::parse(KEY).unwrap()],
            source: Some(BundleSource::Url(url.to_owned())),
            hash: String::new(),
        };
        let store = bundle.store(&managed).unwrap();
        let cancel = Cancel::new();
        let source = bundle.source.as_ref().unwrap();
        let update = Update { env: &env, bundle: &bundle, source, store: &store, cancel: &cancel };
        let ring = KeyRing { keys: &bundle.keys, env: &env.vars, scratch: root, cancel: &cancel };
        for expected in [Installation::Installed, Installation::Present] {
            let (record, result) = update.run(&ring);
            assert_eq!(result.unwrap().1, expected);
            store.write_record(&record, now()).unwrap();
        }
        assert!(store.current().unwrap().unwrap().join("hooks/no-sudo/HOOK.md").is_file());
    }

    #[test]
    fn each_of_many_machines_downloads_a_bundle_once() {
        let scratch = tempfile::tempdir().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/acme.bundle", listener.local_addr().unwrap());
        let server = FileServer::default();
        thread::scope(|scope| {
            let server = &server;
            scope.spawn(move || {
                for connection in listener.incoming().take(CLIENTS * 2) {
                    let connection = connection.unwrap();
                    scope.spawn(move || server.answer(connection));
                }
            });
            for number in 0..THREADS {
                let (scratch, url) = (scratch.path(), &url);
                scope.spawn(move || {
                    for client in (number..CLIENTS).step_by(THREADS) {
                        poll_twice(&scratch.join(client.to_string()), url);
                    }
                });
            }
        });
        let counts = [&server.bodies, &server.unchanged].map(|one| one.load(Ordering::Relaxed));
        assert_eq!(counts, [CLIENTS, CLIENTS]);
    }
}
