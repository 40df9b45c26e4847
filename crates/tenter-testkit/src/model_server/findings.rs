//! What is wrong with a request.

use serde_json::Value;

/// What is wrong with a request, in the order it was found.
#[derive(Debug, Default)]
pub(super) struct Findings(Vec<String>);

impl Findings {
    /// Notes that something is wrong at a place of the body, or of the request.
    pub(super) fn add(&mut self, at: &str, problem: &str) {
        self.0.push(format!("{at}: {problem}"));
    }

    /// Notes `problem` unless `fine`.
    pub(super) fn demand(&mut self, fine: bool, at: &str, problem: &str) {
        if !fine {
            self.add(at, problem);
        }
    }

    /// Notes every field of `value` that is not one of `fields`, or that it is no object.
    pub(super) fn known(&mut self, value: &Value, at: &str, fields: &[&str]) {
        let Some(object) = value.as_object() else {
            return self.add(at, "must be an object");
        };
        for name in object.keys().filter(|name| !fields.contains(&name.as_str())) {
            self.add(at, &format!("has no field `{name}`"));
        }
    }

    /// As [`Findings::known`], for a value that may be left out.
    pub(super) fn known_if_there(&mut self, value: &Value, at: &str, fields: &[&str]) {
        if !value.is_null() {
            self.known(value, at, fields);
        }
    }

    pub(super) fn into_lines(self) -> Vec<String> {
        self.0
    }
}
