//! Static hooks: an action and a condition over the payload (`metadata.action` in a manifest), without a script. They are parsed
//! when the catalog is loaded, and reply without starting a process.

use std::path::Path;

use serde_json::Value;
use tenter_base::{nearest, or_list};
use tenter_protocol::front_matter::{self, Field, Node};
use tenter_protocol::manifest::format::{Checks, TemplateKind};
use tenter_protocol::manifest::{Action, StaticActionText, unknown_name};
use tenter_protocol::{Diagnostic, EventName, Reply, Severity, SourceText};
use tenter_template::{Condition, Dialect, FieldPath, Inputs, NoShell, Template, TemplateFile};

use crate::keys::is_model_key;
use crate::matcher;
use crate::ready_made::ReadyMade;
use crate::source::{Script, script};

/// Checks the parts of a manifest that contain matchers, patterns and templates.
pub const CHECKS: Checks<'static> = Checks {
    tool: &matcher::check_tool,
    pattern: &matcher::check_pattern,
    template: &check,
    examples: &matcher::check_examples,
    is_model_key,
    ready_made: &|name| ReadyMade::named(name).map(drop),
    ready_made_setting: |hook, setting| {
        ReadyMade::named(hook).map_or(Ok(()), |hook| hook.check_setting(setting))
    },
};

/// The parsed action and condition of a static hook.
#[derive(Debug, Clone)]
pub struct StaticAction {
    when: Option<Condition>,
    action: Action<Template>,
}

impl StaticAction {
    /// Parses the action and the condition of a manifest.
    ///
    /// # Errors
    /// The first error. If [`CHECKS`] found none, there is none.
    pub(crate) fn new(text: &StaticActionText) -> Result<Self, String> {
        let template = |text: &String| Template::parse(file(text), Dialect::Hook);
        let when = text.when.as_deref().map(|text| Condition::parse(file(text)));
        let when = when.transpose().map_err(|findings| first(&findings))?;
        let action = text.action.try_map(template).map_err(|findings| first(&findings))?;
        Ok(Self { when, action })
    }

    /// Returns the action as in the manifest: `deny`, `context` and so on.
    pub fn action(&self) -> &'static str {
        self.action.as_str()
    }

    /// Returns the source text of the condition. Without a condition, the hook always acts.
    pub fn when(&self) -> Option<&str> {
        self.when.as_ref().map(Condition::text)
    }

    /// Returns the reply to a payload: an empty one if the condition does not hold.
    ///
    /// # Errors
    /// The reason why the condition or a template failed, as a sentence.
    pub(crate) fn reply(&self, payload: &Value) -> Result<Reply, String> {
        let acts = self.when.as_ref().map_or(Ok(true), |when| when.holds(payload));
        let acts = acts.map_err(|findings| {
            format!("its condition cannot be evaluated: {}", first(&findings))
        })?;
        if !acts {
            return Ok(Reply::default());
        }
        let inputs = Inputs { values: payload, declared_arguments: &[] };
        let filled = self
            .action
            .try_map(|template| template.render(&inputs, &NoShell).map(|text| text.text));
        filled
            .map_err(|findings| format!("its template cannot be rendered: {}", first(&findings)))?
            .into_reply()
    }
}

fn file(text: &str) -> TemplateFile {
    // The position of a text is reported when the manifest is read.
    TemplateFile::new("HOOK.md", text)
}

/// Returns the diagnostics of a template over the payload of `event`, with positions in `text`: syntax errors, or warnings about
/// fields that the payload never has.
fn check(event: EventName, kind: TemplateKind, text: &str) -> Vec<Diagnostic> {
    let paths = match kind {
        TemplateKind::Text => {
            Template::parse(file(text), Dialect::Hook).map(|template| template.paths())
        }
        TemplateKind::Condition => Condition::parse(file(text)).map(|condition| condition.paths()),
    };
    match paths {
        Ok(paths) => paths.iter().filter_map(|path| unknown_field(event, path, text)).collect(),
        Err(diagnostics) => diagnostics,
    }
}

/// Returns a warning if the payload of `event` never has the field at `path`.
fn unknown_field(event: EventName, path: &FieldPath, text: &str) -> Option<Diagnostic> {
    let names: Vec<&str> = path.names.iter().map(String::as_str).collect();
    let unknown = unknown_name(event, &names)?;
    let field_names: Vec<&str> = unknown.possible.iter().map(String::as_str).collect();
    let (name, before) = (names[unknown.index], names[..unknown.index].join("."));
    let message =
        format!("the payload of `{event}` has no `{}`", names[..=unknown.index].join("."));
    let help = match nearest(name, &field_names) {
        Some(near) => format!("did you mean `{near}`?"),
        None if field_names.is_empty() => format!("`{before}` has no fields"),
        None => format!("use {}", or_list(&field_names)),
    };
    let finding = Diagnostic::new("template-unknown-field", Severity::Warning, message);
    Some(finding.with_span(SourceText::new(text.as_bytes()).span(&path.at)).help(help))
}

