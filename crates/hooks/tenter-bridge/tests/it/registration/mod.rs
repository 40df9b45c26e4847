//! Registrations in realistic settings files: they can be removed again, and nothing else changes.

mod documents;
mod files;
mod formats;
mod toml_documents;
mod versions;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;
use tenter_bridge::host::HostVersion;
use tenter_bridge::registration::{Options, Plan, RegistrationScope, Registry, Target};
use tenter_bridge::{Host, hosts};
use tenter_protocol::Diagnostic;

const NOW: &str = "2026-11-22T18:00:00Z";

/// Returns the options for a version of Claude Code that knows every event, and starts commands with a shell.
fn ordinary() -> Options {
    Options { version: HostVersion::parse("2.1.200"), ..Options::default() }
}

/// Returns the options for the newest version of a host.
fn newest() -> Options {
    Options { version: Some(HostVersion::LATEST), ..Options::default() }
}

/// A user with a program and perhaps a settings file.
struct User {
    home: TempDir,
    registry: Registry,
    target: Target,
}

impl User {
    fn new() -> Self {
        Self::with_host(host("claude-code"))
    }

    /// Creates a user of this host.
    fn with_host(host: &'static Host) -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("bin")).unwrap();
        fs::write(home.path().join("bin/tenter-hook"), "").unwrap();
        let registry = Registry::in_home(home.path());
        let target = registry.target(host, RegistrationScope::User, home.path()).unwrap();
        Self { home, registry, target }
    }

    fn with_settings(text: &str) -> Self {
        Self::with_file(host("claude-code"), text)
    }

    /// Creates a user of this host with a settings file.
    fn with_file(host: &'static Host, text: &str) -> Self {
        let user = Self::with_host(host);
        fs::create_dir_all(user.file().parent().unwrap()).unwrap();
        fs::write(user.file(), text).unwrap();
        user
    }

    fn file(&self) -> &Path {
        &self.target.file
    }

    fn program(&self) -> PathBuf {
        self.home.path().join("bin/tenter-hook")
    }

    fn text(&self) -> String {
        fs::read_to_string(self.file()).unwrap()
    }

    fn json(&self) -> Value {
        parse(&self.text())
    }

    fn plan(&self, options: Options) -> Result<Plan, Diagnostic> {
        self.registry.plan_install(&self.target, options)
    }

    fn install(&self) -> Result<(), Diagnostic> {
        self.registry.install(&self.plan(ordinary())?, &self.program(), NOW)
    }

    fn install_with(&self, options: Options) {
        let plan = self.plan(options).unwrap();
        self.registry.install(&plan, &self.program(), NOW).unwrap();
    }

    fn remove(&self) -> Result<(), Diagnostic> {
        self.registry.remove(&self.registry.plan_remove(&self.target)?)
    }

    /// Counts our handlers.
    fn count(&self) -> usize {
        self.registry.registered(&self.target).unwrap().len()
    }

    /// Returns the number of events that the ordinary version knows.
    fn known_events(&self) -> usize {
        self.target.host.events_of(ordinary().version.unwrap()).count()
    }

    fn lose_record(&self) {
        fs::remove_file(self.home.path().join(".local/state/tenter/bridge/registrations.json"))
            .unwrap();
    }
}

fn host(id: &str) -> &'static Host {
    hosts::find(id).unwrap()
}

fn parse(text: &str) -> Value {
    let text = text.trim_start_matches('\u{feff}');
    jsonc_parser::parse_to_serde_value(text, &jsonc_parser::ParseOptions::default()).unwrap()
}
