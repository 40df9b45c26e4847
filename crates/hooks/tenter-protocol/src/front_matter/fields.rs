//! Typed values of fields. Each method reports what is wrong with a value, where it is, and what to write instead.

use tenter_base::{did_you_mean, or_list};

use super::document::Document;
use super::report::{Code, Report, quotable};
use super::scalar::{Meaning, Scalar, Style, plain};
use super::tree::{Field, Node, NodeKind, find};

/// A whole number with its limits.
#[derive(Debug, Clone, Copy)]
pub struct IntegerRange {
    /// The minimum.
    pub min: i64,
    /// The maximum.
    pub max: i64,
    /// The value if there is none, or none that can be read.
    pub default: i64,
    /// The expected value, as the end of a help line.
    pub expected_value: &'static str,
}

/// The form of a mapping.
const MAPPING: &str = "`key: value` lines, indented below it";

impl Report<'_> {
    /// Returns a field that must exist. `expected` completes the help line.
    pub fn required<'d>(
        &mut self,
        document: &'d Document,
        key: &str,
        code: &Code,
        expected: &str,
    ) -> Option<&'d Field> {
        let field = find(&document.fields, key);
        if field.is_none() {
            let message = format!("the field `{key}` is missing");
            let help = format!("write `{key}: …`, {expected}");
            self.add(code, &document.opening, message, help);
        }
        field
    }

    /// Returns a single value other than `null`.
    pub fn scalar<'f>(
        &mut self,
        field: &'f Field,
        code: &Code,
        expected: &str,
    ) -> Option<&'f Scalar> {
        let scalar = field.value.as_scalar().filter(|_| !field.value.is_null());
        if scalar.is_none() {
            self.ignored(field, code, expected);
        }
        scalar
    }

    /// Returns text. A number or a boolean is reported, and its text is used.
    pub fn text(&mut self, field: &Field, code: &Code, expected: &str) -> Option<String> {
        let scalar = self.scalar(field, code, expected)?;
        let kind = match scalar.meaning() {
            Meaning::Boolean(_) => Some("is a boolean, not text"),
            Meaning::Integer(_) | Meaning::Number(_) => Some("is a number, not text"),
            Meaning::Text | Meaning::Null => None,
        };
        if let Some(kind) = kind {
            let message = format!("`{}` {kind}", field.key);
            let help = format!("quote it: '{}'", scalar.text);
            self.add(code, &field.value.at, message, help);
        }
        Some(scalar.text.clone())
    }

    /// Returns text that may be left empty. A number or a boolean is text as it is written.
    pub fn optional_text<'f>(&mut self, field: &'f Field, code: &Code) -> Option<&'f str> {
        if field.value.is_null() {
            return None;
        }
        self.scalar(field, code, "text after the colon").map(|scalar| scalar.text.as_str())
    }

    /// Returns `true` or `false`; anything else is reported and is `false`.
    pub fn boolean(&mut self, field: &Field, code: &Code) -> bool {
        let Some(scalar) = self.scalar(field, code, "`true` or `false`") else { return false };
        let Meaning::Boolean(boolean) = plain(&scalar.text) else {
            let help = match scalar.text.to_lowercase().as_str() {
                "yes" | "on" | "y" | "1" => "did you mean `true`?",
                "no" | "off" | "n" | "0" => "did you mean `false`?",
                _ => "write `true` or `false`",
            };
            let fallback = self.fallback(code, "`false` is used");
            let message = format!("`{}` is neither `true` nor `false`{fallback}", field.key);
            self.add(code, &field.value.at, message, help);
            return false;
        };
        self.reject_quotes(field, scalar, code);
        boolean
    }

    /// Returns a whole number; one outside the range is reported and clamped.
    pub fn integer(&mut self, field: &Field, code: &Code, range: &IntegerRange) -> i64 {
        let Some(scalar) = self.scalar(field, code, range.expected_value) else {
            return range.default;
        };
        let Meaning::Integer(number) = plain(&scalar.text) else {
            return self.replaced(field, code, "is not a whole number", (range, range.default));
        };
        self.reject_quotes(field, scalar, code);
        let clamped = number.clamp(range.min, range.max);
        if clamped == number {
            return number;
        }
        let limit = if number < clamped { "less" } else { "more" };
        let what = format!("is {}, {limit} than {clamped}", scalar.text);
        self.replaced(field, code, &what, (range, clamped))
    }

    fn replaced(
        &mut self,
        field: &Field,
        code: &Code,
        what: &str,
        (range, used): (&IntegerRange, i64),
    ) -> i64 {
        let fallback = self.fallback(code, &format!("{used} is used"));
        let message = format!("`{}` {what}{fallback}", field.key);
        self.add(code, &field.value.at, message, format!("write {}", range.expected_value));
        used
    }

    /// Reports quotes around a value that must not be text.
    fn reject_quotes(&mut self, field: &Field, scalar: &Scalar, code: &Code) {
        if scalar.style == Style::Plain {
            return;
        }
        let message = format!("`{}` is text, because it is quoted", field.key);
        let help = format!("write `{}: {}`", field.key, scalar.text);
        self.add(code, &field.value.at, message, help);
    }

    /// Returns one of `words`.
    pub fn choice(
        &mut self,
        field: &Field,
        code: &Code,
        words: &[&'static str],
    ) -> Option<&'static str> {
        let scalar = self.scalar(field, code, &or_list(words))?;
        let word = words.iter().copied().find(|word| *word == scalar.text);
        if word.is_none() {
            let fallback = self.fallback(code, "it is ignored");
            let message =
                format!("`{}` cannot be `{}`{fallback}", field.key, quotable(&scalar.text));
            let help = did_you_mean(&scalar.text, words, || format!("write {}", or_list(words)));
            self.add(code, &field.value.at, message, help);
        }
        word
    }

    /// Returns the items of a list.
    pub fn list<'f>(
        &mut self,
        field: &'f Field,
        code: &Code,
        expected: &str,
    ) -> Option<&'f [Node]> {
        let items = field.value.as_list();
        if items.is_none() {
            self.ignored(field, code, expected);
        }
        items
    }

    /// Returns the fields of a mapping.
    pub fn mapping<'f>(&mut self, field: &'f Field, code: &Code) -> Option<&'f [Field]> {
        let fields = field.value.as_mapping();
        if fields.is_none() {
            self.ignored(field, code, MAPPING);
        }
        fields
    }

    /// Returns the fields of a mapping that may be left empty.
    pub fn optional_mapping<'f>(&mut self, field: &'f Field, code: &Code) -> &'f [Field] {
        if field.value.is_null() {
            return &[];
        }
        self.mapping(field, code).unwrap_or_default()
    }

    /// Reports a field that its `owner` does not have.
    pub fn unknown_field(&mut self, field: &Field, code: &Code, owner: &str, help: String) {
        let fallback = self.fallback(code, "it is ignored");
        let message = format!("{owner} has no `{}`{fallback}", quotable(&field.key));
        self.add(code, &field.key_at, message, help);
    }

    /// Reports what is wrong with a value, and what to write.
    pub fn invalid(&mut self, field: &Field, code: &Code, what: &str, expected: &str) {
        let message = format!("`{}` {what}", field.key);
        self.add(code, field.at(), message, format!("write {expected}"));
    }

    /// Reports a value of the wrong kind, which has no effect.
    fn ignored(&mut self, field: &Field, code: &Code, expected: &str) {
        let kind = match &field.value.kind {
            NodeKind::Scalar(_) if field.value.is_null() => "has no value",
            NodeKind::Scalar(_) => "is a single value",
            NodeKind::List(_) => "is a list",
            NodeKind::Mapping(_) => "is a mapping",
        };
        let fallback = self.fallback(code, "it is ignored");
        self.invalid(field, code, &format!("{kind}{fallback}"), expected);
    }
}
