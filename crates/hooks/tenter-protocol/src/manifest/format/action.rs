//! `metadata.action` and the keys that belong to it: a static hook. Without `action`, those keys are the author's own.

use std::collections::BTreeMap;

use tenter_base::or_list;

use super::checks::{Checks, TemplateKind};
use super::codes::{ACTION, ACTION_IGNORED, METADATA_KEY};
use super::templates::report_template;
use crate::front_matter::{Field, Node, Report, find};
use crate::lifecycle::TABLE;
use crate::manifest::static_action::{ACTIONS, Action, StaticActionText, actions_at};
use crate::{Diagnostic, EventName, Role, Severity};

/// The keys below `metadata` that belong to an action, and their actions.
pub(super) const KEYS: [(&str, &[&str]); 5] = [
    ("reason", &["deny", "ask", "allow"]),
    ("text", &["context"]),
    ("messages", &["mutate"]),
    ("recipe", &["callback"]),
    ("args", &["callback"]),
];

const MESSAGE: &str = "`{role: user, content: …}`";

/// Reads the action of a static hook from the fields of `metadata`; `None` for a hook with a script.
pub(super) fn read(
    fields: &[Field],
    events: &[EventName],
    checks: Checks<'_>,
    report: &mut Report<'_>,
) -> Option<StaticActionText> {
    let Some(field) = find(fields, "action") else {
        if let Some(when) = find(fields, "when") {
            let message = "`metadata.when` has no effect without an `action`";
            let help = "decide in the script, or write an `action` and remove the script";
            report.add(&METADATA_KEY, &when.key_at, message, help);
        }
        return None;
    };
    let word = action_word(field, events, report)?;
    let mut reader = ActionReader { fields, action_field: field, word, events, checks, report };
    reader.report_keys_of_other_actions();
    let when = find(fields, "when").map(|field| reader.template(field, TemplateKind::Condition));
    let action = reader.action();
    Some(StaticActionText {
        when: when.map_or(Some(None), |when| when.map(Some))?,
        action: action?,
    })
}

/// Returns the word of the action, if every one of the events allows it.
fn action_word(
    field: &Field,
    events: &[EventName],
    report: &mut Report<'_>,
) -> Option<&'static str> {
    let word = report.choice(field, &ACTION, &ACTIONS.map(|(word, _)| word))?;
    let lacks = |event: &&EventName| !actions_at(**event).contains(&word);
    let Some(event) = events.iter().find(lacks) else {
        return Some(word).filter(|_| !events.is_empty());
    };
    let actions = actions_at(*event);
    let others = TABLE.iter().filter(|row| actions_at(row.event).contains(&word));
    let others: Vec<&str> = others.map(|row| row.name).collect();
    let actions = if actions.is_empty() { "no action".to_owned() } else { or_list(&actions) };
    let message = format!("`action: {word}` is not possible at `{event}`");
    let help = format!("`{event}` allows {actions}; `{word}` is possible at {}", or_list(&others));
    report.add(&ACTION, &field.value.at, message, help);
    None
}

/// Reads the keys of one action.
struct ActionReader<'c, 'f, 'r> {
    fields: &'f [Field],
    /// The field `action`.
    action_field: &'f Field,
    word: &'static str,
    events: &'c [EventName],
    checks: Checks<'c>,
    report: &'c mut Report<'r>,
}

impl<'f> ActionReader<'_, 'f, '_> {
    fn report_keys_of_other_actions(&mut self) {
        for (key, actions) in KEYS.iter().filter(|(_, actions)| !actions.contains(&self.word)) {
            let Some(field) = find(self.fields, key) else { continue };
            let fallback = self.report.fallback(&ACTION_IGNORED, "it is ignored");
            let message = format!("`action: {}` has no `{key}`{fallback}", self.word);
            let help = format!("`{key}` belongs to {}", or_list(actions));
            self.report.add(&ACTION_IGNORED, &field.key_at, message, help);
        }
    }

