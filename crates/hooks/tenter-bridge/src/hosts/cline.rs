//! Cline.

use std::time::Duration;

use serde_json::{Value, json};
use tenter_protocol::event::CompactTrigger;
use tenter_protocol::lifecycle::Power;
use tenter_protocol::native_tool::NativeTool;
use tenter_protocol::{EventName, Object};

use super::{claude_form, emulation};
use crate::host::{
    ANYWHERE, EventPowers, FileContext, FileFormat, Host, InputRewrite, Moment, NativeEvent,
    OwnFile, Registration, RegistrationFormat, RegistrationScope, SettingsPaths, at, event, tool,
    within,
};
use crate::occurrence::{Detail, NativeAgent, NativeCall, Occurrence, ToolEnd, ToolOutcome};
use crate::payload::{Payload, PayloadError};
use crate::reply::HostReply;

/// Cline, measured with version 3.0.65.
pub(super) const HOST: Host = Host {
    id: "cline",
    name: "Cline",
    measured_version: Some("3.0.65"),
    events: EVENTS,
    tools: TOOLS,
    registration: Registration {
        shared_file: Some(".clinerules/hooks"),
        sessions: Some(".cline/data/sessions"),
        ..Registration::new(
            "Documents/Cline/Hooks",
            &["cline"],
            RegistrationFormat::Files(FileFormat { files, executable: true }),
        )
    },
    settings: SETTINGS,
    powers: POWERS,
    blind_spots: &[
        "Without its terminal interface, messages of the user.",
        "A call of `read_files` for several files has no `file_path`: hooks see its `files`.",
        "Files that a shell command writes do not count as calls of a file tool.",
    ],
    notes: &[
        "A denied call ends the whole run, not only the call: the host has no other way.",
        "A changed command runs if it is the only one of its call; a call with several is denied, which ends the run.",
        "Hooks at the start and the end of a task are not awaited: what they add for the model comes with the next tool call, and nothing can make the agent continue.",
        "If tenter-hook cannot be started or fails, calls pass; with `--fail-closed`, the run ends.",
        "Notices are not shown; they are in the journal.",
    ],
    // The host has no limit of its own.
    context_limit: 50_000,
    max_continuations: 0,
    marks_subagents: true,
    input_rewrite: InputRewrite::OfSingleCommand,
    read,
    answer,
    // It shows their names as the model calls them.
    mcp_name,
    takes_context: |moment| {
        matches!(moment, Moment::Prompt | Moment::BeforeTool | Moment::AfterTool)
    },
    ..claude_form::BASE
};

/// The settings that decide what the host loads, runs and allows.
const SETTINGS: &[SettingsPaths] = &[
    within(
        &[".cline"],
        tenter_base::words!(
            "hooks plugins agents cron remote mcp.json data/settings data/remote
             data/globalState.json"
        ),
    ),
    within(&[ANYWHERE], &[".clinerules/hooks"]),
    within(&["Documents/Cline"], &["Hooks", "MCP", "Plugins", "Agents"]),
    within(
        &[
            "~/.config/Code/User/globalStorage",
            "~/Library/Application Support/Code/User/globalStorage",
        ],
        &["saoudrizwan.claude-dev/settings"],
    ),
];

/// Time limits cannot be set. 40 s were measured to be awaited; 5 s before this limit, hooks are stopped (B24).
const AWAITED: Duration = Duration::from_secs(30);
/// The host ends without waiting.
const NOT_AWAITED: Duration = Duration::from_secs(3);

const EVENTS: &[NativeEvent] = &[
    event("TaskStart", Moment::SessionStart).timeout(AWAITED),
    event("TaskResume", Moment::SessionStart).timeout(AWAITED),
    event("UserPromptSubmit", Moment::Prompt).timeout(AWAITED),
    event("PreToolUse", Moment::BeforeTool).timeout(AWAITED),
    event("PostToolUse", Moment::AfterTool).timeout(AWAITED),
    event("TaskComplete", Moment::StopFailure).timeout(AWAITED),
    event("TaskError", Moment::StopFailure).timeout(AWAITED),
    event("TaskCancel", Moment::StopFailure).timeout(AWAITED),
    event("PreCompact", Moment::PreCompact).timeout(AWAITED),
    event("SessionShutdown", Moment::SessionEnd).timeout(NOT_AWAITED),
];

