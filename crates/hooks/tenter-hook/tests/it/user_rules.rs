//! The user's own permission rules of a host hold beside a hook's rewrite (R87).

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::Value;

use crate::host_session::HostSession;

/// A hook that replaces every command.
const WRAP: &str = r#"echo '{"modified_input": {"command": "./wrapper -- x"}}'"#;

/// A host, the recorded payload of a shell call, and its rules: the user's files in `~`, and the project's in `.`.
struct Rules {
    host: &'static str,
    fixture: &'static str,
    file: &'static str,
    denies: &'static str,
    asks: &'static str,
}

const RULES: &[Rules] = &[
    Rules {
        host: "claude-code",
        fixture: "PreToolUse.Bash",
        file: "~/.claude/settings.json",
        denies: r#"{"permissions": {"deny": ["Bash(git add:*)"]}}"#,
        asks: r#"{"permissions": {"ask": ["Bash(git add *)"]}}"#,
    },
    Rules {
        host: "claude-code",
        fixture: "PreToolUse.Bash",
        file: "./.claude/settings.local.json",
        denies: "{\"permissions\": {\"deny\": [\"Bash(git add*)\"], /* comment */ }}",
        asks: r#"{"permissions": {"ask": ["Bash(git * -A)"]}}"#,
    },
    Rules {
        host: "codex",
        fixture: "PreToolUse.Bash",
        file: "~/.codex/rules/default.rules",
        denies: r#"prefix_rule(pattern=["git", ["add", "rm"]], decision="forbidden")"#,
        asks: r#"prefix_rule(pattern=["git", "add"], decision="prompt")"#,
    },
    Rules {
        host: "gemini",
        fixture: "BeforeTool.run_shell_command",
        file: "~/.gemini/policies/mine.toml",
        denies: "[[rule]]\ntoolName = 'run_shell_command'\ncommandPrefix = ['git add']\ndecision = 'deny'\npriority = 9\n[[rule]]\ntoolName = '*'\ndecision = 'allow'\npriority = 1",
        asks: "[[rule]]\ntoolName = 'run_shell_command'\ncommandRegex = 'git (add|rm)'\ndecision = 'ask_user'\npriority = 9",
    },
    Rules {
        host: "gemini",
        fixture: "BeforeTool.run_shell_command",
        file: "~/.gemini/settings.json",
        denies: r#"{"tools": {"exclude": ["run_shell_command(git add)"]}}"#,
        asks: "{not JSON",
    },
    Rules {
        host: "opencode",
        fixture: "tool.execute.before.bash",
        file: "~/.config/opencode/opencode.jsonc",
        denies: r#"{"permission": {"bash": {"*": "allow", "git add *": "deny"}}} // mine"#,
        asks: r#"{"permission": {"bash": {"git add *": "ask"}}}"#,
    },
    Rules {
        host: "kilo",
        fixture: "tool.execute.before.bash",
        file: "./kilo.json",
        denies: r#"{"permission": {"*": "deny", "bash": {"./wrapper *": "allow"}}}"#,
        asks: r#"{"agent": {"build": {"permission": {"bash": {"git *": "ask"}}}}}"#,
    },
    Rules {
        host: "vibe",
        fixture: "pre_tool.bash",
        file: "~/.vibe/config.toml",
        denies: "[tools.bash]\ndenylist = ['git add']",
        asks: "[tools.bash]\nsensitive_patterns = ['git']",
    },
    Rules {
        host: "cursor",
        fixture: "preToolUse.Shell",
        file: "./.cursor/cli.json",
        denies: r#"{"permissions": {"deny": ["Shell(git)"]}}"#,
        asks: "{",
    },
];

impl Rules {
    /// Returns the decision and its reason in the host's answer to a command that a hook rewrites, under the rules.
    fn answer(&self, rules: &str, command: &str) -> NativeAnswer {
        let session = HostSession::registered(self.host);
        session.hook("wrap", "before_tool", "", WRAP);
        let file = match self.file.strip_prefix("~/") {
            Some(file) => session.sandbox.home().join(file),
            None => session.sandbox.project().join(self.file),
        };
        write(&file, rules);
        run(&session, self.fixture, command)
    }
}

fn write(file: &Path, text: &str) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

fn run(session: &HostSession, fixture: &str, command: &str) -> NativeAnswer {
    NativeAnswer(HostSession::read_answer(session.fire_command(fixture, command)))
}

#[derive(Debug)]
struct NativeAnswer(Value);

impl NativeAnswer {
    fn rewrites(&self) -> bool {
        self.0.to_string().contains("./wrapper -- ") && !self.denies()
    }

