//! Subagents: in process, under the same hooks, with their own conversation (R51).

use serde_json::{Value, json};
use tenter_testkit::assert_fields;

use crate::{filter_kind, headless, sandbox};

const TASK: &str = "{id: s, name: subagent, input: {question: find the bug}}";

#[test]
fn a_subagent_runs_under_its_parents_hooks() {
    let sandbox = sandbox();
    sandbox.sh_hook("audit", "before_tool_call", r#"printf '%s\n' "$payload" >> audit"#);
    let (lines, code) = headless(
        &sandbox,
        &format!(
            "turns: [{{tool_calls: [{TASK}]}}, {{text: Looking., tool_calls: [{{name: todo, input: {{}}}}], expect: {{contains: [find the bug], lacks: [do it]}}}}, {{text: It is in line 3.}}, {{text: Found., expect: {{contains: [It is in line 3.]}}}}]"
        ),
    );
    assert_eq!(code, 0);
    let payloads: Vec<Value> = sandbox.read_lines("audit");
    assert_fields(&payloads[0], &json!({"tool_name": "subagent", "invoked_by": "main"}));
    assert_fields(&payloads[1], &json!({"tool_name": "todo", "invoked_by": "subagent"}));
    assert_eq!(payloads[1]["parent_conv_id"], payloads[0]["conv_id"]);
    assert_ne!(payloads[1]["conv_id"], payloads[0]["conv_id"]);
    let result = filter_kind(&lines, "tool-result")
        .into_iter()
        .find(|result| result["tool_call_id"] == "s")
        .unwrap();
    assert_eq!(result["result"]["metadataType"], "subagent");
    assert_eq!(result["result"]["metadata"]["response"], "It is in line 3.");
}

#[test]
fn a_subagent_cannot_start_subagents() {
    let sandbox = sandbox();
    let (lines, code) = headless(
        &sandbox,
        &format!(
            "turns: [{{tool_calls: [{TASK}]}}, {{tool_calls: [{TASK}]}}, {{text: sub}}, {{text: main}}]"
        ),
    );
    assert_eq!(code, 0);
    let result = filter_kind(&lines, "tool-result")[0];
    assert_eq!(result["result"]["error"], "a subagent cannot start subagents");
}
