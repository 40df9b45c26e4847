//! A directory with repositories, and a directory of plugins.

use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;
use tenter_plugins::{
    FetchError, Fetched, Fetcher, InstallError, InstallRequest, Installed, LockedPlugin, Plugins,
    Spec,
};
use tenter_proc::Cancel;
use tenter_protocol::Diagnostic;

/// A hook that would leave a trace if it were run.
pub(crate) const HOOK: &str = "#!/bin/sh\ntouch \"$(dirname \"$0\")/ran\"\necho before_tool_call\n";

pub(crate) struct Scene {
    directory: TempDir,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let scene = Self { directory: TempDir::with_prefix("plugins-").unwrap() };
        fs::create_dir_all(scene.root().join("home")).unwrap();
        scene
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.directory.path().canonicalize().unwrap()
    }

    /// Returns a directory for a source: `srv/ada/NAME`.
    pub(crate) fn source(&self, name: &str) -> Source {
        let path = self.root().join("srv/ada").join(name);
        fs::create_dir_all(&path).unwrap();
        Source { path, home: self.root().join("home") }
    }

    /// Returns a repository with one commit that holds a hook, a skill, a recipe and a helper.
    pub(crate) fn repository(&self, name: &str) -> Source {
        let source = self.source(name);
        source.git(&["init", "--quiet", "--initial-branch=main"]);
        source.usual();
        source.commit("first");
        source
    }

    pub(crate) fn env(&self) -> Vec<(OsString, OsString)> {
        environment(&self.root().join("home"))
    }

    pub(crate) fn plugins(&self) -> Plugins {
        Plugins::new(self.root().join("project/.kodelet/plugins"))
    }

    pub(crate) fn spec(&self, text: &str) -> Spec {
        Spec::parse(text, &self.root()).unwrap()
    }

    pub(crate) fn fetch(&self, text: &str) -> Result<Fetched, FetchError> {
        let staging = self.plugins().stage().unwrap();
        let spec = self.spec(text);
        self.fetch_spec(&spec, staging.dir())
    }

    fn fetch_spec(&self, spec: &Spec, scratch: &Path) -> Result<Fetched, FetchError> {
        let (env, cancel) = (self.env(), Cancel::new());
        let fetcher = Fetcher { env: &env, cancel: &cancel, timeout: Duration::from_mins(5) };
        fetcher.fetch(&spec.source, spec.reference.as_deref(), scratch)
    }

    /// Returns the diagnostics for which this source is refused.
    pub(crate) fn refused(&self, text: &str) -> Vec<Diagnostic> {
        match self.fetch(text) {
            Err(FetchError::Refused(findings)) => findings,
            other => panic!("{other:?}"),
        }
    }

    /// Fetches and installs.
    pub(crate) fn add(&self, text: &str, replace: bool) -> Result<Installed, InstallError> {
        let (plugins, spec) = (self.plugins(), self.spec(text));
        let staging = plugins.stage().unwrap();
        let fetched = self.fetch_spec(&spec, staging.dir()).unwrap();
        let record = record(&spec, &fetched);
        plugins.unpack(&staging, &spec.name, &fetched.content)?;
        let request =
            InstallRequest { name: &spec.name, content: &fetched.content, record, replace };
        plugins.install(&staging, request)
    }

    /// Returns the entries of the plugins directory, including hidden ones, without the lock file.
    pub(crate) fn left(&self) -> Vec<String> {
        let entries = fs::read_dir(self.plugins().dir()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.retain(|name| name != ".lock");
        names.sort();
        names
    }
}

pub(crate) fn record(spec: &Spec, fetched: &Fetched) -> LockedPlugin {
    LockedPlugin {
        name: String::new(),
        source: spec.source.as_text(),
        reference: spec.reference.clone(),
        commit: fetched.commit.clone(),
        hash: String::new(),
        installed_at: "2026-01-02T03:04:05.000Z".to_owned(),
        files: std::collections::BTreeMap::new(),
    }
}

/// A directory that plugins come from.
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    home: PathBuf,
}

impl Source {
    pub(crate) fn url(&self) -> String {
        format!("file://{}", self.path.display())
    }

    pub(crate) fn text(&self) -> String {
        self.path.to_str().unwrap().to_owned()
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn hook(&self, name: &str, script: &str) {
        let path = format!("hooks/{name}");
        self.write(&path, script);
        fs::set_permissions(self.path.join(path), fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub(crate) fn usual(&self) {
        self.hook("guard", HOOK);
        self.write("hooks/lib/words.sh", "words=1\n");
        self.write("skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Reads.\n---\nRead it.\n");
        self.write("recipes/review/deep.md", "Look.\n");
        self.write("README.md", "Guards.\n");
        self.write("src/main.rs", "not part of the plugin\n");
    }

    /// Commits all that is there and returns the commit.
    pub(crate) fn commit(&self, message: &str) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        self.git_reading(args, b"")
    }

    #[expect(clippy::disallowed_methods, reason = "tests create repositories as a user would")]
    pub(crate) fn git_reading(&self, args: &[&str], stdin: &[u8]) -> String {
        let mut child = Command::new("git")
            .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"])
            .args(args)
            .current_dir(&self.path)
            .env_clear()
            .envs(environment(&self.home))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(stdin).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "git {args:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Stores a file and returns its name as an object.
    pub(crate) fn blob(&self, bytes: &[u8]) -> String {
        self.git_reading(&["hash-object", "-w", "--stdin"], bytes)
    }

    /// Stores a directory with any names at all and returns its name as an object.
    pub(crate) fn tree(&self, entries: &[(&str, &[u8], &str)]) -> String {
        let mut bytes = Vec::new();
        for (mode, name, object) in entries {
            bytes.extend(mode.as_bytes());
            bytes.push(b' ');
            bytes.extend(*name);
            bytes.push(0);
            let digits = object.as_bytes().chunks(2);
            bytes.extend(
                digits
                    .map(|two| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap()),
            );
        }
        self.git_reading(&["hash-object", "-t", "tree", "-w", "--stdin", "--literally"], &bytes)
    }

    /// Makes this the only commit of the branch.
    pub(crate) fn commit_tree(&self, tree: &str) {
        let commit = self.git(&["commit-tree", tree, "-m", "crafted"]);
        self.git(&["update-ref", "refs/heads/main", &commit]);
    }
}

#[expect(clippy::disallowed_methods, reason = "tests find git where the machine has it")]
fn environment(home: &Path) -> Vec<(OsString, OsString)> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    vec![("PATH".into(), path), ("HOME".into(), home.into())]
}
