//! The formats of the hosts' files.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use serde_json::{Value, json};
use tenter_bridge::registration::{Options, RegistrationScope, Registry};
use tenter_bridge::{Moment, NativeEvent, hosts};

use super::{User, host, newest};

#[test]
fn what_is_installed_is_found_and_removed_without_a_trace() {
    for host in hosts::ALL {
        let user = User::with_host(host);
        user.install().unwrap();
        let registered = user.registry.registered(&user.target).unwrap();
        assert_eq!(registered.len(), user.registry.expected(&user.target), "{}", host.id);
        assert!(registered.iter().all(|one| one.is_intact), "{}", host.id);
        assert!(!user.plan(Options::default()).unwrap().is_change(), "{}", host.id);
        user.remove().unwrap();
        assert_eq!(user.count(), 0);
        let directory =
            user.home.path().join(host.registration.user_file.split('/').next().unwrap());
        assert!(!directory.exists(), "{}", host.id);
    }
}

#[test]
fn fail_closed_stays_and_is_for_prompts_and_tool_calls_only() {
    for host in hosts::ALL {
        let user = User::with_host(host);
        user.install_with(Options { fail_closed: true, ..newest() });
        assert!(!user.plan(Options::default()).unwrap().is_change(), "{}", host.id);
        assert!(user.registry.registered(&user.target).unwrap().iter().all(|one| one.is_intact));
        assert!(user.registry.records()[0].fail_closed);
        if host.registration.entries().is_some() {
            let text = user.text();
            let switches = ["onFailure", "on_failure", "exit 2", "echo '{", "failClosed", "strict"];
            let count: usize = switches.iter().map(|one| text.matches(one).count()).sum();
            let is_blocking =
                |event: &&NativeEvent| matches!(event.moment, Moment::Prompt | Moment::BeforeTool);
            let expected = host.events.iter().filter(is_blocking).count();
            assert_eq!(count, expected, "{text}");
        }
    }
}

#[test]
fn the_program_for_shell_commands_comes_with_confine_stays_and_goes_with_the_registration() {
    let confining = Options { confine: true, ..newest() };
    let text = "{\n  \"env\": { \"A\": \"1\" },\n  \"model\": \"x\"\n}\n";
    for is_recorded in [true, false] {
        let user = User::with_settings(text);
        user.install_with(newest());
        assert_eq!(user.json()["env"].as_object().unwrap().len(), 1);
        user.install_with(confining);
        let prefix = user.json()["env"]["CLAUDE_CODE_SHELL_PREFIX"].as_str().unwrap().to_owned();
        assert!(prefix.ends_with("/tenter-hook --shell-prefix"), "{prefix}");
        assert!(!user.plan(confining).unwrap().is_change());
        assert!(!user.plan(newest()).unwrap().is_change());
        if !is_recorded {
            user.lose_record();
        }
        user.remove().unwrap();
        assert_eq!(user.json(), super::parse(text), "{}", user.text());
    }
    let other = r#"{"env": {"CLAUDE_CODE_SHELL_PREFIX": "/opt/other"}}"#;
    let user = User::with_settings(other);
    let error = user.plan(confining).unwrap_err();
    assert!(error.message.contains("another program: /opt/other"), "{error:?}");
    user.install_with(newest());
    user.remove().unwrap();
    assert_eq!(user.text(), other);
    let gemini = User::with_host(host("gemini"));
    gemini.install_with(confining);
    assert!(gemini.json().get("env").is_none());
}

#[test]
fn gemini_passes_at_every_event_if_the_program_is_missing() {
    let user = User::with_host(host("gemini"));
    user.install().unwrap();
    let events = user.json()["hooks"].as_object().unwrap().clone();
    assert_eq!(events.len(), user.registry.expected(&user.target));
    for (event, groups) in events {
        let command = groups[0]["hooks"][0]["command"].as_str().unwrap();
        assert!(command.starts_with("[ -x "), "{event}: {command}");
        assert!(command.contains(" || exit 0; exec "), "{event}: {command}");
    }
}

