//! `metadata.settings` and `metadata.set`: values that the user of a hook changes. References to them, such as `{setting: read}`, are
//! replaced before anything else is read, so that the rest of the format knows no settings.
//!
//! ```yaml
//! settings:
//!   read: {type: [ask, deny, off], default: ask, description: The decision about reading a secret.}
//! set: {read: deny}
//! match:
//!   - {path: {op: read, glob: "**/.env"}, decision: {setting: read}, reason: …}
//! ```

use std::ops::Range;

use tenter_base::{did_you_mean, or_list};

use super::checks::Checks;
use super::codes::{EXTENSION, METADATA_KEY, RULE};
use crate::front_matter::{Document, Field, Node, NodeKind, Report, Scalar, Style, find, quotable};
use crate::manifest::setting::{HookSetting, SettingKind, SettingValue};

const KEYS: [&str; 3] = ["type", "default", "description"];
/// The keys of a reference.
const SETTING: &str = "setting";
const IS: &str = "is";
/// Conditions that hold for nothing in their list. Without items they always hold.
const NEGATIVE: [&str; 4] = ["except", "none", "not", "outside"];

/// Reads the settings of a hook, and replaces the references to them. Rules that are switched off are removed.
pub(super) fn resolve(
    mut document: Document,
    checks: Checks<'_>,
    report: &mut Report<'_>,
) -> (Document, Vec<HookSetting>) {
    let metadata = find(&document.fields, "metadata").and_then(|field| field.value.as_mapping());
    let mut settings = metadata.map_or_else(Vec::new, |fields| declared(fields, report));
    if let Some(fields) = metadata.filter(|_| !settings.is_empty()) {
        read_values(fields, &mut settings, checks, report);
    }
    let mut references = References { settings: &settings, report };
    let fields = std::mem::take(&mut document.fields);
    document.fields = references.top_level(fields);
    (document, settings)
}

/// Reads the declarations.
fn declared(metadata: &[Field], report: &mut Report<'_>) -> Vec<HookSetting> {
    let Some(field) = find(metadata, "settings") else { return Vec::new() };
    let fields = report.mapping(field, &EXTENSION).unwrap_or_default();
    fields.iter().filter_map(|field| setting(field, report)).collect()
}

fn setting(field: &Field, report: &mut Report<'_>) -> Option<HookSetting> {
    if !is_name(&field.key) {
        let message = format!("`{}` is not the name of a setting", quotable(&field.key));
        let help = "write lower-case letters, digits and hyphens";
        report.add(&EXTENSION, &field.key_at, message, help);
        return None;
    }
    let fields = report.mapping(field, &EXTENSION)?;
    for other in fields.iter().filter(|field| !KEYS.contains(&field.key.as_str())) {
        let help = did_you_mean(&other.key, &KEYS, || format!("keys are {}", or_list(&KEYS)));
        report.unknown_field(other, &EXTENSION, "a setting", help);
    }
    let mut require = |key: &str| {
        let required_field = find(fields, key);
        if required_field.is_none() {
            let message = format!("the setting `{}` has no `{key}`", field.key);
            report.add(&EXTENSION, &field.key_at, message, format!("write `{key}: …`"));
        }
        required_field
    };
    let (kind, default) = (require("type"), require("default"));
    let description = require("description")?;
    let kind = kind_of(kind?, report)?;
    let default = value(&kind, default?, report)?;
    let description = report.text(description, &EXTENSION, "what the setting is for")?;
    let name = field.key.clone();
    Some(HookSetting { name, kind, default, description, set: None })
}

fn is_name(text: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_lowercase();
    text.starts_with(is_letter)
        && text.chars().all(|one| is_letter(one) || one.is_ascii_digit() || one == '-')
}