const POWERS: &[EventPowers] = &[
    at(EventName::SessionStart, &["TaskStart", "TaskResume"]).emulated(&[
        (Power::Block, emulation::DENIES_ALL),
        (Power::AddContext, emulation::WITH_NEXT_CALL),
    ]),
    at(EventName::BeforeAgent, &["UserPromptSubmit"]).native(&[Power::Block, Power::AddContext]),
    at(EventName::BeforeTool, &["PreToolUse"])
        .native(&[Power::Block, Power::RewriteInput, Power::AddContext])
        .emulated(&[(Power::Ask, "denied, which ends the run (`bridge.ask_fallback`)")]),
    at(EventName::AfterTool, &["PostToolUse"])
        .native(&[Power::AddContext])
        .emulated(emulation::FEEDBACK_AS_CONTEXT),
    at(EventName::AfterToolFailure, &["PostToolUse"])
        .native(&[Power::AddContext])
        .emulated(emulation::FEEDBACK_AS_CONTEXT),
    at(EventName::AfterAgent, &["TaskComplete", "TaskError", "TaskCancel"])
        .emulated(&[(Power::FeedBack, emulation::WITH_NEXT_CALL)]),
    at(EventName::SubagentStart, &["PreToolUse"]).native(&[Power::Block]),
    at(EventName::SubagentStop, &["PostToolUse"]).emulated(emulation::FEEDBACK_AS_CONTEXT),
    at(EventName::PreCompact, &["PreCompact"]),
    at(EventName::SessionEnd, &["SessionShutdown"]),
];

const TOOLS: &[NativeTool] = &[
    tool("run_commands", "bash", &[]),
    tool("editor", "file_edit", &[("path", "file_path")]).when("old_text", ""),
    tool("editor", "file_edit", &[("path", "file_path")]).when("insert_line", ""),
    tool("editor", "file_write", &[("path", "file_path"), ("new_text", "text")]),
    tool("read_files", "file_read", &[]),
    tool("spawn_agent", "subagent", &[("task", "question")]),
];

fn read(event: &NativeEvent, payload: &Payload) -> Result<Occurrence, PayloadError> {
    let part = |field: &str| payload.get(field).unwrap_or(&Value::Null);
    let session = part("sessionContext")["rootSessionId"].as_str();
    let session = session.map_or_else(|| payload.required("taskId"), Ok)?.to_owned();
    let cwd = part("workspaceRoots")[0].as_str();
    let cwd = cwd.ok_or_else(|| PayloadError::missing("workspace root"))?.into();
    let is_subagent = payload.text("parent_agent_id").is_some();
    let agent = payload.text("agent_id").filter(|_| is_subagent);
    let agent = agent.map(|id| NativeAgent { id: id.to_owned(), kind: None, parent: None });
    let detail = match event.moment {
        Moment::SessionStart if is_subagent => Detail::SubagentStart,
        Moment::SessionStart => {
            let source = if event.name == "TaskResume" { "resume" } else { "startup" };
            Detail::SessionStart { source: Some(source.to_owned()), model: None }
        }
        Moment::Prompt => {
            let text = part("userPromptSubmit")["prompt"].as_str().unwrap_or_default();
            Detail::Prompt { text: text.to_owned(), id: None }
        }
        Moment::BeforeTool => Detail::BeforeTool(call(part("tool_call"))?),
        Moment::AfterTool => {
            let result = part("tool_result");
            Detail::AfterTool { call: call(result)?, end: end(result) }
        }
        Moment::StopFailure => {
            let error = part("error")["message"].as_str();
            let response = part("turn")["outputText"].as_str().or(error);
            Detail::StopFailure { response: response.map(str::to_owned) }
        }
        Moment::PreCompact => Detail::PreCompact(CompactTrigger::Auto.into()),
        Moment::SessionEnd => Detail::SessionEnd { reason: None },
        _ => Detail::Nothing,
    };
    Ok(Occurrence { session, agent, cwd, detail })
}

fn call(call: &Value) -> Result<NativeCall, PayloadError> {
    let name = call["name"].as_str().filter(|name| !name.is_empty());
    let tool = name.ok_or_else(|| PayloadError::missing("name of a tool"))?.to_owned();
    let id = call["id"].as_str().map(str::to_owned);
    Ok(shown(NativeCall { id, tool, ..NativeCall::with_input(&call["input"]) }))
}

/// Returns a call as hooks read it. Hooks cannot judge a list with a command that is no text: they would see none of its commands.
pub(super) fn shown(mut call: NativeCall) -> NativeCall {
    add_single_fields(&mut call.input);
    call.has_unreadable_input |=
        call.input.contains_key("commands") && !call.input.contains_key("command");
    call
}

