//! The hooks of other hosts than Claude Code: of those that imitate its payloads and answers, as hooks that are written for it.

use serde_json::{Value, json};
use tenter_protocol::Diagnostic;
use tenter_protocol::claude_code::{self, tools};

use super::handlers::{self, HandlerContext};
use super::needs;
use super::variables::Variables;
use super::{Import, ImportedAction, Source};
use crate::hook_lint::{HookEntry, entries, has_event, why_no_event};
use crate::host::{Host, Moment};
use crate::registration::RegisteredCommand;

/// The hosts whose hooks read Claude Code's payloads and answer in its way.
const IMITATORS: [&str; 4] = ["codex", "qwen", "droid", "kimi-code"];

/// Names that Qwen Code accepts for its tools besides their own, and that Claude Code does not have.
const QWEN_NAMES: [(&str, &str); 9] = [
    ("FindFiles", "glob"),
    ("ListFiles", "list_directory"),
    ("ReadFile", "read_file"),
    ("SearchFiles", "grep_search"),
    ("Shell", "run_shell_command"),
    ("WriteFile", "write_file"),
    ("replace", "edit"),
    ("search_file_content", "grep_search"),
    ("task", "agent"),
];

/// Reads the hooks of a host's settings file.
///
/// # Errors
/// It is not JSON or TOML.
pub(super) fn read(source: &Source, import: &mut Import) -> Result<(), Diagnostic> {
    let host = source.host;
    for entry in entries(host, &source.file, &source.text)? {
        if RegisteredCommand::read(host.id, &entry.handler).is_some() {
            continue;
        }
        let variables = match host.id {
            "qwen" => Variables::read(&entry.handler, import),
            _ => Variables::default(),
        };
        let hook = convert(source, &entry).and_then(|conversion| {
            let matcher = conversion.matcher.as_deref();
            let event = conversion.event;
            let context = HandlerContext { event, matcher, source, variables: &variables };
            let mut hook = context.hook(&conversion.handler)?;
            hook.key = key(&entry).ok_or("it has no command")?;
            hook.remarks.extend(conversion.remarks);
            set_project_variables(host, &mut hook.action);
            Ok(hook)
        });
        match hook {
            Ok(hook) => import.hooks.push(hook),
            Err(why) => import.left_out.push(format!("{}: {why}", entry.place())),
        }
    }
    Ok(())
}

/// Returns the key of an entry, by which a later import recognises it.
pub(super) fn key(entry: &HookEntry) -> Option<String> {
    handlers::key(&entry.event, entry.matcher.as_deref(), &entry.handler)
}

/// An entry in the form of Claude Code.
struct Converted {
    event: &'static str,
    matcher: Option<String>,
    handler: Value,
    /// The differences.
    remarks: Vec<String>,
}

/// Converts an entry to the form of Claude Code.
///
/// # Errors
/// The entry cannot be carried over; the error is the reason, as a clause.
fn convert(source: &Source, entry: &HookEntry) -> Result<Converted, String> {
    let host = source.host;
    if !IMITATORS.contains(&host.id) {
        return Err(format!(
            "its script reads the payloads of {}, and answers in its way; write it for Claude Code's payloads, or as a hook of Tenter's: `tenter hooks new`",
            host.name
        ));
    }
    let native = host.event(&entry.event);
    let event = match native {
        Some(native) => claude_event(native.moment),
        None => claude_code::named(&entry.event).map(|event| event.name),
    };
    let event = event.ok_or_else(|| why_no_event(host, &entry.event))?;
    let mut handler = entry.handler.clone();
    if let Some(format) = host.registration.entries()
        && let Some(timeout) = handler.get(format.timeout).and_then(Value::as_f64)
    {
        handler["timeout"] = json!(format.unit.seconds(timeout));
    }
    if host.id == "qwen" && handler.get("failMode").and_then(Value::as_str) == Some("closed") {
        handler["onFailure"] = json!("block");
    }
    let matcher = entry.matcher.as_deref().map(|matcher| claude_names(host, matcher));
    let name = host.name;
    let mut remarks: Vec<String> = names_remark(source, entry.command()).into_iter().collect();
    if native.is_none() {
        remarks.push(if has_event(host, &entry.event) {
            format!("in {name}, {event} reaches only the hooks in its settings: keep it there")
        } else {
            format!("{name} has no event {event}, so there it does not run")
        });
    }
    Ok(Converted { event, matcher, handler, remarks })
}

