//! Every template of `tenter hooks new` does what its description says, in every language and against attacks.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tenter_testkit::{Sandbox, assert_contains, needs};

use crate::sandbox;

/// Templates with rules instead of a script.
const RULES: [&str; 4] =
    ["no-force-push", "no-writes-outside", "no-destructive-commands", "ask-before-publish"];

/// Templates with a script in every language.
const SCRIPTS: [&str; 6] = *tenter_base::words!(
    "format-after-edit redact-secrets audit-log tests-before-stop context-at-start empty"
);

/// Tool calls by template and expected decision: a command, or a tool with its input.
const ATTACKS: &str = include_str!("attacks.json");

const KEY: &str = "AKIAIOSFODNN7EXAMPLE";

/// Returns the languages whose interpreters are installed.
fn languages() -> Vec<&'static str> {
    let is_installed =
        |(language, program): &(&str, &str)| *language == "bash" || needs::has(program);
    let all = [("bash", "bash"), ("python", "python3"), ("node", "node")];
    all.into_iter().filter(is_installed).map(|(language, _)| language).collect()
}

/// Returns a sandbox with a user hook from this template, with a script in this language.
fn with_hook(template: &str, language: &str) -> Sandbox {
    let sandbox = sandbox();
    let args = ["hooks", "new", template, "--template", template, "--lang", language, "--user"];
    let _ = sandbox.run(args).expect_code(0);
    sandbox
}

/// Returns a sandbox with a user hook from this template, which has rules.
fn with_rules(template: &str) -> Sandbox {
    let sandbox = sandbox();
    let args = ["hooks", "new", template, "--template", template, "--user"];
    let _ = sandbox.run(args).expect_code(0);
    sandbox
}

fn hook_dir(sandbox: &Sandbox, name: &str) -> PathBuf {
    sandbox.home().join(".config/agents/hooks").join(name)
}

/// Runs the hook once on a sample payload with these fields, and returns the JSON report.
fn tried(sandbox: &Sandbox, hook: &str, payload: &Value, vars: &[(&str, &str)]) -> Value {
    sandbox.write("payload.json", payload.to_string());
    let args = ["hooks", "test", hook, "--json", "--payload", "payload.json"];
    let output = sandbox.run_with_env(vars, args);
    assert!(output.code == Some(0) || output.code == Some(1), "{output}");
    output.json()
}

#[test]
fn every_template_is_valid_and_passes_its_own_tests() {
    for language in languages() {
        let sandbox = sandbox();
        // Rules are the same in every language.
        let rules = if language == "bash" { &RULES[..] } else { &[] };
        for name in SCRIPTS {
            let args = ["hooks", "new", name, "--template", name, "--lang", language];
            let _ = sandbox.run(args).expect_code(0);
        }
        for name in rules {
            let _ = sandbox.run(["hooks", "new", name, "--template", name]).expect_code(0);
        }
        let output = sandbox.run("hooks test --all").expect_code(0);
        assert!(output.stdout.ends_with(" passed, 0 failed\n"), "{language}: {output}");
        assert!(!output.stdout.contains("no tests"), "{language}: {output}");
        let valid = sandbox.run("hooks validate --strict .agents/hooks").expect_code(0);
        assert_eq!(valid.stdout.lines().count(), rules.len() + SCRIPTS.len(), "{valid}");
        if language == "bash" {
            let well = sandbox.run("hooks doctor").expect_code(0);
            assert_eq!(well.stdout, "All is well: 10 hooks are ready.\n");
        }
    }
}

#[test]
fn the_cookbook_explains_every_template() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let cookbook = fs::read_to_string(root.join("../../docs/cookbook.md")).unwrap();
    for name in RULES.into_iter().chain(SCRIPTS) {
        let manifest =
            root.join("../hooks/tenter-commands/src/hooks/templates").join(name).join("HOOK.md");
        let manifest = fs::read_to_string(manifest).unwrap();
        let value = |key: &str| {
            let line = manifest.lines().find_map(|line| line.strip_prefix(key)).unwrap();
            line.trim().to_owned()
        };
        let trigger = match value("trigger:").as_str() {
            "@EVENT@" => "any".to_owned(),
            trigger => format!("`{trigger}`"),
        };
        let row = format!("| `{name}` | {trigger} | {} |\n", value("description:"));
        assert_contains(&cookbook, &[&row, &format!("\n## {name}\n")]);
    }
}

