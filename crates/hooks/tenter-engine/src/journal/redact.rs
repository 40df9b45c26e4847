//! Removes secrets from records: the values of withheld variables, and text in the format of a vendor's keys.
//!
//! The first four characters are kept, so that a reader recognises the kind of secret. This complements the hooks' own
//! redaction and does not replace it: a password has no format by which it could be recognised.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::Value;
use tenter_base::excerpt;
use tenter_protocol::Object;

use super::key_formats;

/// Minimum length of a secret, in bytes: replacing a value such as "1" everywhere would destroy the record.
const SHORTEST_SECRET: usize = 8;
/// Maximum number of bytes that a record keeps of one string.
const LONGEST_STRING: usize = 16 * 1024;
/// Maximum number of bytes that a record keeps of a value.
const LONGEST_VALUE: usize = 128 * 1024;
/// Maximum number of bytes that a brief record keeps of one string.
const BRIEF_STRING: usize = 2 * 1024;
/// Maximum length of a key, in bytes.
const LONGEST_KEY: usize = 8 * 1024;
/// Maximum number of bytes that a brief record keeps of a value.
const BRIEF_VALUE: usize = 8 * 1024;
/// Bytes counted for a number, and for the punctuation around a string.
const ATOM: usize = 4;
/// Maximum nesting depth of a record: JSON readers limit it too.
const DEEPEST: usize = 64;

/// Returns the byte ranges of `text` in the format of a vendor's keys. Text that contains `EXAMPLE` is not a secret.
pub fn secrets_in(text: &str) -> Vec<Range<usize>> {
    let mut secrets = key_formats::keys_in(text);
    secrets.retain(|range| !text[range.clone()].contains("EXAMPLE"));
    secrets
}

/// Removes secrets from text and JSON values, and limits their size.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    secrets: Vec<String>,
    /// True if text in a well-known key format is kept.
    keeps_formats: bool,
}

impl Redactor {
    /// Creates a redactor that also removes these values, in whatever format.
    pub fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let mut secrets: Vec<String> =
            secrets.into_iter().filter(|secret| secret.len() >= SHORTEST_SECRET).collect();
        // The longest first: a secret that is a prefix of another would leave the end of the longer one.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self { secrets, keeps_formats: false }
    }

    /// Creates a redactor that removes only these values: on a terminal, text is not hidden because of its format.
    pub fn from_values(secrets: impl IntoIterator<Item = String>) -> Self {
        Self { keeps_formats: true, ..Self::new(secrets) }
    }

    /// Returns `text` without secrets, cut to the maximum length in a record.
    pub fn text(&self, text: &str) -> String {
        excerpt::head(&self.mask(text), LONGEST_STRING).into_owned()
    }

    /// Returns `text` without secrets.
    pub(super) fn mask(&self, text: &str) -> String {
        let mut text = Cow::Borrowed(text);
        for secret in &self.secrets {
            if text.contains(secret.as_str()) {
                text = Cow::Owned(text.replace(secret.as_str(), &mask(secret)));
            }
        }
        if self.keeps_formats {
            return text.into_owned();
        }
        let mut masked_text = String::with_capacity(text.len());
        let mut from = 0;
        for range in key_formats::keys_in(&text) {
            masked_text.push_str(&text[from..range.start]);
            masked_text.push_str(&mask(&text[range.clone()]));
            from = range.end;
        }
        masked_text.push_str(&text[from..]);
        masked_text
    }

    /// Returns `value` without secrets in strings and object keys, cut to the maximum size and depth in a record.
    #[expect(clippy::needless_pass_by_value, reason = "callers have no more use for the value")]
    pub fn value(&self, value: Value) -> Value {
        Cutting { redactor: self, string: LONGEST_STRING, budget: LONGEST_VALUE }.value(0, &value)
    }

    /// Like [`Self::value`], with a smaller limit, because the record of every run repeats the value.
    pub(super) fn brief(&self, fields: &Object) -> Value {
        Cutting { redactor: self, string: BRIEF_STRING, budget: BRIEF_VALUE }.fields(0, fields)
    }

    /// Returns the number of bytes beyond a cut in which the end of a secret can be that begins before it.
    fn margin(&self) -> usize {
        self.secrets.first().map_or(0, String::len).max(LONGEST_KEY)
    }
}

