//! Any bytes are read as a transcript of any agent: no panic, and every call has a form that hooks can read.
#![no_main]

use std::fs;

use libfuzzer_sys::fuzz_target;
use tenter_backtest::{CallCollector, ReadCounts, RecordedCall, readers};

fuzz_target!(|bytes: &[u8]| {
    let scratch = tempfile::tempdir().unwrap();
    for reader in readers::ALL {
        for name in ["rollout-1.jsonl", "1.json", "rollout-1.jsonl.zst"] {
            let file = scratch.path().join(name);
            fs::write(&file, bytes).unwrap();
            let mut counts = ReadCounts::default();
            let mut sink = |call: RecordedCall| drop(call.tool_call());
            let mut collector = CallCollector::new(&mut counts, &mut sink);
            let _ = reader.read(&file, &mut collector);
            collector.finish();
        }
    }
});