/// Returns the first diagnostic as a sentence that quotes the line.
fn first(findings: &[Diagnostic]) -> String {
    let Some(finding) = findings.first() else { return "unknown error".to_owned() };
    match &finding.span {
        Some(place) => format!("{}, in `{}`", finding.message, place.source.trim()),
        None => finding.message.clone(),
    }
}

/// Returns an error if a hook has both a script and what replaces one: an action, rules that decide, a URL, or a ready-made hook. `bytes` is the
/// content of its manifest, the file at `path`.
pub fn needless_script(path: &Path, bytes: &[u8]) -> Option<Diagnostic> {
    let action = replacement_in(path, bytes)?;
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
    let script = match script(directory.unwrap_or(Path::new("."))) {
        Script::Entry(entry) => entry.path,
        Script::NotExecutable(script) => script,
        Script::Missing => return None,
    };
    let field = match action.key.as_str() {
        "action" => "an `action`",
        "url" => "a `url`",
        "ready_made" => "`ready_made`",
        _ => "rules with a `decision`",
    };
    let message = format!("the hook has both {field} and a script; only one is allowed");
    let script =
        directory.and_then(|directory| script.strip_prefix(directory).ok()).unwrap_or(&script);
    let help = format!("remove `{}`, or {}", action.key, script.display());
    Some(
        Diagnostic::new("hook-with-action-and-script", Severity::Error, message)
            .at(path)
            .with_span(SourceText::new(bytes).span(&action.key_at))
            .help(help),
    )
}

/// Returns whether a manifest needs no script, even if it is otherwise invalid: it has an action, rules that decide, a URL, or a ready-made hook.
pub fn replaces_script(path: &Path, bytes: &[u8]) -> bool {
    replacement_in(path, bytes).is_some()
}

/// Returns whether one of these rules has a decision.
fn decides(rules: &Node) -> bool {
    let rules = rules.as_list().unwrap_or_default();
    let mut fields = rules.iter().filter_map(Node::as_mapping);
    fields.any(|fields| front_matter::find(fields, "decision").is_some())
}

fn replacement_in(path: &Path, bytes: &[u8]) -> Option<Field> {
    let (document, _) = front_matter::read(path, bytes);
    let document = document?;
    let metadata = front_matter::find(&document.fields, "metadata")?;
    let metadata = metadata.value.as_mapping()?;
    let rules = front_matter::find(metadata, "match").filter(|rules| decides(&rules.value));
    let field = |key| front_matter::find(metadata, key);
    field("action").or(rules).or_else(|| field("url")).or_else(|| field("ready_made")).cloned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tenter_protocol::HistoryAction;

    use super::*;

    fn static_action(when: Option<&str>, action: Action) -> StaticAction {
        let when = when.map(str::to_owned);
        StaticAction::new(&StaticActionText { when, action }).unwrap()
    }

    fn deny(reason: &str) -> Action {
        Action::Deny { reason: reason.to_owned() }
    }

    #[test]
    fn acts_if_its_condition_holds_and_renders_the_payload() {
        let hook =
            static_action(Some("eq .tool_name \"bash\""), deny("not {{.tool_input.command}}"));
        let payload = |name: &str| json!({"tool_name": name, "tool_input": {"command": "ls"}});
        let reply = hook.reply(&payload("bash")).unwrap();
        assert_eq!(reply.verdict.unwrap().reason_text(), "not ls");
        assert_eq!(hook.reply(&payload("grep")), Ok(Reply::default()));
        assert_eq!((hook.action(), hook.when()), ("deny", Some("eq .tool_name \"bash\"")));
    }

    #[test]
    fn a_missing_payload_field_is_a_failure_that_names_it() {
        let hook = static_action(None, deny("{{.gone}}"));
        let error = hook.reply(&json!({})).unwrap_err();
        assert_eq!(
            error,
            "its template cannot be rendered: the payload has no `gone`, in `{{.gone}}`"
        );
        let hook = static_action(Some("eq .gone 1"), deny("x"));
        let error = hook.reply(&json!({})).unwrap_err();
        assert_eq!(
            error,
            "its condition cannot be evaluated: the payload has no `gone`, in `eq .gone 1`"
        );
    }

    #[test]
    fn a_recipes_name_and_arguments_are_rendered() {
        let args = [("turn".to_owned(), "{{.turn_number}}".to_owned())].into();
        let hook = static_action(None, Action::Callback { recipe: "compact".to_owned(), args });
        let reply = hook.reply(&json!({"turn_number": 3})).unwrap();
        let args = [("turn".to_owned(), "3".to_owned())].into();
        assert_eq!(
            reply.history,
            Some(HistoryAction::Callback { recipe: "compact".to_owned(), args })
        );
    }

    #[test]
    fn programs_are_rejected_before_anything_runs() {
        for kind in [TemplateKind::Text, TemplateKind::Condition] {
            let text =
                if kind == TemplateKind::Text { "{{bash \"true\"}}" } else { "bash \"true\"" };
            assert!(
                check(EventName::BeforeTool, kind, text)[0].message.contains("cannot run programs"),
                "{kind:?}"
            );
        }
    }
}
