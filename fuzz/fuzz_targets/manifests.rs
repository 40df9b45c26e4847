//! Any bytes are a manifest or findings about one, never a panic, and every place that a finding names is in the file.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use tenter_engine::CHECKS;
use tenter_protocol::Severity;
use tenter_protocol::front_matter::{Rules, body};
use tenter_protocol::manifest::format::{Checks, properties, read};

/// Expressions are the business of those who made their engines.
const TEMPLATES_ALONE: Checks<'static> = Checks { pattern: &|_| Ok(None), ..CHECKS };

fuzz_target!(|bytes: &[u8]| {
    let _ = body(bytes);
    let lines = bytes.split(|byte| *byte == b'\n').count();
    for rules in [Rules::Strict, Rules::Tolerant] {
        let path = Path::new("/hooks/guard/HOOK.md");
        let (manifest, findings) = read(path, bytes, rules, TEMPLATES_ALONE);
        for place in findings.iter().filter_map(|finding| finding.span.as_ref()) {
            let length = place.source.chars().count();
            assert!((1..=lines).contains(&place.line));
            assert!((1..=length + 1).contains(&place.column));
            assert!(place.length == 1 || place.column + place.length - 1 <= length);
        }
        let broken = findings.iter().any(|finding| finding.severity == Severity::Error);
        assert_eq!(manifest.is_none(), broken);
        if let Some(manifest) = manifest {
            assert!(properties(&manifest).is_object());
        }
    }
});
