//! The managed layer: what administrators set holds against users and projects (M1).

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use tenter_testkit::{Output, Sandbox};

use crate::bridge::Installed;
use crate::sandbox;

/// A guard that denies `sudo`, without a script.
const NO_SUDO: &str = "---\nname: no-sudo\ndescription: Denies sudo.\ntrigger: before_tool\nmetadata:\n  match: [{program: sudo, decision: deny, reason: no sudo}]\n---\n";

fn managed() -> Sandbox {
    let sandbox = sandbox().managed();
    sandbox.write_managed("hooks/no-sudo/HOOK.md", NO_SUDO);
    sandbox
}

/// Lets a scripted model run a command, with these flags, and returns what happened.
fn run(sandbox: &Sandbox, command: &str, flags: &[&str]) -> Output {
    let script = format!(
        "turns:\n  - tool_calls: [{{name: bash, input: {{command: {command:?}}}}}]\n  - text: Done.\n"
    );
    let model = sandbox.script(&script);
    let mut args = vec!["run", "--headless", "--model", &model];
    args.extend(flags);
    args.push("do it");
    sandbox.run(&args)
}

fn is_denied(output: &Output) -> bool {
    output.stdout.contains("no sudo")
}

#[test]
fn a_managed_hook_runs_and_no_setting_flag_or_variable_of_a_user_stops_it() {
    let sandbox = managed();
    let config = "../home/.config/tenter/config.toml";
    assert!(is_denied(&run(&sandbox, "sudo ls", &[])), "without settings");
    assert!(!is_denied(&run(&sandbox, "ls", &[])), "another command");
    assert!(is_denied(&run(&sandbox, "sudo ls", &["--no-hooks"])), "--no-hooks");
    for setting in [
        "[hooks]\nenabled = false\n",
        "[[hooks.override]]\nname = \"no-sudo\"\ntimeout_ms = 100\nfail = \"open\"\n",
    ] {
        sandbox.write(config, setting);
        assert!(is_denied(&run(&sandbox, "sudo ls", &[])), "{setting}");
    }
    fs::remove_file(sandbox.project().join(config)).unwrap();
    let off = "[hooks]\nenabled = false\n[[hooks.disable]]\nname = \"no-sudo\"\n";
    sandbox.write("../home/.config/agents/hooks/hooks.toml", off);
    sandbox.write(".agents/hooks/hooks.toml", off);
    assert!(is_denied(&run(&sandbox, "sudo ls", &[])), "hooks.toml");
    let output = sandbox.run("hooks disable no-sudo");
    assert!(output.stderr.contains("no user disables it"), "{output}");
}

#[test]
fn a_hook_of_the_same_name_does_not_replace_a_managed_one() {
    let sandbox = managed();
    let harmless = NO_SUDO.replace("program: sudo", "program: never");
    sandbox.write("../home/.config/agents/hooks/no-sudo/HOOK.md", &harmless);
    sandbox.write(".agents/hooks/no-sudo/HOOK.md", &harmless);
    sandbox.write("../home/.config/tenter/config.toml", "trust = \"all\"\n");
    assert!(is_denied(&run(&sandbox, "sudo ls", &[])));
    let list: Value = serde_json::from_str(&sandbox.run("hooks list --json").stdout).unwrap();
    let layers = |status: &str| -> Vec<&str> {
        let entries = list.as_array().unwrap().iter().filter(|entry| entry["status"] == status);
        entries
            .filter(|entry| entry["name"] == "no-sudo")
            .filter_map(|entry| entry["layer"].as_str())
            .collect()
    };
    assert_eq!(layers("active"), ["managed"]);
    assert_eq!(layers("shadowed"), ["project", "user"]);
}

#[test]
fn a_hook_that_rewrites_the_call_afterwards_does_not_get_past_a_managed_one() {
    let sandbox = managed();
    let reply = r#"echo '{"input": {"command": "sudo ls"}}'"#;
    sandbox.sh_hook("to-sudo", "before_tool_call", reply);
    let output = run(&sandbox, "ls", &[]);
    assert!(is_denied(&output), "{output}");
}

