//! What every new manifest hook needs: its event, its name, and the form of its files.

use std::path::Path;

use tenter_engine::CHECKS;
use tenter_protocol::front_matter::Rules;
use tenter_protocol::manifest::format;
use tenter_protocol::{EventName, Severity};

use crate::failure::Failure;

/// A file to be created.
pub(crate) struct NewFile {
    /// Its path in the new directory.
    pub(crate) name: String,
    /// Its content.
    pub(crate) text: String,
    /// Whether it is executable.
    pub(crate) is_executable: bool,
}

/// Stands for the hook's name in a template.
pub(super) const NAME: &str = "@NAME@";

/// The event that `word` means, in any spelling; where it means several, the first.
pub(super) fn event(word: &str) -> Result<EventName, Failure> {
    let events = super::super::events_named(word)?;
    events.first().copied().ok_or_else(|| Failure::usage(format!("there is no event {word:?}")))
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
    let (_, findings) = format::read(&path, manifest.as_bytes(), Rules::Strict, CHECKS);
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
    use super::*;

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
}