    fn denies(&self) -> bool {
        let text = self.0.to_string();
        let words = [r#":"deny""#, r#""deny":"#];
        words.iter().any(|word| text.contains(word))
    }

    fn asks(&self) -> bool {
        self.0.to_string().contains(r#":"ask""#)
    }

    fn names(&self, text: &str) -> bool {
        self.0.to_string().contains(text)
    }
}

#[test]
fn a_rule_that_denies_the_call_as_the_model_made_it_still_denies_it() {
    for rules in RULES {
        let answer = rules.answer(rules.denies, "git add -A");
        let file = Path::new(rules.file).file_name().unwrap().to_str().unwrap();
        assert!(answer.denies() && answer.names(file), "{}: {answer:?}", rules.host);
        assert!(answer.names("hides it from the user's permission rules"), "{answer:?}");
    }
}

#[test]
fn a_rule_that_asks_about_the_call_still_asks_or_denies_where_hooks_cannot_ask() {
    for rules in RULES {
        let answer = rules.answer(rules.asks, "git add -A");
        let host = tenter_bridge::hosts::find(rules.host).unwrap();
        let can_ask = host.support(
            tenter_protocol::EventName::BeforeTool,
            tenter_protocol::lifecycle::Power::Ask,
        ) == tenter_bridge::Support::Native;
        assert_eq!(
            (answer.asks(), answer.denies()),
            (can_ask, !can_ask),
            "{}: {answer:?}",
            rules.host
        );
    }
}

#[test]
fn calls_that_no_rule_restricts_are_rewritten() {
    for rules in RULES.iter().filter(|rules| !["kilo", "cursor", "codex"].contains(&rules.host)) {
        let answer = rules.answer(rules.denies, "ls -l");
        assert!(answer.rewrites() && !answer.asks(), "{}: {answer:?}", rules.host);
    }
}

#[test]
fn a_rule_finds_its_command_wherever_the_call_runs_it() {
    for command in [
        "cd sub && git add -A",
        "git  add .",
        "A=1 git add x",
        "(git add x)",
        "sh -c 'git add x'",
        "timeout 5 git add x",
        "/usr/bin/git add x",
        "'git' ad'd' x",
        "true | git add x",
        "git \\\n add x",
        "echo $(git add x)",
        "git add x > log",
    ] {
        let answer = RULES[0].answer(RULES[0].denies, command);
        assert!(answer.denies(), "{command}: {answer:?}");
    }
    for command in ["git commit -m 'git add'", "git adder", "echo 'run (git add)'", "git status"] {
        let answer = RULES[0].answer(RULES[0].denies, command);
        assert!(answer.rewrites() && !answer.asks(), "{command}: {answer:?}");
    }
}

#[test]
fn rules_about_files_hold_for_commands_that_touch_them() {
    let rules = r#"{"permissions": {"deny": ["Read(./.env)", "Edit(src/**)"]}}"#;
    for command in ["cat .env", "cat ./.env", "grep x < .env", "echo x > src/a", "rm src/a"] {
        assert!(RULES[0].answer(rules, command).denies(), "{command}");
    }
    for command in ["cat .env.example", "git commit -m 'read .env'", "cat src/a"] {
        assert!(RULES[0].answer(rules, command).rewrites(), "{command}");
    }
}

#[test]
fn a_question_that_the_host_asks_anyway_is_left_to_it() {
    let rules = r#"{"permission": {"bash": {"*": "ask", "ls *": "allow"}}}"#;
    let opencode = RULES.iter().find(|rules| rules.host == "opencode").unwrap();
    assert!(opencode.answer(rules, "git add -A").rewrites());
    let rules = r#"{"permission": {"bash": {"*": "ask", "./wrapper *": "allow"}}}"#;
    assert!(opencode.answer(rules, "git add -A").denies());
}

#[test]
fn an_allow_of_a_hook_does_not_skip_the_question() {
    let session = HostSession::registered("claude-code");
    session.configure("[bridge]\nallow_skips_prompt = true\n");
    let script = r#"echo '{"decision": "allow", "modified_input": {"command": "./wrapper -- x"}}'"#;
    session.hook("wrap", "before_tool", "", script);
    write(&session.sandbox.home().join(".claude/settings.json"), RULES[0].asks);
    assert!(run(&session, "PreToolUse.Bash", "git add -A").asks());
}

#[test]
fn a_host_that_checks_rules_before_hooks_run_does_not_see_the_rewritten_call() {
    let session = HostSession::registered("droid");
    session.hook("wrap", "before_tool", "", WRAP);
    let file = session.sandbox.home().join(".factory/settings.json");
    write(&file, r#"{"commandBlocklist": ["./wrapper"]}"#);
    assert!(run(&session, "PreToolUse.Execute", "ls").names("hides it from the user's"));
}

#[cfg(target_os = "linux")]
#[test]
fn options_of_the_hosts_command_line_count() {
    let outer = HostSession::registered("copilot");
    let host = outer.sandbox.root().join("copilot");
    std::os::unix::fs::symlink("/bin/sh", &host).unwrap();
    let program = outer.sandbox.root().join("tenter-hook");
    let script = format!(
        "#!/bin/sh\n{} -c '{} \"$1\" \"$2\" \"$3\" \"$4\"; exit $?' x \"$@\" --deny-tool 'shell(git add)'\n",
        host.display(),
        env!("CARGO_BIN_EXE_tenter-hook"),
    );
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let session = HostSession::registered("copilot").with_program(&program);
    session.hook("wrap", "before_tool", "", WRAP);
    let denial = run(&session, "preToolUse.bash", "git add -A");
    assert!(denial.denies() && denial.names("of the command line"), "{denial:?}");
    assert!(run(&session, "preToolUse.bash", "git status").rewrites());
}
