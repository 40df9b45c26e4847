//! `metadata.action` and what belongs to it: a hook without code. Where there is no `action`, those keys are anybody's.

use std::collections::BTreeMap;

use tenter_base::{nearest, or_list};

use super::Checks;
use super::findings::{ACTION, ACTION_IGNORED, METADATA_KEY};
use super::reader::Reader;
use super::templates::TemplateKind;
use super::tree::{Entry, Node, NodeKind, shown};
use crate::lifecycle::TABLE;
use crate::manifest::declaration::ACTIONS;
use crate::manifest::{Action, Declaration, actions_at};
use crate::{Diagnostic, EventName, Role, Severity};

/// The keys below `metadata` that belong to an action, and to which.
pub(super) const KEYS: [(&str, &[&str]); 5] = [
    ("reason", &["deny", "ask", "allow"]),
    ("text", &["context"]),
    ("messages", &["mutate"]),
    ("recipe", &["callback"]),
    ("args", &["callback"]),
];

/// Reads what the hook does without code; nothing, where it has code.
pub(super) fn read(
    entries: &[Entry],
    events: &[EventName],
    checks: Checks<'_>,
    reader: &mut Reader<'_, '_>,
) -> Option<Declaration> {
    let find = |key: &str| entries.iter().find(|entry| entry.key.name == key);
    let Some(named) = find("action") else {
        if let Some(when) = find("when") {
            let message =
                "`metadata.when` has no effect: it belongs to an `action`, and there is none";
            let help =
                "a hook with a script decides in the script; one without code has an `action`";
            reader.findings.add(&METADATA_KEY, Some(&when.key.at), message, help);
        }
        return None;
    };
    let word = word(named, events, reader)?;
    let mut fields = Fields { entries, named, word, events, checks, reader };
    fields.refuse_strangers();
    let when = find("when").map(|entry| fields.template(entry, TemplateKind::Condition));
    let action = fields.action();
    Some(Declaration { when: when.map_or(Some(None), |when| when.map(Some))?, action: action? })
}

/// The action, if it is possible at every one of the events.
fn word(entry: &Entry, events: &[EventName], reader: &mut Reader<'_, '_>) -> Option<&'static str> {
    let words = ACTIONS.map(|(word, _)| word);
    let meant = format!("one of {}", or_list(&words));
    let written = reader.scalar(entry, &ACTION, &meant)?.text.clone();
    let at = Some(&entry.value.at);
    let Some(word) = words.into_iter().find(|word| *word == written) else {
        let help = match nearest(&written, &words) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("actions are {}", or_list(&words)),
        };
        let message = format!("there is no action `{}`", shown(&written));
        reader.findings.add(&ACTION, at, message, help);
        return None;
    };
    let lacks = |event: &&EventName| !actions_at(**event).contains(&word);
    let Some(event) = events.iter().find(lacks) else {
        return Some(word).filter(|_| !events.is_empty());
    };
    let possible = actions_at(*event);
    let others = TABLE.iter().filter(|row| actions_at(row.event).contains(&word));
    let others: Vec<&str> = others.map(|row| row.name).collect();
    let here = if possible.is_empty() { "nothing".to_owned() } else { or_list(&possible) };
    let message = format!("`action: {word}` is not possible at `{event}`");
    let help = format!("possible there is {here}; `{word}` is possible at {}", or_list(&others));
    reader.findings.add(&ACTION, at, message, help);
    None
}

/// The keys of one action.
struct Fields<'r, 'e, 'a, 'f> {
    entries: &'e [Entry],
    /// The entry that names the action.
    named: &'e Entry,
    word: &'static str,
    events: &'r [EventName],
    checks: Checks<'r>,
    reader: &'r mut Reader<'a, 'f>,
}

