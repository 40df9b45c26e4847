//! Shows an agent's work as JSON lines on stdout, for programs (`docs/headless.md`).

use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};
use tenter_agent::{SessionUpdate, Watcher};
use tenter_engine::journal::Redactor;
use tenter_engine::{AskAnswer, CallPermission, DecisionKind, HookRun, Notice, Observer};
use tenter_protocol::{Diagnostic, Object, Scope};
use tenter_terminal::ui;

use super::Show;

/// Writes the stream. Every object begins with `kind`, `conversation_id` and `time`, in that order.
pub(crate) struct Headless {
    stream_deltas: bool,
}

impl Headless {
    /// Creates a stream, with or without the deltas of texts.
    pub(crate) fn new(stream_deltas: bool) -> Self {
        Self { stream_deltas }
    }
}

fn write(scope: &Scope, kind: &str, fields: Value) {
    let mut object = Object::new();
    object.insert("kind".to_owned(), kind.into());
    object.insert("conversation_id".to_owned(), scope.conversation_id.as_str().into());
    object.insert("time".to_owned(), scope.time.as_str().into());
    if let Some(parent) = &scope.parent_conversation_id {
        object.insert("parent_conversation_id".to_owned(), parent.as_str().into());
    }
    if let Value::Object(fields) = fields {
        object.extend(fields);
    }
    ui::out(tenter_protocol::json::to_string(&object));
}

/// Writes an object that belongs to no conversation.
pub(crate) fn write_early(kind: &str, fields: Value) {
    let time = tenter_base::rfc3339(tenter_terminal::now());
    let scope = Scope { time, ..Scope::default() };
    write(&scope, kind, fields);
}

fn value(of: impl Serialize) -> Value {
    serde_json::to_value(of).unwrap_or_default()
}

/// Returns the JSON value with keys masked, since streams end up in logs.
fn mask(of: impl Serialize) -> Value {
    Redactor::default().value(value(of))
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the kind and the fields of an update; `None` if the stream omits it.
fn object(
    scope: &Scope,
    update: &SessionUpdate,
    stream_deltas: bool,
) -> Option<(&'static str, Value)> {
    Some(match update {
        SessionUpdate::SessionStarted { model, project, hooks } => (
            "session",
            json!({"id": scope.conversation_id, "model": model, "project": project.to_string_lossy(), "hooks": hooks}),
        ),
        SessionUpdate::TextDelta(text) if stream_deltas => ("text-delta", json!({"delta": text})),
        SessionUpdate::ReasoningDelta(text) if stream_deltas => {
            ("reasoning-delta", json!({"delta": text}))
        }
        // Deltas that were not requested; a block, which the run of its hook shows; and what only a display needs.
        SessionUpdate::TextDelta(_)
        | SessionUpdate::ReasoningDelta(_)
        | SessionUpdate::Blocked { .. }
        | SessionUpdate::ModelStarted { .. }
        | SessionUpdate::ModelEnded
        | SessionUpdate::ToolStarted { .. }
        | SessionUpdate::ToolEnded { .. }
        | SessionUpdate::RecipeEnded { .. } => {
            return None;
        }
        SessionUpdate::Retry { attempt, of, after, reason, discarded } => (
            "retry",
            json!({"attempt": attempt, "of": of, "after_ms": milliseconds(*after), "reason": reason, "discarded": discarded}),
        ),
        SessionUpdate::Text(text) => ("text", json!({"role": "assistant", "content": text})),
        SessionUpdate::Reasoning(text) => {
            ("reasoning", json!({"role": "assistant", "content": text}))
        }
        SessionUpdate::ToolUse(call) => (
            "tool-use",
            json!({"tool_call_id": call.id, "tool_name": call.name, "input": call.input}),
        ),
        SessionUpdate::ToolResult { call_id, result } => (
            "tool-result",
            json!({"tool_call_id": call_id, "tool_name": result.tool_name, "result": value(result)}),
        ),
        SessionUpdate::FollowUp { hook, text } => {
            ("text", json!({"role": "user", "hook": hook, "content": text}))
        }
        SessionUpdate::Recipe { recipe, by } => ("recipe", json!({"recipe": recipe, "by": by})),
        SessionUpdate::History { kind, by, recipe, before, after } => {
            ("history", history(kind, by, *recipe, (*before, *after)))
        }
        SessionUpdate::Usage(usage) => ("usage", json!({"usage": value(usage)})),
        SessionUpdate::Diagnostic(finding) => ("diagnostic", mask(finding)),
        SessionUpdate::SessionEnded { status, exit_code, usage } => {
            ("end", json!({"status": status, "exit_code": exit_code, "usage": value(usage)}))
        }
    })
}

fn history(kind: &str, by: &str, recipe: Option<&str>, (before, after): (usize, usize)) -> Value {
    let mut fields = Object::new();
    fields.insert("action".to_owned(), kind.into());
    fields.insert("by".to_owned(), by.into());
    fields.extend(recipe.map(|recipe| ("recipe".to_owned(), recipe.into())));
    fields.insert("messages_before".to_owned(), before.into());
    fields.insert("messages_after".to_owned(), after.into());
    Value::Object(fields)
}

impl Watcher for Headless {
    fn on_update(&self, scope: &Scope, update: &SessionUpdate) {
        let Some((kind, fields)) = object(scope, update, self.stream_deltas) else { return };
        write(scope, kind, fields);
    }
}

/// A run of a hook. Empty fields are omitted.
#[derive(Serialize)]
struct HookRunRecord<'r> {
    event: &'r str,
    spelling: &'r str,
    hook: &'r str,
    layer: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'r str>,
    decision: DecisionKind,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    also: &'r [DecisionKind],
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'r str>,
    duration_ms: u64,
    #[serde(rename = "async")]
    asynchronous: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    warnings: &'r [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    notes: &'r [String],
    #[serde(skip_serializing_if = "str::is_empty")]
    stdout: &'r str,
    #[serde(skip_serializing_if = "str::is_empty")]
    stderr: &'r str,
}