#[test]
fn handlers_have_the_form_that_the_host_reads() {
    let user = User::with_host(host("qwen"));
    user.install().unwrap();
    let handler = &user.json()["hooks"]["PreToolUse"][0]["hooks"][0];
    assert_eq!(handler["timeout"], 60_000);

    let user = User::with_host(host("copilot"));
    user.install_with(newest());
    let file = user.json();
    assert_eq!(file["version"], 1);
    let handler = &file["hooks"]["postToolUse"][0];
    assert_eq!(keys(handler), ["type", "exec", "args", "timeoutSec"]);
    assert_eq!(handler["args"][1], "postToolUse");
    // Without the program, this host would block every call.
    let handler = &file["hooks"]["preToolUse"][0];
    assert_eq!(keys(handler), ["type", "command", "timeoutSec"]);
    assert!(handler["command"].as_str().unwrap().starts_with("[ -x "));

    let user = User::with_host(host("cursor"));
    user.install().unwrap();
    assert_eq!(keys(&user.json()["hooks"]["stop"][0]), ["command", "timeout"]);

    let user = User::with_host(host("vibe"));
    user.install().unwrap();
    let file: toml::Table = user.text().parse().unwrap();
    let handlers = file["hooks"].as_array().unwrap();
    assert_eq!(handlers.len(), user.target.host.events.len());
    let handler = handlers[0].as_table().unwrap();
    assert_eq!(handler.keys().collect::<Vec<_>>(), ["command", "name", "timeout", "type"]);
    assert!(handler["name"].as_str().unwrap().starts_with("tenter-pre_tool-"));
}

#[test]
fn copilot_blocks_prompts_by_an_answer_because_it_ignores_exit_codes_there() {
    let user = User::with_host(host("copilot"));
    user.install_with(Options { fail_closed: true, ..Options::default() });
    let file = user.json();
    let command = |event: &str| file["hooks"][event][0]["command"].as_str().unwrap().to_owned();
    let prompt = command("userPromptSubmitted");
    let answer = r#" || echo '{"decision":"block","reason":"tenter-hook failed"}'"#;
    assert!(prompt.ends_with(answer), "{prompt}");
    assert!(command("preToolUse").ends_with("exit 2; }"), "{file}");
    assert!(!command("agentStop").contains("||"), "{file}");
    assert_eq!(user.count(), user.target.host.events.len());
    assert!(!user.plan(Options::default()).unwrap().is_change(), "it stays as strict");
}

#[test]
fn a_file_of_a_project_has_commands_without_arguments_of_their_own() {
    let mut user = User::new();
    let project = user.home.path().join("project");
    user.target =
        user.registry.target(user.target.host, RegistrationScope::Personal, &project).unwrap();
    user.install_with(newest());
    let handler = &user.json()["hooks"]["PreToolUse"][0]["hooks"][0];
    assert_eq!(keys(handler), ["type", "command", "timeout"]);
}

#[test]
fn members_that_the_host_demands_are_kept_with_handlers_of_others() {
    for text in ["{}\n", "{\"version\": 1}", "{\n  \"version\": 1,\n  \"hooks\": {}\n}\n"] {
        for is_edited in [false, true] {
            let user = User::with_file(host("cursor"), text);
            user.install().unwrap();
            assert_eq!(user.json()["version"], 1);
            if is_edited {
                fs::write(user.file(), user.text() + " ").unwrap();
            }
            user.remove().unwrap();
            if is_edited {
                assert_eq!(user.json(), super::parse(text));
            } else {
                assert_eq!(user.text(), text);
            }
        }
    }
}