/// Runs the attacks on the template as tests of the hook.
fn attack(template: &str) {
    let attacks: Value = serde_json::from_str(ATTACKS).unwrap();
    let sandbox = with_rules(template);
    let root = sandbox.root().display().to_string();
    for dir in ["project/src", "outside", "tmp"] {
        fs::create_dir_all(sandbox.root().join(dir)).unwrap();
    }
    for (target, link) in [("../outside", "out"), ("../outside/f", "file-out"), ("src", "in")] {
        symlink(target, sandbox.project().join(link)).unwrap();
    }
    // The sandbox itself is in a temporary directory, so only its own one counts.
    let manifest = hook_dir(&sandbox, template).join("HOOK.md");
    let text = fs::read_to_string(&manifest).unwrap();
    let text = text.replace("[project, temp, device]", "[project, device]");
    let text = text.replace("~/.cache/**", &format!("{root}/tmp/**"));
    let text = text.replace("touch /tmp/x, ", "");
    fs::write(manifest, text).unwrap();
    let attacks = attacks[template].as_object().unwrap().iter();
    let calls = attacks.flat_map(|(decision, calls)| {
        calls.as_array().unwrap().iter().map(move |call| (decision, call))
    });
    let mut count = 0;
    for (decision, call) in calls {
        let file = format!("tests/attack-{count:03}.json");
        let case = attack_case(call, decision, &root);
        fs::write(hook_dir(&sandbox, template).join(file), case).unwrap();
        count += 1;
    }
    let tmp = format!("{root}/tmp");
    let output = sandbox.run_with_env(&[("TMPDIR", &tmp)], ["hooks", "test", template]);
    let failures: Vec<&str> =
        output.stdout.lines().filter(|line| !line.starts_with("pass ")).collect();
    assert_eq!(output.code, Some(0), "{failures:#?}");
    assert!(output.stdout.matches("pass tests/attack-").count() == count && count > 0);
}

fn attack_case(call: &Value, decision: &str, root: &str) -> String {
    let (tool, input) = match call {
        Value::String(command) => ("Shell", json!({"command": command})),
        call => (call["tool"].as_str().unwrap(), call["input"].clone()),
    };
    let event =
        json!({"tool_name": tool, "tool_input": input, "work_dir": format!("{root}/project")});
    let case = json!({"description": "", "event": event, "expect": {"decision": decision}});
    case.to_string().replace("[ROOT]", root)
}

#[test]
fn no_force_push_blocks_every_spelling_of_a_force_push_and_nothing_else() {
    attack("no-force-push");
}

#[test]
fn no_writes_outside_follows_symlinks_dots_and_shell_commands() {
    attack("no-writes-outside");
}

#[test]
fn no_destructive_commands_blocks_every_spelling_and_lets_the_project_be_cleaned() {
    attack("no-destructive-commands");
}

#[test]
fn ask_before_publish_asks_about_what_publishes() {
    attack("ask-before-publish");
}

#[test]
fn a_guard_that_cannot_read_a_command_blocks_it() {
    for template in RULES {
        let sandbox = with_rules(template);
        let deep = format!("{}git push -f{}", "$(".repeat(60), ")".repeat(60));
        let long = format!("touch ran; {}\n:", "#".repeat(70_000));
        for command in [format!("touch ran; echo {deep}"), long] {
            let output = sandbox.play(&format!(
                "turns: [{{tool_calls: [{{name: bash, input: {{command: {}}}}}]}}, {{text: ok}}]",
                json!(command)
            ), &["go"]).expect_code(0);
            assert!(output.stderr.contains("✗ blocked by hook"), "{template} {output}");
            assert!(!sandbox.project().join("ran").exists(), "{template}");
        }
    }
}

#[test]
fn a_guard_blocks_a_command_that_is_not_text() {
    for template in RULES {
        let sandbox = with_rules(template);
        for command in [json!(["ls"]), json!(3), json!({"a": "ls"})] {
            let payload = json!({"tool_name": "Shell", "tool_input": {"command": command}, "tool_use_id": "c"});
            let decision = tried(&sandbox, template, &payload, &[])["decision"].clone();
            assert!(decision == "deny" || decision == "ask", "{template} {command}: {decision}");
        }
        let nested = json!({"tool_name": "Shell", "tool_use_id": "c", "tool_input": {"a": {"command": 3}, "command": "ls \"x\"", "z": [{"command": []}]}, "paths": {"command": 1}});
        assert_eq!(tried(&sandbox, template, &nested, &[])["decision"], "unmatched", "{template}");
    }
}

