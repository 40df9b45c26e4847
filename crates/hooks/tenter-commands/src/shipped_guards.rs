//! The catalogue: guards and other ready-made hooks that are part of the program.

use sha2::{Digest as _, Sha256};
use tenter_base::{did_you_mean, hex};
use tenter_terminal::Failure;

use crate::hook_settings::SET_LINE;

/// A hook of the catalogue. The rules of a guard decide; other hooks are functions of the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Guard {
    pub(crate) name: &'static str,
    /// Its `HOOK.md`.
    pub(crate) text: &'static str,
}

macro_rules! guard {
    ($name:literal) => {
        Guard { name: $name, text: include_str!(concat!("guard/shipped/", $name, ".md")) }
    };
}

/// Every guard, the most useful first.
pub(crate) const GUARDS: [Guard; 11] = [
    guard!("git-safety"),
    guard!("destructive-files"),
    guard!("secrets"),
    guard!("remote-code"),
    guard!("privilege"),
    guard!("outside-project"),
    guard!("protect-hooks"),
    guard!("infrastructure"),
    guard!("databases"),
    guard!("publishing"),
    guard!("containers"),
];

/// Every other ready-made hook, the most useful first.
pub(crate) const HOOKS: [Guard; 11] = [
    guard!("format"),
    guard!("lint"),
    guard!("tests-before-stop"),
    guard!("session-context"),
    guard!("notify"),
    guard!("checkpoint"),
    guard!("protected-files"),
    guard!("conventions"),
    guard!("budget"),
    guard!("repeated-failure"),
    guard!("prompt-injection"),
];

/// The ready-made hooks that only do something.
const ACTING: [&str; 3] = ["format", "notify", "checkpoint"];
/// The beginning of the note about false alarms of a guard.
const FALSE_ALARMS: &str = "False alarms to expect: ";
/// The beginning of the note about the limits of another hook.
const LIMITS: &str = "To expect: ";

/// The key of an installed guard with the digest of the text that was installed.
const DIGEST: &str = "  shipped: ";
/// The line of a guard in monitor mode.
pub(crate) const MONITOR: &str = "  mode: monitor";
/// The line after which that key is written.
const VERSION: &str = "  version: ";

impl Guard {
    /// Returns the whole catalogue.
    pub(crate) fn catalog() -> impl Iterator<Item = Self> {
        GUARDS.into_iter().chain(HOOKS)
    }

    /// Returns the hooks with these names; all guards if `all` is set.
    pub(crate) fn named(names: &[String], all: bool) -> Result<Vec<Self>, Failure> {
        if all {
            return Ok(GUARDS.to_vec());
        }
        names.iter().map(|name| Self::find(name)).collect()
    }

    /// Returns the hook with this name.
    pub(crate) fn find(name: &str) -> Result<Self, Failure> {
        Self::catalog().find(|hook| hook.name == name).ok_or_else(|| {
            let names: Vec<&str> = Self::catalog().map(|hook| hook.name).collect();
            let list =
                || "`tenter hooks catalog` lists guards and other ready-made hooks".to_owned();
            let failure = Failure::usage(format!("there is no ready-made hook {name:?}"));
            failure.help(did_you_mean(name, &names, list))
        })
    }

    pub(crate) fn version(&self) -> &'static str {
        field(self.text, VERSION)
    }

    pub(crate) fn description(&self) -> &'static str {
        field(self.text, "description: ")
    }

    /// Checks whether it is a guard.
    pub(crate) fn is_guard(&self) -> bool {
        GUARDS.contains(self)
    }

    /// Checks whether it decides or tells the model something. One that only does something is of no use in monitor mode.
    pub(crate) fn decides(&self) -> bool {
        !ACTING.contains(&self.name)
    }

    /// Returns the beginning of the note about its limits.
    pub(crate) fn note_title(&self) -> &'static str {
        if self.is_guard() { FALSE_ALARMS } else { LIMITS }
    }

    /// Returns the false alarms to expect, or the limits, as text on one line.
    pub(crate) fn false_alarms(&self) -> String {
        let text = self.text.split_once(self.note_title()).map_or("", |(_, text)| text);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Returns the digest of its text.
    pub(crate) fn digest(&self) -> String {
        digest(self.text)
    }

    /// Returns the text to install: it says what was installed, so that changes are noticed.
    pub(crate) fn installable(&self) -> String {
        let line = |line: &str| {
            let digest = line.starts_with(VERSION).then(|| {
                format!(
                    "{DIGEST}{}
",
                    self.digest()
                )
            });
            format!(
                "{line}
{}",
                digest.unwrap_or_default()
            )
        };
        self.text.lines().map(line).collect()
    }
}

