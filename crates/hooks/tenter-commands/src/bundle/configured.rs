//! The bundles in the managed settings: the tables `[[managed.bundle]]`.

use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use tenter_engine::ManagedDirectory;
use tenter_plugins::bundle::{BundleStore, PinnedKey, check_name};
use tenter_protocol::{Diagnostic, Severity};
use tenter_terminal::{Env, Failure};

/// A bundle in the managed settings.
#[derive(Debug)]
pub(super) struct ConfiguredBundle {
    /// The name.
    pub(super) name: String,
    /// The pinned keys.
    pub(super) keys: Vec<PinnedKey>,
    /// The place of new versions; `None` if they are only installed from files.
    pub(super) source: Option<BundleSource>,
    /// The hash of the table.
    pub(super) hash: String,
}

/// The place of new versions of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BundleSource {
    /// A file behind HTTPS.
    Url(String),
    /// A file of a git repository, and a branch, tag or commit.
    Git { repository: String, reference: Option<String>, file: String },
    /// A file of a directory.
    Directory { path: String, file: String },
}

/// The table, as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BundleTable {
    name: String,
    #[serde(default)]
    keys: Vec<String>,
    url: Option<String>,
    git: Option<String>,
    reference: Option<String>,
    directory: Option<String>,
    file: Option<String>,
}

impl ConfiguredBundle {
    /// Reads all tables. An invalid one does not keep the others from being used.
    pub(super) fn all(env: &Env) -> Result<Vec<Result<Self, Diagnostic>>, Failure> {
        let Some(settings) = tenter_settings::managed(env)? else { return Ok(Vec::new()) };
        let read = |table: toml::Table| {
            let name = table.get("name").and_then(toml::Value::as_str).unwrap_or("?").to_owned();
            Self::read(table).map_err(|why| {
                let message = format!("the bundle {name:?} is not used: {why}");
                Diagnostic::new("bundle-setting", Severity::Error, message)
                    .at(&settings.path)
                    .help("`tenter help teams` describes [[managed.bundle]]")
            })
        };
        Ok(settings.rules.bundle.into_iter().map(read).collect())
    }

    fn read(table: toml::Table) -> Result<Self, String> {
        let hash = format!("{:x}", Sha256::digest(table.to_string()));
        let table: BundleTable =
            table.try_into().map_err(|error: toml::de::Error| error.message().to_owned())?;
        check_name(&table.name).map_err(|why| format!("it {why}"))?;
        let keys: Result<Vec<PinnedKey>, String> =
            table.keys.iter().map(|key| PinnedKey::parse(key)).collect();
        let keys = keys?;
        if keys.is_empty() {
            return Err("it has no `keys`".to_owned());
        }
        Ok(Self { keys, hash, source: source(&table)?, name: table.name })
    }

    /// Returns the versions on this machine.
    pub(super) fn store(&self, managed: &ManagedDirectory) -> Result<BundleStore, Diagnostic> {
        BundleStore::new(managed, &self.name)
    }
}

fn source(table: &BundleTable) -> Result<Option<BundleSource>, String> {
    let BundleTable { name, url, git, reference, directory, file, .. } = table;
    let file = file.clone().unwrap_or_else(|| format!("{name}.bundle"));
    let source = match (url.clone(), git.clone(), directory.clone()) {
        (None, None, None) => return Ok(None),
        (Some(url), None, None) if is_safe(&url) => BundleSource::Url(url),
        (Some(_), None, None) => return Err("its `url` must begin with https://".to_owned()),
        (None, Some(repository), None) => {
            BundleSource::Git { repository, reference: reference.clone(), file }
        }
        (None, None, Some(path)) => BundleSource::Directory { path, file },
        _ => return Err("it has several of `url`, `git` and `directory`".to_owned()),
    };
    Ok(Some(source))
}

/// Returns true for HTTPS, and for HTTP on this machine.
fn is_safe(url: &str) -> bool {
    let is_local = |host: &str| {
        url.strip_prefix("http://")
            .and_then(|rest| rest.strip_prefix(host))
            .is_some_and(|rest| rest.starts_with([':', '/']))
    };
    url.starts_with("https://") || is_local("localhost") || is_local("127.0.0.1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_one_source_and_at_least_one_key() {
        let key = "keys = [\"ssh-ed25519 AAAA\"]";
        let read = |lines: &str| {
            ConfiguredBundle::read(format!("name = \"acme\"\n{lines}").parse().unwrap())
        };
        for (lines, why) in [
            ("", "no `keys`"),
            ("keys = [\"x\"]", "not a public key"),
            (&format!("{key}\nurl = \"http://policy.acme.example/x\"")[..], "https://"),
            (&format!("{key}\nurl = \"http://localhost.evil.example/x\""), "https://"),
            (&format!("{key}\nurl = \"https://x/y\"\ngit = \"https://x/y\""), "several of"),
            (&format!("{key}\nname2 = \"x\""), "unknown field"),
        ] {
            let error = read(lines).unwrap_err();
            assert!(error.contains(why), "{lines}: {error}");
        }
        let bundle = read(&format!("{key}\ndirectory = \"/srv\"")).unwrap();
        let file = "acme.bundle".to_owned();
        assert_eq!(bundle.source, Some(BundleSource::Directory { path: "/srv".to_owned(), file }));
    }
}
