//! The hooks of a settings file.

use serde_json::Value;
use tenter_engine::inspect::check_pattern;
use tenter_protocol::claude_code::{self, NativeEvent};
use tenter_protocol::manifest::MatcherText;

use super::names::names;
use super::variables::Variables;
use super::{Import, ImportedAction, ImportedHook, Source, http, needs, prompt};
use crate::digest::digest;
use crate::hook_lint::{COMMAND_REGEX, why_no_event};
use crate::registration::RegisteredCommand;
use crate::rule_matcher::{self, RuleMatcher};

/// The id of Claude Code.
const HOST: &str = "claude-code";
/// The limits of a manifest's timeout, in milliseconds.
const TIMEOUTS: (f64, f64) = (100.0, 600_000.0);
/// The variable in arguments that Claude Code replaces itself.
const PROJECT: &str = "${CLAUDE_PROJECT_DIR}";
const PLUGIN: &str = "${CLAUDE_PLUGIN_ROOT}";

/// Reads the hooks below `hooks`.
pub(super) fn read(settings: &Value, source: &Source, variables: &Variables, import: &mut Import) {
    let Some(events) = settings.get("hooks").and_then(Value::as_object) else { return };
    for (name, groups) in events {
        for group in groups.as_array().into_iter().flatten() {
            let matcher = group.get("matcher").and_then(Value::as_str);
            for handler in group.get("hooks").and_then(Value::as_array).into_iter().flatten() {
                if RegisteredCommand::read(HOST, handler).is_some() {
                    continue;
                }
                let context = HandlerContext { event: name, matcher, source, variables };
                match context.hook(handler) {
                    Ok(hook) => import.hooks.push(hook),
                    Err(why) => import.left_out.push(format!("{}: {why}", context.shown())),
                }
            }
        }
    }
}

/// The place of a handler.
pub(super) struct HandlerContext<'s> {
    pub(super) event: &'s str,
    pub(super) matcher: Option<&'s str>,
    pub(super) source: &'s Source,
    pub(super) variables: &'s Variables,
}

/// Returns the key of a handler; `None` if it is neither a command nor an address nor a prompt.
pub(super) fn key(event: &str, matcher: Option<&str>, handler: &Value) -> Option<String> {
    let work = ["command", "url", "prompt"].into_iter().find_map(|field| handler.get(field));
    let command = work?.as_str()?;
    let text = |field: &str| handler.get(field).map(Value::to_string).unwrap_or_default();
    let (arguments, condition) = (text("args"), text("if"));
    let mut parts = vec![event, matcher.unwrap_or_default(), command, &arguments, &condition];
    let expression = handler.get(COMMAND_REGEX).and_then(Value::as_str);
    parts.extend(expression);
    Some(digest(&parts))
}

/// The script that a handler runs.
struct Work {
    /// Its command or address, for the user.
    label: String,
    /// The command that the hook is named after.
    name_source: String,
    /// The lines of a shell script.
    script: String,
}

impl Work {
    /// Reads the script that a handler runs.
    ///
    /// # Errors
    /// The handler cannot be carried over; the error is the reason, as a clause.
    fn read(handler: &Value) -> Result<Self, String> {
        let text = |field: &str| handler.get(field).and_then(Value::as_str);
        match text("type").unwrap_or("command") {
            "command" => {}
            "http" => {
                let url = text("url").unwrap_or_default();
                let script = http::script(url, handler)?;
                return Ok(Self { label: url.to_owned(), name_source: http::name(url), script });
            }
            "agent" => {
                return Err("it starts an agent of Claude Code's that has tools; a hook of the type `prompt` can be imported".to_owned());
            }
            kind => return Err(format!("a hook of the type {kind:?} needs Claude Code itself")),
        }
        let command = text("command").unwrap_or_default();
        if command.trim().is_empty() {
            return Err("it has no command".to_owned());
        }
        if let Some(shell) = text("shell").filter(|shell| *shell != "bash") {
            return Err(format!("it needs the shell {shell}"));
        }
        let script = script(command, handler)?;
        let arguments = handler.get("args").and_then(Value::as_array).into_iter().flatten();
        let arguments = arguments.filter_map(Value::as_str);
        let label = arguments.fold(command.to_owned(), |line, word| format!("{line} {word}"));
        Ok(Self { name_source: label.clone(), label, script })
    }
}