/// Masks and cuts a value.
struct Cutting<'r> {
    redactor: &'r Redactor,
    /// Maximum number of bytes kept of one string.
    string: usize,
    /// Number of bytes that may still be kept.
    budget: usize,
}

impl Cutting<'_> {
    fn value(&mut self, depth: usize, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(_) | Value::Object(_) if depth == DEEPEST => {
                Value::String("[… nested too deeply, left out]".to_owned())
            }
            Value::Array(items) => self.items(depth, items),
            Value::Object(fields) => self.fields(depth, fields),
            other => {
                self.take(ATOM);
                other.clone()
            }
        }
    }

    fn items(&mut self, depth: usize, items: &[Value]) -> Value {
        let count = items.len();
        let mut parts = Vec::new();
        for item in items {
            if self.budget == 0 {
                parts.push(Value::String(format!("[… {} more left out]", count - parts.len())));
                break;
            }
            parts.push(self.value(depth + 1, item));
        }
        Value::Array(parts)
    }

    fn fields(&mut self, depth: usize, fields: &Object) -> Value {
        let count = fields.len();
        let mut parts = Object::new();
        for (index, (key, field)) in fields.iter().enumerate() {
            if self.budget == 0 {
                parts.insert("…".to_owned(), format!("[{} more left out]", count - index).into());
                break;
            }
            parts.insert(self.text(key), self.value(depth + 1, field));
        }
        Value::Object(parts)
    }

    fn text(&mut self, text: &str) -> String {
        // Of a long text, only what is kept is masked.
        let limit = self.string.min(self.budget);
        let (start, rest) = text.split_at(text.floor_char_boundary(limit + self.redactor.margin()));
        let position = self.redactor.mask(start);
        let text = excerpt::head_before(&position, limit, rest.len()).into_owned();
        self.take(text.len() + ATOM);
        text
    }

    fn take(&mut self, bytes: usize) {
        self.budget = self.budget.saturating_sub(bytes);
    }
}

fn mask(secret: &str) -> String {
    let beginning: String = secret.chars().take(4).collect();
    format!("{beginning}[{} redacted]", secret.chars().count().saturating_sub(4))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn known_formats_and_values_are_masked_anywhere() {
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
    fn a_redactor_of_values_ignores_key_formats() {
        let redactor = Redactor::from_values(["hunter2-hunter2".to_owned()]);
        let text = "AKIAABCDEFGHIJKLMNOP hunter2-hunter2";
        assert_eq!(redactor.text(text), "AKIAABCDEFGHIJKLMNOP hunt[11 redacted]");
    }

    #[test]
    fn secrets_are_located_and_examples_are_ignored() {
        let text = "a AKIAABCDEFGHIJKLMNOP\nAKIAIOSFODNN7EXAMPLE\n-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----\n";
        let secrets: Vec<&str> = secrets_in(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(secrets.len(), 2, "{secrets:?}");
        assert_eq!(secrets[0], "AKIAABCDEFGHIJKLMNOP");
        assert!(secrets[1].starts_with("-----BEGIN") && secrets[1].ends_with("KEY-----"));
    }

    #[test]
    fn ordinary_text_is_unchanged() {
        let text = "cargo test --workspace # sk-ip, task-force-deluxe-edition";
        assert_eq!(Redactor::default().text(text), text);
    }

    #[test]
    fn a_large_value_is_cut_and_marked() {
        let many: Vec<String> = (0..100_000).map(|number| format!("line {number}")).collect();
        let fields: Object = many.iter().map(|line| (line.clone(), 1.into())).collect();
        for value in [json!(many), Value::Object(fields)] {
            let cut = Redactor::default().value(value).to_string();
            assert!(cut.len() < 2 * LONGEST_VALUE, "{}", cut.len());
            assert!(cut.contains("more left out]"), "{}", &cut[cut.len() - 100..]);
        }
    }

    #[test]
    fn long_text_is_cut_on_a_character_boundary() {
        let cut = Redactor::default().text(&"ä".repeat(LONGEST_STRING));
        assert!(cut.ends_with("bytes omitted]") && cut.len() < LONGEST_STRING + 64);
    }
}
