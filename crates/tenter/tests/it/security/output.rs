//! Names and texts that try to control the terminal.

use std::fs;

use tenter_testkit::Output;

use crate::sandbox;

/// Sets the window's title, clears the screen, goes back to the line's beginning, turns the text around.
const EVIL: &str = "x\u{1b}]0;owned\u{7}\u{1b}[2J\r\u{202e}\u{9b}2Jy";

/// Checks that in JSON, which is for programs, control characters that JSON lets stand are there as they are.
fn check(what: &str, output: &Output) {
    let is_json = output.stdout.starts_with('{');
    for text in [&output.stdout, &output.stderr] {
        let steers = ["\u{1b}]", "\u{1b}[2J", "\u{7}", "\r", "\u{202e}", "\u{9b}", "\u{1b}P"];
        for sequence in steers {
            if is_json && ["\u{202e}", "\u{9b}"].contains(&sequence) {
                continue;
            }
            assert!(!text.contains(sequence), "{what}: {sequence:?} in {text:?}");
        }
    }
}

#[test]
fn untrusted_text_cannot_control_the_terminal() {
    let sandbox = sandbox();
    let root = sandbox.project().join(EVIL);
    fs::create_dir_all(root.join(".git")).unwrap();
    let at = |path: &str| format!("{EVIL}/{path}");
    sandbox.write_program(&at(&format!(".kodelet/hooks/{EVIL}")), "#!/bin/sh\necho $0\n");
    let manifest = format!(
        "---\nname: \"m\"\ndescription: '{EVIL}'\ntrigger: before_tool\n'{EVIL}': 1\n---\n{EVIL}"
    );
    sandbox.write(&at(&format!(".kodelet/hooks/{EVIL}-m/HOOK.md")), &manifest);
    sandbox.write_program(
        &at(&format!(".kodelet/hooks/{EVIL}-m/scripts/run")),
        format!("#!/bin/sh\n# {EVIL}\necho '{EVIL}' >&2; exit 2\n"),
    );
    sandbox.write(
        &at(&format!(".kodelet/recipes/{EVIL}.md")),
        format!("---\ndescription: '{EVIL}'\n'{EVIL}': 1\n---\n{EVIL} {{{{.missing}}}}"),
    );
    sandbox.write(
        &at(".kodelet/recipes/r.md"),
        format!("---\ndescription: '{EVIL}'\n---\n{EVIL} {{{{bash \"echo\" \"{EVIL}\"}}}}"),
    );
    sandbox.write(&at(&format!(".kodelet/skills/{EVIL}/SKILL.md")), &manifest);
    sandbox.write(&at("tenter.toml"), "max_turns = 9\n");
    fs::create_dir_all(root.join(format!(".kodelet/plugins/{EVIL}@b/hooks"))).unwrap();
    sandbox.write(&at("AGENTS.md"), EVIL);
    sandbox.sh_hook("loud", "before_tool_call", &format!("printf '%s' '{EVIL}' >&2; exit 7"));
    let escapes = "x\\e]0;owned\\a\\e[2J\\r\\u202e\\x9b2Jy";
    let model = sandbox.script(&format!(
        "turns: [{{text: \"{escapes}\", tool_calls: [{{id: \"{escapes}\", name: \"{escapes}\", input: {{\"{escapes}\": \"{escapes}\"}}}}, {{name: bash, input: {{command: \"printf '{escapes}'\", description: \"{escapes}\"}}}}]}}, {{text: \"{escapes}\"}}]"
    ));
    let runs: Vec<Vec<&str>> = vec![
        vec!["run", "--model", &model, EVIL],
        vec!["trust", "--yes"],
        vec!["trust", "--list"],
        vec!["run", "--model", &model, EVIL],
        vec!["run", "--no-hooks", "--model", &model, EVIL],
        vec!["run", "--headless", "--model", &model, EVIL],
        vec!["hooks", "list"],
        vec!["hooks", "show", "m"],
        vec!["hooks", "show", EVIL],
        vec!["hooks", "show", "no-such"],
        vec!["hooks", "test", "m"],
        vec!["hooks", "explain", "--event", "after_turn"],
        vec!["hooks", "validate", ".kodelet/hooks"],
        vec!["hooks", "to-prompt", ".kodelet/hooks"],
        vec!["hooks", "discover"],
        vec!["hooks", "doctor"],
        vec!["recipe", "list"],
        vec!["recipe", "show", "r"],
        vec!["recipe", "show", EVIL],
        vec!["recipe", "show", "--raw", "r"],
        vec!["skill", "list"],
        vec!["skill", "show", EVIL],
        vec!["plugin", "list"],
        vec!["plugin", "check", "."],
        vec!["conversation", "list"],
        vec!["conversation", "show", "last"],
        vec!["log", "--session", "last"],
        vec!["log"],
        vec!["trust", "--revoke", EVIL],
        vec!["trust", "--revoke"],
        vec!["trust", "--revoke"],
        vec!["commit", "--model", &model],
        vec!["run", "--model", "scripted:no\u{1b}]0;such", "go"],
    ];
    for args in runs {
        let mut command = sandbox.command();
        command.current_dir(&root).env_remove("NO_COLOR").args(["--color", "always"]).args(&args);
        let output = sandbox.finish(
            command
                .stdout(std::process::Stdio::piped())
                .stderr(std::process::Stdio::piped())
                .spawn()
                .unwrap(),
        );
        check(&format!("{args:?}"), &output);
    }
    for toml in [
        format!("modle = '{EVIL}'"),
        format!("'{EVIL}' = 1"),
        format!("# {EVIL}\nmodle = 1 # {EVIL}"),
    ] {
        sandbox.write(&at("tenter.toml"), toml);
        let mut command = sandbox.command();
        command
            .current_dir(&root)
            .env_remove("NO_COLOR")
            .args(["--color", "always", "hooks", "list"]);
        let child = command
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn();
        check("tenter.toml", &sandbox.finish(child.unwrap()));
    }
}
