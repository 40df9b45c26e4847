//! Files that file tools change only with the user's consent (R76), with the real program.

use std::fs;
use std::os::unix::fs::symlink;

use tenter_testkit::{Output, Sandbox};

use crate::chat::chat;
use crate::sandbox;

/// Returns one `file_write` for each path.
fn calls(paths: &[&str]) -> String {
    let call = |path: &&str| format!("{{name: file_write, input: {{path: \"{path}\", text: x}}}}");
    paths.iter().map(call).collect::<Vec<_>>().join(", ")
}

/// Lets the agent write the files, with these flags.
fn write(sandbox: &Sandbox, paths: &[&str], flags: &[&str]) -> Output {
    let model =
        sandbox.script(&format!("turns: [{{tool_calls: [{}]}}, {{text: ok}}]", calls(paths)));
    sandbox.run([&["run", "--headless", "--model", &model, "go"], flags].concat()).expect_code(0)
}

fn exists(sandbox: &Sandbox, path: &str) -> bool {
    sandbox.project().join(path).exists()
}

const GUARDS: [&str; 5] = *tenter_base::words!(
    ".git/config .kodelet/hooks/x .kodelet/plugins/a@b/hooks/x .agents/hooks/x tenter.toml"
);

#[test]
fn file_tools_do_not_change_hooks_and_settings() {
    let sandbox = sandbox();
    let output = write(&sandbox, &GUARDS, &[]);
    for path in GUARDS {
        assert!(!exists(&sandbox, path), "{path}\n{output}");
    }
    assert_eq!(output.stdout.matches("only with the user's consent").count(), 5, "{output}");
    assert!(output.stdout.contains("--allow-write .agents/hooks"), "{output}");
}

#[test]
fn file_tools_do_not_change_settings_of_other_agents() {
    let sandbox = sandbox();
    let settings = [
        ".opencode/opencode.json",
        ".mcp.json",
        "sub/.cursor/cli.json",
        "../home/.codex/rules/default.rules",
        "../home/.config/goose/config.yaml",
        "../home/.vibe/config.toml",
    ];
    let flags = ["--add-dir", "../home", "--no-save"];
    let output = write(&sandbox, &settings, &flags);
    assert_eq!(output.stdout.matches("only with the user's consent").count(), 6, "{output}");
    let prose = ["CLAUDE.md", ".cursor/rules/style.mdc", ".agents/skills/x/SKILL.md"];
    let output = write(&sandbox, &prose, &flags);
    for path in prose {
        assert!(exists(&sandbox, path), "{path}\n{output}");
    }
}

#[test]
fn state_and_user_hooks_are_protected_if_the_home_directory_is_added() {
    let sandbox = sandbox();
    let own = [
        "../home/.config/tenter/config.toml",
        "../home/.local/state/tenter/trust.json",
        "../home/.cache/tenter/hooks.bin",
        "../home/.config/agents/hooks/x/HOOK.md",
        "../home/.kodelet/hooks/x",
    ];
    let output = write(&sandbox, &own, &["--add-dir", "../home", "--no-save"]);
    assert_eq!(output.stdout.matches("only with the user's consent").count(), 5, "{output}");
    let free = write(&sandbox, &["../home/notes"], &["--add-dir", "../home", "--no-save"]);
    assert!(exists(&sandbox, "../home/notes"), "{free}");
}

#[test]
fn a_flag_allows_exactly_what_it_names() {
    let sandbox = sandbox();
    let flags = ["--allow-write", ".agents/hooks", "--allow-write", "tenter.toml"];
    let output = write(&sandbox, &GUARDS, &flags);
    for path in GUARDS {
        let is_allowed = path == ".agents/hooks/x" || path == "tenter.toml";
        assert_eq!(exists(&sandbox, path), is_allowed, "{path}\n{output}");
    }
}

