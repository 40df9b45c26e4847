//! Tests of the decisions of a session that is cancelled while its hooks run.

use std::sync::Arc;

use tenter_engine::{Cancel, HookRun, Observer, Scope};
use tenter_protocol::{ToolCall, ToolResult, tool_metadata};

use crate::scene::{Scene, USER};

/// Cancels as soon as a hook has run.
struct CancelAfterFirst(Cancel);

impl Observer for CancelAfterFirst {
    fn hook_ran(&self, _run: &HookRun) {
        self.0.cancel();
    }
}

#[test]
fn an_output_that_a_cancelled_hook_did_not_see_is_withheld() {
    for rewrite in [r#"{"success": false, "error": "no"}"#, r#"{"metadata": {"output": "SECRET"}}"#]
    {
        let scene = Scene::new();
        let first = format!(
            "#!/bin/sh\nif [ \"$1\" = hook ]; then echo after_tool_call; exit; fi\necho '{{\"output\": {rewrite}}}'\n"
        );
        scene.hook(USER, "10-first", &first);
        scene.bare(
            USER,
            "redact",
            "name: redact\ndescription: d\ntrigger: after_tool\npriority: 1",
        );
        scene.file(&format!("{USER}/redact/scripts/run"), "#!/bin/sh\n", 0o755);
        let cancel = Cancel::new();
        let observer = Arc::new(CancelAfterFirst(cancel.clone()));
        let engine = scene.builder().observer(observer).build(scene.load().0);
        let session = engine.session(Scope::new("c", &scene.layout.project)).with_cancel(cancel);
        let metadata = tool_metadata::Bash { output: "SECRET".to_owned(), ..Default::default() };
        let result = ToolResult::success("bash", &metadata, "T".to_owned());
        let review = session.after_tool(ToolCall::new("1", "bash", []), result);
        let text = review.result.text();
        assert!(!text.contains("SECRET") && text.contains("not kept"), "{rewrite}: {text}");
    }
}
