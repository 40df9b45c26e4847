//! What a new manifest hook holds: for every event a `HOOK.md`, a script in the language of choice, and two tests, one in
//! which the example acts and one in which it has nothing to say. The texts are the files in `templates/manifest`.

use std::path::Path;

use tenter_engine::CHECKS;
use tenter_protocol::manifest::front_matter::{self, Rules};
use tenter_protocol::{EventName, Severity};

use super::Language;
use crate::failure::Failure;

/// A file of something new.
pub(crate) struct NewFile {
    /// Its path in the new folder.
    pub(crate) name: String,
    /// What it holds.
    pub(crate) text: String,
    /// Whether it is to be started.
    pub(crate) is_executable: bool,
}

struct Template {
    event: EventName,
    manifest: &'static str,
    bash: &'static str,
    python: &'static str,
    rust: &'static str,
    acts: &'static str,
    passes: &'static str,
}

/// Stands for the hook's name in a template.
const NAME: &str = "NAME";

macro_rules! part {
    ($path:expr) => {
        include_str!(concat!("../templates/manifest/", $path))
    };
}

macro_rules! templates {
    ($($event:ident $name:literal),+ $(,)?) => {
        &[$(Template {
            event: EventName::$event,
            manifest: part!(concat!($name, "/HOOK.md")),
            bash: concat!(part!("head.sh"), part!(concat!($name, "/run.sh")), part!("tail.sh")),
            python: concat!(part!("head.py"), part!(concat!($name, "/run.py")), part!("tail.py")),
            rust: concat!(
                include_str!("../templates/polyglot.rs"),
                part!("head.rs"),
                part!(concat!($name, "/run.rs")),
                part!("tail.rs"),
                include_str!("../templates/fields.rs"),
            ),
            acts: part!(concat!($name, "/acts.json")),
            passes: part!(concat!($name, "/passes.json")),
        }),+]
    };
}

const TEMPLATES: &[Template] = templates![
    SessionStart "session_start",
    BeforeAgent "before_agent",
    BeforeTool "before_tool",
    AfterTool "after_tool",
    AfterToolFailure "after_tool_failure",
    AfterTurn "after_turn",
    BeforeStop "before_stop",
    AfterAgent "after_agent",
    SubagentStart "subagent_start",
    SubagentStop "subagent_stop",
    PreCompact "pre_compact",
    PostCompact "post_compact",
    SessionEnd "session_end",
];

/// The event that `word` means, in any spelling; where it means several, the first.
pub(super) fn event(word: &str) -> Result<EventName, Failure> {
    let events = super::super::events_named(word)?;
    events.first().copied().ok_or_else(|| Failure::usage(format!("there is no event {word:?}")))
}

/// Where the script of a new hook stands in its folder.
pub(super) fn script_name(language: Language) -> &'static str {
    match language {
        Language::Bash => "scripts/run.sh",
        Language::Python => "scripts/run.py",
        Language::Rust => "scripts/run",
    }
}

/// The files of a new hook.
///
/// # Errors
/// The name is none for a manifest hook (R16).
pub(super) fn files(
    name: &str,
    event: EventName,
    language: Language,
) -> Result<Vec<NewFile>, Failure> {
    let template = TEMPLATES
        .iter()
        .find(|template| template.event == event)
        .ok_or_else(|| Failure::new(format!("there is no template for {event}")))?;
    let script = match language {
        Language::Bash => template.bash,
        Language::Python => template.python,
        Language::Rust => template.rust,
    };
    let manifest = with_name(template.manifest, name)?;
    let file = |name: &str, text: String| NewFile {
        name: name.to_owned(),
        text,
        is_executable: name == script_name(language),
    };
    Ok(vec![
        file("HOOK.md", manifest),
        file(script_name(language), script.replace(NAME, name)),
        file("tests/acts.json", template.acts.to_owned()),
        file("tests/passes.json", template.passes.to_owned()),
    ])
}

/// The text of a `HOOK.md` with its hook's name. A name that YAML takes for a number or the like is put in quotes.
pub(super) fn with_name(manifest: &str, name: &str) -> Result<String, Failure> {
    let plain = manifest.replace(NAME, name);
    if check(name, &plain).is_ok() {
        return Ok(plain);
    }
    let quoted = manifest.replacen(NAME, &format!("{name:?}"), 1).replace(NAME, name);
    check(name, &quoted)?;
    Ok(quoted)
}

/// The name is right where the manifest is.
fn check(name: &str, manifest: &str) -> Result<(), Failure> {
    let path = Path::new(name).join("HOOK.md");
    let (_, findings) = front_matter::read(&path, manifest.as_bytes(), Rules::Strict, CHECKS);
    match findings.into_iter().find(|finding| finding.severity == Severity::Error) {
        None => Ok(()),
        Some(finding) => {
            let message =
                format!("a manifest hook cannot have the name {name:?}: {}", finding.message);
            let help = finding.help.unwrap_or_else(|| "choose another name".to_owned());
            Err(Failure::usage(message).help(help))
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;
    use tenter_protocol::lifecycle::TABLE;

    use super::*;

    #[test]
    fn there_is_a_template_for_every_event_in_every_language() {
        for row in &TABLE {
            for language in Language::value_variants() {
                let files = files("guard", row.event, *language).unwrap();
                assert_eq!(files.len(), 4, "{} {language:?}", row.name);
                let script = &files[1];
                assert!(script.is_executable && script.text.starts_with("#!"), "{}", row.name);
                let lines = files.iter().flat_map(|file| file.text.lines());
                for line in lines.filter(|line| !line.starts_with('|')) {
                    assert!(line.chars().count() <= 140, "{}: {line}", row.name);
                }
            }
        }
    }

    #[test]
    fn an_event_is_named_in_any_spelling() {
        for (word, expected) in [
            ("before_tool_call", EventName::BeforeTool),
            ("agent_stop", EventName::BeforeStop),
            ("turn_end", EventName::AfterTurn),
            ("after_tool_call", EventName::AfterTool),
            ("pre-session", EventName::SessionStart),
        ] {
            assert_eq!(event(word).unwrap(), expected);
        }
    }

    #[test]
    fn names_that_a_manifest_cannot_have_are_refused() {
        for name in ["Guard", "no_sudo", "guard.sh", "-a", "a--b", "two words", "yes: no"] {
            assert!(files(name, EventName::BeforeTool, Language::Bash).is_err(), "{name}");
        }
        assert!(files("größe", EventName::BeforeTool, Language::Bash).is_ok());
        assert!(files("123", EventName::BeforeTool, Language::Bash).is_ok());
    }
}
