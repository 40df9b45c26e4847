//! Answers for any reply: every denial is one that the host honours, as measured or documented, and no answer has a field that the
//! host does not know, which would make some hosts ignore all of it.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use tenter_bridge::host::InputRewrite;
use tenter_bridge::reply::{HostReply, HostVerdict};
use tenter_bridge::{Host, Moment, NativeEvent, Support, hosts};
use tenter_protocol::EventName;
use tenter_protocol::lifecycle::Power;

/// The parts of answers that a host reads.
struct Form {
    host: &'static str,
    /// The fields, with dots between levels.
    fields: &'static [&'static str],
    /// Returns whether an answer denies, as this host reads it.
    denies: fn(&NativeEvent, &Value) -> bool,
    /// The moments at which plain text is an answer.
    texts: &'static [Moment],
}

const CLAUDE: &[&str] = tenter_base::words!(
    "decision reason systemMessage hookSpecificOutput.hookEventName
     hookSpecificOutput.permissionDecision hookSpecificOutput.permissionDecisionReason
     hookSpecificOutput.updatedInput hookSpecificOutput.additionalContext"
);

/// The fields whose values are the host's own.
const OPAQUE: &[&str] = tenter_base::words!(
    "hookSpecificOutput.updatedInput hookSpecificOutput.updatedToolOutput
     hookSpecificOutput.tool_input hook_specific_output.tool_input modifiedArgs modifiedResult
     updated_input overrideInput input output notices"
);

const FORMS: &[Form] = &[
    Form {
        host: "claude-code",
        fields: &["hookSpecificOutput.updatedToolOutput"],
        denies: claude,
        texts: &[Moment::PreCompact],
    },
    Form { host: "codex", fields: &[], denies: claude, texts: &[] },
    Form {
        host: "gemini",
        fields: &["hookSpecificOutput.tool_input"],
        denies: |_, answer| answer["decision"] == "deny" && has_text(&answer["reason"]),
        texts: &[],
    },
    Form {
        host: "copilot",
        fields: tenter_base::words!(
            "permissionDecision permissionDecisionReason modifiedArgs modifiedResult
             modifiedTransformedPrompt additionalContext"
        ),
        denies: |event, answer| match event.moment {
            Moment::BeforeTool => {
                answer["permissionDecision"] == "deny"
                    && has_text(&answer["permissionDecisionReason"])
            }
            _ => answer["decision"] == "block" && has_text(&answer["reason"]),
        },
        texts: &[],
    },
    Form { host: "qwen", fields: &[], denies: claude, texts: &[] },
    Form { host: "opencode", ..PLUGIN },
    Form {
        host: "cline",
        fields: &["cancel", "errorMessage", "overrideInput", "contextModification"],
        denies: |_, answer| answer["cancel"] == true && has_text(&answer["errorMessage"]),
        texts: &[],
    },
    Form { host: "pi", ..PLUGIN },
    Form { host: "kilo", ..PLUGIN },
    Form {
        host: "kimi-code",
        fields: &[],
        denies: |_, answer| {
            let specific = &answer["hookSpecificOutput"];
            specific["permissionDecision"] == "deny"
                && has_text(&specific["permissionDecisionReason"])
        },
        texts: &[Moment::Prompt],
    },
    Form {
        host: "cursor",
        fields: tenter_base::words!(
            "permission user_message agent_message updated_input additional_context continue
             followup_message"
        ),
        denies: |event, answer| {
            let denies = match event.moment {
                Moment::BeforeTool => answer["permission"] == "deny",
                _ => answer["continue"] == false,
            };
            denies && has_text(&answer["user_message"])
        },
        texts: &[],
    },
    Form { host: "droid", fields: &[], denies: claude, texts: &[] },
    Form {
        host: "goose",
        fields: &[],
        denies: |_, answer| answer["decision"] == "block" && has_text(&answer["reason"]),
        texts: &[],
    },
    Form {
        host: "crush",
        fields: &["context", "updated_input"],
        denies: |_, answer| answer["decision"] == "deny" && has_text(&answer["reason"]),
        texts: &[],
    },
    Form {
        host: "vibe",
        fields: &[
            "system_message",
            "hook_specific_output.tool_input",
            "hook_specific_output.additional_context",
        ],
        denies: |_, answer| answer["decision"] == "deny" && has_text(&answer["reason"]),
        texts: &[],
    },
];

/// The parts that our own plugins read.
const PLUGIN: Form = Form {
    host: "",
    fields: &["deny", "input", "message", "output", "context", "continue", "notices"],
    denies: |_, answer| has_text(&answer["deny"]),
    texts: &[],
};

