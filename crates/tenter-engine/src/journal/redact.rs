//! Keeps secrets out of records: the values of withheld variables, and what has the well-known form of a key.
//!
//! The first four characters stay, so that a reader can tell what kind of secret stood there. This is a net under the
//! hooks' own redaction, not a replacement for it: a password without a telling form is not recognised.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::Value;

/// Values shorter than this are not taken for secrets: replacing "1" everywhere would destroy the record.
const SHORTEST_SECRET: usize = 8;
/// Bytes of one string that a record keeps.
const LONGEST_STRING: usize = 16 * 1024;
/// Arrays and objects inside each other that a record keeps: no reader of JSON goes down without end.
const DEEPEST: usize = 64;

static WELL_KNOWN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let forms = [
        r"AKIA[0-9A-Z]{16}",                        // AWS
        r"(?-u:\b)(?:sk|rk|pk)-[A-Za-z0-9_-]{16,}", // OpenAI, Anthropic, Stripe's cousins
        r"(?-u:\b)(?:sk|rk)_live_[A-Za-z0-9]{16,}", // Stripe
        r"gh[pousr]_[A-Za-z0-9]{20,}",              // GitHub
        r"github_pat_[A-Za-z0-9_]{20,}",
        r"glpat-[A-Za-z0-9_-]{16,}",     // GitLab
        r"xox[abprs]-[A-Za-z0-9-]{10,}", // Slack
        r"AIza[A-Za-z0-9_-]{30,}",       // Google
        r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+", // JSON web tokens
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.)*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)",
    ];
    Regex::new(&forms.join("|")).ok()
});

/// Where in `text` something has the well-known form of a key, in bytes. What calls itself an example is none.
pub fn secrets_in(text: &str) -> Vec<Range<usize>> {
    let found = WELL_KNOWN.iter().flat_map(|known| known.find_iter(text));
    found.filter(|found| !found.as_str().contains("EXAMPLE")).map(|found| found.range()).collect()
}

/// Takes secrets out of what is recorded.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    secrets: Vec<String>,
}

impl Redactor {
    /// A redactor that also knows these values, whatever their form.
    pub fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let mut secrets: Vec<String> =
            secrets.into_iter().filter(|secret| secret.len() >= SHORTEST_SECRET).collect();
        // The longest first: of two secrets that begin alike, the shorter would leave the longer one's end.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self { secrets }
    }

    /// `text` without secrets, cut to a length fit for a record.
    pub fn text(&self, text: &str) -> String {
        let mut text = Cow::Borrowed(text);
        for secret in
            self.secrets.iter().filter(|secret| text.contains(secret.as_str())).collect::<Vec<_>>()
        {
            text = Cow::Owned(text.replace(secret.as_str(), &mask(secret)));
        }
        if let Some(well_known) = WELL_KNOWN.as_ref() {
            text = Cow::Owned(
                well_known.replace_all(&text, |found: &Captures| mask(&found[0])).into_owned(),
            );
        }
        cut(text.into_owned())
    }

    /// `value` with every string and every key in it treated so, cut to a depth fit for a record.
    pub fn value(&self, value: Value) -> Value {
        self.value_at(0, value)
    }

    fn value_at(&self, depth: usize, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(&text)),
            Value::Array(_) | Value::Object(_) if depth == DEEPEST => {
                Value::String("[… nested too deeply, left out]".to_owned())
            }
            Value::Array(items) => {
                items.into_iter().map(|item| self.value_at(depth + 1, item)).collect()
            }
            Value::Object(fields) => fields
                .into_iter()
                .map(|(key, field)| (self.text(&key), self.value_at(depth + 1, field)))
                .collect(),
            other => other,
        }
    }
}

fn mask(secret: &str) -> String {
    let kept: String = secret.chars().take(4).collect();
    format!("{kept}[{} redacted]", secret.chars().count().saturating_sub(4))
}

fn cut(text: String) -> String {
    if text.len() <= LONGEST_STRING {
        return text;
    }
    let end = text.floor_char_boundary(LONGEST_STRING);
    format!("{}[… {} bytes left out]", &text[..end], text.len() - end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn well_known_forms_and_known_values_are_masked_wherever_they_stand() {
        let redactor = Redactor::new(["hunter2-hunter2".to_owned(), "1".to_owned()]);
        let value = redactor.value(
            json!({"a": ["key AKIAABCDEFGHIJKLMNOP here"], "b": "x hunter2-hunter2 1", "n": 1}),
        );
        assert_eq!(
            value,
            json!({"a": ["key AKIA[16 redacted] here"], "b": "x hunt[11 redacted] 1", "n": 1})
        );
    }

    #[test]
    fn secrets_are_found_where_they_stand_and_examples_are_not() {
        let text = "a AKIAABCDEFGHIJKLMNOP\nAKIAIOSFODNN7EXAMPLE\n-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----\n";
        let found: Vec<&str> = secrets_in(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[0], "AKIAABCDEFGHIJKLMNOP");
        assert!(found[1].starts_with("-----BEGIN") && found[1].ends_with("KEY-----"));
    }

    #[test]
    fn ordinary_text_stays_as_it_is() {
        let text = "cargo test --workspace # sk-ip, task-force-deluxe-edition";
        assert_eq!(Redactor::default().text(text), text);
    }

    #[test]
    fn long_text_is_cut_at_a_character() {
        let cut = Redactor::default().text(&"ä".repeat(LONGEST_STRING));
        assert!(cut.ends_with("bytes left out]") && cut.len() < LONGEST_STRING + 64);
    }
}
