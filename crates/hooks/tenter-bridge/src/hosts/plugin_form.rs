//! The payloads that Tenter's own plugins write in hosts whose hooks are JavaScript, and the answers that they read (B50).
//!
//! A payload is `{"session": ID, "agent": {"id": ID, "type": TYPE}, "cwd": DIRECTORY, "input": …, "output": …}`: the root session, the
//! subagent that causes the event, and what the host passes to its plugins.

use serde_json::{Value, json};
use tenter_protocol::claude_code::results::HOST;
use tenter_protocol::{Object, ToolResult};

use super::claude_form;
use crate::host::{FileContext, Host, NativeEvent, OwnFile, RegistrationScope};
use crate::occurrence::{Detail, NativeAgent, NativeCall, Occurrence, ToolEnd};
use crate::payload::{Payload, PayloadError};
use crate::reply::HostReply;

/// The base of hosts with a plugin.
pub(super) const BASE: Host = Host {
    // These hosts have no limit of their own.
    context_limit: 50_000,
    marks_subagents: true,
    answer,
    rewrite_output: rewrite_result,
    // The plugin shows every notice.
    takes_notice: |_| true,
    ..claude_form::BASE
};

/// Talks to `tenter-hook --serve`; the same for all hosts.
const CONNECTION: &str = include_str!("plugin/connection.js");

/// Returns the occurrence in the session and agent that a payload names.
///
/// # Errors
/// It names no session.
pub(super) fn occurrence(payload: &Payload, detail: Detail) -> Result<Occurrence, PayloadError> {
    let agent = payload.get("agent").unwrap_or(&Value::Null);
    let agent = agent["id"].as_str().map(|id| NativeAgent {
        id: id.to_owned(),
        kind: agent["type"].as_str().map(str::to_owned),
        parent: None,
    });
    let session = payload.required("session")?.to_owned();
    Ok(Occurrence { session, agent, cwd: payload.required("cwd")?.into(), detail })
}

/// Returns a part of a payload, null if it is missing.
pub(super) fn part<'p>(payload: &'p Payload, field: &str) -> &'p Value {
    payload.get(field).unwrap_or(&Value::Null)
}

