//! The variables that Claude Code sets for its hooks: `env` of the settings.

use serde_json::Value;
use tenter_engine::inspect::is_model_key;

use super::Import;

/// Variables that decide which code programs run, and the beginnings of such names.
const LOOSENING: [&str; 17] = *tenter_base::words!(
    "BASH_ENV DYLD_ ENV GIT_ IFS JAVA_TOOL_OPTIONS LD_ NODE_OPTIONS NODE_PATH PATH PERL5
     PROMPT_COMMAND PS4 PYTHON RUBY SHELL HOME"
);

/// The variables for imported hooks, as lines of a shell script.
#[derive(Debug, Clone, Default)]
pub(super) struct Variables(String);

impl Variables {
    /// Reads `env` of the settings. Values are never shown.
    pub(super) fn read(settings: &Value, import: &mut Import) -> Self {
        let Some(env) = settings.get("env").and_then(Value::as_object) else {
            return Self::default();
        };
        let mut lines = String::new();
        let (mut names, mut loosening) = (Vec::new(), Vec::new());
        for (name, value) in env {
            match assignment(name, value) {
                Ok(line) => {
                    lines.push_str(&line);
                    names.push(name.as_str());
                }
                Err(why) => import.left_out.push(format!("env {name}: {why}")),
            }
            if is_loosening(name) {
                loosening.push(name.as_str());
            }
        }
        if !names.is_empty() {
            import.notes.push(format!(
                "hooks with a command get these variables of `env`: {}",
                names.join(", ")
            ));
        }
        if !loosening.is_empty() {
            import.notes.push(format!(
                "{} can change which programs hooks run: look at the value in the settings",
                loosening.join(", ")
            ));
        }
        Self(lines)
    }

    /// Writes the script that sets them and runs `script`.
    pub(super) fn before(&self, script: &str) -> String {
        format!("{}{script}", self.0)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Writes the line that sets a variable.
///
/// # Errors
/// Hooks do not get the variable; the error is the reason, as a clause.
fn assignment(name: &str, value: &Value) -> Result<String, String> {
    let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
    let is_name =
        name.starts_with(is_first) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !is_name {
        return Err("it is no name of a variable".to_owned());
    }
    if is_model_key(name) {
        return Err("keys of models are withheld from hooks".to_owned());
    }
    let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let value_in_quotes =
        shlex::try_quote(&value).map_err(|_| "its value is no text for a variable")?;
    Ok(format!("export {name}={value_in_quotes}\n"))
}

fn is_loosening(name: &str) -> bool {
    LOOSENING.iter().any(|entry| {
        let is_beginning = entry.ends_with('_') || ["PYTHON", "RUBY", "PERL5"].contains(entry);
        name == *entry || (is_beginning && name.starts_with(entry))
    })
}
