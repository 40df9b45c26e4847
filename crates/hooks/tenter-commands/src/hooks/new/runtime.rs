//! The files of a new runtime hook: an empty hook that uses an SDK, and the SDK itself, so that nothing needs to be installed and
//! trust covers it (S16).

use tenter_protocol::EventName;
use tenter_terminal::Failure;

use super::manifest::NAME;
use super::{ScriptLanguage, template};
use crate::new_files::NewFile;

const PYTHON_SDK: &str = include_str!("../../../../../../sdk/python/tenter_hook.py");
const PYTHON_TYPES: &str = include_str!("../../../../../../sdk/python/tenter_hook_types.py");
const JAVASCRIPT_SDK: &str = include_str!("../../../../../../sdk/javascript/tenter-hook.mjs");
const JAVASCRIPT_TYPES: &str = include_str!("../../../../../../sdk/javascript/tenter-hook.d.ts");
const PYTHON: &str = include_str!("../templates/runtime/run.py");
const JAVASCRIPT: &str = include_str!("../templates/runtime/hook.mjs");

const METADATA: &str = include_str!("../templates/runtime/metadata.yaml");

/// Starts a Node script with its arguments: not every version of Node treats a file without extension as an ES module.
const START_NODE: &str = include_str!("../templates/runtime/run");

/// Returns the files of a runtime hook for `event` that does nothing yet.
///
/// # Errors
/// The name is not valid for a manifest hook (R16), or there is no SDK for the language.
pub(super) fn files(
    name: &str,
    event: EventName,
    language: ScriptLanguage,
) -> Result<Vec<NewFile>, Failure> {
    let file = |path: &str, text: String, is_executable| NewFile {
        name: path.to_owned(),
        text,
        is_executable,
    };
    let scripts = match language {
        ScriptLanguage::Bash => {
            return Err(Failure::usage("there is no SDK for bash")
                .help("pass --lang python or --lang javascript with --runtime"));
        }
        ScriptLanguage::Python => {
            let script = PYTHON.replace(NAME, name).replace("@EVENT@", event.as_str());
            vec![
                file("scripts/run.py", script, true),
                file("scripts/tenter_hook.py", PYTHON_SDK.to_owned(), false),
                file("scripts/tenter_hook_types.py", PYTHON_TYPES.to_owned(), false),
            ]
        }
        ScriptLanguage::Node => {
            let script = JAVASCRIPT.replace(NAME, name).replace("@METHOD@", &camel(event.as_str()));
            vec![
                file("scripts/run", START_NODE.to_owned(), true),
                file("scripts/hook.mjs", script, false),
                file("scripts/tenter-hook.mjs", JAVASCRIPT_SDK.to_owned(), false),
                file("scripts/tenter-hook.d.ts", JAVASCRIPT_TYPES.to_owned(), false),
            ]
        }
    };
    let mut files = template::empty_with(name, event, METADATA)?;
    files.extend(scripts);
    Ok(files)
}

/// Returns the name as JavaScript writes it: `before_tool` → `beforeTool`.
fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |text, word| {
        let (initial, rest) = word.split_at(word.len().min(1));
        text + &initial.to_uppercase() + rest
    })
}

#[cfg(test)]
mod tests {
    use tenter_protocol::lifecycle::TABLE;

    use super::*;

    #[test]
    fn every_event_has_a_runtime_hook_in_every_language_with_an_sdk() {
        for row in &TABLE {
            let (name, method) = (row.name, camel(row.name));
            assert!(PYTHON_SDK.contains(&format!("    \"{name}\": \"{name}\",\n")), "{name}");
            assert!(JAVASCRIPT_SDK.contains(&format!("  {name}: \"{method}\",\n")), "{name}");
            for language in [ScriptLanguage::Python, ScriptLanguage::Node] {
                let files = files("guard", row.event, language).unwrap();
                let text = |name: &str| {
                    files.iter().find(|file| file.name == name).map(|file| file.text.as_str())
                };
                assert!(text("HOOK.md").unwrap().contains("  runtime: serve\n"), "{}", row.name);
                assert!(text("tests/passes.json").is_some());
                for file in &files {
                    assert_eq!(file.text.starts_with("#!"), file.is_executable, "{}", file.name);
                    assert!(!file.text.contains("@NAME@") && !file.text.contains("@EVENT@"));
                }
            }
            assert!(files("guard", row.event, ScriptLanguage::Bash).is_err());
        }
        assert_eq!(camel("after_tool_failure"), "afterToolFailure");
    }
}
