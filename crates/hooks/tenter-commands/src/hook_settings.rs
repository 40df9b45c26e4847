//! The user's values of a hook's settings, in its own `HOOK.md`: the one line `set: {read: deny}` of `metadata`.

use std::path::Path;

use tenter_base::{did_you_mean, sanitize};
use tenter_engine::inspect::CHECKS;
use tenter_protocol::Severity;
use tenter_protocol::front_matter::{self, Document, Field, Strictness, find};
use tenter_protocol::manifest::setting::{HookSetting, SettingKind, SettingValue};
use tenter_protocol::manifest::{Extensions, format};
use tenter_terminal::Failure;

/// The beginning of the line with the values, in the hooks that are part of this program.
pub(crate) const SET_LINE: &str = "  set: {";

/// A change of one setting, as on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Assignment {
    name: String,
    operator: Operator,
    value: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    /// `name=value`
    Set,
    /// `name+=value`
    Add,
    /// `name-=value`
    Remove,
}

impl Assignment {
    /// Reads `NAME=VALUE`, `NAME+=VALUE` or `NAME-=VALUE`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (name, value) = text.split_once('=').ok_or("write NAME=VALUE, such as read=deny")?;
        let (name, operator) = match (name.strip_suffix('+'), name.strip_suffix('-')) {
            (Some(name), _) => (name, Operator::Add),
            (None, Some(name)) => (name, Operator::Remove),
            (None, None) => (name, Operator::Set),
        };
        Ok(Self { name: name.to_owned(), operator, value: value.to_owned() })
    }

    /// Returns the new value of a setting; `None` for its default.
    fn apply(&self, setting: &HookSetting) -> Result<Option<SettingValue>, Failure> {
        let operator =
            if setting.kind == SettingKind::List { self.operator } else { Operator::Set };
        if operator != self.operator {
            let failure = Failure::usage(format!("the setting {} is no list", self.name));
            return Err(failure.help(format!("write {}={}", self.name, self.value)));
        }
        if self.value.is_empty() {
            return Ok(None);
        }
        let value = setting.kind.parse(&self.value).map_err(|help| self.failure(help))?;
        let (Operator::Add | Operator::Remove, SettingValue::List(present)) =
            (operator, setting.value())
        else {
            return Ok(Some(value));
        };
        let mut items = present.clone();
        items.retain(|item| *item != self.value);
        if operator == Operator::Add {
            items.push(self.value.clone());
        } else if items.len() == present.len() {
            return Err(Failure::usage(format!("{} does not contain {:?}", self.name, self.value)));
        }
        Ok(Some(SettingValue::List(items)))
    }

    fn failure(&self, help: String) -> Failure {
        Failure::usage(format!("{} cannot be {:?}", self.name, self.value)).help(help)
    }
}

/// Returns the settings of the hook with this `HOOK.md`.
///
/// # Errors
/// The text is not a valid manifest.
pub(crate) fn settings(file: &Path, text: &str) -> Result<Vec<HookSetting>, Failure> {
    extensions(file, text).map(|extensions| extensions.settings)
}

fn extensions(file: &Path, text: &str) -> Result<Extensions, Failure> {
    let (manifest, findings) = format::read(file, text.as_bytes(), Strictness::Tolerant, CHECKS);
    let manifest = manifest.ok_or_else(|| {
        let error = findings.into_iter().find(|finding| finding.severity == Severity::Error);
        let message = error.map(|error| error.message).unwrap_or_default();
        Failure::new(format!("{} is not valid: {message}", file.display()))
    })?;
    Ok(manifest.extensions)
}

/// Returns the `HOOK.md` with changed values, and its settings.
///
/// # Errors
/// A setting that the hook does not have, a value that it cannot have, or a hook that would not be valid with these values.
pub(crate) fn change(
    file: &Path,
    text: &str,
    assignments: &[Assignment],
) -> Result<(String, Vec<HookSetting>), Failure> {
    let Extensions { settings: mut all, ready_made, .. } = extensions(file, text)?;
    for assignment in assignments {
        let names: Vec<&str> = all.iter().map(|setting| setting.name.as_str()).collect();
        let Some(position) = names.iter().position(|name| *name == assignment.name) else {
            let failure = Failure::usage(format!("there is no setting {:?}", assignment.name));
            let help = || match names[..] {
                [] => "the hook has no settings".to_owned(),
                _ => format!("the settings are {}", names.join(", ")),
            };
            return Err(failure.help(did_you_mean(&assignment.name, &names, help)));
        };
        all[position].set = assignment.apply(&all[position])?;
        if let Some(hook) = &ready_made {
            (CHECKS.ready_made_setting)(hook, &all[position])
                .map_err(|help| assignment.failure(help))?;
        }
    }
    let new_text = with_values(text, &all).ok_or_else(|| {
        let failure = Failure::new(format!("cannot write the values into {}", file.display()));
        failure.help("write them below `metadata:`, as `set: {read: deny}`")
    })?;
    let all = settings(file, &new_text)
        .map_err(|failure| failure.help("to turn the hook off, run `tenter hooks disable`"))?;
    Ok((new_text, all))
}

/// Returns the new text of a hook with the values of the old text, and the names of the settings whose values it cannot have.
pub(crate) fn carry_over(file: &Path, old: &str, new: &str) -> (String, Vec<String>) {
    let Ok(before) = settings(file, old) else { return (new.to_owned(), Vec::new()) };
    let mut after = settings(file, new).unwrap_or_default();
    let mut lost_settings = Vec::new();
    for setting in before.into_iter().filter(|setting| setting.set.is_some()) {
        let has_value = |other: &&mut HookSetting| {
            other.name == setting.name && setting.set.as_ref().is_some_and(|set| fits(other, set))
        };
        match after.iter_mut().find(has_value) {
            Some(other) => other.set = setting.set,
            None => lost_settings.push(setting.name),
        }
    }
    (with_values(new, &after).unwrap_or_else(|| new.to_owned()), lost_settings)
}

