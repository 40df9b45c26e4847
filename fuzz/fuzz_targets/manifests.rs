//! Any bytes are parsed as a manifest or rejected with diagnostics: no panic, and every span is inside the file.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use tenter_engine::inspect::CHECKS;
use tenter_protocol::Severity;
use tenter_protocol::front_matter::{Strictness, body};
use tenter_protocol::manifest::format::{Checks, properties, read};

/// Regular expressions are not compiled: their libraries have fuzz targets of their own.
const TEMPLATES_ONLY: Checks<'static> = Checks { pattern: &|_| Ok(None), ..CHECKS };

fuzz_target!(|bytes: &[u8]| {
    let _ = body(bytes);
    let lines = bytes.split(|byte| *byte == b'\n').count();
    for rules in [Strictness::Strict, Strictness::Tolerant] {
        let path = Path::new("/hooks/guard/HOOK.md");
        let (manifest, diagnostics) = read(path, bytes, rules, TEMPLATES_ONLY);
        for span in diagnostics.iter().filter_map(|diagnostic| diagnostic.span.as_ref()) {
            let length = span.source.chars().count();
            assert!((1..=lines).contains(&span.line));
            assert!((1..=length + 1).contains(&span.column));
            assert!(span.length == 1 || span.column + span.length - 1 <= length);
        }
        let is_invalid =
            diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
        assert_eq!(manifest.is_none(), is_invalid);
        if let Some(manifest) = manifest {
            assert!(properties(&manifest).is_object());
        }
    }
});
