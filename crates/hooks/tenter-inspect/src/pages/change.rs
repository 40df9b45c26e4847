//! Shows the change of a rewrite. Text that a hook took out of a tool's output is not shown: it may be a secret that has no
//! known format, which the journal could not mask.

use std::time::Duration;

use maud::{Markup, html};
use serde_json::Value;
use similar::{ChangeTag, TextDiff};
use tenter_engine::RewriteChange;
use tenter_protocol::EventName;

/// Maximum number of fields that are shown.
const MAX_FIELDS: usize = 20;
/// Maximum length of a text that is compared, in bytes.
const MAX_TEXT: usize = 32 << 10;
/// Time after which a diff may be longer than necessary.
const TIMEOUT: Duration = Duration::from_millis(50);
/// Number of unchanged lines around a change.
const AROUND: usize = 2;

/// Returns the changed fields, before and after.
pub(super) fn show(change: &RewriteChange, event: &str) -> Markup {
    let mut fields = Vec::new();
    differing("", &change.before, &change.after, &mut fields);
    let is_output = event == EventName::AfterTool.as_str();
    let (removals, fields): (Vec<Field>, Vec<Field>) =
        fields.into_iter().partition(|field| field.is_removed);
    html! {
        @for field in fields.iter().take(MAX_FIELDS) { (field.show(is_output)) }
        @if !removals.is_empty() {
            p.detail {
                (if removals.len() == 1 { "Field removed:" } else { "Fields removed:" })
                @for field in removals.iter().take(MAX_FIELDS) { " " code { (field.path) } }
            }
        }
        @if fields.len() > MAX_FIELDS { p.detail { (fields.len() - MAX_FIELDS) " more fields changed" } }
    }
}

/// A field that differs.
struct Field {
    path: String,
    before: String,
    after: String,
    /// True if it is missing afterwards.
    is_removed: bool,
}

/// Finds the fields that differ, in whatever depth.
fn differing(path: &str, before: &Value, after: &Value, fields: &mut Vec<Field>) {
    match (before, after) {
        (Value::Object(one), Value::Object(other)) => {
            let new = other.keys().filter(|key| !one.contains_key(*key));
            for key in one.keys().chain(new) {
                let null = &Value::Null;
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                differing(
                    &path,
                    one.get(key).unwrap_or(null),
                    other.get(key).unwrap_or(null),
                    fields,
                );
            }
        }
        _ if before == after => {}
        _ => fields.push(Field {
            path: path.to_owned(),
            before: text(before),
            after: text(after),
            is_removed: after.is_null(),
        }),
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        _ => serde_json::to_string_pretty(value).unwrap_or_default(),
    }
}

impl Field {
    fn show(&self, is_output: bool) -> Markup {
        let Self { path, before, after, is_removed: _ } = self;
        let name = if path.is_empty() { "text" } else { path };
        let is_long = before.len().max(after.len()) > MAX_TEXT;
        html! {
            figure.change {
                figcaption { (if is_output { "Output rewritten" } else { "Rewritten" }) ": " code { (name) } }
                @if is_long {
                    p.detail { "The text is too long to be compared." }
                } @else if !is_output && before.lines().count().max(after.lines().count()) > 6 {
                    (lines(before, after))
                } @else {
                    (sides(before, after, is_output))
                }
            }
        }
    }
}

/// Returns both sides, before and after, with the words that differ. Removed words are covered if they may be secret.
fn sides(before: &str, after: &str, is_covered: bool) -> Markup {
    let diff = TextDiff::configure().timeout(TIMEOUT).diff_words(before, after);
    let (mut old, mut new) = (Vec::new(), Vec::new());
    for change in diff.iter_all_changes() {
        let text = change.value();
        match change.tag() {
            ChangeTag::Equal => {
                old.push(html! { (text) });
                new.push(html! { (text) });
            }
            ChangeTag::Delete if is_covered && !text.trim().is_empty() => {
                let label = format!("{} characters, not shown", text.chars().count());
                old.push(html! { del.covered title=(label) { span aria-hidden="true" { "█████" } span.hidden { (label) } } });
            }
            ChangeTag::Delete => old.push(html! { del { (text) } }),
            ChangeTag::Insert => new.push(html! { ins { (text) } }),
        }
    }
    html! {
        div.sides {
            div { span.side { "Before" } pre { code { @for piece in &old { (piece) } } } }
            div { span.side { "After" } pre { code { @for piece in &new { (piece) } } } }
        }
    }
}

/// Returns a diff by lines.
fn lines(before: &str, after: &str) -> Markup {
    let diff = TextDiff::configure().timeout(TIMEOUT).diff_lines(before, after);
    html! {
        pre.diff {
            code {
                @for group in diff.grouped_ops(AROUND) {
                    @let line = group.first().map_or(0, |op| op.new_range().start) + 1;
                    span.place { "line " (line) "\n" }
                    @for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
                        @let text = change.value().trim_end_matches('\n');
                        @match change.tag() {
                            ChangeTag::Equal => { "  " (text) "\n" }
                            ChangeTag::Delete => { del { "- " (text) "\n" } }
                            ChangeTag::Insert => { ins { "+ " (text) "\n" } }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(before: Value, after: Value, event: &str) -> String {
        show(&RewriteChange { before, after }, event).into_string()
    }

    #[test]
    fn only_fields_that_differ_are_shown() {
        let before =
            json!({"command": "rm -rf x", "timeout": 5, "gone": 7, "deep": {"a": 1, "b": [1]}});
        let after =
            json!({"command": "rm -ri x", "timeout": 5, "deep": {"a": 1, "b": [2]}, "new": true});
        let html = shown(before, after, "before_tool");
        for part in [
            "<del>-rf</del>",
            "<ins>-ri</ins>",
            "<code>deep.b</code>",
            "<code>new</code>",
            "Field removed: <code>gone</code>",
        ] {
            assert!(html.contains(part), "{part}\n{html}");
        }
        assert!(!html.contains("timeout"), "{html}");
    }

    #[test]
    fn what_is_taken_out_of_an_output_is_not_shown() {
        let before = json!({"result": "user: ann\npassword: hunter2\n"});
        let after = json!({"result": "user: ann\npassword: [REDACTED]\n"});
        let html = shown(before, after, "after_tool");
        assert!(html.contains("[REDACTED]") && html.contains("user: ann"), "{html}");
        assert!(html.contains("7 characters, not shown"), "{html}");
        assert!(!html.contains("hunter2"), "{html}");
    }

    #[test]
    fn markup_is_text_and_long_texts_are_compared_by_line() {
        let before = (0..20).map(|n| format!("line {n}\n")).collect::<Vec<_>>().concat();
        let after = before.replace("line 9\n", "<b>\n");
        let html = shown(json!(before), json!(after), "before_agent");
        assert!(html.contains("<del>- line 9\n</del><ins>+ &lt;b&gt;\n</ins>"), "{html}");
        assert!(!html.contains("line 2\n"), "{html}");
        let long = "x".repeat(MAX_TEXT + 1);
        assert!(shown(json!(long), json!(""), "before_agent").contains("too long"));
    }
}
