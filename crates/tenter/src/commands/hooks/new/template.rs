//! What a new manifest hook holds: a `HOOK.md`, a script in the language of choice, and tests. Every template is a directory in
//! `templates`; what several scripts share is in `templates/include`, and a line `@include NAME` in a script stands for it.

use tenter_protocol::EventName;

use super::Language;
use super::manifest::{NewFile, with_name};
use crate::failure::Failure;

/// A hook that works as it is written.
pub(super) struct Template {
    /// Its name, which is its directory's.
    pub(super) name: &'static str,
    /// Hook names other than its own that clearly mean it.
    aliases: &'static [&'static str],
    /// The event that it runs at.
    pub(super) event: EventName,
    manifest: &'static str,
    scripts: Texts,
    /// Names and texts of its tests.
    tests: &'static [(&'static str, &'static str)],
}

/// One text in every language.
#[derive(Clone, Copy)]
struct Texts {
    bash: &'static str,
    python: &'static str,
    node: &'static str,
}

impl Texts {
    fn of(self, language: Language) -> &'static str {
        match language {
            Language::Bash => self.bash,
            Language::Python => self.python,
            Language::Node => self.node,
        }
    }
}

macro_rules! file {
    ($($part:expr),+) => {
        include_str!(concat!("../templates/", $($part),+))
    };
}

macro_rules! texts {
    ($directory:literal, $name:literal) => {
        Texts {
            bash: file!($directory, "/", $name, ".sh"),
            python: file!($directory, "/", $name, ".py"),
            node: file!($directory, "/", $name, ".mjs"),
        }
    };
}

macro_rules! template {
    ($name:literal, $event:ident, $tests:tt, $aliases:tt) => {
        Template {
            name: $name,
            aliases: &$aliases,
            event: EventName::$event,
            manifest: file!($name, "/HOOK.md"),
            scripts: texts!($name, "run"),
            tests: tests!($name, $tests),
        }
    };
}

macro_rules! tests {
    ($name:literal, [$($test:literal),+]) => {
        &[$((concat!("tests/", $test, ".json"), file!($name, "/", $test, ".json"))),+]
    };
}

/// The templates but for the empty one.
pub(super) const TEMPLATES: &[Template] = &[
    template!(
        "no-force-push",
        BeforeTool,
        ["blocks", "passes"],
        ["block-force-push", "force-push", "no-force-pushes"]
    ),
    template!(
        "no-writes-outside",
        BeforeTool,
        ["blocks", "passes"],
        ["block-writes-outside", "no-outside-writes", "outside-project", "writes-outside"]
    ),
    template!(
        "no-destructive-commands",
        BeforeTool,
        ["blocks", "passes"],
        ["block-destructive", "destructive-commands", "no-destructive", "no-rm-rf"]
    ),
    template!(
        "ask-before-publish",
        BeforeTool,
        ["asks", "passes"],
        ["ask-before-publishing", "ask-publish"]
    ),
    template!("format-after-edit", AfterTool, ["passes"], ["auto-format", "format-on-edit"]),
    template!(
        "redact-secrets",
        AfterTool,
        ["takes-out", "passes"],
        ["redact", "redact-keys", "redactor"]
    ),
    template!("audit-log", AfterTool, ["records"], ["audit", "audit-logger"]),
    template!(
        "tests-before-stop",
        BeforeStop,
        ["gives-up"],
        ["run-tests-before-stop", "tests-pass"]
    ),
    template!("context-at-start", SessionStart, ["starts"], ["git-context", "session-context"]),
];

/// The template that does nothing yet.
pub(super) const EMPTY: &str = "empty";
const EMPTY_MANIFEST: &str = file!("empty/HOOK.md");
const EMPTY_MATCHER: &str = file!("empty/matcher.yaml");
const EMPTY_SCRIPTS: Texts = texts!("empty", "run");
const EMPTY_TESTS: &[(&str, &str)] = tests!("empty", ["passes"]);

const INCLUDES: [(&str, Texts); 8] = [
    ("about", texts!("include", "about")),
    ("secrets", texts!("include", "secrets")),
    ("shell", texts!("include", "shell")),
    // Python has its own in its library, and of JSON so has every language but bash.
    ("real", Texts { bash: file!("include/real.sh"), python: "", node: file!("include/real.mjs") }),
    ("call", texts!("include", "call")),
    ("text", Texts { bash: file!("include/text.sh"), python: "", node: "" }),
    ("json", Texts { bash: file!("include/json.sh"), python: "", node: "" }),
    ("field", Texts { bash: file!("include/field.sh"), python: "", node: "" }),
];
const INCLUDE: &str = "@include ";

/// What starts a Node script: an executable without an ending is not an ES module everywhere.
const START_NODE: &str = "#!/bin/sh\nexec node \"$(dirname \"$0\")/hook.mjs\"\n";

impl Template {
    /// What it does: the description in its `HOOK.md`.
    pub(super) fn about(&self) -> &'static str {
        let line = self.manifest.lines().find_map(|line| line.strip_prefix("description: "));
        line.unwrap_or_default()
    }

    /// The files of a hook of this name.
    ///
    /// # Errors
    /// The name is not valid for a manifest hook (R16).
    pub(super) fn files(&self, name: &str, language: Language) -> Result<Vec<NewFile>, Failure> {
        files(name, self.manifest, self.scripts.of(language), self.tests, language)
    }
}

/// The template of this name.
pub(super) fn named(name: &str) -> Option<&'static Template> {
    TEMPLATES.iter().find(|template| template.name == name)
}