impl<'e> Fields<'_, 'e, '_, '_> {
    fn entry(&self, key: &str) -> Option<&'e Entry> {
        self.entries.iter().find(|entry| entry.key.name == key)
    }

    /// Keys that belong to another action.
    fn refuse_strangers(&mut self) {
        for (key, actions) in KEYS.iter().filter(|(_, actions)| !actions.contains(&self.word)) {
            let Some(entry) = self.entry(key) else { continue };
            let ignored = self.reader.findings.instead(&ACTION_IGNORED, "it is ignored");
            let message = format!("`{key}` means nothing with `action: {}`{ignored}", self.word);
            let help = format!("it belongs to {}", or_list(actions));
            self.reader.findings.add(&ACTION_IGNORED, Some(&entry.key.at), message, help);
        }
    }

    fn action(&mut self) -> Option<Action> {
        Some(match self.word {
            "deny" => Action::Deny { reason: self.required("reason", "what is told")? },
            "ask" => Action::Ask { reason: self.required("reason", "what the person is told")? },
            "allow" => Action::Allow {
                reason: match self.entry("reason") {
                    Some(entry) => Some(self.template(entry, TemplateKind::Text)?),
                    None => None,
                },
            },
            "context" => Action::Context { text: self.required("text", "what the model reads")? },
            "mutate" => Action::Mutate { messages: self.messages()? },
            _ => {
                let recipe = self.required("recipe", "the recipe's name");
                let args = self.args();
                Action::Callback { recipe: recipe?, args: args? }
            }
        })
    }

    /// A key that the action cannot do without.
    fn demand(&mut self, key: &str, meant: &str) -> Option<&'e Entry> {
        let entry = self.entry(key);
        if entry.is_none() {
            let message = format!("`action: {}` needs `{key}`", self.word);
            let help = format!("write `{key}: …` beside it: {meant}");
            self.reader.findings.add(&ACTION, Some(&self.named.key.at), message, help);
        }
        entry
    }

    fn required(&mut self, key: &str, meant: &str) -> Option<String> {
        let entry = self.demand(key, meant)?;
        self.template(entry, TemplateKind::Text)
    }

    /// A text that is a template, if it can be understood.
    fn template(&mut self, entry: &Entry, kind: TemplateKind) -> Option<String> {
        let meant = match kind {
            TemplateKind::Text => "text, in quotes where it begins with `{`",
            TemplateKind::Condition => "a condition, such as `eq .tool_name \"bash\"`",
        };
        let scalar = self.reader.scalar(entry, &ACTION, meant)?;
        let text = scalar.text.clone();
        if text.trim().is_empty() {
            self.reader.complain(entry, &ACTION, "is empty", meant);
            return None;
        }
        let found = self.judged(kind, &text);
        self.reader.tell_template(&entry.value, &text, &found).then_some(text)
    }

    /// What is wrong with a template: errors, and fields that the payload of none of the events can have.
    fn judged(&self, kind: TemplateKind, text: &str) -> Vec<Diagnostic> {
        let mut of_each =
            self.events.iter().map(|event| (self.checks.template)(*event, kind, text));
        let first = of_each.next().unwrap_or_default();
        of_each.fold(first, |mut kept, other| {
            kept.retain(|finding| {
                finding.severity == Severity::Error
                    || other.iter().any(|known| known.span == finding.span)
            });
            kept
        })
    }

    fn args(&mut self) -> Option<BTreeMap<String, String>> {
        let Some(entry) = self.entry("args") else { return Some(BTreeMap::new()) };
        let entries = self.reader.mapping(entry, &ACTION)?;
        let read =
            |entry: &Entry| (entry.key.name.clone(), self.template(entry, TemplateKind::Text));
        let args: Vec<_> = entries.iter().map(read).collect();
        args.into_iter().map(|(name, text)| Some((name, text?))).collect()
    }

    /// The messages; the last must be the user's, so that the model can answer (R32).
    fn messages(&mut self) -> Option<Vec<(Role, String)>> {
        let meant = "a list of `{role: user, content: …}`";
        let entry = self.demand("messages", meant)?;
        let items = match &entry.value.kind {
            NodeKind::Sequence(items) if !items.is_empty() => items,
            _ => {
                self.reader.complain(entry, &ACTION, "has no messages", meant);
                return None;
            }
        };
        let messages: Vec<_> = items.iter().map(|item| self.message(item)).collect();
        let messages: Vec<(Role, String)> = messages.into_iter().collect::<Option<_>>()?;
        if messages.last().is_some_and(|(role, _)| *role != Role::User) {
            let message = "the last message must be the user's, so that the model can answer";
            let at = items.last().map(|item| &item.at);
            self.reader.findings.add(&ACTION, at, message, "give it the role `user`");
            return None;
        }
        Some(messages)
    }

    fn message(&mut self, item: &Node) -> Option<(Role, String)> {
        let NodeKind::Mapping(entries) = &item.kind else {
            let help = "write `{role: user, content: …}`";
            self.reader.findings.add(&ACTION, Some(&item.at), "this is no message", help);
            return None;
        };
        let field = |key: &str| entries.iter().find(|entry| entry.key.name == key);
        let (Some(role), Some(content)) = (field("role"), field("content")) else {
            let message = "a message has a `role` and a `content`";
            let help = "write `{role: user, content: …}`";
            self.reader.findings.add(&ACTION, Some(&item.at), message, help);
            return None;
        };
        let content = self.template(content, TemplateKind::Text);
        Some((self.role(role)?, content?))
    }

    fn role(&mut self, entry: &Entry) -> Option<Role> {
        match self.reader.scalar(entry, &ACTION, "`user` or `assistant`")?.text.as_str() {
            "user" => Some(Role::User),
            "assistant" => Some(Role::Assistant),
            _ => {
                let what = "is neither `user` nor `assistant`";
                self.reader.complain(entry, &ACTION, what, "`user` or `assistant`");
                None
            }
        }
    }
}
