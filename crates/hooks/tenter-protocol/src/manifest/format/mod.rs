//! The front matter of a `HOOK.md`: its fields, their limits, and what is wrong with them.
//!
//! [`read`] reports every problem of a file at once. Patterns and templates are languages of their own: [`Checks`] come from
//! the caller.

mod action;
mod checks;
mod claude_code;
mod codes;
mod extensions;
mod fields;
mod http;
mod limits;
mod matcher;
mod name;
mod properties;
mod rules;
mod runtime;
#[cfg(feature = "schema")]
mod schema;
mod settings;
mod templates;
mod trigger;

use std::path::Path;

use super::Manifest;
use crate::Diagnostic;
use crate::front_matter::{Report, Strictness, parse};

pub use checks::{
    Advice, CheckExample, CheckPattern, CheckReadyMade, CheckSetting, CheckTemplate, Checks,
    CompileExamples, TemplateKind,
};
pub use limits::MAX_FILE_SIZE;
pub use properties::properties;
#[cfg(feature = "schema")]
pub use schema::front_matter_schema;

/// Reads a manifest from the bytes of its file. There is a manifest exactly when no diagnostic is an error.
///
/// `path` is for the diagnostics; the hook must be named like the directory in it. Nothing is opened.
pub fn read(
    path: &Path,
    bytes: &[u8],
    strictness: Strictness,
    checks: Checks<'_>,
) -> (Option<Manifest>, Vec<Diagnostic>) {
    let mut report = Report::new(path, bytes, strictness, &codes::FORMAT);
    let manifest = parse(&mut report).and_then(|document| {
        let (document, settings) = settings::resolve(document, checks, &mut report);
        let mut manifest = fields::manifest(&document, checks, &mut report)?;
        manifest.extensions.settings = settings;
        Some(manifest)
    });
    report.finish(manifest)
}