#[test]
fn redact_secrets_leaves_no_key_whatever_tool_shows_it_and_however_the_command_ends() {
    let calls = [
        "{name: bash, input: {command: cat keys}}",
        "{name: bash, input: {command: cat keys; exit 3}}",
        "{name: bash, input: {command: cat keys >&2; false}}",
        "{name: file_read, input: {file_path: keys}}",
        "{name: grep, input: {pattern: '.', path: .}}",
        "{name: file_read, input: {file_path: keys}}, {name: bash, input: {command: cat keys; kill $$}}",
    ];
    let pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIEabc/+=\n-----END RSA PRIVATE KEY-----\n";
    let keys = format!("id \"{KEY}\"\nghp_{0}\n{pem}AKIA of \"no\" key\n", "a1".repeat(20));
    // This fails the run if the model reads a key.
    let expect = format!("expect: {{lacks: [{KEY}, ghp_a1, MIIEabc], contains: ['[redacted]']}}");
    let turns = calls.map(|calls| format!("{{tool_calls: [{calls}], {expect}}}")).join(", ");
    let turns = turns.replacen(&expect, "expect: {}", 1);
    for language in languages() {
        let sandbox = with_hook("redact-secrets", language);
        sandbox.write("keys", &keys);
        let output = sandbox
            .play(&format!("turns: [{turns}, {{text: ok, {expect}}}]"), &["go"])
            .expect_code(0);
        let screen = format!("{}{}", output.stdout, output.stderr);
        assert!(!screen.contains(KEY) && !screen.contains("MIIEabc"), "{language} {output}");
        assert!(!screen.contains("has no field"), "{language}\n{output}");
    }
}

#[test]
fn redact_secrets_withholds_an_output_that_it_cannot_read() {
    let result = json!({"toolName": "x", "success": true, "metadata": {"output": KEY, "tool_output": {"a": 1}}});
    let payload = json!({"event_type": "after_tool", "tool_name": "x", "tool_input": {}, "tool_use_id": "c", "tool_output": result});
    for language in languages() {
        let sandbox = with_hook("redact-secrets", language);
        let redacted = tried(&sandbox, "redact-secrets", &payload, &[]);
        assert!(
            redacted["decision"] == "failed"
                || !redacted["rewrite"]["after"].to_string().contains(KEY),
            "{language} {redacted}"
        );
    }
}

/// Returns the files with this name below a directory.
fn files_named(dir: &Path, name: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    let find = |path: PathBuf| match path.is_dir() {
        true => files_named(&path, name),
        false if path.ends_with(name) => vec![path],
        false => Vec::new(),
    };
    paths.flat_map(find).collect()
}

#[test]
fn audit_log_records_every_call_outside_of_the_project_and_no_key() {
    for language in languages() {
        let sandbox = with_hook("audit-log", language);
        let _ = sandbox.play(&format!(
            "turns: [{{tool_calls: [{{name: bash, input: {{command: 'echo \"{KEY}\" \\ ä'}}}}]}}, {{tool_calls: [{{name: bash, input: {{command: 'false'}}}}]}}, {{tool_calls: [{{name: file_write, input: {{file_path: a, text: secret text}}}}]}}, {{text: ok}}]"
        ), &["go"]).expect_code(0);
        assert!(files_named(&sandbox.project(), "audit.jsonl").is_empty());
        let logs = files_named(&sandbox.home(), "audit.jsonl");
        assert_eq!(logs.len(), 1, "{language} {logs:?}");
        assert_eq!(fs::metadata(&logs[0]).unwrap().permissions().mode() & 0o077, 0, "{language}");
        let text = fs::read_to_string(&logs[0]).unwrap();
        let lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let inputs: Vec<&Value> = lines.iter().map(|line| &line["input"]).collect();
        assert_eq!(inputs, ["echo \"[redacted]\" \\ ä", "false", "a"], "{language}");
        let events: Vec<&Value> = lines.iter().map(|line| &line["event"]).collect();
        assert_eq!(events, ["after_tool", "after_tool_failure", "after_tool"], "{language}");
        assert!(!text.contains(KEY) && !text.contains("secret text"), "{language}: {text}");
    }
}

/// Returns a `PATH` that starts with a directory with a fake program.
fn path_with(sandbox: &Sandbox, program: &str, script: &str) -> String {
    sandbox.write_program(&format!("../bin/{program}"), format!("#!/bin/sh\n{script}\n"));
    format!(
        "{}:{}",
        sandbox.root().join("bin").display(),
        sandbox.shell("printf %s \"$PATH\"").stdout
    )
}

