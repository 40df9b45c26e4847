//! The files of a new manifest hook: `HOOK.md` with rules, or with a script, and tests. Every template is a directory in
//! `templates`. A line `@include NAME` in a script is replaced with the file of that name in `templates/include`.

use tenter_protocol::EventName;
use tenter_terminal::Failure;

use super::manifest::with_name;
use super::{ScriptLanguage, comments};
use crate::new_files::NewFile;

/// A complete hook.
pub(super) struct Template {
    /// The name of the template and of its directory.
    pub(super) name: &'static str,
    /// Other hook names that select the template.
    aliases: &'static [&'static str],
    /// The event of the hook.
    pub(super) event: EventName,
    manifest: &'static str,
    /// Nothing if the hook has rules instead of a script.
    scripts: Option<Texts>,
    /// Names and contents of the tests.
    tests: &'static [(&'static str, &'static str)],
}

/// A text in every language.
#[derive(Clone, Copy)]
struct Texts {
    bash: &'static str,
    python: &'static str,
    node: &'static str,
}

impl Texts {
    fn in_language(self, language: ScriptLanguage) -> &'static str {
        match language {
            ScriptLanguage::Bash => self.bash,
            ScriptLanguage::Python => self.python,
            ScriptLanguage::Node => self.node,
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
        Template { scripts: Some(texts!($name, "run")), ..rules!($name, $event, $tests, $aliases) }
    };
}

macro_rules! rules {
    ($name:literal, $event:ident, $tests:tt, $aliases:tt) => {
        Template {
            name: $name,
            aliases: &$aliases,
            event: EventName::$event,
            manifest: file!($name, "/HOOK.md"),
            scripts: None,
            tests: tests!($name, $tests),
        }
    };
}

macro_rules! tests {
    ($name:literal, [$($test:literal),+]) => {
        &[$((concat!("tests/", $test, ".json"), file!($name, "/", $test, ".json"))),+]
    };
}

/// The templates, except for the empty one.
pub(super) const TEMPLATES: &[Template] = &[
    rules!(
        "no-force-push",
        BeforeTool,
        ["blocks", "passes"],
        ["block-force-push", "force-push", "no-force-pushes"]
    ),
    rules!(
        "no-writes-outside",
        BeforeTool,
        ["blocks", "passes"],
        ["block-writes-outside", "no-outside-writes", "outside-project", "writes-outside"]
    ),
    rules!(
        "no-destructive-commands",
        BeforeTool,
        ["blocks", "passes"],
        ["block-destructive", "destructive-commands", "no-destructive", "no-rm-rf"]
    ),
    rules!(
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

/// The name of the template that does nothing yet.
pub(super) const EMPTY: &str = "empty";
const EMPTY_MANIFEST: &str = file!("empty/HOOK.md");
const EMPTY_MATCHER: &str = file!("empty/matcher.yaml");
const EMPTY_SCRIPTS: Texts = texts!("empty", "run");
const EMPTY_TESTS: &[(&str, &str)] = tests!("empty", ["passes"]);

const INCLUDES: [(&str, Texts); 6] = [
    ("about", texts!("include", "about")),
    ("secrets", texts!("include", "secrets")),
    // Only bash needs help with paths and JSON.
    ("real", Texts { bash: file!("include/real.sh"), python: "", node: "" }),
    ("text", Texts { bash: file!("include/text.sh"), python: "", node: "" }),
    ("json", Texts { bash: file!("include/json.sh"), python: "", node: "" }),
    ("field", Texts { bash: file!("include/field.sh"), python: "", node: "" }),
];
const INCLUDE: &str = "@include ";

/// Starts a Node script: not every version of Node treats a file without extension as an ES module.
const START_NODE: &str = file!("include/run");

impl Template {
    /// Returns the description in `HOOK.md`.
    pub(super) fn about(&self) -> &'static str {
        let line = self.manifest.lines().find_map(|line| line.strip_prefix("description: "));
        line.unwrap_or_default()
    }

    /// Returns the files of a hook of this name.
    ///
    /// # Errors
    /// The name is not valid for a manifest hook (R16).
    pub(super) fn files(
        &self,
        name: &str,
        language: ScriptLanguage,
    ) -> Result<Vec<NewFile>, Failure> {
        let script = self.scripts.map(|scripts| scripts.in_language(language));
        files(name, self.manifest, script, self.tests, language)
    }

    /// Checks whether the hook has a script.
    pub(super) fn has_script(&self) -> bool {
        self.scripts.is_some()
    }
}

/// Returns the template of this name.
pub(super) fn named(name: &str) -> Option<&'static Template> {
    TEMPLATES.iter().find(|template| template.name == name)
}