fn fits(setting: &HookSetting, value: &SettingValue) -> bool {
    let is_list = matches!(value, SettingValue::List(_));
    is_list == (setting.kind == SettingKind::List)
        && (is_list || setting.kind.parse(&value.to_string()).as_ref() == Ok(value))
}

/// Returns the text with these values instead of its own; `None` if `metadata` is not written as a block.
fn with_values(text: &str, settings: &[HookSetting]) -> Option<String> {
    let document = front_matter::read(Path::new("HOOK.md"), text.as_bytes()).0?;
    let metadata = metadata(&document)?;
    let settings_at = find(metadata, "settings")?.key_at.start;
    let line_start = |at: usize| text[..at].rfind('\n').map_or(0, |end| end + 1);
    let line_end = |at: usize| text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
    let indentation = &text[line_start(settings_at)..settings_at];
    if !indentation.chars().all(|one| one == ' ') {
        return None;
    }
    let values: Vec<String> = settings.iter().filter_map(value_text).collect();
    let line = match values[..] {
        [] => String::new(),
        _ => format!("{indentation}set: {{{}}}\n", values.join(", ")),
    };
    let replacement = match find(metadata, "set") {
        Some(field) => line_start(field.key_at.start)..line_end(field.at().end.saturating_sub(1)),
        None => line_start(settings_at)..line_start(settings_at),
    };
    Some(format!("{}{line}{}", &text[..replacement.start], &text[replacement.end..]))
}

/// Returns the value of a setting on one line, and that it is the default.
pub(crate) fn value_words(setting: &HookSetting) -> String {
    let value = setting.value().to_string().replace('\n', ", ");
    let value = if value.is_empty() { "(none)".to_owned() } else { value };
    let origin = if setting.set.is_some() { "" } else { " (default)" };
    sanitize(&format!("{value}{origin}")).into_owned()
}

fn metadata(document: &Document) -> Option<&[Field]> {
    find(&document.fields, "metadata")?.value.as_mapping()
}

/// Returns a set value as in the front matter.
fn value_text(setting: &HookSetting) -> Option<String> {
    let value = setting.set.as_ref()?;
    // JSON is YAML, too.
    let in_quotes = |value: &SettingValue| serde_json::to_string(value).unwrap_or_default();
    let text = match (&setting.kind, value) {
        (SettingKind::Choice(_), SettingValue::Text(word)) => word.clone(),
        (_, SettingValue::List(items)) => {
            let items = items.iter().map(|item| in_quotes(&SettingValue::Text(item.clone())));
            format!("[{}]", items.collect::<Vec<_>>().join(", "))
        }
        _ => in_quotes(value),
    };
    Some(format!("{}: {text}", setting.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOOK: &str = "---\nname: x\ndescription: d\ntrigger: before_tool\nmetadata:\n  settings:\n    read: {type: [ask, deny, off], default: ask, description: D.}\n    paths: {type: list, default: [], description: D.}\n  match:\n    - {path: {op: read, glob: [\"**/.env\", {setting: paths}]}, decision: {setting: read}, reason: It is secret.}\n    - {program: vault, decision: ask, reason: It is secret.}\n---\nText\n";

    fn changed(text: &str, assignments: &[&str]) -> Result<String, Failure> {
        let assignments: Vec<Assignment> =
            assignments.iter().map(|text| Assignment::parse(text).unwrap()).collect();
        change(Path::new("/x/HOOK.md"), text, &assignments).map(|(text, _)| text)
    }

    #[test]
    fn values_are_one_line_of_the_manifest() {
        let text = changed(HOOK, &["read=deny", "paths+=config/*.key", "paths+=b"]).unwrap();
        let line = "  set: {read: deny, paths: [\"config/*.key\", \"b\"]}\n";
        assert_eq!(text, HOOK.replace("  settings:", &format!("{line}  settings:")));
        let text = changed(&text, &["paths-=b", "read="]).unwrap();
        assert!(text.contains("  set: {paths: [\"config/*.key\"]}\n  settings:"), "{text}");
        assert_eq!(changed(&text, &["paths="]).unwrap(), HOOK);
    }

    #[test]
    fn what_cannot_be_set_is_an_error() {
        for (assignment, help) in [
            ("raed=deny", "did you mean `read`?"),
            ("read=dney", "did you mean `deny`?"),
            ("read+=deny", "write read=deny"),
        ] {
            let failure = changed(HOOK, &[assignment]).unwrap_err();
            assert_eq!(failure.help.as_deref(), Some(help), "{assignment}: {}", failure.message);
        }
        assert!(changed(HOOK, &["paths-=b"]).is_err());
    }

    #[test]
    fn a_new_version_keeps_the_values_that_it_can_have() {
        let file = Path::new("/x/HOOK.md");
        let old = changed(HOOK, &["read=deny", "paths=a"]).unwrap();
        let new =
            HOOK.replace("    paths:", "    names:").replace("setting: paths", "setting: names");
        let (text, lost_settings) = carry_over(file, &old, &new);
        assert_eq!(lost_settings, ["paths"]);
        assert_eq!(text, new.replace("  settings:", "  set: {read: deny}\n  settings:"));
        let other = HOOK.replace("[ask, deny, off]", "[ask, off]");
        assert_eq!(carry_over(file, &changed(HOOK, &["read=deny"]).unwrap(), &other).1, ["read"]);
    }
}
