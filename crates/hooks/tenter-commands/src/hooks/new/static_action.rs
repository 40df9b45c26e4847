//! The files of a new static hook: a `HOOK.md` with an action, and two tests, one in which the hook acts and one in which it does
//! not. `templates/static` has the parts of the `HOOK.md`, and one example for each event in `examples.json`, which fits any action
//! that the event allows.

use clap::ValueEnum;
use serde::Deserialize;
use serde_json::{Value, json};
use tenter_protocol::EventName;
use tenter_protocol::lifecycle::TABLE;
use tenter_protocol::manifest::actions_at;
use tenter_terminal::Failure;

use super::manifest::with_name;
use crate::new_files::NewFile;

/// The action of a static hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ActionWord {
    /// Deny what is about to happen, or give the model a reason.
    Deny,
    /// Let the user decide.
    Ask,
    /// Allow what is about to happen.
    Allow,
    /// Add text for the model.
    Context,
    /// Replace the history.
    Mutate,
    /// Run a recipe on the history.
    Callback,
}

impl ActionWord {
    fn as_str(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Ask => "ask",
            Self::Allow => "allow",
            Self::Context => "context",
            Self::Mutate => "mutate",
            Self::Callback => "callback",
        }
    }
}

macro_rules! part {
    ($name:literal) => {
        include_str!(concat!("../templates/static/", $name))
    };
}

/// An example of a static hook.
#[derive(Deserialize)]
struct StaticExample {
    event: String,
    about: String,
    #[serde(flatten)]
    when: When,
    /// The template of its text.
    text: String,
    /// A part of the rendered text.
    rendered: String,
    /// Fields of a payload for which it acts.
    acts: Value,
    /// Fields of a payload for which it does not act.
    passes: Value,
}

/// The condition under which an example acts.
#[derive(Deserialize)]
#[serde(untagged)]
enum When {
    /// The expressions of a matcher, which select tool calls.
    Matches { tool: String, pattern: String },
    /// A condition on the payload.
    Holds { when: String },
}

/// Reads the examples.
fn examples() -> Result<Vec<StaticExample>, Failure> {
    serde_json::from_str(part!("examples.json")).map_err(Failure::caused_by)
}

/// Returns the files of a new hook.
///
/// # Errors
/// The event does not allow the action, or the name is not valid (R16).
pub(super) fn files(
    name: &str,
    event: EventName,
    action: ActionWord,
) -> Result<Vec<NewFile>, Failure> {
    let is_possible = actions_at(event).contains(&action.as_str());
    let mut examples = examples()?.into_iter().filter(|example| example.event == event.as_str());
    let Some(example) = examples.next().filter(|_| is_possible) else {
        return Err(impossible(event, action));
    };
    let file =
        |name: &str, text: String| NewFile { name: name.to_owned(), text, is_executable: false };
    let (acts, passes) = tests(&example, action);
    let test = |test: &Value| {
        let text = serde_json::to_string_pretty(test).unwrap_or_default();
        format!("{text}\n")
    };
    Ok(vec![
        file("HOOK.md", with_name(&manifest(&example, action), name)?),
        file("tests/acts.json", test(&acts)),
        file("tests/passes.json", test(&passes)),
    ])
}

fn impossible(event: EventName, action: ActionWord) -> Failure {
    let word = action.as_str();
    let events = TABLE.iter().filter(|row| actions_at(row.event).contains(&word));
    let events: Vec<&str> = events.map(|row| row.name).collect();
    let here = actions_at(event).join(", ");
    let here = if here.is_empty() { "nothing".to_owned() } else { here };
    Failure::usage(format!("`{word}` is not possible at {event}"))
        .help(format!("possible actions: {here}; {word} is possible at {}", events.join(", ")))
}

fn manifest(example: &StaticExample, action: ActionWord) -> String {
    let (matcher, when) = match &example.when {
        When::Matches { tool, pattern } => {
            let matcher = part!("matcher.yaml").replace("@TOOL@", tool);
            (matcher.replace("@PATTERN@", pattern), part!("no-condition.yaml").to_owned())
        }
        When::Holds { when } => {
            (String::new(), part!("condition.yaml").replace("@CONDITION@", when))
        }
    };
    let answer = match action {
        ActionWord::Deny | ActionWord::Ask | ActionWord::Allow => part!("reason.yaml"),
        ActionWord::Context => part!("context.yaml"),
        ActionWord::Mutate => part!("mutate.yaml"),
        ActionWord::Callback => part!("callback.yaml"),
    };
    part!("HOOK.md")
        .replace("@ABOUT@", &example.about)
        .replace("@EVENT@", &example.event)
        .replace("@MATCHER@", &matcher)
        .replace("@ACTION@", action.as_str())
        .replace("@WHEN@", &when)
        .replace("@ANSWER@", &answer.replace("@TEXT@", &example.text))
}

/// Returns the test in which the hook acts, and the one in which it does not.
fn tests(example: &StaticExample, action: ActionWord) -> (Value, Value) {
    let part = &example.rendered;
    let expected = match action {
        ActionWord::Deny | ActionWord::Ask | ActionWord::Allow => {
            json!({"decision": action.as_str(), "reason": part})
        }
        ActionWord::Context => json!({"decision": "context", "context": part}),
        ActionWord::Mutate | ActionWord::Callback => json!({"decision": action.as_str()}),
    };
    let nothing = match example.when {
        When::Matches { .. } => "unmatched",
        When::Holds { .. } => "none",
    };
    let test = |about: &str, event: &Value, expected: Value| json!({"description": about, "event": event, "expect": expected});
    (
        test(&example.about, &example.acts, expected),
        test("Otherwise it does nothing.", &example.passes, json!({"decision": nothing})),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_allowed_action_has_an_example_at_every_event() {
        for row in &TABLE {
            for action in ActionWord::value_variants() {
                let is_possible = actions_at(row.event).contains(&action.as_str());
                let files = files("guard", row.event, *action);
                assert_eq!(files.is_ok(), is_possible, "{} {action:?}", row.name);
            }
        }
    }

    #[test]
    fn words_match_the_command_line() {
        for action in ActionWord::value_variants() {
            let value = action.to_possible_value().unwrap();
            assert_eq!(value.get_name(), action.as_str());
        }
    }
}