#[test]
fn only_the_scripts_of_the_bridge_are_replaced_and_removed() {
    let user = User::with_host(host("cline"));
    user.install().unwrap();
    let script = user.file().join("PreToolUse");
    assert_eq!(fs::metadata(&script).unwrap().permissions().mode() & 0o777, 0o755);
    fs::write(&script, fs::read_to_string(&script).unwrap() + "# edited\n").unwrap();
    let intact = user.registry.registered(&user.target).unwrap();
    assert_eq!(intact.iter().filter(|one| !one.is_intact).count(), 1);
    user.install().unwrap();
    assert!(!fs::read_to_string(&script).unwrap().contains("edited"));
    fs::write(&script, "#!/bin/sh\necho mine\n").unwrap();
    let error = user.install().unwrap_err();
    assert_eq!(error.path.as_deref(), Some(script.as_path()));
    assert!(error.message.contains("another program"), "{error:?}");
    user.remove().unwrap();
    let files: Vec<_> = fs::read_dir(user.file()).unwrap().map(|one| one.unwrap().path()).collect();
    assert_eq!(files, [script]);
}

#[test]
fn a_failed_change_reverts_the_changes_before_it() {
    let user = User::with_host(host("cline"));
    fs::create_dir_all(user.file()).unwrap();
    let plan = user.plan(Options::default()).unwrap();
    let late = user.file().join(user.target.host.events.last().unwrap().name);
    fs::write(&late, "another program's").unwrap();
    assert!(user.registry.install(&plan, &user.program(), super::NOW).is_err());
    assert_eq!(fs::read_dir(user.file()).unwrap().count(), 1);
    assert!(user.registry.records().is_empty());
}

#[test]
fn variables_of_hosts_choose_other_directories() {
    for (id, variable, file) in [
        ("claude-code", "CLAUDE_CONFIG_DIR", "settings.json"),
        ("crush", "CRUSH_GLOBAL_CONFIG", "crush.json"),
        ("gemini", "GEMINI_CLI_HOME", ".gemini/settings.json"),
        ("opencode", "XDG_CONFIG_HOME", "opencode/plugin"),
        ("pi", "PI_CODING_AGENT_DIR", "extensions"),
        ("qwen", "QWEN_HOME", "settings.json"),
    ] {
        let registry = Registry::in_home(Path::new("/home/ada"));
        let registry = registry.with_variables(&[(variable.into(), "/srv/agent".into())]);
        let target = registry.target(host(id), RegistrationScope::User, Path::new("/p")).unwrap();
        assert_eq!(target.file, Path::new("/srv/agent").join(file), "{id}");
    }
}

#[test]
fn a_variable_chooses_another_directory() {
    let user = User::with_host(host("codex"));
    let directory = user.home.path().join("elsewhere");
    let variables = [("CODEX_HOME".into(), directory.clone().into_os_string())];
    let registry = Registry::in_home(user.home.path()).with_variables(&variables);
    let target =
        registry.target(user.target.host, RegistrationScope::User, user.home.path()).unwrap();
    assert_eq!(target.file, directory.join("hooks.json"));
    let plan = registry.plan_install(&target, Options::default()).unwrap();
    registry.install(&plan, &user.program(), super::NOW).unwrap();
    assert!(directory.join("config.toml").is_file());
    let silencer = "[features]\nhooks = false\n";
    fs::write(directory.join("config.toml"), silencer).unwrap();
    let settings = registry.silencing_settings(target.host, &[target]);
    assert_eq!((settings[0].key, settings[0].line), ("features.hooks", 2));
}