/// Returns the template that a hook's name selects.
pub(super) fn implied_by(hook: &str) -> Option<&'static Template> {
    TEMPLATES.iter().find(|template| template.name == hook || template.aliases.contains(&hook))
}

/// Returns the files of a hook for `event` that does nothing yet.
///
/// # Errors
/// The name is not valid for a manifest hook (R16).
pub(super) fn empty(
    name: &str,
    event: EventName,
    language: ScriptLanguage,
) -> Result<Vec<NewFile>, Failure> {
    let script = EMPTY_SCRIPTS.in_language(language);
    files(name, &empty_manifest(event, ""), Some(script), EMPTY_TESTS, language)
}

/// Returns the files of a hook for `event` that does nothing yet, without a script, and with these lines of front matter.
///
/// # Errors
/// The name is not valid for a manifest hook (R16).
pub(super) fn empty_with(
    name: &str,
    event: EventName,
    metadata: &str,
) -> Result<Vec<NewFile>, Failure> {
    let manifest = empty_manifest(event, metadata);
    files(name, &manifest, None, EMPTY_TESTS, ScriptLanguage::default())
}

fn empty_manifest(event: EventName, metadata: &str) -> String {
    EMPTY_MANIFEST
        .replace("@EVENT@", event.as_str())
        .replace("@MATCHER@", if event.lifecycle().matcher { EMPTY_MATCHER } else { "" })
        .replace("@METADATA@", metadata)
        .replace("@FIELDS@", &comments::write_manifest_comment(event))
}

fn files(
    name: &str,
    manifest: &str,
    script: Option<&str>,
    tests: &[(&str, &str)],
    language: ScriptLanguage,
) -> Result<Vec<NewFile>, Failure> {
    let mut files = vec![file("HOOK.md", with_name(manifest, name)?, false)];
    if let Some(script) = script {
        let script = assemble(script, language).replace(super::manifest::NAME, name);
        files.extend(scripts(script, language));
    }
    files.extend(tests.iter().map(|(path, text)| file(path, (*text).to_owned(), false)));
    Ok(files)
}

fn file(path: &str, text: String, is_executable: bool) -> NewFile {
    NewFile { name: path.to_owned(), text, is_executable }
}

fn scripts(script: String, language: ScriptLanguage) -> Vec<NewFile> {
    match language {
        ScriptLanguage::Bash => vec![file("scripts/run.sh", script, true)],
        ScriptLanguage::Python => vec![file("scripts/run.py", script, true)],
        ScriptLanguage::Node => vec![
            file("scripts/run", START_NODE.to_owned(), true),
            file("scripts/hook.mjs", script, false),
        ],
    }
}

/// Returns the script with its includes.
fn assemble(script: &str, language: ScriptLanguage) -> String {
    let is_included = |line: &str| {
        let (_, name) = line.split_once(INCLUDE)?;
        INCLUDES
            .iter()
            .find(|(include, _)| *include == name)
            .map(|(_, texts)| texts.in_language(language))
    };
    script
        .lines()
        .map(|line| match is_included(line) {
            Some(text) => assemble(text, language),
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
            for language in ScriptLanguage::value_variants() {
                check(&template.files("guard", *language).unwrap());
            }
        }
    }

    #[test]
    fn every_event_has_an_empty_hook_in_every_language() {
        for row in &TABLE {
            for language in ScriptLanguage::value_variants() {
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
    fn only_the_name_or_an_alias_of_a_template_selects_it() {
        let name = |hook| implied_by(hook).map(|template| template.name);
        assert_eq!(name("no-force-push"), Some("no-force-push"));
        assert_eq!(name("audit"), Some("audit-log"));
        for other in ["guard", "no-delete", "force", "no-force-push-2", "empty"] {
            assert_eq!(name(other), None, "{other}");
        }
        let names = |template: &'static Template| [&[template.name], template.aliases].concat();
        let mut all: Vec<&str> = TEMPLATES.iter().flat_map(names).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count, "a name selects two templates");
    }

    #[test]
    fn invalid_manifest_names_are_rejected() {
        for name in ["Guard", "no_sudo", "guard.sh", "-a", "a--b", "two words", "yes: no"] {
            assert!(empty(name, EventName::BeforeTool, ScriptLanguage::Bash).is_err(), "{name}");
        }
        assert!(empty("größe", EventName::BeforeTool, ScriptLanguage::Bash).is_ok());
        assert!(empty("123", EventName::BeforeTool, ScriptLanguage::Bash).is_ok());
    }
}
