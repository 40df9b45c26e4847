//! The values of conditions: texts and words, one or several.

use tenter_base::{did_you_mean, or_list};

use super::RULE;
use crate::front_matter::{Field, Meaning, Node, Report, quotable};

/// Reads a text, or a list of texts, at least one. Numbers and booleans are text as they are written.
pub(super) fn texts(field: &Field, report: &mut Report<'_>) -> Option<Vec<String>> {
    let items = items(field, report)?;
    let texts: Vec<Option<&str>> =
        items.iter().map(|item| item.as_text().filter(|text| !text.is_empty())).collect();
    if let Some(place) = texts.iter().position(Option::is_none) {
        let message = format!("an item of `{}` is not text", quotable(&field.key));
        report.add(
            &RULE,
            &items[place].at,
            message,
            "write text, quoted if it is empty or begins with `*`, `{` or `[`",
        );
        return None;
    }
    Some(texts.into_iter().flatten().map(str::to_owned).collect())
}

/// Returns the items of a list, at least one; a single value is a list of one.
pub(super) fn items<'f>(field: &'f Field, report: &mut Report<'_>) -> Option<&'f [Node]> {
    let single = std::slice::from_ref(&field.value);
    let items = field.value.as_list().unwrap_or(single);
    if items.is_empty() || field.value.is_null() {
        report.invalid(field, &RULE, "is empty, so the rule can never fit", "a value or remove it");
        return None;
    }
    Some(items)
}

/// Returns the value of a word in `table`.
pub(super) fn one_of<'t, T>(
    field: &Field,
    table: &'t [(&'static str, T)],
    report: &mut Report<'_>,
) -> Option<&'t T> {
    word(field, &field.value, table, report)
}

/// Returns the value of each word of a list.
pub(super) fn words<T: Copy>(
    field: &Field,
    table: &[(&'static str, T)],
    report: &mut Report<'_>,
) -> Option<Vec<T>> {
    let items = items(field, report)?;
    items.iter().map(|item| word(field, item, table, report).copied()).collect()
}

fn word<'t, T>(
    field: &Field,
    node: &Node,
    table: &'t [(&'static str, T)],
    report: &mut Report<'_>,
) -> Option<&'t T> {
    let text = node.as_text().unwrap_or_default();
    let value = table.iter().find(|(word, _)| *word == text).map(|(_, value)| value);
    if value.is_none() {
        let words: Vec<&str> = table.iter().map(|(word, _)| *word).collect();
        let message = format!("`{}` cannot be `{}`", field.key, quotable(text));
        let help = did_you_mean(text, &words, || format!("write {}", or_list(&words)));
        report.add(&RULE, &node.at, message, help);
    }
    value
}

/// Reads `true` or `false`.
pub(super) fn boolean(field: &Field, report: &mut Report<'_>) -> Option<bool> {
    let meaning = field.value.as_scalar().map(crate::front_matter::Scalar::meaning);
    if let Some(Meaning::Boolean(boolean)) = meaning {
        return Some(boolean);
    }
    report.invalid(field, &RULE, "is neither `true` nor `false`", "`true` or `false`");
    None
}