#[test]
fn what_others_than_root_can_change_is_refused() {
    for path in ["etc/tenter", "etc/tenter/hooks", "etc"] {
        let sandbox = managed();
        fs::set_permissions(sandbox.machine().join(path), fs::Permissions::from_mode(0o775))
            .unwrap();
        let output = sandbox.run("hooks doctor").expect_code(1);
        assert!(output.stderr.contains("others than root can change it"), "{path}\n{output}");
        assert!(!is_denied(&run(&sandbox, "sudo ls", &[])), "{path}");
    }
    // A hook with such a file is invalid, and denies if managed hooks fail closed.
    let sandbox = managed();
    let manifest = sandbox.machine().join("etc/tenter/hooks/no-sudo/HOOK.md");
    fs::set_permissions(&manifest, fs::Permissions::from_mode(0o664)).unwrap();
    assert!(sandbox.run("hooks doctor").stderr.contains("can be changed by others than root"));
    sandbox.write_managed("config.toml", "[managed]\nfail = \"closed\"\n");
    let output = run(&sandbox, "ls", &[]);
    assert!(output.stdout.contains("hook no-sudo"), "{output}");
}

#[test]
fn a_hook_that_another_user_owns_is_refused() {
    let sandbox = managed();
    let manifest = sandbox.machine().join("etc/tenter/hooks/no-sudo/HOOK.md");
    // Only root can give files away.
    if std::os::unix::fs::chown(&manifest, Some(65534), None).is_ok() {
        let output = sandbox.run("hooks doctor");
        assert!(output.stderr.contains("can be changed by others than root"), "{output}");
    }
}

#[test]
fn a_forged_cache_does_not_change_a_managed_hook() {
    let sandbox = managed();
    assert!(is_denied(&run(&sandbox, "sudo ls", &[])));
    let cache = sandbox.home().join(".cache/tenter/hooks.bin");
    let cache = fs::read(cache).unwrap_or_default();
    let text = String::from_utf8_lossy(&cache);
    assert!(!text.contains("no-sudo"), "a user could change it: {text}");
}

#[test]
fn managed_settings_win_over_files_and_variables_and_are_shown() {
    let sandbox = managed();
    sandbox.write_managed("config.toml", "model = \"x/managed\"\nmax_turns = 7\n[hooks]\nfail = \"closed\"\n[permissions]\ndeny = [\"bash(curl *)\"]\n");
    sandbox.write(
        "../home/.config/tenter/config.toml",
        "model = \"x/user\"\n[hooks]\nfail = \"open\"\n[permissions]\ndeny = [\"bash(nc *)\"]\n",
    );
    sandbox.write("tenter.toml", "model = \"x/project\"\n");
    let vars = [("TENTER_MODEL", "x/env"), ("TENTER_MAX_TURNS", "99")];
    let output = sandbox.run_with_env(&vars, "config list --changed").expect_code(0);
    let value = |key: &str| {
        let line = output.stdout.lines().find(|line| line.starts_with(key)).unwrap_or_default();
        line[key.len()..].trim().to_owned()
    };
    assert_eq!(value("model "), "\"x/managed\"  managed");
    assert_eq!(value("max_turns "), "7  managed");
    assert_eq!(value("hooks.fail "), "\"closed\"  managed");
    assert_eq!(value("permissions.deny "), "[\"bash(nc *)\", \"bash(curl *)\"]  managed");
}

#[test]
fn only_an_administrator_sets_managed_settings() {
    let sandbox = managed();
    sandbox.fails(2, "config set managed.only_hooks true", "not a setting of yours");
    sandbox.write("../home/.config/tenter/config.toml", "[managed]\nonly_hooks = true\n");
    let output = sandbox.run("hooks list");
    assert!(output.stderr.contains("unknown field `managed`"), "{output}");
}

#[test]
fn with_only_hooks_no_other_hooks_run() {
    let sandbox = managed();
    sandbox.write_managed("config.toml", "[managed]\nonly_hooks = true\n");
    sandbox.sh_hook(
        "noisy",
        "before_tool_call",
        "echo '{\"blocked\": true, \"reason\": \"by the user\"}'",
    );
    assert!(!run(&sandbox, "ls", &[]).stdout.contains("by the user"));
    assert!(is_denied(&run(&sandbox, "sudo ls", &[])));
    let list = sandbox.run("hooks list");
    assert!(list.stdout.contains("config.toml"), "{list}");
}

#[test]
fn hooks_list_doctor_and_trust_show_the_layer() {
    let sandbox = managed();
    for (args, expected) in [
        (&["hooks", "list"][..], "managed"),
        (&["hooks", "doctor"], "1 hook is managed on this machine"),
        (&["trust"], "Managed on this machine, and not yours to trust: no-sudo."),
    ] {
        let output = sandbox.run(args);
        assert!(output.to_string().contains(expected), "{args:?}\n{output}");
    }
}

#[test]
fn a_guard_is_added_to_the_managed_hooks() {
    let sandbox = sandbox().managed();
    let _ = sandbox.run("guard add --managed git-safety").expect_code(0);
    assert!(Path::new(&sandbox.machine()).join("etc/tenter/hooks/git-safety/HOOK.md").is_file());
    let output = run(&sandbox, "git push --force", &[]);
    assert!(output.stdout.contains("git-safety"), "{output}");
}

