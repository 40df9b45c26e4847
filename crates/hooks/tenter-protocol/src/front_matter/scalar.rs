//! The meaning of plain YAML scalars, by the core schema of YAML 1.2: `true` is a boolean, `yes` is text.

use serde_json::{Number, Value};

/// A single value as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scalar {
    /// Its text, without quotes and with its escapes resolved.
    pub text: String,
    /// The notation.
    pub style: Style,
}

/// The notation of a scalar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Without quotes: it may be something other than text.
    Plain,
    /// In double quotes, with backslash escapes.
    DoubleQuoted,
    /// In single quotes or as a block, without escapes.
    Literal,
}

/// The meaning of a scalar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Meaning {
    /// `null`, or nothing.
    Null,
    /// `true` or `false`.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// A number that is not an [`i64`].
    Number(f64),
    /// Anything else.
    Text,
}

impl Scalar {
    /// Returns the meaning; always text if quoted.
    pub fn meaning(&self) -> Meaning {
        if self.style == Style::Plain { plain(&self.text) } else { Meaning::Text }
    }

    /// Returns the value as JSON. A number that JSON cannot express (`.nan`) is text.
    pub fn to_json(&self) -> Value {
        let text = || Value::String(self.text.clone());
        match self.meaning() {
            Meaning::Null => Value::Null,
            Meaning::Boolean(boolean) => Value::Bool(boolean),
            Meaning::Integer(integer) => Value::Number(integer.into()),
            Meaning::Number(number) => Number::from_f64(number).map_or_else(text, Value::Number),
            Meaning::Text => text(),
        }
    }
}

/// Returns the meaning of `text` without quotes.
pub(super) fn plain(text: &str) -> Meaning {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Meaning::Null,
        "true" | "True" | "TRUE" => Meaning::Boolean(true),
        "false" | "False" | "FALSE" => Meaning::Boolean(false),
        _ => integer(text).or_else(|| number(text)).unwrap_or(Meaning::Text),
    }
}

fn integer(text: &str) -> Option<Meaning> {
    let number = match text.get(..2) {
        Some("0x") => i64::from_str_radix(unsigned(&text[2..])?, 16),
        Some("0o") => i64::from_str_radix(unsigned(&text[2..])?, 8),
        _ => text.parse(),
    };
    number.ok().map(Meaning::Integer)
}

fn unsigned(digits: &str) -> Option<&str> {
    (!digits.starts_with(['+', '-'])).then_some(digits)
}

fn number(text: &str) -> Option<Meaning> {
    let positive = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(positive, ".inf" | ".Inf" | ".INF" | ".nan" | ".NaN" | ".NAN") {
        return Some(Meaning::Number(f64::NAN));
    }
    // Rust also parses `inf` and `nan`, which are text in YAML.
    let numeric = positive.starts_with(|first: char| first.is_ascii_digit() || first == '.');
    text.parse().ok().filter(|_| numeric).map(Meaning::Number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars_follow_the_core_schema() {
        for (text, meaning) in [
            ("~", Meaning::Null),
            ("True", Meaning::Boolean(true)),
            ("yes", Meaning::Text),
            ("off", Meaning::Text),
            ("007", Meaning::Integer(7)),
            ("-12", Meaning::Integer(-12)),
            ("0x1F", Meaning::Integer(31)),
            ("0x-1", Meaning::Text),
            ("0o17", Meaning::Integer(15)),
            ("5.5", Meaning::Number(5.5)),
            ("1e3", Meaning::Number(1000.0)),
            ("99999999999999999999", Meaning::Number(1e20)),
            ("1_000", Meaning::Text),
            ("inf", Meaning::Text),
            ("é", Meaning::Text),
            ("-", Meaning::Text),
            (".", Meaning::Text),
        ] {
            assert_eq!(plain(text), meaning, "{text}");
        }
    }

    #[test]
    fn quoted_scalars_are_text() {
        let scalar = Scalar { text: "5000".to_owned(), style: Style::Literal };
        assert_eq!(scalar.meaning(), Meaning::Text);
        assert_eq!(scalar.to_json(), "5000");
        let scalar = Scalar { text: "-.inf".to_owned(), style: Style::Plain };
        assert_eq!(scalar.to_json(), "-.inf");
    }
}