impl HandlerContext<'_> {
    fn shown(&self) -> String {
        match self.matcher.filter(|matcher| !matcher.is_empty()) {
            Some(matcher) => format!("{} {matcher}", self.event),
            None => self.event.to_owned(),
        }
    }

    /// Converts a handler to a hook.
    ///
    /// # Errors
    /// The handler cannot be carried over; the error is the reason, as a clause.
    pub(super) fn hook(&self, handler: &Value) -> Result<ImportedHook, String> {
        let native = self.native_event()?;
        if prompt::is_prompt(handler) {
            return self.judge(native, handler);
        }
        let work = Work::read(handler)?;
        let key = key(self.event, self.matcher, handler).ok_or("it has no command")?;
        let mut remarks = self.remarks(handler);
        remarks.extend(needs::remarks(&work.label, self.source));
        let mut condition = condition(native, handler, &mut remarks);
        let own = self.matcher.filter(|text| !text.trim().is_empty()).map(str::to_owned);
        // Beside a matcher of Claude Code's, the manifest takes no other one.
        let is_open = own.as_deref().is_none_or(|text| ["*", ".*"].contains(&text.trim()));
        condition.tool = condition.tool.filter(|_| is_open);
        let own = own.filter(|_| condition.tool.is_none());
        Ok(ImportedHook {
            key,
            names: names(&work.name_source, self.event, self.matcher),
            about: format!("{}: {}", self.shown(), one_line(&work.label)),
            remarks,
            trigger: native.event,
            matcher: condition,
            action: ImportedAction::Command {
                event: native.name,
                matcher: own,
                script: self.variables.before(&work.script),
                is_private: !self.variables.is_empty(),
                timeout_ms: timeout(handler, default_timeout(native.name)),
                asynchronous: is_set(handler, "async"),
                fail_closed: handler.get("onFailure").and_then(Value::as_str) == Some("block"),
            },
        })
    }

    /// Returns the hook for a handler that asks a model.
    ///
    /// # Errors
    /// The handler cannot be carried over; the error is the reason, as a clause.
    fn judge(&self, native: &NativeEvent, handler: &Value) -> Result<ImportedHook, String> {
        let text = prompt::text(handler)?;
        let (trigger, tool) = prompt::subscription(native, self.matcher)?;
        let key = key(self.event, self.matcher, handler).ok_or("it has no prompt")?;
        let mut remarks = prompt::remarks(handler, native);
        let MatcherText { tool: narrower, pattern } = condition(native, handler, &mut remarks);
        let tool = tool.or(narrower);
        Ok(ImportedHook {
            key,
            names: vec![prompt::name(text)],
            about: format!("{}: {}", self.shown(), one_line(text)),
            remarks,
            trigger,
            matcher: MatcherText { tool, pattern },
            action: prompt::action(text, timeout(handler, prompt::TIMEOUT))?,
        })
    }

    fn native_event(&self) -> Result<&'static NativeEvent, String> {
        let native = claude_code::named(self.event);
        let native = native.ok_or_else(|| why_no_event(self.source.host, self.event))?;
        if native.name == "SessionStart" && self.matcher.map(str::trim) == Some("compact") {
            return Err("Tenter starts no session after a compaction".to_owned());
        }
        Ok(native)
    }

    fn remarks(&self, handler: &Value) -> Vec<String> {
        let mut remarks = Vec::new();
        if is_set(handler, "asyncRewake") {
            remarks.push("`asyncRewake`: it does not wake the agent".to_owned());
        }
        if is_set(handler, "once") {
            remarks.push("`once`: it runs every time".to_owned());
        }
        let expression = self.matcher.unwrap_or_default();
        if self.event == "SessionStart" && expression.contains("compact") {
            remarks.push("it does not run after a compaction".to_owned());
        }
        if self.event == "PostToolBatch" {
            remarks.push(
                "`tool_calls` is missing where an agent does not tell the conversation".to_owned(),
            );
        }
        remarks
    }
}

fn is_set(handler: &Value, field: &str) -> bool {
    handler.get(field) == Some(&Value::Bool(true))
}

