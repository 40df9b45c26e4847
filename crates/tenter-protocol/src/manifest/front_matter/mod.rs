//! Front matter: what stands between the `---` lines of a `HOOK.md`, read with the place of every value.
//!
//! [`read`] reports every problem of a file at once. It reads what the specification allows and says what it does not
//! understand; it refuses to guess, to compile a matcher or a template (checkers come in), and to look at the Markdown that follows
//! unless somebody asks for [`body`].
//!
//! The steps: `split` finds the two `---` lines, `escapes` repairs backslashes that YAML does not know, `tree` turns YAML
//! into located values, `fields` and its neighbours check them one by one.

mod action;
mod document;
mod escapes;
mod extensions;
mod fields;
mod findings;
mod matcher;
mod name;
mod number;
mod reader;
mod scalar;
mod schema;
mod split;
mod syntax;
mod templates;
mod tree;
mod trigger;

use std::borrow::Cow;
use std::path::Path;

use serde_json::{Value, json};

use self::findings::{ENCODING, Findings, LIMIT};
use super::Manifest;
use crate::{Diagnostic, Object, Severity};

pub use document::{Document, Field, Located, Written, document};
pub use name::faults as name_faults;
pub use schema::json_schema;
pub use templates::{CheckTemplate, TemplateKind};
pub use tenter_base::{nearest, or_list};

/// The longest file that is read, in bytes.
pub const LONGEST_FILE: usize = 1024 * 1024;
/// The longest front matter that is read, in bytes.
pub const LONGEST_FRONT_MATTER: usize = 64 * 1024;

/// Characters of a name.
const LONGEST_NAME: usize = 64;
/// Characters of a description.
const LONGEST_DESCRIPTION: usize = 1024;
/// The keys of a manifest, in the order of the specification's appendix.
const KEYS: [&str; 8] =
    ["name", "description", "trigger", "matcher", "timeout", "async", "priority", "metadata"];

/// How strictly a manifest is read (R16).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rules {
    /// As `hooks validate` does: everything that is not as the specification wants it is an error.
    Strict,
    /// As a run does: what has an obvious reading (a number out of range, an unknown key, a missing description) is a
    /// warning, and the hook works.
    Tolerant,
}

/// What is wrong with a regular expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// What is wrong, as a sentence without its full stop.
    pub message: String,
    /// What to write instead, in the imperative.
    pub help: String,
}

/// Judges a regular expression: an error is why it cannot be used, other advice is worth a warning.
pub type CheckPattern<'a> = &'a dyn Fn(&str) -> Result<Option<Advice>, Advice>;

/// What judges the values that are in languages of their own.
#[derive(Clone, Copy)]
pub struct Checks<'a> {
    /// A matcher's `tool`.
    pub tool: CheckPattern<'a>,
    /// A matcher's `pattern`.
    pub pattern: CheckPattern<'a>,
    /// The texts of a hook without code.
    pub template: CheckTemplate<'a>,
}

/// Reads a manifest from the bytes of its file. There is a manifest exactly when no finding is an error.
///
/// `path` is for the findings, and its folder's name is what the hook's name has to be.
pub fn read(
    path: &Path,
    bytes: &[u8],
    rules: Rules,
    checks: Checks<'_>,
) -> (Option<Manifest>, Vec<Diagnostic>) {
    let mut findings = Findings::new(path, bytes, rules);
    let manifest = manifest(bytes, checks, &mut findings);
    let found = findings.into_diagnostics();
    let broken = found.iter().any(|finding| finding.severity == Severity::Error);
    (manifest.filter(|_| !broken), found)
}

fn manifest(bytes: &[u8], checks: Checks<'_>, findings: &mut Findings<'_>) -> Option<Manifest> {
    if bytes.len() > LONGEST_FILE {
        let message = format!("the file is longer than {LONGEST_FILE} bytes");
        findings.add(&LIMIT, None, message, "move the text to another file of the folder");
        return None;
    }
    let fences = match split::split(bytes) {
        Ok(fences) => fences,
        Err(unsplit) => {
            unsplit.report(bytes, findings);
            return None;
        }
    };
    let text = front_matter(&bytes[..fences.closing.end], &fences, findings)?;
    let root = tree::parse(text, &fences, findings)?;
    fields::check(&root, &fences, checks, findings)
}

/// The YAML between the fences, when it is text and not too long.
fn front_matter<'a>(
    bytes: &'a [u8],
    fences: &split::Fences,
    findings: &mut Findings<'_>,
) -> Option<&'a str> {
    if fences.yaml.len() > LONGEST_FRONT_MATTER {
        let message = format!("the front matter is longer than {LONGEST_FRONT_MATTER} bytes");
        let help = "front matter is a few lines; is a line `---` missing?";
        findings.add(&LIMIT, Some(&fences.opening), message, help);
        return None;
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => text.get(fences.yaml.clone()),
        Err(error) => {
            let first = error.valid_up_to();
            let message = "this is not UTF-8";
            findings.add(&ENCODING, Some(&(first..first)), message, "save the file as UTF-8");
            None
        }
    }
}

/// Whether `bytes`, the beginning of a file, hold its front matter whole: whoever reads a file piece by piece may stop then.
pub fn is_complete(bytes: &[u8]) -> bool {
    // Without its end the last line may become another one.
    split::split(bytes).is_ok_and(|fences| bytes[fences.closing.end..].contains(&b'\n'))
}

/// The Markdown after the front matter; empty when there is no complete front matter. Bytes that are not UTF-8 are replaced.
pub fn body(bytes: &[u8]) -> Cow<'_, str> {
    let start = split::split(bytes).map_or(bytes.len(), |fences| fences.body);
    String::from_utf8_lossy(&bytes[start..])
}

/// What `read-properties` prints: the properties in the reference implementation's order, those that are not set left out.
pub fn properties(manifest: &Manifest) -> Value {
    let mut properties = Object::new();
    let mut set = |key: &str, value: Value| properties.insert(key.to_owned(), value);
    set("name", json!(manifest.name));
    set("description", json!(manifest.description));
    set("trigger", json!(manifest.trigger));
    set("timeout", json!(manifest.timeout_ms));
    set("async", json!(manifest.asynchronous));
    set("priority", json!(manifest.priority));
    let matcher = matcher::properties(&manifest.matcher);
    if !matcher.is_empty() {
        set("matcher", Value::Object(matcher));
    }
    if !manifest.metadata.is_empty() {
        set("metadata", Value::Object(manifest.metadata.clone()));
    }
    Value::Object(properties)
}