fn has_text(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.trim().is_empty())
}

/// Returns whether Claude Code or Codex honours a denial: both need the name of the event, and a reason.
fn claude(event: &NativeEvent, answer: &Value) -> bool {
    if event.moment != Moment::BeforeTool {
        return answer["decision"] == "block" && has_text(&answer["reason"]);
    }
    let specific = &answer["hookSpecificOutput"];
    specific["hookEventName"] == event.name
        && specific["permissionDecision"] == "deny"
        && has_text(&specific["permissionDecisionReason"])
}

fn form(host: &Host) -> &'static Form {
    let form = FORMS.iter().find(|form| form.host == host.id);
    form.unwrap_or_else(|| panic!("this test does not know the answers of {}", host.name))
}

/// Adds the fields of an answer, with dots between levels.
fn fields(value: &Map<String, Value>, above: &str, names: &mut Vec<String>) {
    for (name, value) in value {
        let name = format!("{above}{name}");
        match value {
            Value::Object(object) if !OPAQUE.contains(&name.as_str()) => {
                fields(object, &format!("{name}."), names);
            }
            _ => names.push(name),
        }
    }
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{1,8}", ".{1,20}", Just("two\nlines \"quoted\" \\".to_owned())]
}

fn any_object() -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::hash_map("[a-z]{1,5}", any_text().prop_map(Value::String), 0..3)
        .prop_map(|fields| fields.into_iter().collect())
}

fn any_output() -> impl Strategy<Value = Value> {
    prop_oneof![any_text().prop_map(Value::String), any_object().prop_map(Value::Object)]
}

prop_compose! {
    fn any_reply()(
        verdict in prop_oneof![
            Just(None),
            any_text().prop_map(|reason| Some(HostVerdict::Deny(format!("hook a: {reason}")))),
            Just(Some(HostVerdict::Allow)),
        ],
        input in prop::option::of(any_object()),
        message in prop::option::of(any_text()),
        output in prop::option::of(any_output()),
        contexts in prop::collection::vec(any_text(), 0..3),
        continue_with in prop::option::of(any_text()),
        notices in prop::collection::vec(any_text(), 0..2),
    ) -> HostReply {
        HostReply { verdict, input, message, output, contexts, continue_with, notices }
    }
}

/// Returns whether the host can prevent the action that follows a moment.
fn can_deny(host: &Host, moment: Moment) -> bool {
    let blocks = |event: EventName| host.support(event, Power::Block) == Support::Native;
    moment.deniable().is_some_and(blocks)
}

/// Returns the parts of a reply that a visit of this host can have.
fn possible(host: &Host, reply: &HostReply) -> HostReply {
    let is_native = |event, power| host.support(event, power) == Support::Native;
    let mut reply = reply.clone();
    reply.input = reply.input.filter(|_| host.input_rewrite != InputRewrite::Demanded);
    let rewrites_messages = is_native(EventName::BeforeAgent, Power::RewriteMessage);
    reply.message = reply.message.filter(|_| rewrites_messages);
    let rewrites_results = is_native(EventName::AfterTool, Power::RewriteOutput);
    reply.output = reply.output.filter(|_| rewrites_results);
    reply
}

fn check(host: &Host, event: &NativeEvent, reply: &HostReply) -> Result<(), TestCaseError> {
    let (form, reply) = (form(host), possible(host, reply));
    let answer = (host.answer)(event, &reply).unwrap_or_default();
    let is_denial = reply.denial().is_some() && can_deny(host, event.moment);
    if form.texts.contains(&event.moment) && !is_denial {
        return Ok(());
    }
    let decision: Value = match answer.as_str() {
        "" => json!({}),
        answer => serde_json::from_str(answer)
            .map_err(|_| TestCaseError::fail(format!("{} {}: {answer}", host.id, event.name)))?,
    };
    prop_assert!(!answer.contains('\n'), "{} {}: {answer}", host.id, event.name);
    let mut names = Vec::new();
    fields(decision.as_object().unwrap(), "", &mut names);
    for field in names {
        let is_known = CLAUDE.contains(&field.as_str()) || form.fields.contains(&field.as_str());
        prop_assert!(is_known, "{} {}: {field} in {answer}", host.id, event.name);
    }
    let denies = (form.denies)(event, &decision);
    prop_assert!(!is_denial || denies, "{} {}: {answer}", host.id, event.name);
    Ok(())
}

proptest! {
    #[test]
    fn denials_are_honoured_and_every_field_is_known(reply in any_reply()) {
        for host in hosts::ALL {
            for event in host.events {
                check(host, event, &reply)?;
            }
        }
    }
}