impl<'r> From<&'r HookRun> for HookRunRecord<'r> {
    fn from(run: &'r HookRun) -> Self {
        // The stderr of a successful hook is only in the journal (R43).
        let has_failed = run.decision == DecisionKind::Failed;
        Self {
            event: run.event.as_str(),
            spelling: &run.spelling,
            hook: &run.hook,
            layer: run.layer.as_str(),
            tool_call_id: run.call_id(),
            decision: run.decision,
            also: &run.also,
            reason: run.reason.as_deref(),
            duration_ms: milliseconds(run.duration),
            asynchronous: run.asynchronous,
            warnings: &run.warnings,
            notes: &run.notes,
            stdout: &run.stdout,
            stderr: if has_failed { &run.stderr_tail } else { "" },
        }
    }
}

/// Returns the `end` if no work begins, since something of the project is untrusted.
fn untrusted_end(names: &[String]) -> Value {
    json!({"status": "untrusted", "exit_code": 4, "untrusted": names})
}

/// Returns the answer to a hook's `ask`.
fn answered(answer: &AskAnswer) -> Value {
    json!({"event": answer.event.as_str(), "hook": answer.hook, "tool_call_id": answer.call_id(),
           "answer": answer.answer, "allowed": answer.allowed, "remembered": answer.remembered,
           "reason": answer.reason})
}

/// Returns whether a call has the user's permission.
fn permitted(decided: &CallPermission) -> Value {
    with_record("tool_call_id", decided.call_id(), &decided.record)
}

/// Returns a notice for the user.
fn noticed(notice: &Notice) -> Value {
    with_record("event", Some(notice.event.as_str()), &notice.record)
}

/// Returns a field, then the fields of a record.
fn with_record(key: &str, field: Option<&str>, record: impl Serialize) -> Value {
    let mut fields = Object::from_iter([(key.to_owned(), field.into())]);
    if let Value::Object(record) = value(record) {
        fields.extend(record);
    }
    Value::Object(fields)
}

impl Observer for Headless {
    fn hook_ran(&self, run: &HookRun) {
        write(&run.scope, "hook", mask(HookRunRecord::from(run)));
    }

    fn ask_answered(&self, answer: &AskAnswer) {
        write(&answer.scope, "answer", mask(answered(answer)));
    }

    fn permission_decided(&self, decided: &CallPermission) {
        write(&decided.scope, "permission", mask(permitted(decided)));
    }

    fn noticed(&self, notice: &Notice) {
        write(&notice.scope, "notice", mask(noticed(notice)));
    }
}