/// Adds the fields of Tenter's tools for what the host has in lists (B8): [`native_input`] removes them.
fn add_single_fields(input: &mut Object) {
    if let Some(commands) = texts(input, "commands", "command") {
        input.insert("command".to_owned(), json!(commands.join("\n")));
    }
    if let Some(paths) = texts(input, "files", "path")
        && let [path] = paths.as_slice()
    {
        input.insert("file_path".to_owned(), json!(path));
    }
}

/// Returns the texts in a list. Elements may be objects that contain the texts.
fn texts(input: &Object, list: &str, field: &str) -> Option<Vec<String>> {
    let list = match input.get(list)? {
        Value::Array(list) => list.as_slice(),
        single => std::slice::from_ref(single),
    };
    let text = |one: &Value| one.as_str().or_else(|| one[field].as_str()).map(str::to_owned);
    list.iter().map(text).collect()
}

/// Returns the input with the fields that the host reads. Only its editor has a `path`.
fn native_input(input: &Object) -> Object {
    let mut input = input.clone();
    if input.contains_key("path") {
        return input;
    }
    if let Some(command) = input.shift_remove("command") {
        let unchanged = texts(&input, "commands", "command").map(|all| json!(all.join("\n")));
        if unchanged.as_ref() != Some(&command) {
            input.insert("commands".to_owned(), json!([command]));
        }
    }
    if let Some(path) = input.shift_remove("file_path") {
        match input.get_mut("files") {
            Some(Value::Array(files)) if files.first().is_some_and(Value::is_object) => {
                files[0]["path"] = path;
            }
            _ => drop(input.insert("files".to_owned(), json!([{ "path": path }]))),
        }
    }
    input
}

/// Returns the end of a tool. A failed command is one part of a result that reports success.
fn end(result: &Value) -> ToolEnd {
    let output = &result["output"];
    let parts = output.as_array().map_or_else(|| std::slice::from_ref(output), Vec::as_slice);
    let text = parts.iter().filter_map(|part| part["result"].as_str()).collect::<Vec<_>>();
    let failure = parts.iter().find(|part| part["success"] == false);
    let error = failure.map(|part| part["error"].as_str().unwrap_or("the tool failed"));
    let error = error.or_else(|| result["error"].as_str());
    let exit_code = error
        .and_then(|error| error.strip_prefix("Command exited with code ")?.trim().parse().ok());
    let outcome =
        error.map_or(ToolOutcome::Success, |error| ToolOutcome::Failure(error.to_owned()));
    let text = (!text.is_empty()).then(|| text.join("\n")).or_else(|| answer_of_agent(output));
    let native = if text.is_some() { Value::Null } else { output.clone() };
    ToolEnd {
        output: text,
        exit_code,
        duration_ms: result["durationMs"].as_u64(),
        ..ToolEnd::new(outcome, native)
    }
}

/// Returns the answer of a subagent.
fn answer_of_agent(output: &Value) -> Option<String> {
    output["text"].as_str().map(str::to_owned)
}

/// Writes the native answer. `cancel` ends the run.
/// Returns the name of a tool of an MCP server, which Cline calls `SERVER__TOOL`.
fn mcp_name(call: &NativeCall) -> Option<String> {
    let (server, tool) = call.tool.split_once("__").filter(|(server, _)| *server != "mcp")?;
    Some(format!("mcp__{server}__{tool}"))
}

fn answer(event: &NativeEvent, reply: &HostReply) -> Option<String> {
    if let Some(reason) = reply.denial().filter(|_| can_cancel(event.moment)) {
        return Some(json!({ "cancel": true, "errorMessage": reason }).to_string());
    }
    let mut answer = Object::new();
    if event.moment == Moment::BeforeTool
        && let Some(input) = &reply.input
    {
        answer.insert("overrideInput".to_owned(), json!(native_input(input)));
    }
    if (HOST.takes_context)(event.moment)
        && let Some(context) = reply.context()
    {
        answer.insert("contextModification".to_owned(), json!(context));
    }
    if answer.is_empty() {
        return None;
    }
    answer.insert("cancel".to_owned(), json!(false));
    Some(Value::Object(answer).to_string())
}

fn can_cancel(moment: Moment) -> bool {
    matches!(moment, Moment::Prompt | Moment::BeforeTool)
}

/// Writes one program for each event.
fn files(context: &FileContext) -> Vec<OwnFile> {
    HOST.events.iter().map(|event| file(context, event)).collect()
}

