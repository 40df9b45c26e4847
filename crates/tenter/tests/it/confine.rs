//! Hooks confine calls of the agent (F1, F12), and `tenter confine` is the launcher.

use serde_json::Value;
use tenter_testkit::Sandbox;

use crate::{headless, of_kind, sandbox};

/// Returns true if this machine keeps what the profile `standard` promises.
fn is_supported(sandbox: &Sandbox) -> bool {
    sandbox.run(&["confine", "--", "true"]).code == Some(0)
}

/// A hook of the user whose reply is this JSON.
fn confining(sandbox: &Sandbox, reply: &str) {
    sandbox.sh_hook("confining", "before_tool_call", &format!("echo '{reply}'"));
}

fn script(command: &str) -> String {
    let call = serde_json::json!({"name": "bash", "input": {"command": command}});
    format!("turns: [{{tool_calls: [{call}]}}, {{text: ok}}]")
}

#[test]
fn a_confined_command_of_the_agent_writes_the_project_only() {
    let sandbox = sandbox();
    if !is_supported(&sandbox) {
        return;
    }
    confining(&sandbox, r#"{"confine": {"write": ["project"]}}"#);
    sandbox.sh_hook("audit", "after_tool_call", r#"printf '%s\n' "$payload" >> ../audit.log"#);
    let outside = sandbox.root().join("outside");
    let command = format!("echo x > inside; echo x > {}; exit 7", outside.display());
    let (lines, _) = headless(&sandbox, &script(&command));
    assert_eq!(sandbox.read("inside"), "x\n");
    assert!(!outside.exists());
    let decision = of_kind(&lines, "hook").into_iter().find(|run| run["hook"] == "confining");
    assert_eq!(decision.unwrap()["decision"], "confine");
    let audit = std::fs::read_to_string(sandbox.root().join("audit.log")).unwrap();
    let payload: Value = serde_json::from_str(&audit).unwrap();
    let metadata = &payload["tool_output"]["metadata"];
    assert_eq!(
        (&metadata["exitCode"], &metadata["confined"]["profile"]),
        (&7.into(), &"custom".into())
    );
    assert_eq!(metadata["confined"]["kept"][0], "write", "{metadata}");
}

#[test]
fn a_rule_confines_what_it_matches_and_no_other_call() {
    let sandbox = sandbox();
    if !is_supported(&sandbox) {
        return;
    }
    let manifest = "---\nname: scripts\ndescription: Confines scripts.\ntrigger: before_tool\nmetadata:\n  match:\n    - program: bash\n      decision: confine\n      confine: {write: [project]}\n      reason: A script.\n---\n";
    let hook = sandbox.home().join(".config/agents/hooks/scripts/HOOK.md");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, manifest).unwrap();
    let outside = sandbox.root().join("outside");
    sandbox.write("deploy.sh", format!("echo x > {}\n", outside.display()));
    let check = sandbox.run(&["check", "bash deploy.sh"]).expect_code(0);
    assert_eq!(check.stdout.trim(), "confined by scripts, rule 1: A script.", "{check}");
    headless(&sandbox, &script("bash deploy.sh"));
    assert!(!outside.exists());
    let log = sandbox.run(&["log"]);
    assert!(log.stdout.contains("→ custom: kept write"), "{log}");
    headless(&sandbox, &script(&format!("echo x > {}", outside.display())));
    assert!(outside.exists());
}

#[test]
fn the_command_line_confines_and_checks() {
    let sandbox = sandbox();
    if !is_supported(&sandbox) {
        return;
    }
    let outside = sandbox.root().join("outside");
    let line = format!("echo x > {}", outside.display());
    let spec = r#"{"write": ["project"]}"#;
    let output = sandbox.run(&["confine", "--spec", spec, "--", "sh", "-c", &line]);
    assert!(output.code != Some(0) && !outside.exists(), "{output}");
    let check = sandbox.run(&["confine", "--check"]);
    assert!(check.stdout.starts_with("write          kept"), "{check}");
    let misplaced = sandbox.run(&["--color", "never", "confine", "--", "true"]);
    assert!(misplaced.stderr.contains("must be the first argument"), "{misplaced}");
    let unknown = sandbox.run(&["confine", "--profile", "bild", "--", "true"]).expect_code(125);
    assert!(unknown.stderr.contains("there is no profile \"bild\""), "{unknown}");
}

/// The names in the first column of the table of promises, each in backticks.
fn documented_promises() -> Vec<String> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/confine.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, section) = page.split_once("\n## What is kept where\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let cells = section.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
    cells.flat_map(|cell| cell.split(", ")).map(|name| name.replace(['`', ':'], "")).collect()
}

#[test]
fn the_page_lists_the_promises_that_the_check_prints() {
    let sandbox = sandbox();
    let check = sandbox.run(&["confine", "--check"]);
    let names = check.stdout.lines().map(|line| line.chars().take(15).collect::<String>());
    let mut names: Vec<String> = names.map(|name| name.trim().to_owned()).collect();
    let mut documented = documented_promises();
    names.sort();
    documented.sort();
    assert_eq!(names, documented, "{check}");
}

#[test]
fn a_guard_that_confines_lets_scripts_run_with_fewer_rights() {
    let sandbox = sandbox();
    if !is_supported(&sandbox) {
        return;
    }
    let _ = sandbox.run(&["guard", "add", "outside-project", "--confine"]).expect_code(0);
    let settings = sandbox.run(&["guard", "set", "outside-project", "scripts=confine"]);
    assert!(settings.stdout.contains("scripts = confine"), "{settings}");
    sandbox.write("deploy.sh", "echo x > inside\n");
    let (lines, _) = headless(&sandbox, &script("sh deploy.sh"));
    assert_eq!(sandbox.read("inside"), "x\n");
    let guards = of_kind(&lines, "hook");
    assert!(guards.iter().any(|run| run["decision"] == "confine"), "{lines:?}");
}

#[test]
fn a_pure_hook_decides_and_writes_only_its_private_directory() {
    let sandbox = sandbox();
    if !is_supported(&sandbox) {
        return;
    }
    for (confine, writes) in [("  confine: pure\n", false), ("", true)] {
        let directory = sandbox.home().join(".config/agents/hooks/guard");
        std::fs::create_dir_all(directory.join("scripts")).unwrap();
        let manifest = format!(
            "---\nname: guard\ndescription: A guard.\ntrigger: before_tool\nmetadata:\n  fail: open\n{confine}---\n"
        );
        std::fs::write(directory.join("HOOK.md"), manifest).unwrap();
        let outside = sandbox.root().join("outside");
        let body = format!(
            "cat > /dev/null; echo x > $TENTER_HOOK_STATE/own; [ -s $TENTER_HOOK_STATE/own ] || exit 1; echo x > {}; echo '{{\"decision\": \"deny\", \"reason\": \"guarded\"}}'",
            outside.display()
        );
        std::fs::write(directory.join("scripts/run.sh"), body).unwrap();
        let (lines, _) = headless(&sandbox, &script("ls"));
        let decision = of_kind(&lines, "hook").into_iter().find(|run| run["hook"] == "guard");
        assert_eq!(decision.unwrap()["decision"], "deny", "{lines:?}");
        assert_eq!(outside.exists(), writes, "{confine}");
    }
}
