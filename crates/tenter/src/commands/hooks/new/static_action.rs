//! What a new hook without code holds: a `HOOK.md` with an action, and two tests, one in which it acts and one in which it has
//! nothing to say. One example for every event, and whatever action the event has room for.

use clap::ValueEnum;
use serde_json::{Value, json};
use tenter_protocol::EventName;
use tenter_protocol::lifecycle::TABLE;
use tenter_protocol::manifest::actions_at;

use super::manifest::{NewFile, with_name};
use crate::failure::Failure;

/// What a hook without code does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ActionWord {
    /// Forbid what is about to happen, or feed a reason back.
    Deny,
    /// Have the person decide.
    Ask,
    /// Be fine with it.
    Allow,
    /// Give the model something to read besides.
    Context,
    /// Replace the history.
    Mutate,
    /// Have a recipe run on the history.
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

/// An example of a hook without code.
struct Example {
    event: EventName,
    about: &'static str,
    when: When,
    /// The text, and a part of what it comes to.
    text: (&'static str, &'static str),
    /// Fields of a payload at which it acts, and of one at which it does not.
    acts: fn() -> Value,
    passes: fn() -> Value,
}

/// What keeps an example from acting always.
enum When {
    /// A matcher's two expressions.
    Matches(&'static str, &'static str),
    /// A condition.
    Holds(&'static str),
}

const FULL: &str = "ge (percent .usage.current_context_window .usage.max_context_window) 70";

const EXAMPLES: &[Example] = &[
    Example {
        event: EventName::SessionStart,
        about: "Acts where nobody watches.",
        when: When::Holds("eq .args.ui \"run\""),
        text: ("nobody is there to answer questions of {{.model}}", "nobody is there"),
        acts: || json!({"args": {"ui": "run"}}),
        passes: || json!({"args": {"ui": "chat"}}),
    },
    Example {
        event: EventName::BeforeAgent,
        about: "Acts on messages that say next to nothing.",
        when: When::Holds("lt (len .prompt) 4"),
        text: ("`{{.prompt}}` is short: what is to be done?", "`go` is short"),
        acts: || json!({"prompt": "go"}),
        passes: || json!({"prompt": "go on with the tests"}),
    },
    Example {
        event: EventName::BeforeTool,
        about: "Acts on deployments.",
        when: When::Matches("^Shell$", r"\bdeploy\b"),
        text: ("`{{.tool_input.command}}` changes what everybody sees", "`make deploy` changes"),
        acts: || json!({"tool_name": "Shell", "tool_input": {"command": "make deploy"}}),
        passes: || json!({"tool_name": "Shell", "tool_input": {"command": "make test"}}),
    },
    Example {
        event: EventName::AfterTool,
        about: "Acts on changes of Python files.",
        when: When::Matches("^(WriteFile|EditFile)$", r"\.py$"),
        text: ("{{.tool_input.file_path}} was changed: run the linter", "app.py was changed"),
        acts: || json!({"tool_name": "WriteFile", "tool_input": {"file_path": "app.py"}}),
        passes: || json!({"tool_name": "WriteFile", "tool_input": {"file_path": "app.md"}}),
    },
    Example {
        event: EventName::AfterToolFailure,
        about: "Acts on builds that fail.",
        when: When::Matches("^Shell$", "^make"),
        text: ("the build says: {{.tool_error}}. Begin with its first error", "exit code 2"),
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
        about: "Acts when the agent would stop for the first time.",
        when: When::Holds("not .stop_hook_active"),
        text: ("{{.step_count}} steps are done: does it have a test?", "have a test"),
        acts: || json!({"stop_hook_active": false}),
        passes: || json!({"stop_hook_active": true, "continuation_count": 1}),
    },
    Example {
        event: EventName::AfterAgent,
        about: "Acts on answers that say next to nothing.",
        when: When::Holds("lt (len .response) 8"),
        text: ("`{{.response}}` is no answer: say what was done", "`Done.` is no answer"),
        acts: || json!({"response": "Done."}),
        passes: || json!({}),
    },
    Example {
        event: EventName::SubagentStart,
        about: "Acts on subagents of one kind.",
        when: When::Holds("eq .subagent_type \"explorer\""),
        text: ("{{.subagent_name}} is an explorer, and there is a map", "there is a map"),
        acts: || json!({"subagent_type": "explorer"}),
        passes: || json!({"subagent_type": "coder"}),
    },
    Example {
        event: EventName::SubagentStop,
        about: "Acts on subagents that come back with nothing.",
        when: When::Holds("not .response"),
        text: ("{{.subagent_name}} found nothing: look for yourself", "found nothing"),
        acts: || json!({"response": ""}),
        passes: || json!({}),
    },
    Example {
        event: EventName::PreCompact,
        about: "Acts on summaries that nobody asked for.",
        when: When::Holds("eq .trigger \"auto\""),
        text: ("{{.tokens_before}} tokens are to be summed up", "160000 tokens"),
        acts: || json!({"trigger": "auto"}),
        passes: || json!({"trigger": "manual"}),
    },
];

/// The files of a new hook.
///
/// # Errors
/// The event has no room for the action, or the name is none for a manifest hook (R16).
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
        .help(format!("possible there is {here}; {word} is possible at {}", events.join(", ")))
}

fn manifest(example: &Example, action: ActionWord) -> String {
    let Example { event, about, text: (text, _), .. } = example;
    let (matcher, when) = match example.when {
        When::Matches(tool, pattern) => (
            format!(
                "# Which calls: regular expressions that are searched for.\nmatcher:\n  tool: {tool}\n  pattern: '{pattern}'\n"
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
         # Higher runs earlier (0 to 1000).\npriority: 100\n\
         metadata:\n  # What it does. There is no script, so nothing is started.\n  action: {word}\n\
         \x20 # Only where this holds: what may stand after `if` in a template.\n{when}\n\
         \x20 # Texts are templates over the payload: `{{{{.session_id}}}}`, `{{{{.context.invoked_by}}}}`, ...\n{answer}\n---\n\n\
         # @NAME@\n\n{about}\n\n`tenter hooks test @NAME@ --sample` shows a payload, and what the hook makes of it.\n"
    )
}

/// The test in which it acts, and the one in which it does not.
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
        test("Otherwise it has nothing to say.", (example.passes)(), json!({"decision": nothing})),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_an_example_of_every_action_at_every_event_that_has_room_for_it() {
        for row in &TABLE {
            for action in ActionWord::value_variants() {
                let is_possible = actions_at(row.event).contains(&action.as_str());
                let files = files("guard", row.event, *action);
                assert_eq!(files.is_ok(), is_possible, "{} {action:?}", row.name);
            }
        }
    }

    #[test]
    fn words_are_those_of_the_command_line() {
        for action in ActionWord::value_variants() {
            let value = action.to_possible_value().unwrap();
            assert_eq!(value.get_name(), action.as_str());
        }
    }
}