/// Returns whether `text` is the `HOOK.md` of the guard with this name, as this program adds it.
pub(crate) fn is_shipped(name: &str, text: &str) -> bool {
    Guard::find(name).is_ok_and(|guard| guard.installable() == text)
}

/// Returns the text of a guard in monitor mode, or of one whose decisions are applied.
pub(crate) fn with_mode(text: &str, monitors: bool) -> String {
    let lines = text.lines().filter(|line| *line != MONITOR).map(|line| {
        let mode = if monitors && line.starts_with(VERSION) { MONITOR } else { "" };
        if mode.is_empty() { format!("{line}\n") } else { format!("{line}\n{mode}\n") }
    });
    lines.collect()
}

/// Returns true if the text of a guard has it in monitor mode.
pub(crate) fn is_monitoring(text: &str) -> bool {
    text.lines().any(|line| line == MONITOR)
}

/// The text of an installed guard, compared with the shipped ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InstalledText {
    /// The digest of the text that was installed.
    pub(crate) installed_digest: Option<String>,
    /// The digest of the present text.
    pub(crate) present_digest: String,
}

impl InstalledText {
    pub(crate) fn new(text: &str) -> Self {
        let mut present = String::new();
        let mut guard = None;
        for line in text.lines() {
            if let Some(digest) = line.strip_prefix(DIGEST) {
                guard = guard.or(Some(digest.trim().to_owned()));
            } else if !line.starts_with(SET_LINE) && line != MONITOR {
                present.push_str(line);
                present.push('\n');
            }
        }
        Self { installed_digest: guard, present_digest: digest(&present) }
    }
}