fn kind_of(field: &Field, report: &mut Report<'_>) -> Option<SettingKind> {
    let words = field.value.as_list().map(|items| items.iter().map(Node::as_text).collect());
    if let Some(words) = words {
        let words: Option<Vec<&str>> = words;
        let words = words.filter(|words| words.len() > 1);
        if words.is_none() {
            report.invalid(field, &EXTENSION, "is not a list of words", "at least two words");
        }
        return Some(SettingKind::Choice(words?.into_iter().map(str::to_owned).collect()));
    }
    let words = SettingKind::WORDS.map(|(word, _)| word);
    let word = report.choice(field, &EXTENSION, &words)?;
    SettingKind::WORDS.into_iter().find(|(name, _)| *name == word).map(|(_, kind)| kind)
}

/// Reads the user's values.
fn read_values(
    metadata: &[Field],
    settings: &mut [HookSetting],
    checks: Checks<'_>,
    report: &mut Report<'_>,
) {
    let Some(field) = find(metadata, "set") else { return };
    let ready_made = find(metadata, "ready_made").and_then(|field| field.value.as_text());
    for field in report.mapping(field, &EXTENSION).unwrap_or_default() {
        let position = settings.iter().position(|setting| setting.name == field.key);
        if let Some(position) = position {
            let setting = &mut settings[position];
            setting.set = value(&setting.kind, field, report);
            if let Some(Err(help)) =
                ready_made.map(|hook| (checks.ready_made_setting)(hook, setting))
            {
                let message = format!("`{}` cannot have this value", field.key);
                report.add(&EXTENSION, field.at(), message, help);
            }
            continue;
        }
        let names = names(settings);
        let message = format!("`{}` has no effect: the hook has no such setting", field.key);
        let help = did_you_mean(&field.key, &names, || format!("settings are {}", or_list(&names)));
        report.add(&METADATA_KEY, &field.key_at, message, help);
    }
}

fn names(settings: &[HookSetting]) -> Vec<&str> {
    settings.iter().map(|setting| setting.name.as_str()).collect()
}

/// Reads a value of this kind.
fn value(kind: &SettingKind, field: &Field, report: &mut Report<'_>) -> Option<SettingValue> {
    let items = match (kind, field.value.as_list()) {
        (SettingKind::List, Some(items)) => items,
        (SettingKind::List, None) | (_, Some(_)) => {
            let is_list = field.value.as_list().is_some();
            let what = if is_list { "is a list" } else { "is not a list" };
            let expected = if is_list { "a single value" } else { "`[…]`" };
            report.invalid(field, &EXTENSION, what, expected);
            return None;
        }
        (_, None) => std::slice::from_ref(&field.value),
    };
    let mut texts = Vec::new();
    for item in items {
        let Some(text) = item.as_scalar().map(|scalar| scalar.text.as_str()) else {
            report.add(&EXTENSION, &item.at, "this is not text", "write text");
            return None;
        };
        if let Err(help) = kind.parse(text) {
            let message = format!("`{}` cannot be `{}`", field.key, quotable(text));
            report.add(&EXTENSION, field.at(), message, help);
            return None;
        }
        texts.push(text.to_owned());
    }
    match kind {
        SettingKind::List => Some(SettingValue::List(texts)),
        _ => kind.parse(texts.first()?).ok(),
    }
}

/// Replaces references to settings.
struct References<'s, 'r, 'a> {
    settings: &'s [HookSetting],
    report: &'r mut Report<'a>,
}