    fn action(&mut self) -> Option<Action> {
        Some(match self.word {
            "deny" => Action::Deny { reason: self.required_text("reason", "why it is denied")? },
            "ask" => Action::Ask { reason: self.required_text("reason", "why the user is asked")? },
            "allow" => Action::Allow {
                reason: match find(self.fields, "reason") {
                    Some(field) => Some(self.template(field, TemplateKind::Text)?),
                    None => None,
                },
            },
            "context" => {
                Action::Context { text: self.required_text("text", "what the model reads")? }
            }
            "mutate" => Action::Mutate { messages: self.messages()? },
            _ => {
                let recipe = self.required_text("recipe", "the name of the recipe");
                let args = self.args();
                Action::Callback { recipe: recipe?, args: args? }
            }
        })
    }

    /// Returns a key that the action cannot do without.
    fn required(&mut self, key: &str, expected: &str) -> Option<&'f Field> {
        let field = find(self.fields, key);
        if field.is_none() {
            let message = format!("`action: {}` needs `{key}`", self.word);
            let help = format!("write `{key}: …` next to it: {expected}");
            self.report.add(&ACTION, &self.action_field.key_at, message, help);
        }
        field
    }

    fn required_text(&mut self, key: &str, expected: &str) -> Option<String> {
        let field = self.required(key, expected)?;
        self.template(field, TemplateKind::Text)
    }

    /// Returns the text of a template, if it is valid.
    fn template(&mut self, field: &Field, kind: TemplateKind) -> Option<String> {
        let expected = match kind {
            TemplateKind::Text => "text, quoted if it begins with `{`",
            TemplateKind::Condition => "a condition, such as `eq .tool_name \"bash\"`",
        };
        let text = self.report.scalar(field, &ACTION, expected)?.text.clone();
        if text.trim().is_empty() {
            self.report.invalid(field, &ACTION, "is empty", expected);
            return None;
        }
        let diagnostics = self.check_template(kind, &text);
        report_template(&field.value, &text, &diagnostics, self.report).then_some(text)
    }

    /// Returns the errors of a template, and the fields that no event's payload can have.
    fn check_template(&self, kind: TemplateKind, text: &str) -> Vec<Diagnostic> {
        let check = |event: &EventName| (self.checks.template)(*event, kind, text);
        let in_both = |mut common: Vec<Diagnostic>, other: Vec<Diagnostic>| {
            common.retain(|diagnostic| {
                diagnostic.severity == Severity::Error
                    || other.iter().any(|one| one.span == diagnostic.span)
            });
            common
        };
        self.events.iter().map(check).reduce(in_both).unwrap_or_default()
    }

    fn args(&mut self) -> Option<BTreeMap<String, String>> {
        let Some(field) = find(self.fields, "args") else { return Some(BTreeMap::new()) };
        let fields = self.report.mapping(field, &ACTION)?;
        let read = |field: &Field| (field.key.clone(), self.template(field, TemplateKind::Text));
        let args: Vec<_> = fields.iter().map(read).collect();
        args.into_iter().map(|(name, text)| Some((name, text?))).collect()
    }

    /// Returns the messages. The last must be the user's, so that the model can answer (R32).
    fn messages(&mut self) -> Option<Vec<(Role, String)>> {
        let expected = "a list of `{role: user, content: …}`";
        let field = self.required("messages", expected)?;
        let Some(items) = field.value.as_list().filter(|items| !items.is_empty()) else {
            self.report.invalid(field, &ACTION, "has no messages", expected);
            return None;
        };
        let messages: Vec<_> = items.iter().map(|item| self.message(item)).collect();
        let messages: Vec<(Role, String)> = messages.into_iter().collect::<Option<_>>()?;
        if messages.last().is_some_and(|(role, _)| *role != Role::User) {
            let message = "the last message must be the user's, so that the model can answer";
            let at = items.last().map(|item| &item.at);
            self.report.add(&ACTION, at, message, "give it the role `user`");
            return None;
        }
        Some(messages)
    }

    fn message(&mut self, item: &Node) -> Option<(Role, String)> {
        let fields = item.as_mapping().unwrap_or_default();
        let (Some(role), Some(content)) = (find(fields, "role"), find(fields, "content")) else {
            let message = "a message needs a `role` and a `content`";
            self.report.add(&ACTION, &item.at, message, format!("write {MESSAGE}"));
            return None;
        };
        let content = self.template(content, TemplateKind::Text);
        Some((self.role(role)?, content?))
    }

    fn role(&mut self, field: &Field) -> Option<Role> {
        let word = self.report.choice(field, &ACTION, &["user", "assistant"])?;
        Some(if word == "user" { Role::User } else { Role::Assistant })
    }
}