/// Returns the remark about names of tools: the names of the host that a script looks for, or, where its text is not known, that it
/// reads other ones.
fn names_remark(source: &Source, command: Option<&str>) -> Option<String> {
    let host = source.host;
    let mut texts = needs::scripts(command?, source);
    let is_known = !texts.is_empty();
    texts.extend(command.map(str::to_owned));
    let differing = host.tools.iter().filter_map(|tool| {
        let claude = claude_name(tool.canonical).filter(|name| *name != tool.name)?;
        Some((tool.name, claude))
    });
    let mut differing = differing.peekable();
    differing.peek()?;
    let is_quoted = |name: &str| {
        let forms = ["'", "\""].map(|quote| format!("{quote}{name}{quote}"));
        texts.iter().any(|text| forms.iter().any(|form| text.contains(form)))
    };
    let pairs = differing.filter(|(name, _)| is_quoted(name));
    let pairs: Vec<String> =
        pairs.map(|(name, claude)| format!("`{name}`, and reads `{claude}`")).collect();
    if !pairs.is_empty() {
        return Some(format!(
            "its script looks for {}, also in {}: let it accept both names, or it does nothing",
            pairs.join("; for "),
            host.name
        ));
    }
    (!is_known).then(|| {
        format!(
            "its script reads Claude Code's names of tools and fields, such as `Bash`, also in {}",
            host.name
        )
    })
}

fn claude_event(moment: Moment) -> Option<&'static str> {
    Some(match moment {
        Moment::SessionStart => "SessionStart",
        Moment::Prompt => "UserPromptSubmit",
        Moment::BeforeTool => "PreToolUse",
        Moment::AfterTool => "PostToolUse",
        Moment::AfterToolFailure => "PostToolUseFailure",
        Moment::AfterBatch => "PostToolBatch",
        Moment::Stop => "Stop",
        Moment::SubagentStart => "SubagentStart",
        Moment::SubagentStop => "SubagentStop",
        Moment::PreCompact => "PreCompact",
        Moment::PostCompact => "PostCompact",
        Moment::SessionEnd => "SessionEnd",
        Moment::PromptSent | Moment::StopFailure => return None,
    })
}

/// Returns Claude Code's name of the tool with this name of Tenter's.
pub(super) fn claude_name(canonical: &str) -> Option<&'static str> {
    tools::counterpart(canonical).map(|tool| tool.name)
}

/// Replaces the names of a host's tools in a matcher by the names in Claude Code. A patch also creates files: `apply_patch` →
/// `Edit|Write`.
fn claude_names(host: &Host, matcher: &str) -> String {
    let mut text = String::new();
    let mut word = String::new();
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_list = |matcher: &str| matcher.chars().all(|c| is_letter(c) || c == '|');
    let patch = if is_list(matcher) { "Edit|Write" } else { "(?:Edit|Write)" };
    for c in matcher.chars().chain(['\0']) {
        if is_letter(c) {
            word.push(c);
            continue;
        }
        let other = QWEN_NAMES.iter().find(|(name, _)| host.id == "qwen" && *name == word);
        let own = other.map_or(word.as_str(), |(_, own)| own);
        let tool = host.tools.iter().find(|tool| tool.name == own);
        let name = match word.as_str() {
            "apply_patch" if tool.is_some() => Some(patch),
            _ => tool.and_then(|tool| claude_name(tool.canonical)),
        };
        text.push_str(name.unwrap_or(own));
        word.clear();
        text.extend((c != '\0').then_some(c));
    }
    if is_list(matcher) {
        // Several tools of a host may have the same counterpart.
        let mut names: Vec<&str> = Vec::new();
        for name in text.split('|') {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        return names.join("|");
    }
    text
}

/// Sets the host's variables with the project, for the command and for the scripts that it runs.
fn set_project_variables(host: &Host, action: &mut ImportedAction) {
    let ImportedAction::Command { script, .. } = action else { return };
    let names: &[&str] = match host.id {
        "qwen" => &["QWEN_PROJECT_DIR", "GEMINI_PROJECT_DIR"],
        "droid" => &["FACTORY_PROJECT_DIR", "DROID_PROJECT_DIR"],
        _ => return,
    };
    let values = names.iter().map(|name| format!(" {name}=\"$CLAUDE_PROJECT_DIR\""));
    *script = format!("export{}\n{script}", values.collect::<String>());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts;

    fn import(host: &str, settings: &Value) -> Import {
        let source = Source {
            host: hosts::find(host).unwrap(),
            file: "/none/settings.json".into(),
            text: settings.to_string(),
            origin: String::new(),
            plugin_root: None,
            project: "/none".into(),
            home: "/none".into(),
        };
        let mut import = Import::default();
        read(&source, &mut import).unwrap();
        import
    }

    #[test]
    fn what_only_qwen_has_is_carried_over() {
        let handler =
            json!({"command": "x", "timeout": 20, "failMode": "closed", "env": {"LEVEL": "a b"}});
        let group = json!({"matcher": "WriteFile|Shell", "hooks": [handler]});
        let import = import("qwen", &json!({"hooks": {"PreToolUse": [group]}}));
        let ImportedAction::Command { matcher, script, timeout_ms, fail_closed, .. } =
            &import.hooks[0].action
        else {
            panic!("{import:?}");
        };
        assert_eq!(matcher.as_deref(), Some("Write|Bash"));
        assert!(script.contains("export LEVEL='a b'\nx"), "{script}");
        assert_eq!((*timeout_ms, *fail_closed), (20_000, true));
    }
}
