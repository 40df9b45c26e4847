//! The tool calls of one response: how many run at once, and what happens to calls that cannot be used.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tenter_agent::tools::{Tool, ToolContext, ToolEffect};
use tenter_protocol::{Block, Object, ToolResult};

use crate::session_stage::{QUICK, Stage};

/// Counts how many calls of it run at once.
#[derive(Default)]
struct Gauge {
    started: AtomicUsize,
    running: AtomicUsize,
    peak: AtomicUsize,
}

impl Tool for Gauge {
    fn name(&self) -> &'static str {
        "gauge"
    }
    fn description(&self) -> &'static str {
        "Counts."
    }
    fn input_schema(&self) -> Value {
        json!({"type": "object"})
    }
    fn guidance(&self) -> Option<String> {
        None
    }
    fn effect(&self) -> ToolEffect {
        ToolEffect::Reads
    }
    fn check(&self, _: &Object) -> Result<(), String> {
        Ok(())
    }
    fn run(&self, input: &Object, context: &ToolContext<'_>) -> ToolResult {
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.peak.fetch_max(running, Ordering::SeqCst);
        self.started.fetch_add(1, Ordering::SeqCst);
        // The first sixteen meet; more than sixteen would show in the peak.
        while self.started.load(Ordering::SeqCst) < 16 {
            std::thread::yield_now();
        }
        (0..100).for_each(|_| std::thread::yield_now());
        self.running.fetch_sub(1, Ordering::SeqCst);
        assert!(!input.contains_key("panic"), "the tool panics");
        let message = format!("call {}", context.call_id);
        ToolResult::failure("gauge", message, context.workspace.timestamp())
    }
}

fn results(stage: &Stage) -> Vec<(String, String)> {
    let (messages, _) = stage.stored();
    let blocks = messages.into_iter().flat_map(|message| message.blocks);
    let results = blocks.filter_map(|block| match block {
        Block::ToolResult { call_id, result } => Some((call_id, result.text())),
        _ => None,
    });
    results.collect()
}

#[test]
fn at_most_sixteen_calls_run_at_once_and_their_results_keep_their_order() {
    let call = |number: usize| format!("{{id: c{number}, name: gauge}}");
    let calls: Vec<String> = (0..200).map(call).collect();
    let script = format!("turns: [{{tool_calls: [{}]}}, {{text: ok}}]", calls.join(", "));
    let mut stage = Stage::new(&script, QUICK);
    let gauge = Arc::new(Gauge::default());
    stage.agent.tools.push(Arc::clone(&gauge) as Arc<dyn Tool>);
    stage.send(&"go".into());
    assert_eq!(gauge.peak.load(Ordering::SeqCst), 16);
    let expected = |number: usize| (format!("c{number}"), format!("<error>call c{number}</error>"));
    assert_eq!(results(&stage), (0..200).map(expected).collect::<Vec<_>>());
}

#[test]
fn a_tool_that_panics_fails_its_own_call_only() {
    let mut stage = Stage::new(
        "turns: [{tool_calls: [{id: a, name: gauge, input: {panic: yes}}, {id: b, name: gauge}]}, {text: ok}]",
        QUICK,
    );
    let gauge = Gauge { started: AtomicUsize::new(16), ..Gauge::default() };
    stage.agent.tools.push(Arc::new(gauge));
    stage.send(&"go".into());
    let results = results(&stage);
    assert!(results[0].1.contains("a bug in Tenter"), "{results:?}");
    assert_eq!(results[1].1, "<error>call b</error>");
}

#[test]
fn arguments_that_are_nested_too_deeply_reach_no_tool_and_the_conversation_can_be_read_again() {
    for (depth, is_taken) in [(63, true), (64, false), (120, false)] {
        let arguments = format!("{{\"x\": {}{}}}", "[".repeat(depth), "]".repeat(depth));
        let script = format!(
            "turns: [{{tool_calls: [{{id: a, name: gauge, input: '{arguments}'}}]}}, {{text: ok}}]"
        );
        let mut stage = Stage::new(&script, QUICK);
        let gauge = Gauge { started: AtomicUsize::new(16), ..Gauge::default() };
        stage.agent.tools.push(Arc::new(gauge));
        stage.send(&"go".into());
        let text = results(&stage).remove(0).1;
        assert_eq!(text.contains("call a"), is_taken, "{depth}: {text}");
        assert_eq!(text.contains("nested deeper than 64 levels"), !is_taken, "{depth}: {text}");
    }
}

#[test]
fn an_output_that_a_hook_nests_too_deeply_is_withheld_and_the_conversation_can_be_read_again() {
    for (depth, is_kept) in [(60, true), (124, false)] {
        let mut stage =
            Stage::new("turns: [{tool_calls: [{id: a, name: todo}]}, {text: ok}]", QUICK);
        let nested = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let answer = format!(
            "echo '{{\"modified_output\": {{\"metadataType\": \"other\", \"metadata\": {{\"x\": {nested}}}}}}}'"
        );
        stage.hook("deep", "after_tool", "", &answer);
        stage.send(&"go".into());
        let text = results(&stage).remove(0).1;
        assert_eq!(text.contains("the output is withheld"), !is_kept, "{depth}: {text}");
        assert_eq!(text.contains("[[[["), is_kept, "{depth}: {text}");
    }
}