impl References<'_, '_, '_> {
    fn top_level(&mut self, fields: Vec<Field>) -> Vec<Field> {
        let resolve = |mut field: Field| {
            match field.value.kind {
                NodeKind::Mapping(fields) if field.key == "metadata" => {
                    field.value.kind = NodeKind::Mapping(self.metadata(fields));
                }
                kind => field.value = self.node(Node { kind, at: field.value.at })?,
            }
            Some(field)
        };
        fields.into_iter().filter_map(resolve).collect()
    }

    fn metadata(&mut self, fields: Vec<Field>) -> Vec<Field> {
        let resolve = |mut field: Field| {
            match field.value.kind {
                // Without rules, a hook would apply to every call: the list stays, even if it is empty.
                NodeKind::List(rules) if field.key == "match" => {
                    let rules = rules.into_iter().filter_map(|rule| self.rule(rule));
                    field.value.kind = NodeKind::List(rules.collect());
                }
                _ if matches!(field.key.as_str(), "settings" | "set") => {}
                kind => field.value = self.node(Node { kind, at: field.value.at })?,
            }
            Some(field)
        };
        fields.into_iter().filter_map(resolve).collect()
    }

    /// Returns a rule with its values; `None` if it is switched off, or can never fit.
    fn rule(&mut self, rule: Node) -> Option<Node> {
        let rule = self.node(rule)?;
        let text = |key| rule.as_mapping().and_then(|fields| find(fields, key)?.value.as_text());
        let is_off = text("enabled") == Some("false") || text("decision") == Some("off");
        (!is_off).then_some(rule)
    }

    /// Returns a value without references; `None` if it is a list whose items all come from settings without items.
    fn node(&mut self, node: Node) -> Option<Node> {
        if self.settings.is_empty() {
            return Some(node);
        }
        let at = node.at.clone();
        match node.kind {
            NodeKind::Scalar(_) => Some(node),
            NodeKind::Mapping(fields) if is_reference(&fields) => {
                let value = self.value(&fields, at)?;
                let is_empty = value.as_list().is_some_and(<[Node]>::is_empty);
                (!is_empty).then_some(value)
            }
            NodeKind::Mapping(fields) => self.mapping(fields, at),
            NodeKind::List(items) => self.list(items, at),
        }
    }

    fn mapping(&mut self, fields: Vec<Field>, at: Range<usize>) -> Option<Node> {
        let mut settings = Vec::new();
        for field in fields {
            match self.node(field.value) {
                Some(value) => settings.push(Field { value, ..field }),
                None if NEGATIVE.contains(&field.key.as_str()) => {}
                None => return None,
            }
        }
        Some(Node { kind: NodeKind::Mapping(settings), at })
    }

    fn list(&mut self, items: Vec<Node>, at: Range<usize>) -> Option<Node> {
        let was_empty = items.is_empty();
        let mut settings = Vec::new();
        for item in items {
            // The items of a setting become items of the list.
            match self.node(item) {
                Some(Node { kind: NodeKind::List(items), .. }) => settings.extend(items),
                Some(item) => settings.push(item),
                None => {}
            }
        }
        (was_empty || !settings.is_empty()).then_some(Node { kind: NodeKind::List(settings), at })
    }

    /// Returns the value that a reference stands for.
    fn value(&mut self, fields: &[Field], at: Range<usize>) -> Option<Node> {
        let name = find(fields, SETTING)?.value.as_text().unwrap_or_default();
        let Some(setting) = self.settings.iter().find(|setting| setting.name == name) else {
            let names = names(self.settings);
            let message = format!("there is no setting `{}`", quotable(name));
            let help = did_you_mean(name, &names, || format!("settings are {}", or_list(&names)));
            self.report.add(&EXTENSION, &at, message, help);
            return None;
        };
        let Some(other) = find(fields, IS) else { return Some(as_node(setting.value(), at)) };
        match setting.kind.parse(other.value.as_text().unwrap_or_default()) {
            Ok(value) => Some(as_node(&SettingValue::Boolean(value == *setting.value()), at)),
            Err(help) => {
                let message = format!("the setting `{name}` cannot have this value");
                self.report.add(&RULE, &other.value.at, message, help);
                None
            }
        }
    }
}

fn is_reference(fields: &[Field]) -> bool {
    let is_key = |field: &Field| field.key == SETTING || field.key == IS;
    find(fields, SETTING).is_some() && fields.iter().all(is_key)
}

fn as_node(value: &SettingValue, at: Range<usize>) -> Node {
    let scalar = |text: &str, style| NodeKind::Scalar(Scalar { text: text.to_owned(), style });
    let kind = match value {
        SettingValue::Boolean(_) | SettingValue::Number(_) => {
            scalar(&value.to_string(), Style::Plain)
        }
        SettingValue::Text(text) => scalar(text, Style::Literal),
        SettingValue::List(items) => {
            let item = |text: &String| Node { kind: scalar(text, Style::Literal), at: at.clone() };
            NodeKind::List(items.iter().map(item).collect())
        }
    };
    Node { at, kind }
}