fn digest(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

/// Returns the rest of the first line that begins with `key`.
fn field<'t>(text: &'t str, key: &str) -> &'t str {
    text.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tenter_engine::inspect::CHECKS;
    use tenter_protocol::front_matter::Strictness;
    use tenter_protocol::manifest::format;
    use tenter_protocol::manifest::setting::SettingKind;

    use super::*;
    use crate::hook_settings::{self, Assignment};

    /// The strict rules of `hooks validate`, which also run every example.
    #[test]
    fn every_guard_is_valid_and_treats_its_examples_as_it_says() {
        let mut conditions = Vec::new();
        for guard in Guard::catalog() {
            let path = Path::new("/hooks").join(guard.name).join("HOOK.md");
            let text = guard.installable();
            let (manifest, diagnostics) =
                format::read(&path, text.as_bytes(), Strictness::Strict, CHECKS);
            conditions.extend(diagnostics.iter().map(|diagnostic| {
                let line = diagnostic.span.as_ref().map_or(0, |span| span.line);
                let source = diagnostic.span.as_ref().map(|span| span.source.trim().to_owned());
                let source = source.unwrap_or_default();
                format!("{}:{line} {} in {source}", guard.name, diagnostic.message)
            }));
            let Some(manifest) = manifest else { continue };
            assert!(manifest.extensions.protected || !guard.is_guard(), "{}", guard.name);
            for rule in &manifest.extensions.rules {
                let decision = rule.decision.as_ref().unwrap();
                assert!(decision.reason.len() > 20, "{}", guard.name);
                assert!(rule.name.is_some());
            }
        }
        assert!(conditions.is_empty(), "{conditions:#?}");
    }

    #[test]
    fn every_guard_is_valid_with_every_value_of_its_settings() {
        for guard in Guard::catalog() {
            let file = Path::new("/hooks").join(guard.name).join("HOOK.md");
            let text = guard.installable();
            for setting in hook_settings::settings(&file, &text).unwrap() {
                let values = match &setting.kind {
                    SettingKind::Choice(words) => words.clone(),
                    SettingKind::Boolean => ["true", "false"].map(str::to_owned).to_vec(),
                    // The form of each item: an ending and a command, and a pattern and a text.
                    SettingKind::List
                        if ["conventions", "format", "lint"].contains(&guard.name) =>
                    {
                        vec!["sql: a => b".to_owned()]
                    }
                    SettingKind::Number | SettingKind::Text | SettingKind::List => {
                        vec!["7".to_owned()]
                    }
                };
                for value in values {
                    let assignment = format!("{}={value}", setting.name);
                    let assignments = [Assignment::parse(&assignment).unwrap()];
                    let (new, _) = hook_settings::change(&file, &text, &assignments).unwrap();
                    let (_, diagnostics) =
                        format::read(&file, new.as_bytes(), Strictness::Strict, CHECKS);
                    assert!(diagnostics.is_empty(), "{assignment}: {diagnostics:#?}");
                    assert_eq!(InstalledText::new(&new), InstalledText::new(&text));
                }
            }
        }
    }

    fn is_cache(path: &str) -> bool {
        path.starts_with("~/.cache/") || path.starts_with("~/Library/Caches/")
    }

    /// Returns the patterns of the guard's rule about settings of agents, from the table of the bridge. Caches may be deleted:
    /// they have a rule of their own.
    fn settings_patterns() -> Vec<String> {
        let mut patterns: Vec<String> = tenter_bridge::hosts::written_settings_paths()
            .filter(|path| !is_cache(path))
            .map(|path| {
                let start = if path.starts_with(['~', '/']) { "" } else { "**/" };
                format!("{start}{path}/**")
            })
            .collect();
        patterns.sort();
        patterns.dedup();
        patterns
    }

    /// Returns the text of `protect-hooks` with these patterns. Those that begin alike share a line.
    fn with_settings_patterns(text: &str, patterns: &[String]) -> String {
        let (before, rest) = text.split_once("- name: agent-settings").unwrap();
        let (middle, rest) = rest.split_once("glob: [").unwrap();
        let (_, after) = rest.split_once(']').unwrap();
        let start = |pattern: &String| pattern.split('/').take(2).collect::<Vec<_>>().join("/");
        let lines = patterns.chunk_by(|one, other| start(one) == start(other)).map(|group| {
            let words: Vec<String> = group.iter().map(|text| format!("\"{text}\"")).collect();
            format!("          {}", words.join(", "))
        });
        let lines = lines.collect::<Vec<_>>().join(",\n");
        format!("{before}- name: agent-settings{middle}glob: [\n{lines}]{after}")
    }

    /// Shell commands do not change what file tools do not change (B49).
    #[test]
    #[expect(clippy::disallowed_methods, reason = "the author's request to write the guard")]
    fn protect_hooks_has_the_settings_of_every_agent() {
        let guard = GUARDS.iter().find(|guard| guard.name == "protect-hooks").unwrap();
        for cache in tenter_bridge::hosts::written_settings_paths().filter(|path| is_cache(path)) {
            assert!(guard.text.contains(&format!("\"{cache}/**\"")), "{cache}");
        }
        let expected = with_settings_patterns(guard.text, &settings_patterns());
        if std::env::var_os("TENTER_UPDATE").is_some() {
            let file = "src/guard/shipped/protect-hooks.md";
            std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join(file), &expected).unwrap();
        }
        assert!(
            guard.text == expected,
            "protect-hooks.md is out of date; write it with TENTER_UPDATE=1"
        );
    }

    /// A guard that stops ordinary work is removed by its user (C12).
    #[test]
    fn no_guard_stops_ordinary_commands() {
        let commands = include_str!("guard/ordinary.txt").lines();
        let commands: Vec<String> = commands
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .map(|line| line.replace('⏎', "\n"))
            .collect();
        assert!(commands.len() >= 200, "{}", commands.len());
        let mut alarms = Vec::new();
        for guard in GUARDS {
            let path = Path::new("/hooks").join(guard.name).join("HOOK.md");
            let (manifest, _) =
                format::read(&path, guard.text.as_bytes(), Strictness::Tolerant, CHECKS);
            let rules = manifest.unwrap().extensions.rules;
            let check = (CHECKS.examples)(&rules);
            for command in &commands {
                let stops = check(0, command, false);
                alarms.extend(stops.map(|rule| format!("{}: {rule}: {command}", guard.name)));
            }
        }
        assert!(alarms.is_empty(), "{alarms:#?}");
    }

    #[test]
    fn an_installed_guard_knows_whether_it_was_changed() {
        for guard in Guard::catalog() {
            assert!(!guard.version().is_empty() && !guard.description().is_empty());
            assert!(guard.false_alarms().ends_with('.') || guard.false_alarms().ends_with(')'));
            let text = guard.installable();
            let original = InstalledText::new(&text);
            assert_eq!(original.installed_digest.as_deref(), Some(guard.digest().as_str()));
            assert_eq!(original.present_digest, guard.digest());
            let edit = InstalledText::new(&text.replace("trigger: ", "trigger:  "));
            assert_ne!(edit.present_digest, guard.digest());
        }
    }
}