/// Returns a text, unless it is missing or empty.
pub(super) fn text(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Joins the texts among these blocks of a message or result.
pub(super) fn texts(blocks: &Value) -> Option<String> {
    let blocks = blocks.as_array()?;
    let texts = blocks.iter().filter(|block| block["type"] == "text");
    let texts: Vec<&str> = texts.filter_map(|block| block["text"].as_str()).collect();
    Some(texts.join("\n"))
}

/// Returns a call of a tool. These hosts ask the user, if at all, after their plugins.
///
/// # Errors
/// There is no tool.
pub(super) fn call(id: &Value, tool: &Value, input: &Value) -> Result<NativeCall, PayloadError> {
    let tool = text(tool).ok_or_else(|| PayloadError::missing("name of a tool"))?;
    Ok(NativeCall { id: text(id), tool, ..NativeCall::with_input(input) })
}

/// Writes the answer: the actions for the plugin, in a form of our own.
fn answer(event: &NativeEvent, reply: &HostReply) -> Option<String> {
    let mut answer = Object::new();
    let mut add = |field: &str, value: Option<Value>| {
        value.and_then(|value| answer.insert(field.to_owned(), value));
    };
    if let Some(reason) = reply.denial().filter(|_| event.moment.deniable().is_some()) {
        add("deny", Some(json!(reason)));
    } else {
        add("input", reply.input.clone().map(Value::Object));
        add("message", reply.message.as_ref().map(|text| json!(text)));
        add("output", reply.output.clone());
        add("context", reply.context().map(Value::String));
        add("continue", reply.continue_with.as_ref().map(|text| json!(text)));
    }
    let notices = Some(&reply.notices).filter(|notices| !notices.is_empty());
    add("notices", notices.map(|notices| json!(notices)));
    (!answer.is_empty()).then(|| Value::Object(answer).to_string())
}

/// Returns the text that replaces a result for the model.
fn rewrite_result(end: &ToolEnd, result: &ToolResult) -> Option<Value> {
    end.output.as_ref()?;
    let is_native = result.metadata_type.as_deref() == Some(HOST) && result.error.is_none();
    let native = result.metadata.as_ref().filter(|_| is_native);
    let output = native.and_then(|metadata| metadata.get("output")?.as_str());
    Some(Value::String(output.map_or_else(|| result.text(), str::to_owned)))
}

/// Writes the file of a plugin: the command that it starts, and its code.
pub(super) fn files(context: &FileContext, code: &str) -> Vec<OwnFile> {
    let registration = registration(context);
    let (mark, name, id) = (context.mark(), context.host.name, context.host.id);
    let text = format!(
        "// {mark}\n// Runs Tenter's hooks in {name}. To undo it: `tenter bridge remove {id}`.\n\nconst registration = {registration}\n\n{CONNECTION}\n{code}"
    );
    vec![OwnFile { path: "tenter.js".into(), text }]
}

/// Writes the command that the plugin starts, as JavaScript. A shared plugin has no path of this machine.
fn registration(context: &FileContext) -> String {
    let (program, args) = if context.scope == RegistrationScope::Shared {
        let program = "`${process.env.HOME}/.local/share/tenter/bin/tenter-hook`".to_owned();
        (program, json!([context.host.id, "--serve"]))
    } else {
        let own = ["--home", context.home, "--id", context.id];
        let args = [context.host.id, "--serve"].into_iter().chain(own).collect::<Vec<_>>();
        (json!(context.program).to_string(), json!(args))
    };
    let fail_closed = context.fail_closed;
    format!("{{\n  program: {program},\n  args: {args},\n  failClosed: {fail_closed},\n}}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::RegistrationFormat;
    use crate::hosts;

    const WITH_PLUGIN: [&str; 3] = ["opencode", "kilo", "pi"];

    fn plugin(host: &'static Host, scope: RegistrationScope) -> String {
        let RegistrationFormat::Files(format) = &host.registration.format else { panic!("files") };
        let (program, home) = ("/home/a \"b\"/tenter-hook", "/home/a \"b\"");
        let context = FileContext { host, scope, program, home, id: "5f0c", fail_closed: true };
        let [file] = (format.files)(&context).try_into().unwrap();
        assert!(file.text.contains(&context.mark()));
        file.text
    }

    #[test]
    fn plugins_name_every_event_of_their_host_and_import_nothing_but_the_runtime() {
        for host in WITH_PLUGIN.map(|id| hosts::find(id).unwrap()) {
            let text = plugin(host, RegistrationScope::User);
            for event in host.events {
                let names = [format!("\"{}\"", event.name), format!("{}: ", event.name)];
                assert!(names.iter().any(|name| text.contains(name)), "{} {}", host.id, event.name);
            }
            let imports = text.lines().filter(|line| line.starts_with("import"));
            assert!(imports.clone().all(|line| line.contains(" from \"node:")), "{}", host.id);
            assert_eq!(imports.count(), 2);
            assert!(text.ends_with("}\n"), "{}", host.id);
        }
    }

    #[test]
    fn a_plugin_starts_the_program_of_its_registration() {
        let host = hosts::find("opencode").unwrap();
        let own = plugin(host, RegistrationScope::User);
        assert!(own.contains(r#"program: "/home/a \"b\"/tenter-hook","#), "{own}");
        let args = r#"args: ["opencode","--serve","--home","/home/a \"b\"","--id","5f0c"],"#;
        assert!(own.contains(args), "{own}");
        assert!(own.contains("failClosed: true,"), "{own}");
        let shared = plugin(host, RegistrationScope::Shared);
        assert!(!shared.contains("/home/a"), "{shared}");
        assert!(shared.contains(r#"args: ["opencode","--serve"],"#), "{shared}");
    }

    #[test]
    fn every_denial_is_an_answer_that_the_plugin_reads_and_allows_nothing() {
        for host in WITH_PLUGIN.map(|id| hosts::find(id).unwrap()) {
            for event in host.events.iter().filter(|event| event.moment.deniable().is_some()) {
                let reply = HostReply {
                    input: Some(Object::new()),
                    contexts: vec!["context".to_owned()],
                    ..HostReply::deny("not now")
                };
                let answer = (host.answer)(event, &reply).unwrap();
                assert_eq!(answer, r#"{"deny":"not now"}"#, "{} {}", host.id, event.name);
            }
        }
    }

    #[test]
    fn no_opinion_is_no_answer() {
        let event = &hosts::find("pi").unwrap().events[0];
        assert_eq!(answer(event, &HostReply::default()), None);
    }
}
