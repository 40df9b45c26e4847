//! Managed hooks in other agents (M1).

use std::fs;

use tenter_testkit::{Output, Sandbox};

use crate::host_session::fixtures;

const NO_LS: &str = "---\nname: no-tools\ndescription: Denies all commands.\ntrigger: before_tool\nmetadata:\n  action: deny\n  reason: managed says no\n---\n";

fn call(sandbox: &Sandbox) -> Output {
    let payload = fs::read_to_string(fixtures("claude-code").join("PreToolUse.Bash.json")).unwrap();
    let payload = payload
        .replace("$WORK", &sandbox.project().display().to_string())
        .replace("$HOME", &sandbox.home().display().to_string());
    let home = sandbox.home().display().to_string();
    sandbox.run_with_stdin(["claude-code", "PreToolUse", "--home", &home], payload)
}

#[test]
fn a_managed_hook_guards_other_agents_whatever_the_user_sets() {
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_tenter-hook")).managed();
    assert!(!call(&sandbox).stdout.contains("deny"));
    let hook = sandbox.write_managed("hooks/no-tools/HOOK.md", NO_LS);
    let is_denied = || call(&sandbox).stdout.contains("managed says no");
    assert!(is_denied());
    sandbox.write("../home/.config/tenter/config.toml", "[hooks]\nenabled = false\n");
    assert!(is_denied(), "hooks.enabled = false");
    sandbox.write(
        "../home/.config/agents/hooks/hooks.toml",
        "[[hooks.disable]]\nname = \"no-tools\"\n",
    );
    assert!(is_denied(), "hooks.toml");
    fs::remove_file(hook).unwrap();
    assert!(!is_denied());
}

/// The summary of what no hook applies to is a file of the user's.
#[test]
fn a_forged_summary_rules_no_managed_hook_out() {
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_tenter-hook")).managed();
    sandbox.write_managed("hooks/no-tools/HOOK.md", NO_LS);
    for _ in 0..3 {
        assert!(call(&sandbox).stdout.contains("managed says no"));
    }
    let summaries = sandbox.home().join(".local/state/tenter/bridge/concerns");
    assert!(!summaries.exists(), "a user could change them");
}