#[test]
fn user_and_project_configuration_can_protect_more() {
    let sandbox = sandbox();
    let config = "[tools]\nprotect = [\"deploy\", \"~/keys\"]\n";
    sandbox.write("../home/.config/tenter/config.toml", config);
    sandbox.write("tenter.toml", "[tools]\nprotect = [\"infra/prod\"]\n");
    let paths = ["deploy/x", "sub/deploy/x", "infra/prod/x", "infra/dev/x", "../home/keys/x"];
    let output = write(&sandbox, &paths, &["--add-dir", "../home"]);
    for path in paths {
        assert_eq!(exists(&sandbox, path), path == "infra/dev/x", "{path}\n{output}");
    }
}

#[test]
fn a_subagent_has_the_same_protection() {
    let sandbox = sandbox();
    let output = sandbox.play(&format!(
        "turns: [{{tool_calls: [{{name: subagent, input: {{question: go}}}}]}}, {{tool_calls: [{}]}}, {{text: sub}}, {{text: ok}}]",
        calls(&[".agents/hooks/x"])
    ), &["--headless", "go"]).expect_code(0);
    assert!(!exists(&sandbox, ".agents/hooks/x"), "{output}");
}

#[test]
fn a_chat_asks_once_for_each_directory() {
    let sandbox = sandbox();
    let script = format!(
        "turns:\n  - tool_calls: [{}]\n  - tool_calls: [{}]\n  - text: Written.\n  - tool_calls: [{}]\n  - text: Refused.\n  - tool_calls: [{}]\n  - text: Agreed.",
        calls(&[".agents/hooks/a"]),
        calls(&[".agents/hooks/b/HOOK.md"]),
        calls(&[".git/config"]),
        calls(&[".git/config"])
    );
    let mut chat = chat(&sandbox, &script);
    chat.enter("write a hook");
    let question = chat.wait_for("[n] no: ");
    assert!(question.contains(".agents/hooks/a"), "{question}");
    chat.enter("y");
    chat.wait_for("Written.");
    assert!(exists(&sandbox, ".agents/hooks/a") && exists(&sandbox, ".agents/hooks/b/HOOK.md"));
    chat.enter("configure git");
    chat.answer("[n] no: ", "n");
    chat.wait_for("Refused.");
    assert!(!exists(&sandbox, ".git/config"));
    // With the next message the user may have changed their mind.
    chat.enter("do it");
    chat.answer("[n] no: ", "y");
    chat.wait_for("Agreed.");
    assert!(exists(&sandbox, ".git/config"));
}

/// Users keep hooks and settings in a project of their own and link them to their places.
#[test]
fn symlink_targets_of_user_hooks_and_settings_are_protected() {
    let sandbox = sandbox();
    sandbox.write("dotfiles/guard", "old");
    sandbox.write("dotfiles/config.toml", "");
    sandbox.write("../home/.config/agents/hooks/.keep", "");
    sandbox.write("../home/.config/tenter/.keep", "");
    let (project, home) = (sandbox.project(), sandbox.home());
    symlink(project.join("dotfiles/guard"), home.join(".config/agents/hooks/guard")).unwrap();
    symlink(project.join("dotfiles/config.toml"), home.join(".config/tenter/config.toml")).unwrap();
    let output =
        write(&sandbox, &["dotfiles/guard", "dotfiles/config.toml", "dotfiles/notes"], &[]);
    assert_eq!(output.stdout.matches("only with the user's consent").count(), 2, "{output}");
    assert_eq!(
        (sandbox.read("dotfiles/guard").as_str(), sandbox.read("dotfiles/notes").as_str()),
        ("old", "x")
    );
}

#[test]
fn a_separate_git_directory_is_protected() {
    let sandbox = sandbox();
    let _ = fs::remove_dir_all(sandbox.project().join(".git"));
    sandbox.write(".git", "gitdir: store\n");
    sandbox.write("store/config", "old");
    let output = write(&sandbox, &["store/config"], &[]);
    assert!(output.stdout.contains("only with the user's consent"), "{output}");
    assert_eq!(sandbox.read("store/config"), "old");
}