/// The file of the administrators names a program that only root changes.
#[test]
fn hooks_are_registered_where_the_administrators_of_an_agent_register_them() {
    let host = Installed::new();
    let machine = host.root().join("machine");
    fs::create_dir(&machine).unwrap();
    let install = |agent: &str| {
        let mut command = host.command();
        command.args(["bridge", "install", "--managed", agent]);
        command.env("TENTER_TEST_MANAGED_ROOT", &machine);
        command.output().unwrap()
    };
    assert!(install("claude-code").status.success());
    let file = machine.join("etc/claude-code/managed-settings.d/50-tenter.json");
    let text = fs::read_to_string(&file).unwrap();
    let settings: Value = serde_json::from_str(&text).unwrap();
    let program = machine.join("usr/local/lib/tenter/tenter-hook");
    let command = format!("{} claude-code PreToolUse", program.display());
    assert_eq!(settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"], command, "{text}");
    assert!(
        settings["hooks"]["PreSkillShellCommand"].is_null(),
        "versions that do not know it may ignore the file"
    );
    let newer = file.with_file_name("51-tenter-newer.json");
    let newer: Value = serde_json::from_str(&fs::read_to_string(newer).unwrap()).unwrap();
    let events: Vec<&String> = newer["hooks"].as_object().unwrap().keys().collect();
    assert_eq!(events, ["PreSkillShellCommand"]);
    assert!(program.is_file());
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o644);
    let run = |arguments: &[&str]| {
        let mut command = host.command();
        command.args(arguments).env("TENTER_TEST_MANAGED_ROOT", &machine);
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let list = run(&["bridge", "list"]);
    assert!(list.contains(&format!("\n  managed   {}\n", file.display())), "{list}");
    let doctor = run(&["hooks", "doctor", "--json"]);
    assert!(doctor.contains("Claude Code runs hooks for all users"), "{doctor}");
    // A second time changes nothing, and others' settings in a file stay.
    assert!(install("claude-code").status.success());
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    let gemini = machine.join("etc/gemini-cli/settings.json");
    fs::create_dir_all(gemini.parent().unwrap()).unwrap();
    fs::write(&gemini, "{\"ui\": {\"theme\": \"Default\"}}").unwrap();
    assert!(install("gemini").status.success());
    let settings: Value = serde_json::from_str(&fs::read_to_string(&gemini).unwrap()).unwrap();
    assert_eq!(settings["ui"]["theme"], "Default");
    assert!(settings["hooks"]["BeforeTool"].is_array(), "{settings}");
    assert_eq!(settings["hooksConfig"]["enabled"], true, "or a user disables all hooks");
    let copilot = machine.join("etc/github-copilot/policy.d/50-tenter.json");
    assert!(install("copilot").status.success());
    let settings: Value = serde_json::from_str(&fs::read_to_string(&copilot).unwrap()).unwrap();
    let command = format!("{} copilot preToolUse", program.display());
    assert_eq!(settings["hooks"]["preToolUse"][0]["command"], command, "{settings}");
    assert_eq!(fs::metadata(&copilot).unwrap().permissions().mode() & 0o777, 0o644);
    assert!(!install("opencode").status.success(), "its place is not known");
}

/// The other requirements stay, a second registration replaces the first, and users cannot disable hooks.
#[test]
fn hooks_are_added_to_the_requirements_of_codex() {
    let host = Installed::new();
    let machine = host.root().join("machine");
    let file = machine.join("etc/codex/requirements.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let install = || {
        let mut command = host.command();
        command.args(["bridge", "install", "--managed", "codex"]);
        command.env("TENTER_TEST_MANAGED_ROOT", &machine);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        host.finish(command.spawn().unwrap())
    };
    let own = "# Ours.\nallowed_sandbox_modes = [\"workspace-write\"]\n";
    fs::write(&file, own).unwrap();
    let _ = install().expect_code(0);
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.starts_with(own), "{text}");
    let table: toml::Table = text.parse().unwrap();
    let command = table["hooks"]["PreToolUse"][0]["hooks"][0]["command"].as_str().unwrap();
    let program = machine.join("usr/local/lib/tenter/tenter-hook");
    assert_eq!(command, format!("{} codex PreToolUse", program.display()));
    assert_eq!(table["features"]["hooks"].as_bool(), Some(true));
    let _ = install().expect_code(0);
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    fs::write(&file, "[features]\nhooks = false\n").unwrap();
    install().fails(1, "it does not require hooks");
}
