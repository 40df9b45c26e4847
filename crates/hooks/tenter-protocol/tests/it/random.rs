//! Properties of any input, and of any valid manifest.

use std::path::Path;

use proptest::prelude::*;
use proptest::sample::select;
use tenter_protocol::front_matter::{Strictness, body};
use tenter_protocol::lifecycle::TABLE;
use tenter_protocol::manifest::format::{Checks, properties, read};
use tenter_protocol::{Diagnostic, Severity};

use crate::manifests::CHECKS;

/// Checks that every diagnostic points into `bytes` and has a help.
fn check_diagnostics(bytes: &[u8], findings: &[Diagnostic]) -> Result<(), TestCaseError> {
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    for finding in findings {
        prop_assert!(finding.help.is_some());
        prop_assert!(!finding.message.contains('\n'), "{}", finding.message);
        let Some(place) = &finding.span else { continue };
        let line = lines.get(place.line - 1).map(|line| String::from_utf8_lossy(line));
        let line = line.ok_or_else(|| TestCaseError::fail("a line outside the file"))?;
        let mark = if place.line == 1 { "\u{feff}" } else { "" };
        let line = line.strip_prefix(mark).unwrap_or(&line);
        prop_assert_eq!(&place.source, line.strip_suffix('\r').unwrap_or(line));
        let length = place.source.chars().count();
        prop_assert!(place.column >= 1 && place.length >= 1);
        // Something missing is marked just after the end of the line.
        let inside = place.column + place.length - 1 <= length;
        prop_assert!(inside || (place.column == length + 1 && place.length == 1), "{place:?}");
    }
    Ok(())
}

fn check_bytes(bytes: &[u8]) -> Result<(), TestCaseError> {
    let _ = body(bytes);
    let path = Path::new("/hooks/guard/HOOK.md");
    for rules in [Strictness::Strict, Strictness::Tolerant] {
        let (manifest, findings) = read(path, bytes, rules, CHECKS);
        check_diagnostics(bytes, &findings)?;
        let has_errors = findings.iter().any(|finding| finding.severity == Severity::Error);
        prop_assert_eq!(manifest.is_none(), has_errors);
        if let Some(manifest) = manifest {
            prop_assert!((100..=600_000).contains(&manifest.timeout_ms));
            prop_assert!(manifest.priority <= 1000);
            prop_assert!(properties(&manifest).is_object());
        }
    }
    Ok(())
}

/// Returns pieces of manifests, in any order.
fn pieces() -> impl Strategy<Value = String> {
    let piece = select(vec![
        "---\n",
        "---",
        "\n",
        "\r\n",
        " ",
        "  ",
        "\t",
        "name: ",
        "guard",
        "description: a\n",
        "trigger: ",
        "before_tool",
        "matcher:",
        "  tool: ",
        "  pattern: ",
        "\"\\.py\"",
        "\"",
        "'",
        "\\",
        "timeout: 5\n",
        "async: yes\n",
        "priority: '1'\n",
        "metadata:\n",
        "  fail: closed\n",
        "[",
        "]",
        "{",
        "}",
        ",",
        ": ",
        "- ",
        "? ",
        "&a ",
        "*a",
        "!!str ",
        "<<: ",
        "|\n",
        ">-\n",
        "#",
        "%",
        "@",
        "é",
        "\u{feff}",
        "\0",
        "...\n",
        "1e9",
        "\u{2028}",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// Returns text in double quotes, as in YAML.
fn quote(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

prop_compose! {
    fn valid_name()(words in prop::collection::vec("[a-z0-9é技]{1,6}", 1..5)) -> String {
        words.join("-")
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        check_bytes(&bytes)?;
    }

    #[test]
    fn any_pieces_of_manifests_are_read_without_a_panic(text in pieces()) {
        check_bytes(text.as_bytes())?;
        check_bytes(format!("---\n{text}\n---\n").as_bytes())?;
    }

    #[test]
    fn any_text_between_the_fences_is_read_without_a_panic(text in "(?s).{0,200}") {
        check_bytes(format!("---\n{text}\n---\n").as_bytes())?;
        check_bytes(format!("---\nname: {text}\ntrigger: {text}\n---\n").as_bytes())?;
    }

    #[test]
    fn a_valid_manifest_is_read_as_written(
        name in valid_name(),
        description in "[!-~é][ -~é\n]{0,200}[!-~é]",
        trigger in select(TABLE.iter().flat_map(|row| row.manifest).copied().collect::<Vec<_>>()),
        tool in prop::option::of("[a-zA-Z^$.|]{1,20}"),
        pattern in prop::option::of("[ -Z^-~é]{0,40}"),
        timeout in 100_u64..=600_000,
        (asynchronous, priority) in (any::<bool>(), 0_u16..=1000),
        metadata in prop::collection::btree_map("[a-z]{6,9}", "[ -~]{0,20}", 0..4),
    ) {
        let mut text = format!("---\nname: {}\ndescription: {}\ntrigger: {trigger}\n", quote(&name), quote(&description));
        if tool.is_some() || pattern.is_some() {
            text.push_str("matcher:\n");
        }
        for (key, value) in [("tool", &tool), ("pattern", &pattern)] {
            if let Some(value) = value {
                text.push_str(&format!("  {key}: '{}'\n", value.replace('\'', "''")));
            }
        }
        text.push_str(&format!("timeout: {timeout}\nasync: {asynchronous}\npriority: {priority}\n"));
        text.push_str(&format!("metadata: {}\n---\n# Title\n", serde_json::to_string(&metadata).unwrap()));
        let path = Path::new("/hooks").join(&name).join("HOOK.md");
        let checks = Checks { tool: &|_| Ok(None), pattern: &|_| Ok(None), ..CHECKS };
        let (manifest, findings) = read(&path, text.as_bytes(), Strictness::Strict, checks);
        let manifest = manifest.ok_or_else(|| TestCaseError::fail(format!("{findings:?}\n{text}")))?;
        prop_assert_eq!(manifest.name, name);
        prop_assert_eq!(manifest.description, description);
        prop_assert_eq!(manifest.trigger.spelling, trigger);
        prop_assert_eq!(manifest.matcher.tool, tool);
        prop_assert_eq!(manifest.matcher.pattern, pattern);
        prop_assert_eq!(manifest.timeout_ms, timeout);
        prop_assert_eq!(manifest.asynchronous, asynchronous);
        prop_assert_eq!(manifest.priority, priority);
        prop_assert_eq!(serde_json::to_value(manifest.metadata).unwrap(), serde_json::to_value(metadata).unwrap());
    }
}
