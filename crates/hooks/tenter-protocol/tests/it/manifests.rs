//! Each directory below `tests/manifests/` has a manifest and its expected diagnostics in `expected.txt`. `TENTER_UPDATE=1`
//! rewrites those files; review the changes.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use tenter_protocol::front_matter::Strictness;
use tenter_protocol::manifest::format::{
    Advice, CheckExample, Checks, TemplateKind, properties, read,
};
use tenter_protocol::manifest::rule::Rule;
use tenter_protocol::{Diagnostic, EventName, Severity, SourceText, json};

/// Replaces the engine's compiler: an unclosed bracket is an error, look-around is a warning.
fn check_pattern(pattern: &str) -> Result<Option<Advice>, Advice> {
    let advice = |message: &str, help: &str| Advice { message: message.into(), help: help.into() };
    if pattern.matches('[').count() != pattern.matches(']').count() {
        return Err(advice("unclosed character class", "end it with `]`"));
    }
    Ok(pattern.contains("(?=").then(|| advice("it needs the slow engine", "leave it out")))
}

/// Replaces the engine's template language: `??` is invalid, and no payload has `.misspelt`.
fn check_template(event: EventName, _kind: TemplateKind, text: &str) -> Vec<Diagnostic> {
    let diagnostic = |word: &str, severity, message: &str| {
        let finding = |(start, _)| {
            let place = SourceText::new(text.as_bytes()).span(&(start..start + word.len()));
            Diagnostic::new("template", severity, message).with_span(place).help("leave it out")
        };
        text.match_indices(word).map(finding).collect::<Vec<_>>()
    };
    let unknown = format!("the payload of `{event}` has no `misspelt`");
    [
        diagnostic("??", Severity::Error, "`??` cannot be understood"),
        diagnostic(".misspelt", Severity::Warning, &unknown),
    ]
    .concat()
}

/// Replaces the engine's matching: an example is stopped if it contains the name of the rule's program.
fn check_examples(rules: &[Rule]) -> CheckExample<'_> {
    Box::new(|index, text, is_stopped| {
        let programs = &rules[index].conditions.program;
        let is_wrong = programs.iter().any(|program| text.contains(program)) != is_stopped;
        is_wrong.then(|| format!("{} is wrong about this example", rules[index].label(index)))
    })
}

pub(crate) const CHECKS: Checks<'static> = Checks {
    tool: &check_pattern,
    pattern: &check_pattern,
    template: &check_template,
    examples: &check_examples,
    is_model_key: |name| name.contains("API_KEY"),
    ready_made: &|name| if name == "format" { Ok(()) } else { Err("write `format`".to_owned()) },
    ready_made_setting: |_, _| Ok(()),
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/manifests")
}

#[expect(clippy::disallowed_methods, reason = "a switch for developers")]
fn update() -> bool {
    std::env::var_os("TENTER_UPDATE").is_some()
}

fn directories(kind: &str) -> Vec<PathBuf> {
    let mut directories: Vec<PathBuf> =
        fs::read_dir(root().join(kind)).unwrap().map(|entry| entry.unwrap().path()).collect();
    directories.sort();
    directories
}

fn line(finding: &Diagnostic) -> String {
    let place = finding.span.as_ref().map_or_else(
        || "-".to_owned(),
        |place| {
            let letters = place.source.chars().skip(place.column - 1).take(place.length);
            let text = letters.collect::<String>();
            format!("{}:{}-{} `{text}`", place.line, place.column, place.length)
        },
    );
    let help = finding.help.as_deref().unwrap_or("");
    let Diagnostic { id, severity, message, .. } = finding;
    format!("  {id} {severity} {place}\n    {message}\n    | {help}\n")
}

fn render(directory: &Path) -> String {
    let bytes = fs::read(directory.join("HOOK.md")).unwrap();
    let mut text = String::new();
    for (title, rules) in [("validate", Strictness::Strict), ("run", Strictness::Tolerant)] {
        let (manifest, findings) = read(&directory.join("HOOK.md"), &bytes, rules, CHECKS);
        let lines: String = findings.iter().map(line).collect();
        writeln!(text, "{title}:\n{lines}").unwrap();
        if rules == Strictness::Tolerant {
            let hook = manifest
                .as_ref()
                .map_or_else(|| "none".to_owned(), |m| json::to_string(&properties(m)));
            writeln!(text, "hook: {hook}").unwrap();
        }
    }
    text
}

/// Compares `text` with the content of `file`, or updates the file.
fn assert_file(file: &Path, text: &str) {
    if update() {
        fs::write(file, text).unwrap();
    }
    let expected = fs::read_to_string(file).unwrap_or_default().replace("\r\n", "\n");
    assert!(expected == text, "{}\n--- expected\n{expected}\n--- found\n{text}", file.display());
}

#[test]
fn every_manifest_has_the_expected_diagnostics() {
    for kind in ["valid", "invalid"] {
        for directory in directories(kind) {
            assert_file(&directory.join("expected.txt"), &render(&directory));
        }
    }
}

#[test]
fn only_invalid_manifests_have_errors() {
    for (kind, valid) in [("valid", true), ("invalid", false)] {
        for directory in directories(kind) {
            let path = directory.join("HOOK.md");
            let bytes = fs::read(&path).unwrap();
            let (manifest, findings) = read(&path, &bytes, Strictness::Strict, CHECKS);
            assert_eq!(manifest.is_some(), valid, "{}", directory.display());
            let error = findings.iter().any(|finding| finding.severity == Severity::Error);
            assert_ne!(error, valid, "{}", directory.display());
        }
    }
}

#[test]
fn every_diagnostic_has_a_file_a_position_and_a_help() {
    for kind in ["valid", "invalid"] {
        for directory in directories(kind) {
            let path = directory.join("HOOK.md");
            let bytes = fs::read(&path).unwrap();
            for finding in read(&path, &bytes, Strictness::Strict, CHECKS).1 {
                assert_eq!(finding.path.as_ref(), Some(&path));
                assert!(finding.help.is_some_and(|help| !help.is_empty()), "{}", finding.message);
                assert!(finding.span.is_some(), "{}", finding.message);
            }
        }
    }
}
