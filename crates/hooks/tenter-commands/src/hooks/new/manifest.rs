//! The common part of all new manifest hooks: event, name, files.

use std::path::Path;

use tenter_engine::inspect::CHECKS;
use tenter_protocol::front_matter::Strictness;
use tenter_protocol::manifest::format;
use tenter_protocol::{EventName, Severity};
use tenter_terminal::Failure;

/// The placeholder for the hook's name in templates.
pub(super) const NAME: &str = "@NAME@";

/// Returns the event with this spelling; the first one if there are several.
pub(super) fn event(word: &str) -> Result<EventName, Failure> {
    let events = super::super::events_named(word)?;
    events.first().copied().ok_or_else(|| Failure::usage(format!("there is no event {word:?}")))
}

/// Returns the text of a `HOOK.md` with the hook's name, quoted if YAML would read the name as another type.
///
/// # Errors
/// The name is not valid (R16).
pub(super) fn with_name(manifest: &str, name: &str) -> Result<String, Failure> {
    let plain = manifest.replace(NAME, name);
    if check(name, &plain).is_ok() {
        return Ok(plain);
    }
    let manifest_text = manifest.replacen(NAME, &format!("{name:?}"), 1).replace(NAME, name);
    check(name, &manifest_text)?;
    Ok(manifest_text)
}

/// Checks the name by reading the manifest.
fn check(name: &str, manifest: &str) -> Result<(), Failure> {
    let path = Path::new(name).join("HOOK.md");
    let (_, findings) = format::read(&path, manifest.as_bytes(), Strictness::Strict, CHECKS);
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
    fn events_are_accepted_in_any_spelling() {
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