/// The template that a hook's name clearly means.
pub(super) fn meant_by(hook: &str) -> Option<&'static Template> {
    TEMPLATES.iter().find(|template| template.name == hook || template.aliases.contains(&hook))
}

/// The files of a hook that does nothing yet at `event`.
///
/// # Errors
/// The name is not valid for a manifest hook (R16).
pub(super) fn empty(
    name: &str,
    event: EventName,
    language: Language,
) -> Result<Vec<NewFile>, Failure> {
    let is_of_tools =
        matches!(event, EventName::BeforeTool | EventName::AfterTool | EventName::AfterToolFailure);
    let manifest = EMPTY_MANIFEST
        .replace("@EVENT@", event.as_str())
        .replace("@MATCHER@", if is_of_tools { EMPTY_MATCHER } else { "" })
        .replace("@FIELDS@", fields(event));
    files(name, &manifest, EMPTY_SCRIPTS.of(language), EMPTY_TESTS, language)
}

/// What a hook reads at an event, and what it may answer there.
fn fields(event: EventName) -> &'static str {
    match event {
        EventName::SessionStart => file!("events/session_start.md"),
        EventName::BeforeAgent => file!("events/before_agent.md"),
        EventName::BeforeTool => file!("events/before_tool.md"),
        EventName::AfterTool => file!("events/after_tool.md"),
        EventName::AfterToolFailure => file!("events/after_tool_failure.md"),
        EventName::AfterTurn => file!("events/after_turn.md"),
        EventName::BeforeStop => file!("events/before_stop.md"),
        EventName::AfterAgent => file!("events/after_agent.md"),
        EventName::SubagentStart => file!("events/subagent_start.md"),
        EventName::SubagentStop => file!("events/subagent_stop.md"),
        EventName::PreCompact => file!("events/pre_compact.md"),
        EventName::PostCompact => file!("events/post_compact.md"),
        EventName::SessionEnd => file!("events/session_end.md"),
    }
}

fn files(
    name: &str,
    manifest: &str,
    script: &str,
    tests: &[(&str, &str)],
    language: Language,
) -> Result<Vec<NewFile>, Failure> {
    let file = |path: &str, text: String, is_executable| NewFile {
        name: path.to_owned(),
        text,
        is_executable,
    };
    let script = assembled(script, language).replace(super::manifest::NAME, name);
    let mut files = vec![file("HOOK.md", with_name(manifest, name)?, false)];
    match language {
        Language::Bash => files.push(file("scripts/run.sh", script, true)),
        Language::Python => files.push(file("scripts/run.py", script, true)),
        Language::Node => {
            files.push(file("scripts/run", START_NODE.to_owned(), true));
            files.push(file("scripts/hook.mjs", script, false));
        }
    }
    files.extend(tests.iter().map(|(path, text)| file(path, (*text).to_owned(), false)));
    Ok(files)
}

/// The script with what it includes.
fn assembled(script: &str, language: Language) -> String {
    let included = |line: &str| {
        let (_, name) = line.split_once(INCLUDE)?;
        INCLUDES.iter().find(|(include, _)| *include == name).map(|(_, texts)| texts.of(language))
    };
    script
        .lines()
        .map(|line| match included(line) {
            Some(text) => assembled(text, language),
            None => format!("{line}\n"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;
    use tenter_protocol::lifecycle::TABLE;

    use super::*;

    #[test]
    fn every_template_is_complete_in_every_language() {
        for template in TEMPLATES {
            assert!(!template.about().is_empty(), "{}", template.name);
            for language in Language::value_variants() {
                check(&template.files("guard", *language).unwrap());
            }
        }
    }

    #[test]
    fn there_is_an_empty_hook_for_every_event_in_every_language() {
        for row in &TABLE {
            for language in Language::value_variants() {
                check(&empty("guard", row.event, *language).unwrap());
            }
        }
    }

    fn check(files: &[NewFile]) {
        assert!(files.iter().any(|file| file.name.starts_with("tests/")));
        for file in files {
            assert!(
                !file.text.contains(INCLUDE) && !file.text.contains("@NAME@"),
                "{}: {}",
                file.name,
                file.text
            );
            assert_eq!(file.text.starts_with("#!"), file.is_executable, "{}", file.name);
            for line in file.text.lines().filter(|line| !line.starts_with('|')) {
                assert!(line.chars().count() <= 150, "{}: {line}", file.name);
            }
        }
    }

    #[test]
    fn only_a_name_that_clearly_means_a_template_picks_it() {
        let meant = |hook| meant_by(hook).map(|template| template.name);
        assert_eq!(meant("no-force-push"), Some("no-force-push"));
        assert_eq!(meant("audit"), Some("audit-log"));
        for other in ["guard", "no-delete", "force", "no-force-push-2", "empty"] {
            assert_eq!(meant(other), None, "{other}");
        }
        let names = |template: &'static Template| [&[template.name], template.aliases].concat();
        let mut all: Vec<&str> = TEMPLATES.iter().flat_map(names).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count, "no name means two templates");
    }

    #[test]
    fn names_that_a_manifest_cannot_have_are_refused() {
        for name in ["Guard", "no_sudo", "guard.sh", "-a", "a--b", "two words", "yes: no"] {
            assert!(empty(name, EventName::BeforeTool, Language::Bash).is_err(), "{name}");
        }
        assert!(empty("größe", EventName::BeforeTool, Language::Bash).is_ok());
        assert!(empty("123", EventName::BeforeTool, Language::Bash).is_ok());
    }
}