#[test]
fn format_after_edit_formats_files_of_the_project_and_no_others() {
    for language in languages() {
        let sandbox = with_hook("format-after-edit", language);
        // It gets no file name as an argument, so a name cannot be parsed as an option.
        let formatter = "[ $# = 0 ] || exit 9\nsed -e '/syntax/q7' -e 's/  */ /g'";
        let path = path_with(&sandbox, "gofmt", formatter);
        let vars = [("PATH", path.as_str())];
        let format = |file: &str| {
            let payload = json!({"event_type": "after_tool", "tool_name": "WriteFile", "tool_input": {"file_path": file},
                "work_dir": sandbox.project(), "tool_use_id": "c", "tool_output": {}});
            let result = tried(&sandbox, "format-after-edit", &payload, &vars);
            assert_eq!(result["exit"], "exit 0", "{language} {file} {result}");
            result["context"].as_str().unwrap_or_default().to_owned()
        };
        for file in ["-w a \"b\".go", "sub/it's.go", "real.go"] {
            sandbox.write(file, "a   b\n");
        }
        symlink("real.go", sandbox.project().join("link.go")).unwrap();
        for file in ["-w a \"b\".go", "sub/it's.go", "link.go"] {
            assert!(format(file).contains("read it again"), "{language} {file}");
            assert_eq!(sandbox.read(file), "a b\n", "{language} {file}");
            assert_eq!(format(file), "", "it is formatted already");
        }
        assert!(fs::symlink_metadata(sandbox.project().join("link.go")).unwrap().is_symlink());
        sandbox.write("bad.go", "syntax   error\n");
        assert!(format("bad.go").contains("cannot format bad.go"), "{language}");
        assert_eq!(sandbox.read("bad.go"), "syntax   error\n", "{language}");
        sandbox.write("../outside/x.go", "a   b\n");
        symlink("../outside/x.go", sandbox.project().join("out.go")).unwrap();
        symlink("../outside", sandbox.project().join("out")).unwrap();
        for file in ["out.go", "out/x.go", "../outside/x.go", "missing.go", "notes.txt", "."] {
            assert_eq!(format(file), "", "{language} {file}");
        }
        assert_eq!(sandbox.read("../outside/x.go"), "a   b\n", "{language}");
    }
}

#[test]
fn tests_before_stop_sends_the_agent_back_while_the_tests_fail() {
    for language in languages() {
        let sandbox = with_hook("tests-before-stop", language);
        let go = "[ \"$*\" = 'test ./...' ] || exit 9\n[ -e fixed ] || { echo 'FAIL: \"x\" is 3'; exit 1; }";
        let path = path_with(&sandbox, "go", go);
        let model = sandbox.script(
            "turns: [{text: Done.}, {tool_calls: [{name: bash, input: {command: touch fixed}}], expect: {contains: ['FAIL: \"x\" is 3', 'go test']}}, {text: Fixed.}]",
        );
        let run = || sandbox.run_with_env(&[("PATH", &path)], ["run", "--model", &model, "go"]);
        // The project has no known tests.
        assert!(!run().stdout.contains("Fixed."), "{language}");
        sandbox.write("go.mod", "module shop\n");
        let output = run().expect_code(0);
        assert!(output.stdout.contains("Fixed."), "{language} {output}");
        fs::remove_file(sandbox.project().join("fixed")).unwrap();
        let stubborn = sandbox.script(
            "turns: [{text: One.}, {text: Two.}, {text: Three.}, {text: Four.}, {text: Five.}]",
        );
        let args = ["run", "--model", &stubborn, "go"];
        let output = sandbox.run_with_env(&[("PATH", &path)], args).expect_code(0);
        assert!(output.stdout.contains("Four.") && !output.stdout.contains("Five."), "{output}");
    }
}

#[test]
fn context_at_start_tells_of_the_repository_and_starts_nothing_of_it() {
    tenter_testkit::skip_unless!(needs::has("git"));
    for language in languages() {
        let sandbox = with_hook("context-at-start", language);
        let set_up = "rm -rf .git && git init -q . && git symbolic-ref HEAD 'refs/heads/fe\"at' && \
            git -c user.name=a -c user.email=a@b commit -q --allow-empty -m 'say \"hi\" \\ there' && touch 'new file' && \
            git config core.fsmonitor 'touch ../pwned' && git config alias.status '!touch ../pwned' && \
            git config log.showSignature true && git config gpg.program 'touch ../pwned'";
        let _ = sandbox.shell(set_up).expect_code(0);
        let _ = sandbox.play("turns: [{text: ok, expect: {contains: ['Branch: fe\"at', 'new file', 'say \"hi\" \\ there']}}]", &["go"]).expect_code(0);
        assert!(!sandbox.root().join("pwned").exists(), "{language}");
        let _ = sandbox.shell("rm -rf .git").expect_code(0);
        let output = sandbox.run("hooks test context-at-start --sample --json");
        assert_eq!(output.expect_code(0).json()["context"], Value::Null, "{language}");
    }
}
