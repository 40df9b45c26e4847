//! `tenter guard`: ready-made hooks are added, work, notice changes, and are removed.

use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::sandbox;
use tenter_testkit::assert_contains;

const FORCE_PUSH: &str =
    "turns: [{tool_calls: [{name: bash, input: {command: git push -fu origin main}}]}, {text: ok}]";

#[test]
fn an_added_guard_stops_what_it_is_about() {
    let sandbox = sandbox();
    sandbox.warns("guard add git-safety", "Added git-safety");
    let output = sandbox.play(FORCE_PUSH, &["push it"]);
    assert!(output.stderr.contains("A force push overwrites"), "{output}");
    sandbox.prints("log", "rule force-push fits: git push -fu origin main");
    let input = json!({"command": "sudo git push -f"}).to_string();
    let args = ["hooks", "explain", "--event", "before_tool", "--tool", "bash", "--input", &input];
    let explained = sandbox.run(args).expect_code(0);
    assert!(explained.stdout.contains("the call fits its rule force-push"), "{explained}");
    assert!(explained.stdout.contains("force-push fits `git push -f`: deny"), "{explained}");
}

#[test]
fn a_guard_of_the_project_is_trusted_when_it_is_added() {
    let sandbox = sandbox();
    let _ = sandbox.run("guard add git-safety --project").expect_code(0);
    let output = sandbox.play(FORCE_PUSH, &["push it"]);
    assert!(output.stderr.contains("A force push overwrites"), "{output}");
}

#[test]
fn a_guard_in_monitor_mode_records_what_it_would_stop_until_it_is_enforced() {
    let sandbox = sandbox();
    let _ = sandbox.run("guard add git-safety --monitor").expect_code(0);
    let stops = || {
        let output = sandbox.play(FORCE_PUSH, &["push it"]);
        output.stderr.contains("A force push overwrites")
    };
    assert!(!stops());
    sandbox.prints("log", "would deny");
    let stats = sandbox.run("hooks stats --json").expect_code(0).json();
    let hook = &stats["hooks"][0];
    assert_eq!((hook["would_stop"].as_u64(), hook["denied"].as_u64()), (Some(1), Some(0)));
    let list = sandbox.run("guard list --json").expect_code(0).json();
    assert_eq!(list[0]["user"], "current", "{list}");
    sandbox.warns("guard enforce git-safety", "would have stopped 1 call");
    assert!(stops());
    sandbox.warns("guard enforce git-safety", "is not in monitor mode");
}