impl Show for Headless {
    fn finding(&self, finding: &Diagnostic) {
        write_early("diagnostic", mask(finding));
    }

    fn untrusted(&self, names: &[String]) {
        write_early("end", untrusted_end(names));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::path::Path;
    use std::sync::Arc;

    use tenter_agent::tools::OutputTail;
    use tenter_engine::{
        AnswerRecord, Fingerprint, Layer, NoticeRecord, Observation, PermissionAnswer,
        PermissionRecord, PermissionSource, RewriteChange, RunEnd, RunRecord,
    };
    use tenter_protocol::Span;
    use tenter_protocol::event::{TurnUsage, Usage};
    use tenter_protocol::{EventName, Severity, ToolCall, ToolResult};

    use super::*;

    type Fields = BTreeMap<String, BTreeSet<String>>;

    fn scope() -> Scope {
        Scope {
            conversation_id: "c".to_owned(),
            parent_conversation_id: Some("p".to_owned()),
            cwd: "/".into(),
            time: "T".to_owned(),
            ..Scope::default()
        }
    }

    fn call() -> ToolCall {
        ToolCall { id: "1".to_owned(), name: "bash".to_owned(), input: Object::new() }
    }

    fn observation<R>(record: R) -> Observation<R> {
        let (scope, time) = (Arc::new(scope()), jiff::Timestamp::UNIX_EPOCH);
        let mut observation = Observation::new(scope, EventName::BeforeTool, time, record);
        observation.tool_call = Some(call());
        observation
    }

    /// Returns a run with every optional field.
    fn full_run() -> HookRun {
        let text = || "x".to_owned();
        let mut run = observation(RunRecord::new("x", Layer::User, EventName::BeforeTool));
        run.spelling = "before_tool_call".to_owned();
        run.fingerprint = Fingerprint(text());
        run.end = RunEnd::Exited(1);
        run.decision = DecisionKind::Failed;
        run.also = vec![DecisionKind::Allow];
        run.reason = Some(text());
        run.change = Some(RewriteChange { before: Value::Null, after: Value::Null });
        (run.stdout, run.stderr_tail) = (text(), text());
        (run.warnings, run.notes) = (vec![text()], vec![text()]);
        run.asynchronous = true;
        run
    }

    fn full_answer() -> AskAnswer {
        let (hook, reason, answer) = ("x".to_owned(), "x".to_owned(), "yes".to_owned());
        observation(AnswerRecord { hook, reason, answer, allowed: true, remembered: true })
    }

    fn full_permission() -> CallPermission {
        let source = PermissionSource::User {
            answer: PermissionAnswer::Yes,
            remembered: true,
            added: vec!["x".to_owned()],
            reason: Some("x".to_owned()),
        };
        observation(PermissionRecord::new("ask", &source))
    }

    fn full_notice() -> Notice {
        observation(NoticeRecord { hook: Some("x".to_owned()), text: "x".to_owned() })
    }

    fn full_diagnostic() -> Diagnostic {
        let place = Span { line: 1, column: 1, length: 1, source: "x".to_owned() };
        Diagnostic::new("id", Severity::Error, "x").at("/").with_span(place).help("x")
    }

    /// Makes an update of each kind, with every optional field. A new kind must be added here to compile.
    fn each_update(mut visit: impl FnMut(&SessionUpdate)) {
        let usage = Usage {
            estimated: true,
            cost_usd: Some(1.0),
            turn: TurnUsage::default(),
            ..Usage::default()
        };
        let (call, diagnostic) = (call(), full_diagnostic());
        let output = OutputTail::default();
        let result = ToolResult::blocked("bash", "no", "T".to_owned());
        let (event, hook, text, recipe, by) = (EventName::BeforeTool, "h", "t", "r", "h");
        let mut next =
            Some(SessionUpdate::SessionStarted { model: "m", project: Path::new("/"), hooks: 1 });
        while let Some(update) = next {
            visit(&update);
            next = match update {
                SessionUpdate::SessionStarted { .. } => {
                    Some(SessionUpdate::ModelStarted { model: text })
                }
                SessionUpdate::ModelStarted { .. } => Some(SessionUpdate::ModelEnded),
                SessionUpdate::ModelEnded => Some(SessionUpdate::TextDelta(text)),
                SessionUpdate::TextDelta(_) => Some(SessionUpdate::ReasoningDelta(text)),
                SessionUpdate::ReasoningDelta(_) => Some(SessionUpdate::Retry {
                    attempt: 2,
                    of: 5,
                    after: Duration::ZERO,
                    reason: text,
                    discarded: true,
                }),
                SessionUpdate::Retry { .. } => Some(SessionUpdate::Text(text)),
                SessionUpdate::Text(_) => Some(SessionUpdate::Reasoning(text)),
                SessionUpdate::Reasoning(_) => Some(SessionUpdate::ToolUse(&call)),
                SessionUpdate::ToolUse(_) => {
                    Some(SessionUpdate::ToolStarted { call: &call, output: &output })
                }
                SessionUpdate::ToolStarted { .. } => {
                    Some(SessionUpdate::ToolEnded { call_id: text })
                }
                SessionUpdate::ToolEnded { .. } => {
                    Some(SessionUpdate::ToolResult { call_id: text, result: &result })
                }
                SessionUpdate::ToolResult { .. } => {
                    Some(SessionUpdate::Blocked { event, hook, reason: text, call_id: Some(text) })
                }
                SessionUpdate::Blocked { .. } => Some(SessionUpdate::FollowUp { hook, text }),
                SessionUpdate::FollowUp { .. } => Some(SessionUpdate::Recipe { recipe, by }),
                SessionUpdate::Recipe { .. } => Some(SessionUpdate::RecipeEnded { recipe }),
                SessionUpdate::RecipeEnded { .. } => Some(SessionUpdate::History {
                    kind: "compact",
                    by,
                    recipe: Some(recipe),
                    before: 2,
                    after: 1,
                }),
                SessionUpdate::History { .. } => Some(SessionUpdate::Usage(&usage)),
                SessionUpdate::Usage(_) => Some(SessionUpdate::Diagnostic(&diagnostic)),
                SessionUpdate::Diagnostic(_) => {
                    Some(SessionUpdate::SessionEnded { status: text, exit_code: 0, usage: &usage })
                }
                SessionUpdate::SessionEnded { .. } => None,
            };
        }
    }

    /// Returns the fields of every kind, from the code.
    fn fields_in_code() -> Fields {
        let mut fields = Fields::new();
        let mut add = |kind: &str, value: Value| {
            let Value::Object(object) = value else { panic!("{kind} is no object") };
            fields
                .entry(kind.to_owned())
                .or_default()
                .extend(object.into_iter().map(|(key, _)| key));
        };
        each_update(|update| {
            if let Some((kind, value)) = object(&scope(), update, true) {
                add(kind, value);
            }
        });
        add("hook", mask(HookRunRecord::from(&full_run())));
        add("answer", mask(answered(&full_answer())));
        add("permission", mask(permitted(&full_permission())));
        add("notice", mask(noticed(&full_notice())));
        add("end", untrusted_end(&[]));
        fields
    }

    /// Returns the fields of every kind, from the tables of `headless.md`.
    fn fields_in_docs() -> Fields {
        let page = include_str!("../../../../../docs/headless.md");
        let mut fields = Fields::new();
        for section in page.split("\n## ").skip(1) {
            let (heading, rest) = section.split_once('\n').unwrap();
            let rows = rest.lines().filter_map(|line| line.strip_prefix("| `"));
            let names = rows.filter_map(|row| Some(row.split_once('`')?.0.to_owned()));
            fields.insert(heading.replace('`', ""), names.collect());
        }
        fields.remove("Every object");
        fields
    }

    #[test]
    fn headless_md_lists_every_kind_and_every_field() {
        assert_eq!(fields_in_docs(), fields_in_code());
    }

    #[test]
    fn keys_in_the_output_of_hooks_are_masked() {
        let key = "AKIAABCDEFGHIJKLMNOP".to_owned();
        let mut run = full_run();
        (run.stderr_tail, run.notes) = (key.clone(), vec![key.clone()]);
        let finding = Diagnostic::new("id", Severity::Error, key.as_str()).help(key.as_str());
        let (_, finding) = object(&scope(), &SessionUpdate::Diagnostic(&finding), false).unwrap();
        for record in [mask(HookRunRecord::from(&run)), finding] {
            let text = record.to_string();
            assert!(
                !text.contains(&key) && text.matches("AKIA[16 redacted]").count() == 2,
                "{text}"
            );
        }
    }
}