/// Returns the matcher for the condition of a handler. Without one, it runs on more calls.
fn condition(native: &NativeEvent, handler: &Value, remarks: &mut Vec<String>) -> MatcherText {
    if let Some(expression) = handler.get(COMMAND_REGEX).and_then(Value::as_str) {
        if check_pattern(expression).is_ok() {
            return MatcherText { tool: None, pattern: Some(expression.to_owned()) };
        }
        remarks.push(format!(
            "`{COMMAND_REGEX}: {expression}`: Tenter has no such expressions, so it runs on every call of the matcher"
        ));
    }
    let Some(rule) = handler.get("if").and_then(Value::as_str) else {
        return MatcherText::default();
    };
    if !native.event.lifecycle().matcher {
        remarks.push(format!(
            "`if: {rule}`: no tool is called at {}, so it runs every time",
            native.name
        ));
        return MatcherText::default();
    }
    match rule_matcher::matcher(rule) {
        Ok(RuleMatcher { tool, pattern, remark }) => {
            remarks.extend(remark.map(|remark| format!("`if: {rule}`: {remark}")));
            MatcherText { tool: Some(tool), pattern }
        }
        Err(why) => {
            remarks.push(format!("`if: {rule}`: {why}, so it runs on every call of the matcher"));
            MatcherText::default()
        }
    }
}

/// Returns the time limit, in seconds, of a command that has none in Claude Code.
fn default_timeout(event: &str) -> f64 {
    match event {
        "UserPromptSubmit" => 30.0,
        "SessionEnd" => 5.0,
        _ => 600.0,
    }
}

/// Returns the time limit in milliseconds; without one, it is `default` seconds.
fn timeout(handler: &Value, default: f64) -> u64 {
    let seconds = handler.get("timeout").and_then(Value::as_f64).filter(|it| *it > 0.0);
    let milliseconds = (seconds.unwrap_or(default) * 1000.0).clamp(TIMEOUTS.0, TIMEOUTS.1);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is positive and at most 600000"
    )]
    let whole = milliseconds as u64;
    whole
}

/// Writes the lines of the script: the command as it is, or the program with its arguments.
fn script(command: &str, handler: &Value) -> Result<String, String> {
    let Some(args) = handler.get("args").and_then(Value::as_array) else {
        return Ok(command.to_owned());
    };
    let words = std::iter::once(Some(command)).chain(args.iter().map(Value::as_str));
    let arguments = words.map(|word| word.and_then(argument));
    let arguments: Option<Vec<String>> = arguments.collect();
    let arguments = arguments.ok_or("its arguments are not text")?;
    Ok(format!("exec {}", arguments.join(" ")))
}

/// Quotes an argument for a shell command in which only Claude Code's own variables are replaced.
fn argument(word: &str) -> Option<String> {
    let mut output = String::new();
    for (index, part) in word.split(PROJECT).enumerate() {
        if index > 0 {
            output.push_str("\"$CLAUDE_PROJECT_DIR\"");
        }
        for (index, part) in part.split(PLUGIN).enumerate() {
            if index > 0 {
                output.push_str("\"$CLAUDE_PLUGIN_ROOT\"");
            }
            if !part.is_empty() {
                output.push_str(&shlex::try_quote(part).ok()?);
            }
        }
    }
    Some(if output.is_empty() { "''".to_owned() } else { output })
}

