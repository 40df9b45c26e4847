//! Finds secrets in the files of a plugin. Diagnostics never show them.

use std::ffi::OsStr;
use std::path::Path;

use tenter_base::untrusted_file;
use tenter_engine::journal::{Redactor, secrets_in};
use tenter_protocol::{Diagnostic, Severity, SourceText, Span};

use super::unreadable;

/// Maximum number of bytes read of a file: no hand-written text is longer.
const LOOKED_AT: u64 = 4 << 20;
/// Maximum number of diagnostics for one file.
const MAX_SECRETS: usize = 5;
/// Names of files that usually contain secrets.
const KEEPERS: [&str; 8] =
    [".env", ".netrc", ".npmrc", ".pypirc", ".git-credentials", "id_rsa", "id_ecdsa", "id_ed25519"];
const KEEPERS_END: [&str; 4] = ["pem", "p12", "pfx", "keystore"];

/// Reports the secrets in the file at `path`.
pub(super) fn check(path: &Path) -> Vec<Diagnostic> {
    let bytes = match untrusted_file::read_prefix(path, LOOKED_AT) {
        Ok(bytes) => bytes,
        Err(error) => return vec![unreadable(path, &error)],
    };
    let text = String::from_utf8_lossy(&bytes);
    let secrets = secrets_in(&text);
    if secrets.is_empty() && is_keeper(path) {
        return vec![keeper(path)];
    }
    let places = secrets.into_iter().take(MAX_SECRETS).map(|secret| mask_span(&text, secret.start));
    places.map(|place| secret(path, place)).collect()
}

fn secret(path: &Path, place: Span) -> Diagnostic {
    Diagnostic::new("plugin-secret", Severity::Error, "this looks like a secret")
        .at(path)
        .with_span(place)
        .help("remove it, also from the history, and revoke it: everyone who can read the plugin can use it")
}

fn is_keeper(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let end = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    KEEPERS.contains(&name) || KEEPERS_END.contains(&end)
}

fn keeper(path: &Path) -> Diagnostic {
    let message = "files of this name usually contain secrets";
    Diagnostic::new("plugin-secret-file", Severity::Warning, message)
        .at(path)
        .help("remove it, or add it to .gitignore")
}

/// Returns the span of the secret that begins at `start`, in its line without secrets.
fn mask_span(text: &str, start: usize) -> Span {
    let span = SourceText::new(text.as_bytes()).span(&(start..start + 1));
    let before: String = span.source.chars().take(span.column - 1).collect();
    let rest: String = span.source.chars().skip(span.column - 1).collect();
    let redactor = Redactor::default();
    let (before, rest) = (redactor.text(&before), redactor.text(&rest));
    let length = rest.find(']').map_or(1, |end| rest[..=end].chars().count());
    let column = before.chars().count() + 1;
    Span { line: span.line, column, length, source: before + &rest }
}
