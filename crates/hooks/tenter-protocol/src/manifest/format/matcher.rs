//! `matcher`: two regular expressions, for a tool's name and for its input.

use tenter_base::did_you_mean;

use super::checks::{Advice, CheckPattern, Checks};
use super::codes::{MATCHER, MATCHER_EMPTY, MATCHER_IGNORED, PATTERN, PATTERN_REMARK};
use crate::EventName;
use crate::front_matter::{Field, Node, Report, Style, quotable};
use crate::manifest::MatcherText;

const KEYS: [&str; 2] = ["tool", "pattern"];

/// Double-quoted YAML escapes that mean something else in a regular expression.
const AMBIGUOUS_ESCAPES: [(char, &str); 5] = [
    ('\u{8}', r"\b"),
    ('\u{2029}', r"\P"),
    ('\u{85}', r"\N"),
    ('\u{2028}', r"\L"),
    ('\u{a0}', r"\_"),
];

/// Reads the matcher of a hook that subscribes to `events`.
pub(super) fn read(
    field: &Field,
    events: &[EventName],
    checks: Checks<'_>,
    report: &mut Report<'_>,
) -> MatcherText {
    let mut text = MatcherText::default();
    if field.value.is_null() {
        let _ = report.mapping(field, &MATCHER_EMPTY);
        return text;
    }
    if let Some(name) = field.value.as_text() {
        let message = "`matcher` is a single value";
        let help = format!("write `matcher: {{tool: '^({})$'}}`", name.replace('\'', "''"));
        report.add(&MATCHER, &field.value.at, message, help);
        return text;
    }
    let Some(fields) = report.mapping(field, &MATCHER) else { return text };
    for field in fields {
        match field.key.as_str() {
            "tool" => text.tool = pattern(field, checks.tool, report),
            "pattern" => text.pattern = pattern(field, checks.pattern, report),
            key => {
                let help = did_you_mean(key, &KEYS, || "keys are `tool` and `pattern`".to_owned());
                report.unknown_field(field, &MATCHER, "a matcher", help);
            }
        }
    }
    let applies = events.iter().any(|event| event.lifecycle().matcher);
    if let Some(event) = events.first().filter(|_| !applies) {
        let message = format!("a matcher has no effect at `{event}`, which has no tool call");
        let help =
            "remove it; matchers apply to `before_tool`, `after_tool` and `after_tool_failure`";
        report.add(&MATCHER_IGNORED, &field.key_at, message, help);
    }
    text
}

fn pattern(field: &Field, check: CheckPattern<'_>, report: &mut Report<'_>) -> Option<String> {
    let text = report.text(field, &MATCHER, "a regular expression")?;
    warn_of_ambiguous_escapes(&field.value, report);
    let at = &field.value.at;
    match check(&text) {
        Ok(None) => {}
        Ok(Some(Advice { message, help })) => report.add(&PATTERN_REMARK, at, message, help),
        Err(Advice { message, help }) => {
            let message = format!("`matcher.{}` cannot be used: {message}", quotable(&field.key));
            report.add(&PATTERN, at, message, help);
        }
    }
    Some(text)
}

fn warn_of_ambiguous_escapes(value: &Node, report: &mut Report<'_>) {
    let Some(scalar) = value.as_scalar().filter(|scalar| scalar.style == Style::DoubleQuoted)
    else {
        return;
    };
    let escape = AMBIGUOUS_ESCAPES.iter().find(|(letter, _)| scalar.text.contains(*letter));
    if let Some((letter, escape)) = escape {
        let code = u32::from(*letter);
        let message =
            format!("in double quotes, YAML reads `{escape}` as the character U+{code:04X}");
        let help = "use single quotes, which have no escapes";
        report.add(&PATTERN_REMARK, &value.at, message, help);
    }
}
