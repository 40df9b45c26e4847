//! Hostile input is rejected in bounded time, with a position.

use std::path::Path;
use std::time::{Duration, Instant};

use tenter_protocol::front_matter::{MAX_SIZE, Strictness, body};
use tenter_protocol::manifest::Manifest;
use tenter_protocol::manifest::format::{self, MAX_FILE_SIZE};
use tenter_protocol::{Diagnostic, Severity};

use crate::manifests::CHECKS;

fn read(bytes: &[u8]) -> (Option<Manifest>, Vec<Diagnostic>) {
    format::read(Path::new("/hooks/guard/HOOK.md"), bytes, Strictness::Tolerant, CHECKS)
}

/// Returns a valid manifest with additional `key: value` lines.
fn manifest(more: &str) -> Vec<u8> {
    format!("---\nname: guard\ndescription: Guards\ntrigger: before_tool\n{more}---\nbody\n")
        .into_bytes()
}

fn ids(findings: &[Diagnostic]) -> Vec<&str> {
    findings.iter().map(|finding| finding.id).collect()
}

/// Reads `bytes`, which must be rejected in bounded time with the diagnostic `id`.
fn rejected(bytes: &[u8], id: &str) -> Diagnostic {
    let start = Instant::now();
    let (hook, findings) = read(bytes);
    // A generous bound: it distinguishes milliseconds from exponential time.
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    assert_eq!(hook, None);
    let finding_with_id = findings.iter().find(|finding| finding.id == id);
    finding_with_id.unwrap_or_else(|| panic!("{findings:?}")).clone()
}

fn at(finding: &Diagnostic) -> (usize, usize, usize) {
    let place = finding.span.as_ref().unwrap();
    (place.line, place.column, place.length)
}

#[test]
fn a_byte_order_mark_carriage_returns_and_blank_lines_are_accepted() {
    let plain = read(&manifest("")).0.unwrap();
    let text = String::from_utf8(manifest("")).unwrap();
    let windows = format!("\u{feff}\r\n  \r\n{}", text.replace('\n', "\r\n"));
    let (hook, findings) = read(windows.as_bytes());
    assert_eq!(hook.unwrap(), plain);
    assert_eq!(findings, []);
    assert_eq!(body(windows.as_bytes()), "body\r\n");
}

#[test]
fn positions_in_a_file_with_carriage_returns_are_those_of_editors() {
    let text = "\u{feff}---\r\nname: guard\r\ndescription: Ünï\r\ntrigger: bêfore\r\n---\r\n";
    let finding = rejected(text.as_bytes(), "manifest-trigger");
    assert_eq!(at(&finding), (4, 10, 6));
    assert_eq!(finding.span.unwrap().source, "trigger: bêfore");
}

#[test]
fn ten_megabytes_are_rejected_unread() {
    let file = [manifest(""), vec![b'x'; 10 * 1024 * 1024]].concat();
    let finding = rejected(&file, "manifest-too-large");
    assert_eq!(finding.message, format!("the file is longer than {} KiB", MAX_FILE_SIZE / 1024));
}

#[test]
fn a_long_body_is_accepted_and_a_long_front_matter_is_rejected() {
    let mut file = manifest("");
    file.resize(MAX_FILE_SIZE, b'x');
    assert!(read(&file).0.is_some());
    let long = manifest(&format!("metadata:\n  a: {}\n", "x".repeat(MAX_SIZE)));
    assert_eq!(at(&rejected(&long, "manifest-too-large")), (1, 1, 3));
}

#[test]
fn exponential_anchors_are_rejected() {
    let mut bomb = "metadata:\n  a: &a [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for (before, letter) in "abcdefgh".chars().zip("bcdefghi".chars()) {
        let aliases = vec![format!("*{before}"); 9].join(", ");
        bomb.push_str(&format!("  {letter}: &{letter} [{aliases}]\n"));
    }
    rejected(&manifest(&bomb), "manifest-too-large");
    // Few values, each of them long.
    let long = format!("metadata:\n  a: &a {}\n", "x".repeat(30_000));
    let many = format!("{long}  b: [{}]\n", vec!["*a"; 5000].join(","));
    rejected(&manifest(&many), "manifest-too-large");
}

