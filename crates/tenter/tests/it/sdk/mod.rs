//! The SDKs in `sdk/`: their generated parts match the schemas, their examples and their own tests run, and their hooks
//! behave the same in every form of running.

mod engine;
mod javascript;
mod python;
mod readme;
mod types;
mod wire;

use std::fs;
use std::path::{Path, PathBuf};

fn sdk() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sdk")
}

/// Maximum length of a line of a comment.
const WIDTH: usize = 136;

/// Returns a text in lines of at most [`WIDTH`] characters.
fn wrap(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Compares the part of a file between its two marks with `text`, or replaces it.
#[expect(clippy::disallowed_methods, reason = "TENTER_UPDATE asks the test to update the file")]
fn assert_generated(file: &str, text: &str) {
    let path = sdk().join(file);
    let whole = fs::read_to_string(&path).unwrap();
    let (before, rest) = whole.split_once(" --- generated").unwrap();
    let (mark, rest) = rest.split_once('\n').unwrap();
    let end = rest.rfind("--- end of the generated part ---").unwrap();
    let end = rest[..end].rfind('\n').map_or(0, |newline| newline + 1);
    let (generated, after) = rest.split_at(end);
    if std::env::var_os("TENTER_UPDATE").is_some() {
        fs::write(&path, format!("{before} --- generated{mark}\n{text}{after}")).unwrap();
        return;
    }
    assert!(
        generated == text,
        "sdk/{file} is stale; update it with TENTER_UPDATE=1 cargo test --test it sdk::"
    );
}

#[test]
fn the_generated_parts_are_up_to_date() {
    let records = types::records();
    assert_generated("python/tenter_hook.py", &python::generated());
    assert_generated("python/tenter_hook_types.py", &python::types(&records));
    assert_generated("javascript/tenter-hook.mjs", &javascript::events());
    assert_generated("javascript/tenter-hook.d.ts", &javascript::types(&records));
}
