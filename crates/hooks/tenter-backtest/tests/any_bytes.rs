//! Whatever is in a transcript, reading it ends, with calls or with an error.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs;

use proptest::prelude::*;
use tempfile::TempDir;
use tenter_backtest::{CallCollector, ReadCounts, readers};

/// Reads a file as a transcript of every agent. Returns the number of calls.
fn read_all(bytes: &[u8]) -> usize {
    let scratch = TempDir::new().unwrap();
    let mut calls = 0;
    for (reader, name) in readers::ALL.iter().zip(["jsonl", "json", "jsonl.zst"].iter().cycle()) {
        let file = scratch.path().join(format!("rollout-1.{name}"));
        fs::write(&file, bytes).unwrap();
        let mut counts = ReadCounts::default();
        let mut sink = |call: tenter_backtest::RecordedCall| {
            let _ = call.tool_call();
            calls += 1;
        };
        let mut collector = CallCollector::new(&mut counts, &mut sink);
        let _ = reader.read(&file, &mut collector);
        collector.finish();
    }
    calls
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_harmless(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        read_all(&bytes);
    }

    #[test]
    fn any_line_is_harmless(lines in proptest::collection::vec(r#"\{"(type|sessionId|\$set|messages)": ("(user|assistant|gemini|message|response_item|tool.execution_start|context.append_loop_event)"|\[\]|3)(, "(message|payload|data|event|toolCalls|messages)": (\{"(type|role|content|parts|id|result)": ("(tool_use|function_call|tool.call|toolResult)"|1|\[\{\}\]|null)\}|\[[0-9]\]|3))?\}|.{0,20}"#, 0..8)) {
        read_all(lines.join("\n").as_bytes());
    }
}
