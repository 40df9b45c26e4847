//! `matcher`: two regular expressions, on a tool's name and on its input. It does not compile them; checkers come in.

use serde_json::Value;
use tenter_base::nearest;

use super::findings::{MATCHER, MATCHER_IGNORED, PATTERN, PATTERN_REMARK};
use super::reader::Reader;
use super::scalar::Style;
use super::tree::{Entry, Node, NodeKind, shown};
use super::{Advice, CheckPattern, Checks};
use crate::manifest::MatcherText;
use crate::{EventName, Object};

/// What YAML makes of a few escapes in double quotes that mean something else in a regular expression.
const MISREAD: [(char, &str); 5] = [
    ('\u{8}', r"\b"),
    ('\u{2029}', r"\P"),
    ('\u{85}', r"\N"),
    ('\u{2028}', r"\L"),
    ('\u{a0}', r"\_"),
];

/// Reads the matcher of a hook for `events`.
pub(super) fn check(
    entry: &Entry,
    events: &[EventName],
    checks: Checks<'_>,
    reader: &mut Reader<'_, '_>,
) -> MatcherText {
    let mut text = MatcherText::default();
    let Some(entries) = reader.mapping(entry, &MATCHER) else { return text };
    for entry in entries {
        match entry.key.name.as_str() {
            "tool" => text.tool = pattern(entry, checks.tool, reader),
            "pattern" => text.pattern = pattern(entry, checks.pattern, reader),
            _ => unknown(entry, reader),
        }
    }
    let applies = events.iter().any(|event| event.lifecycle().matcher);
    if let Some(event) = events.first().filter(|_| !applies) {
        let message = format!("a matcher does nothing at `{event}`, which is about no tool");
        let help =
            "remove it; matchers apply to `before_tool`, `after_tool` and `after_tool_failure`";
        reader.findings.add(&MATCHER_IGNORED, Some(&entry.key.at), message, help);
    }
    text
}

fn unknown(entry: &Entry, reader: &mut Reader<'_, '_>) {
    let help = match nearest(&entry.key.name, &["tool", "pattern"]) {
        Some(known) => format!("did you mean `{known}`?"),
        None => "a matcher has `tool` and `pattern`".to_owned(),
    };
    let ignored = reader.findings.instead(&MATCHER, "it is ignored");
    let message = format!("a matcher has no `{}`{ignored}", shown(&entry.key.name));
    reader.findings.add(&MATCHER, Some(&entry.key.at), message, help);
}

fn pattern(entry: &Entry, check: CheckPattern<'_>, reader: &mut Reader<'_, '_>) -> Option<String> {
    let text = reader.text(entry, &MATCHER, "a regular expression")?;
    warn_of_misread_escapes(&entry.value, reader);
    let at = Some(&entry.value.at);
    match check(&text) {
        Ok(None) => {}
        Ok(Some(Advice { message, help })) => {
            reader.findings.add(&PATTERN_REMARK, at, message, help);
        }
        Err(Advice { message, help }) => {
            let message = format!("`matcher.{}` cannot be used: {message}", shown(&entry.key.name));
            reader.findings.add(&PATTERN, at, message, help);
        }
    }
    Some(text)
}

fn warn_of_misread_escapes(value: &Node, reader: &mut Reader<'_, '_>) {
    let NodeKind::Scalar(scalar) = &value.kind else { return };
    let found = MISREAD.iter().find(|(letter, _)| scalar.text.contains(*letter));
    if let Some((letter, escape)) = found.filter(|_| scalar.style == Style::DoubleQuoted) {
        let code = u32::from(*letter);
        let message =
            format!("in double quotes YAML reads `{escape}` as the character U+{code:04X}");
        let help = "put the text in single quotes, where a backslash means itself";
        reader.findings.add(&PATTERN_REMARK, Some(&value.at), message, help);
    }
}

/// The matcher as `read-properties` prints it.
pub(super) fn properties(matcher: &MatcherText) -> Object {
    let fields = [("tool", &matcher.tool), ("pattern", &matcher.pattern)];
    let set = fields.into_iter().filter_map(|(key, text)| Some((key, text.as_ref()?)));
    set.map(|(key, text)| (key.to_owned(), Value::String(text.clone()))).collect()
}