#[test]
fn files_that_a_strict_host_ignores_are_recognised() {
    for (text, reads) in [
        ("{}", None),
        ("{\"description\": \"mine\"}", None),
        ("\u{feff}{}", Some("no byte order mark")),
        ("{\n// mine\n}", Some("no comments and no trailing commas")),
        ("{\n  \"note\": 1\n}", Some("no keys of other programs")),
    ] {
        let user = User::with_file(host("codex"), text);
        let reason = user.registry.ignored_because(&user.target).unwrap();
        let reads = reads.map(|reads| format!("it reads {reads}"));
        assert_eq!(reason.map(|file| file.why), reads, "{text}");
    }
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn trust_is_recorded_for_the_resolved_directory_and_the_file_as_it_is_named() {
    let user = User::with_host(host("codex"));
    let home = user.home.path().canonicalize().unwrap();
    fs::create_dir(home.join("dotfiles")).unwrap();
    symlink(home.join("dotfiles"), home.join(".codex")).unwrap();
    fs::write(home.join("hooks.json"), "{}").unwrap();
    symlink(home.join("hooks.json"), user.file()).unwrap();
    user.install().unwrap();
    let start = format!("{}:", home.join("dotfiles/hooks.json").display());
    assert!(trusted(&user).iter().all(|(key, _)| key.starts_with(&start)));
    assert_eq!(user.registry.untrusted(&user.target).unwrap(), 0);
    user.remove().unwrap();
    assert_eq!(fs::read_to_string(home.join("hooks.json")).unwrap(), "{}");
}

/// Returns the trusted hashes in Codex's configuration.
fn trusted(user: &User) -> Vec<(String, String)> {
    let text = fs::read_to_string(user.home.path().join(".codex/config.toml")).unwrap();
    let config: toml::Table = text.parse().unwrap();
    let state = config["hooks"]["state"].as_table().unwrap();
    let hash = |state: &toml::Value| state["trusted_hash"].as_str().unwrap().to_owned();
    state.iter().map(|(key, state)| (key.clone(), hash(state))).collect()
}

#[test]
fn the_trust_in_each_handler_is_recorded_and_removed() {
    let user = User::with_file(
        host("codex"),
        r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}"#,
    );
    let config = user.home.path().join(".codex/config.toml");
    let before = "model = \"o9\" # mine\n[projects.\"/a\"]\ntrust_level = \"trusted\"\n";
    fs::write(&config, before).unwrap();
    user.install().unwrap();
    let entries = trusted(&user);
    assert_eq!(entries.len(), user.target.host.events.len());
    let file = user.file().canonicalize().unwrap();
    let key = format!("{}:stop:1:0", file.display());
    assert!(entries.iter().any(|(entry, _)| *entry == key), "{entries:?}");
    assert!(!user.plan(Options::default()).unwrap().is_change());

    // A changed handler is not trusted, until it is repaired.
    let edit = user.text().replacen("\"timeout\": 600", "\"timeout\": 6", 1);
    fs::write(user.file(), edit).unwrap();
    let plan = user.plan(Options::default()).unwrap();
    assert!(plan.is_change());
    user.install().unwrap();
    assert_eq!(trusted(&user), entries);

    // Additions of the user stay.
    let addition = fs::read_to_string(&config).unwrap()
        + "\n[hooks.state.\"/other:stop:0:0\"]\nenabled = false\n";
    fs::write(&config, &addition).unwrap();
    user.remove().unwrap();
    let text = fs::read_to_string(&config).unwrap();
    assert_eq!(text, format!("{before}\n[hooks.state.\"/other:stop:0:0\"]\nenabled = false\n"));

    fs::write(&config, before).unwrap();
    user.install().unwrap();
    user.remove().unwrap();
    assert_eq!(fs::read_to_string(&config).unwrap(), before);
    // Removal after a repair restores the original text, too.
    user.install().unwrap();
    let trusting = fs::read_to_string(&config).unwrap();
    fs::write(&config, trusting.replacen("sha256:", "sha256:0", 1)).unwrap();
    assert_eq!(user.registry.untrusted(&user.target).unwrap(), 1);
    user.install().unwrap();
    assert_eq!(user.registry.untrusted(&user.target).unwrap(), 0);
    user.remove().unwrap();
    assert_eq!(fs::read_to_string(&config).unwrap(), before);
    let other = json!({"type": "command", "command": "say done"});
    assert_eq!(user.json()["hooks"]["Stop"][0]["hooks"][0], other);
}