#[test]
fn deep_nesting_is_rejected_where_it_exceeds_the_limit() {
    let flow = manifest(&format!("metadata: {}\n", "[".repeat(20_000)));
    assert_eq!(at(&rejected(&flow, "manifest-too-large")), (5, 43, 1));
    let block = manifest(&format!("metadata:\n  {}x\n", "- ".repeat(20_000)));
    rejected(&block, "manifest-too-large");
    let mapping = manifest(&format!("metadata: {}\n", "{a: ".repeat(10_000)));
    rejected(&mapping, "manifest-too-large");
}

#[test]
fn too_many_values_and_keys_are_rejected() {
    let list = manifest(&format!("metadata: [{}]\n", "a,".repeat(6000)));
    rejected(&list, "manifest-too-large");
    let keys: String = (0..6000).map(|index| format!("k{index}: 1\n")).collect();
    rejected(&manifest(&keys), "manifest-too-large");
}

#[test]
fn diagnostics_over_the_limit_are_counted() {
    let keys: String = (0..2000).map(|index| format!("k{index}: 1\n")).collect();
    let (hook, findings) = read(&manifest(&keys));
    assert!(hook.is_some(), "a hook with unknown keys runs");
    assert_eq!(findings.len(), 101);
    assert_eq!(findings[100].message, "1900 more problems are not shown");
    // An error over the limit is still an error.
    let (hook, findings) = read(&manifest(&format!("{keys}matcher: {{tool: '['}}\n")));
    assert_eq!(hook, None);
    assert_eq!(findings[100].severity, Severity::Error);
}

#[test]
fn many_unknown_escapes_are_repaired_or_rejected_in_time() {
    let text = manifest(&format!("matcher: {{pattern: \"{}\"}}\n", "\\d".repeat(20_000)));
    let (hook, findings) = read(&text);
    assert_eq!(hook.unwrap().matcher.pattern.unwrap(), "\\d".repeat(20_000));
    assert_eq!(ids(&findings), ["manifest-escape"]);
    let texts: String = (0..2000).map(|index| format!("  k{index}: \"\\d\"\n")).collect();
    rejected(&manifest(&format!("metadata:\n{texts}")), "manifest-syntax");
}

#[test]
fn control_characters_are_named() {
    let finding = rejected(&manifest("metadata: \0\n"), "manifest-syntax");
    assert_eq!(finding.message, "the control character U+0000 is not allowed");
    assert_eq!(at(&finding), (5, 11, 1));
}

#[test]
fn invalid_utf8_is_an_error_in_the_front_matter_and_replaced_in_the_body() {
    let mut file = manifest("metadata: {a: é\n");
    let position = file.iter().position(|byte| *byte == 0xc3).unwrap();
    file[position + 1] = b'x';
    assert_eq!(at(&rejected(&file, "manifest-encoding")), (5, 15, 1));
    let file = [manifest(""), b"\xff\xfe\x00".to_vec()].concat();
    assert!(read(&file).0.is_some());
    assert_eq!(body(&file), "body\n\u{fffd}\u{fffd}\0");
    let utf16: Vec<u8> = "---\nname: guard\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let finding = rejected(&[b"\xff\xfe".to_vec(), utf16].concat(), "manifest-encoding");
    assert_eq!(finding.message, "the file is UTF-16");
}

#[test]
fn hyphens_inside_text_do_not_end_the_front_matter() {
    let more = "metadata:\n  a: x --- y\n  b: |\n    ---\n  c: 'a\n    --- b'\n";
    let (hook, findings) = read(&manifest(more));
    assert_eq!(findings, []);
    let metadata = hook.unwrap().metadata;
    assert_eq!(metadata["a"], "x --- y");
    assert_eq!(metadata["b"], "---\n");
    assert_eq!(metadata["c"], "a --- b");
}

#[test]
fn the_copies_of_a_very_long_line_are_limited() {
    let keys: Vec<String> = (0..2000).map(|index| format!("k{index}: 1")).collect();
    let text = format!(
        "---\n{{name: guard, description: a, trigger: before_tool, {}}}\n---\n",
        keys.join(", ")
    );
    let (hook, findings) = read(text.as_bytes());
    assert!(hook.is_some());
    let size: usize =
        findings.iter().filter_map(|one| one.span.as_ref()).map(|place| place.source.len()).sum();
    assert!(size <= 100 * MAX_SIZE, "{size}");
}