/// Puts a command on one line, for listings.
fn one_line(command: &str) -> String {
    command.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn hook(event: &str, matcher: Option<&str>, handler: &Value) -> Result<ImportedHook, String> {
        let source = Source {
            host: crate::hosts::find(HOST).unwrap(),
            file: "/none/settings.json".into(),
            text: String::new(),
            origin: String::new(),
            plugin_root: None,
            project: "/none".into(),
            home: "/none".into(),
        };
        let variables = Variables::default();
        HandlerContext { event, matcher, source: &source, variables: &variables }.hook(handler)
    }

    #[test]
    fn timeouts_are_in_milliseconds_and_within_the_limits() {
        for (handler, expected) in [
            (json!({"timeout": 1.5}), 1500),
            (json!({}), 600_000),
            (json!({"timeout": 0.01}), 100),
            (json!({"timeout": 9999}), 600_000),
        ] {
            let actual = timeout(&handler, default_timeout("PreToolUse"));
            assert_eq!(actual, expected, "{handler}");
        }
        assert_eq!(timeout(&json!({}), default_timeout("UserPromptSubmit")), 30_000);
    }

    #[test]
    fn a_program_with_arguments_is_run_without_expansion() {
        let handler = json!({"args": ["$HOME", "a b", "${CLAUDE_PROJECT_DIR}/x y", ""]});
        assert_eq!(
            script("/opt/my hook", &handler).unwrap(),
            r#"exec '/opt/my hook' '$HOME' 'a b' "$CLAUDE_PROJECT_DIR"'/x y' ''"#
        );
    }

    #[test]
    fn what_needs_claude_code_itself_is_not_carried_over() {
        let command = json!({"type": "command", "command": "x"});
        for (event, matcher, handler, why) in [
            ("Notification", None, command.clone(), "Tenter has no such event"),
            ("PermissionRequest", Some("Bash"), command.clone(), "Tenter has no such event"),
            (
                "SessionStart",
                Some("compact"),
                command,
                "Tenter starts no session after a compaction",
            ),
            (
                "Stop",
                None,
                json!({"type": "agent", "prompt": "x"}),
                "it starts an agent of Claude Code's that has tools; a hook of the type `prompt` can be imported",
            ),
            (
                "PreCompact",
                Some("auto"),
                json!({"type": "prompt", "prompt": "x"}),
                "a hook of the type \"prompt\" has no matcher at PreCompact",
            ),
            ("Stop", None, json!({"type": "command"}), "it has no command"),
            (
                "Stop",
                None,
                json!({"command": "x", "shell": "powershell"}),
                "it needs the shell powershell",
            ),
        ] {
            assert_eq!(hook(event, matcher, &handler).unwrap_err(), why);
        }
    }

    #[test]
    fn a_condition_is_about_its_tool() {
        let import = |event: &str, own: Option<&str>, rule: &str| {
            hook(event, own, &json!({"command": "x", "if": rule})).unwrap()
        };
        let matcher = |rule: &str| import("PreToolUse", Some(".*"), rule).matcher;
        let edit = matcher("Edit(src/**)");
        assert_eq!(edit.tool.as_deref(), Some("^(?:Edit|Write)$"));
        assert!(edit.pattern.is_some());
        assert_eq!(matcher("Bash").tool.as_deref(), Some("^Bash$"));
        assert_eq!(matcher("Write(*.md)|Edit(*.md)"), MatcherText::default());
        assert_eq!(import("Stop", None, "Bash(git *)").matcher, MatcherText::default());
        // A manifest has one expression for the tool.
        for own in [None, Some(".*"), Some("Edit"), Some("Edit|Write")] {
            let hook = import("PreToolUse", own, "Edit(src/**)");
            let ImportedAction::Command { matcher, .. } = hook.action else { panic!("{own:?}") };
            assert_ne!(matcher.is_some(), hook.matcher.tool.is_some(), "{own:?}");
        }
    }

    #[test]
    fn the_arguments_are_shown_and_name_the_hook() {
        let handler = json!({"command": "node", "args": ["${CLAUDE_PROJECT_DIR}/.claude/a.js"]});
        let import = hook("PreToolUse", Some("Bash"), &handler).unwrap();
        assert_eq!(import.names[0], "a");
        assert!(import.about.ends_with("node ${CLAUDE_PROJECT_DIR}/.claude/a.js"));
    }

    #[test]
    fn a_regular_expression_for_commands_is_a_pattern() {
        let import_with = |expression: &str| {
            let handler = json!({"command": "x", "commandRegex": expression});
            hook("PreToolUse", Some("Bash"), &handler).unwrap()
        };
        let import = import_with(r"\bgh\s+pr\b");
        assert_eq!(
            (import.matcher.pattern.as_deref(), import.remarks.len()),
            (Some(r"\bgh\s+pr\b"), 0)
        );
        let import = import_with("(x");
        assert_eq!(import.matcher.pattern, None);
        assert!(import.remarks[0].ends_with("so it runs on every call of the matcher"));
        assert_ne!(import_with("a").key, import_with("b").key);
    }

    #[test]
    fn what_is_different_is_said() {
        let handler =
            json!({"command": "x", "if": "Bash(git push:*)", "once": true, "asyncRewake": true});
        let import = hook("PreToolUse", Some("Bash"), &handler).unwrap();
        assert_eq!(import.remarks.len(), 3);
        assert!(import.matcher.pattern.unwrap().contains("push"));
        let handler = json!({"command": "x", "if": "Read([ab])"});
        let import = hook("PreToolUse", Some("Read"), &handler).unwrap();
        assert!(import.remarks[0].ends_with("so it runs on every call of the matcher"));
        assert_eq!(import.matcher.pattern, None);
    }
}