#[test]
fn the_list_shows_what_is_installed_and_changed() {
    let sandbox = sandbox();
    let states = || {
        let list = sandbox.run("guard list --json").expect_code(0).json();
        let guards = list.as_array().unwrap().clone();
        assert_eq!(guards.len(), 11);
        guards.iter().map(|guard| guard["user"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert!(states().iter().all(|state| state == "absent"));
    let _ = sandbox.run("guard add --all").expect_code(0);
    assert!(states().iter().all(|state| state == "current"));
    let file = "../home/.config/agents/hooks/secrets/HOOK.md";
    let text = sandbox.read(file).replace("decision: deny", "decision: ask");
    sandbox.write(file, text);
    assert_eq!(states()[2], "changed");
    sandbox.fails(1, "guard remove secrets", "you changed");
    let _ = sandbox.run("guard remove secrets --force").expect_code(0);
    assert_eq!(states()[2], "absent");
}

#[test]
fn an_update_keeps_what_was_changed() {
    let sandbox = sandbox();
    let _ = sandbox.run("guard add privilege secrets").expect_code(0);
    let file = "../home/.config/agents/hooks/secrets/HOOK.md";
    let text = sandbox.read(file);
    let shipped = text.lines().find(|line| line.starts_with("  shipped: ")).unwrap();
    // Changed, and from another version.
    let other = text.replace(shipped, &format!("  shipped: {}", "0".repeat(64)));
    sandbox.write(file, &other);
    sandbox.prints("guard update", "Kept secrets");
    assert_eq!(sandbox.read(file), other);
}

#[test]
fn an_update_shows_and_takes_what_a_new_version_changes() {
    let sandbox = sandbox();
    let _ = sandbox.run("guard add privilege").expect_code(0);
    let file = "../home/.config/agents/hooks/privilege/HOOK.md";
    let current = sandbox.read(file);
    // As another version of the program would have installed it.
    let lines = current.lines().filter(|line| !line.starts_with("  shipped: "));
    let shipped = lines.collect::<Vec<_>>().join("\n") + "\n";
    let other = shipped.replace("  version: 1\n", "  version: 0\n");
    let digest = tenter_base::hex(&Sha256::digest(other.as_bytes()));
    let line = format!("  version: 0\n  shipped: {digest}\n");
    sandbox.write(file, other.replace("  version: 0\n", &line));
    let output = sandbox.run("guard update").expect_code(0);
    assert!(
        output.stdout.contains("Updated privilege") && output.stdout.contains("+  version: 1"),
        "{output}"
    );
    assert_eq!(sandbox.read(file), current);
    assert!(sandbox.run("guard update").stderr.contains("Nothing was updated"));
}

#[test]
fn a_misspelt_guard_is_an_error() {
    sandbox().run("guard add git-safty").fails(2, "did you mean `git-safety`?");
}

/// Returns the decision of the guard `destructive-files` about deleting a directory outside the project.
fn verdict_outside(sandbox: &tenter_testkit::Sandbox) -> String {
    let input = json!({"command": "rm -rf /srv/other/old"}).to_string();
    let args = ["hooks", "explain", "--event", "before_tool", "--tool", "bash", "--input", &input];
    sandbox.run(args).expect_code(0).stdout
}

#[test]
fn only_the_user_says_that_nothing_leaves_the_container() {
    let sandbox = sandbox();
    let _ = sandbox.run("guard add destructive-files").expect_code(0);
    let is_stopped = || verdict_outside(&sandbox).contains("fits its rule outside-directory");
    sandbox.write("tenter.toml", "[guards]\ncontainer = true\n");
    sandbox.configure("[guards]\ncontainer = false\n");
    assert!(is_stopped(), "{}", verdict_outside(&sandbox));
    sandbox.configure("");
    assert!(is_stopped(), "a project may not say so: {}", verdict_outside(&sandbox));
    sandbox.configure("[guards]\ncontainer = true\n");
    assert!(!is_stopped(), "{}", verdict_outside(&sandbox));
}

const READ_ENV: &str =
    "turns: [{tool_calls: [{name: bash, input: {command: cat .env; echo x >> .env}}]}, {text: ok}]";

#[test]
fn a_setting_changes_what_a_guard_decides_and_survives_updates() {
    let sandbox = sandbox();
    sandbox.fails(1, "guard set secrets read=deny", "run `tenter guard add secrets`");
    let _ = sandbox.run("guard add secrets").expect_code(0);
    let set = ["guard", "set", "secrets", "read=deny", "write=deny", "paths+=config/*.key"];
    sandbox.prints(set, "read = deny\nwrite = deny\n");
    let list = sandbox.run("guard list --json").expect_code(0).json();
    assert_eq!(list[2]["user"], "current");
    let output = sandbox.play(READ_ENV, &["read it"]);
    assert!(
        output.stderr.contains("denied by hook secrets")
            || output.stderr.contains("This file contains secrets"),
        "{output}"
    );
    // As another version of the program would have installed it.
    let file = "../home/.config/agents/hooks/secrets/HOOK.md";
    let text = sandbox.read(file);
    let old = |line: &&str| !line.starts_with("  shipped: ") && !line.starts_with("  set: ");
    let old = text.lines().filter(old).collect::<Vec<_>>().join("\n") + "\n";
    let old = old.replace("  version: 2\n", "  version: 0\n");
    let digest = tenter_base::hex(&Sha256::digest(old.as_bytes()));
    let set = "  set: {read: deny, write: deny, paths: [\"config/*.key\"]}\n";
    let line = format!("  version: 0\n  shipped: {digest}\n{set}");
    sandbox.write(file, old.replace("  version: 0\n", &line));
    sandbox.prints("guard update", "Updated secrets");
    assert_eq!(sandbox.read(file), text);
}

#[test]
fn a_guard_shows_its_settings_and_rules() {
    let sandbox = sandbox();
    let output = sandbox.run("guard show secrets").expect_code(0);
    assert!(output.stdout.contains("read = ask (default)  [ask, deny, off]"), "{output}");
    assert!(output.stdout.contains("deny browser"), "{output}");
    assert!(output.stdout.contains("Example: cat ~/.ssh/id_rsa"), "{output}");
    sandbox.fails(2, "guard show secret", "did you mean `secrets`?");
}

#[test]
fn the_script_of_a_hook_reads_its_settings_from_the_environment() {
    let sandbox = sandbox();
    let hook = "../home/.config/agents/hooks/limit";
    let manifest = "---\nname: limit\ndescription: d\ntrigger: before_tool\nmetadata:\n  settings:\n    max-files: {type: number, default: 3, description: D.}\n    names: {type: list, default: [a, b], description: D.}\n  set: {max-files: 5}\n---\n";
    sandbox.write(&format!("{hook}/HOOK.md"), manifest);
    let script = "#!/bin/sh\nprintf '{\"decision\": \"deny\", \"reason\": \"%s of %s\"}' \"$TENTER_SETTING_MAX_FILES\" \"$(echo $TENTER_SETTING_NAMES)\"\n";
    sandbox.write(&format!("{hook}/scripts/run.sh"), script);
    let _ = sandbox.shell(&format!("chmod +x {hook}/scripts/run.sh")).expect_code(0);
    let output = sandbox.run("hooks test limit --sample");
    assert!(output.stdout.contains("5 of a b"), "{output}");
}

#[test]
fn a_hook_that_is_not_ready_made_is_removed_by_its_user() {
    let sandbox = sandbox();
    let _ = sandbox.run("hooks new mine").expect_code(0);
    for command in ["hooks", "guard"] {
        let output = sandbox.run([command, "remove", "mine", "--project"]).expect_code(1);
        let help = format!(
            "delete {} yourself, or disable it with `tenter hooks disable`; after that, `tenter trust`",
            sandbox.project().join(".agents/hooks/mine").display()
        );
        assert_contains(&output.stderr, &["mine is no ready-made hook", &help]);
    }
    assert!(sandbox.project().join(".agents/hooks/mine/HOOK.md").exists());
    sandbox.fails(2, "hooks remove nope", "there is no ready-made hook \"nope\"");
}

#[test]
fn a_guard_that_its_user_removed_from_the_project_is_not_missed() {
    let sandbox = sandbox();
    let _ = sandbox.run("guard add git-safety secrets --project").expect_code(0);
    let _ = sandbox.run("guard remove git-safety --project").expect_code(0);
    let output = sandbox.run("hooks list").expect_code(0);
    assert!(!output.to_string().contains("git-safety"), "{output}");
    assert!(output.stdout.contains("secrets"), "{output}");
    assert!(!output.stdout.contains("untrusted"), "{output}");
}