fn file(context: &FileContext, event: &NativeEvent) -> OwnFile {
    let (mark, name) = (context.mark(), event.name);
    let in_quotes =
        |text: &str| shlex::try_quote(text).map_or_else(|_| "''".to_owned(), Into::into);
    let (program, options) = if context.scope == RegistrationScope::Shared {
        ("\"$HOME/.local/share/tenter/bin/tenter-hook\"".to_owned(), String::new())
    } else {
        let (home, id) = (in_quotes(context.home), in_quotes(context.id));
        (in_quotes(context.program), format!(" --home {home} --id {id}"))
    };
    let command = format!("{program} cline {name}{options}");
    let run = if context.fail_closed && can_cancel(event.moment) {
        let failure = json!({ "cancel": true, "errorMessage": "tenter-hook failed" });
        format!("{command} || echo '{failure}'")
    } else {
        format!("[ -x {program} ] || exit 0\nexec {command}")
    };
    let text = format!(
        "#!/bin/sh\n# {mark}\n# Runs Tenter's hooks in Cline. To undo it: `tenter bridge remove cline`.\n{run}\n"
    );
    OwnFile { path: name.into(), text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(value: &Value) -> Object {
        let call = call(&json!({"name": "run_commands", "input": value})).unwrap();
        call.input
    }

    #[test]
    fn tools_of_mcp_servers_have_tenters_names() {
        let name =
            |tool: &str| mcp_name(&NativeCall { tool: tool.to_owned(), ..NativeCall::default() });
        assert_eq!(name("my_files__make_dir").as_deref(), Some("mcp__my_files__make_dir"));
        assert_eq!(name("run_commands"), None);
    }

    #[test]
    fn lists_become_the_fields_of_tenters_tools_and_back() {
        let one = input(&json!({"commands": ["ls"]}));
        assert_eq!(one["command"], "ls");
        let mut rewrite = one.clone();
        rewrite["command"] = json!("true");
        assert_eq!(Value::Object(native_input(&rewrite)), json!({"commands": ["true"]}));
        let alone = json!({"command": "true"}).as_object().unwrap().clone();
        assert_eq!(Value::Object(native_input(&alone)), json!({"commands": ["true"]}));
        let many = input(&json!({"commands": ["ls", {"command": "pwd"}], "x": 1}));
        assert_eq!(many["command"], "ls\npwd");
        let native = json!({"commands": ["ls", {"command": "pwd"}], "x": 1});
        assert_eq!(Value::Object(native_input(&many)), native, "nothing changed");
        let mut file = input(&json!({"files": [{"path": "/a", "start_line": 2}]}));
        assert_eq!(file["file_path"], "/a");
        file["file_path"] = json!("/b");
        let native = json!({"files": [{"path": "/b", "start_line": 2}]});
        assert_eq!(Value::Object(native_input(&file)), native);
        assert!(
            !input(&json!({"files": [{"path": "/a"}, {"path": "/b"}]})).contains_key("file_path")
        );
    }

    #[test]
    fn a_failed_command_is_a_failure_although_the_call_succeeded() {
        let error = "Command exited with code 3";
        let failure = json!({"output": [{"result": "a", "success": true}, {"result": "b", "success": false, "error": error}]});
        let end = end(&failure);
        assert_eq!((end.exit_code, end.output.as_deref()), (Some(3), Some("a\nb")));
        assert_eq!(end.outcome, ToolOutcome::Failure(error.to_owned()));
    }

    #[test]
    fn a_file_that_fails_closed_cancels_what_it_guards() {
        let context = |fail_closed, scope| FileContext {
            host: &HOST,
            scope,
            program: "/home/a b/tenter-hook",
            home: "/home/a b",
            id: "5f0c",
            fail_closed,
        };
        let text = |context: &FileContext, name: &str| {
            files(context).into_iter().find(|file| file.path.as_os_str() == name).unwrap().text
        };
        let fail_closed = context(true, RegistrationScope::User);
        let guard = "'/home/a b/tenter-hook' cline PreToolUse --home '/home/a b' --id 5f0c || echo '{\"cancel\":true,\"errorMessage\":\"tenter-hook failed\"}'\n";
        assert!(
            text(&fail_closed, "PreToolUse").ends_with(guard),
            "{}",
            text(&fail_closed, "PreToolUse")
        );
        assert!(!text(&fail_closed, "TaskComplete").contains("||  echo"));
        let shared = text(&context(false, RegistrationScope::Shared), "PreToolUse");
        assert!(
            shared
                .contains("exec \"$HOME/.local/share/tenter/bin/tenter-hook\" cline PreToolUse\n")
        );
        assert!(!shared.contains("/home/a"));
    }
}
