//! The files of a new static hook: a `HOOK.md` with an action, and two tests, one in which the hook acts and one in which it does
//! not. There is one example for each event, with any action that the event allows.

use clap::ValueEnum;
use serde_json::{Value, json};
use tenter_protocol::EventName;
use tenter_protocol::lifecycle::TABLE;
use tenter_protocol::manifest::actions_at;
use tenter_terminal::failure::Failure;

use super::manifest::{NewFile, with_name};

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

/// An example of a static hook.
struct Example {
    event: EventName,
    about: &'static str,
    when: When,
    /// The template of its text, and a part of the rendered text.
    text: (&'static str, &'static str),
    /// Fields of a payload for which it acts, and of one for which it does not.
    acts: fn() -> Value,
    passes: fn() -> Value,
}

/// When an example acts.
enum When {
    /// For tool calls that a matcher with these expressions for `tool` and `pattern` selects.
    Matches(&'static str, &'static str),
    /// If this condition is true.
    Holds(&'static str),
}

const FULL: &str = "ge (percent .usage.current_context_window .usage.max_context_window) 70";

const EXAMPLES: &[Example] = &[
    Example {
        event: EventName::SessionStart,
        about: "Acts in sessions without a user at the terminal.",
        when: When::Holds("eq .args.ui \"run\""),
        text: ("no user is present to answer questions of {{.model}}", "no user is present"),
        acts: || json!({"args": {"ui": "run"}}),
        passes: || json!({"args": {"ui": "chat"}}),
    },
    Example {
        event: EventName::BeforeAgent,
        about: "Acts on very short messages.",
        when: When::Holds("lt (len .prompt) 4"),
        text: ("`{{.prompt}}` is too short: describe the task", "`go` is too short"),
        acts: || json!({"prompt": "go"}),
        passes: || json!({"prompt": "continue with the tests"}),
    },
    Example {
        event: EventName::BeforeTool,
        about: "Acts on deployments.",
        when: When::Matches("^Shell$", r"\bdeploy\b"),
        text: ("`{{.tool_input.command}}` changes the live site", "`make deploy` changes"),
        acts: || json!({"tool_name": "Shell", "tool_input": {"command": "make deploy"}}),
        passes: || json!({"tool_name": "Shell", "tool_input": {"command": "make test"}}),
    },
    Example {
        event: EventName::AfterTool,
        about: "Acts on changed Python files.",
        when: When::Matches("^(WriteFile|EditFile)$", r"\.py$"),
        text: ("{{.tool_input.file_path}} was changed: run the linter", "app.py was changed"),
        acts: || json!({"tool_name": "WriteFile", "tool_input": {"file_path": "app.py"}}),
        passes: || json!({"tool_name": "WriteFile", "tool_input": {"file_path": "app.md"}}),
    },
    Example {
        event: EventName::AfterToolFailure,
        about: "Acts on failed builds.",
        when: When::Matches("^Shell$", "^make"),
        text: ("the build failed: {{.tool_error}}. Fix the first error first", "exit code 2"),
        acts: || {
            json!({
                "tool_name": "Shell",
                "tool_input": {"command": "make"},
                "tool_error": "exit code 2",
            })
        },
        passes: || json!({"tool_name": "Shell", "tool_input": {"command": "ls missing"}}),
    },
    Example {
        event: EventName::AfterTurn,
        about: "Acts when the context is nearly full.",
        when: When::Holds(FULL),
        text: ("after {{.session_turn}} turns the context is nearly full", "nearly full"),
        acts: || json!({"usage": {"current_context_window": 190_000, "max_context_window": 200_000}}),
        passes: || json!({}),
    },
    Example {
        event: EventName::BeforeStop,
        about: "Acts when the agent is about to stop for the first time.",
        when: When::Holds("not .stop_hook_active"),
        text: ("done after {{.step_count}} steps: does the change have a test?", "have a test"),
        acts: || json!({"stop_hook_active": false}),
        passes: || json!({"stop_hook_active": true, "continuation_count": 1}),
    },
    Example {
        event: EventName::AfterAgent,
        about: "Acts on very short responses.",
        when: When::Holds("lt (len .response) 8"),
        text: ("`{{.response}}` is too short: describe what was done", "`Done.` is too short"),
        acts: || json!({"response": "Done."}),
        passes: || json!({}),
    },
    Example {
        event: EventName::SubagentStart,
        about: "Acts on subagents of one type.",
        when: When::Holds("eq .subagent_type \"explorer\""),
        text: ("{{.subagent_name}} is an explorer: read docs/map.md instead", "read docs/map.md"),
        acts: || json!({"subagent_type": "explorer"}),
        passes: || json!({"subagent_type": "coder"}),
    },
    Example {
        event: EventName::SubagentStop,
        about: "Acts on subagents without a response.",
        when: When::Holds("not .response"),
        text: ("{{.subagent_name}} found nothing: look for yourself", "found nothing"),
        acts: || json!({"response": ""}),
        passes: || json!({}),
    },
    Example {
        event: EventName::PreCompact,
        about: "Acts on automatic summaries.",
        when: When::Holds("eq .trigger \"auto\""),
        text: ("{{.tokens_before}} tokens are about to be summarized", "160000 tokens"),
        acts: || json!({"trigger": "auto"}),
        passes: || json!({"trigger": "manual"}),
    },
];

/// The files of a new hook.
///
/// # Errors
/// The event does not allow the action, or the name is not valid (R16).
pub(super) fn files(
    name: &str,
    event: EventName,
    action: ActionWord,
) -> Result<Vec<NewFile>, Failure> {
    let is_possible = actions_at(event).contains(&action.as_str());
    let example = EXAMPLES.iter().find(|example| example.event == event).filter(|_| is_possible);
    let Some(example) = example else { return Err(impossible(event, action)) };
    let file =
        |name: &str, text: String| NewFile { name: name.to_owned(), text, is_executable: false };
    let (acts, passes) = tests(example, action);
    let test = |test: &Value| {
        let text = serde_json::to_string_pretty(test).unwrap_or_default();
        format!("{text}\n")
    };
    Ok(vec![
        file("HOOK.md", with_name(&manifest(example, action), name)?),
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

fn manifest(example: &Example, action: ActionWord) -> String {
    let Example { event, about, text: (text, _), .. } = example;
    let (matcher, when) = match example.when {
        When::Matches(tool, pattern) => (
            format!(
                "# Regular expressions for the tool's name and the strings of its input.\nmatcher:\n  tool: {tool}\n  pattern: '{pattern}'\n"
            ),
            "  # when: eq .tool_name \"Shell\"".to_owned(),
        ),
        When::Holds(condition) => (String::new(), format!("  when: '{condition}'")),
    };
    let answer = match action {
        ActionWord::Deny | ActionWord::Ask | ActionWord::Allow => format!("  reason: \"{text}\""),
        ActionWord::Context => format!("  text: \"{text}\""),
        ActionWord::Mutate => {
            format!("  messages:\n    - role: user\n      content: \"{text}\"")
        }
        ActionWord::Callback => "  recipe: compact\n  # args: {name: \"...\"}".to_owned(),
    };
    let word = action.as_str();
    format!(
        "---\nname: @NAME@\ndescription: {about}\ntrigger: {event}\n{matcher}\
         # 0 to 1000; a higher priority runs earlier.\npriority: 100\n\
         metadata:\n  # The action of the hook, which has no script.\n  action: {word}\n\
         \x20 # The hook acts only if this is true: a condition like after `if` in a template.\n{when}\n\
         \x20 # Texts are templates with the fields of the payload: `{{{{.session_id}}}}`, `{{{{.context.invoked_by}}}}`, ...\n{answer}\n---\n\n\
         # @NAME@\n\n{about}\n\n`tenter hooks test @NAME@ --sample` shows a payload and the reply of the hook.\n"
    )
}

/// The test in which the hook acts, and the one in which it does not.
fn tests(example: &Example, action: ActionWord) -> (Value, Value) {
    let part = example.text.1;
    let expected = match action {
        ActionWord::Deny | ActionWord::Ask | ActionWord::Allow => {
            json!({"decision": action.as_str(), "reason": part})
        }
        ActionWord::Context => json!({"decision": "context", "context": part}),
        ActionWord::Mutate | ActionWord::Callback => json!({"decision": action.as_str()}),
    };
    let nothing = match example.when {
        When::Matches(..) => "unmatched",
        When::Holds(_) => "none",
    };
    let test = |about: &str, event: Value, expected: Value| json!({"description": about, "event": event, "expect": expected});
    (
        test(example.about, (example.acts)(), expected),
        test("Otherwise it does nothing.", (example.passes)(), json!({"decision": nothing})),
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
