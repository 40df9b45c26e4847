//! Decisions that depend on the version of Claude Code.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::host_session::HostSession;

#[test]
fn a_version_that_would_run_a_call_that_a_hook_asks_about_denies_it() {
    let session = HostSession::new("claude-code");
    let script = r#"echo '{"decision": "ask", "reason": "sure?"}'"#;
    session.hook("question", "before_tool", "", script);
    let decision = |mode: &str, session_id: &str| {
        let output = session.fire_with("PreToolUse.Bash", |payload| {
            payload["permission_mode"] = json!(mode);
            payload["session_id"] = json!(session_id);
        });
        HostSession::read_answer(output)["hookSpecificOutput"]["permissionDecision"].clone()
    };
    for (version, unasked) in
        [(json!("2.1.84"), "deny"), (json!(null), "deny"), (json!("2.1.85"), "ask")]
    {
        session.register_version(&version);
        assert_eq!(decision("bypassPermissions", &format!("b{version}")), unasked, "{version}");
        assert_eq!(decision("default", &format!("d{version}")), "ask", "{version}");
    }
    // The transcript counts more than the record of the registration.
    let payload = session.payload("PreToolUse.Bash");
    let transcript = Path::new(payload["transcript_path"].as_str().unwrap());
    fs::create_dir_all(transcript.parent().unwrap()).unwrap();
    let lines =
        ["{\"type\": \"queue-operation\"}", "{\"type\": \"user\", \"version\": \"2.1.17\"}\n"];
    fs::write(transcript, lines.join("\n")).unwrap();
    assert_eq!(decision("bypassPermissions", "transcript"), "deny");
}
