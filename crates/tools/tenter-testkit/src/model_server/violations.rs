//! The violations of a request.

use serde_json::Value;

/// Returns whether a name is one of these words.
pub(super) fn is_among(name: &str, words: &str) -> bool {
    words.split_ascii_whitespace().any(|word| word == name)
}

/// The violations of a request, in the order of the checks.
#[derive(Debug, Default)]
pub(super) struct Violations(Vec<String>);

impl Violations {
    /// Adds a violation at a place in the body or the request.
    pub(super) fn add(&mut self, at: &str, problem: &str) {
        self.0.push(format!("{at}: {problem}"));
    }

    /// Adds `problem` unless `fine`.
    pub(super) fn demand(&mut self, fine: bool, at: &str, problem: &str) {
        if !fine {
            self.add(at, problem);
        }
    }

    /// Adds a violation for every field of `value` that is not among the words `fields`, or if `value` is not an object.
    pub(super) fn known(&mut self, value: &Value, at: &str, fields: &str) {
        let Some(object) = value.as_object() else {
            return self.add(at, "must be an object");
        };
        for name in object.keys().filter(|name| !is_among(name, fields)) {
            self.add(at, &format!("has no field `{name}`"));
        }
    }

    /// Like [`Violations::known`], for an optional value.
    pub(super) fn known_if_there(&mut self, value: &Value, at: &str, fields: &str) {
        if !value.is_null() {
            self.known(value, at, fields);
        }
    }

    pub(super) fn into_lines(self) -> Vec<String> {
        self.0
    }
}
