//! `tenter hooks explain`.

use insta::assert_snapshot;
use serde_json::{Value, json};
use tenter_testkit::{Output, Sandbox, assert_contains};

use super::{manifest, project_hooks, user_hooks};
use crate::sandbox;

const RM: [&str; 6] =
    ["--event", "before_tool", "--tool", "Bash", "--input", "{\"command\": \"rm -rf /x\"}"];

fn explain(sandbox: &Sandbox, args: &[&str]) -> Output {
    sandbox.run([&["hooks", "explain"], args].concat())
}

/// Returns hooks for every reason to run or not to run; each would leave a file if it were run.
fn every_reason() -> Sandbox {
    let sandbox = sandbox();
    let hooks = user_hooks(&sandbox);
    let hook = |name: &str, front_matter: &str| {
        manifest(&hooks, name, &format!("trigger: before_tool\n{front_matter}"), "touch ran");
    };
    hook("guard", "priority: 999\nmatcher: {tool: Shell, pattern: rm -rf}");
    hook("any", "");
    hook("audit", "async: true\nmatcher: {pattern: rm}");
    hook("writes", "matcher: {tool: WriteFile}");
    hook("mkfs", "matcher: {tool: Shell, pattern: mkfs}");
    hook("old.disable", "");
    manifest(&hooks, "end", "trigger: session_end", "touch ran");
    sandbox.sh_hook("program", "before_tool_call", "touch ran");
    manifest(&project_hooks(&sandbox), "foreign", "trigger: before_tool", "touch ran");
    sandbox
}

#[test]
fn the_input_is_explained_under_the_advertised_field_names() {
    let sandbox = sandbox();
    let manifest = "---\nname: env\ndescription: d\ntrigger: before_tool\nmatcher:\n  pattern: '\"file_path\": \"[.]env\"'\n---\n";
    sandbox.write("../home/.kodelet/hooks/env/HOOK.md", manifest);
    sandbox.write("../home/.kodelet/hooks/env/scripts/run.sh", "");
    let explain = |input: &str| {
        let event = ["--event", "before_tool", "--tool", "file_write", "--input", input];
        explain(&sandbox, &event)
    };
    explain(r#"{"path": ".env", "content": "x"}"#).prints(r#""file_path": ".env""#);
    explain(r#"{"path": ".env", "file_path": "other"}"#).fails(2, "`file_path` is given twice");
}

#[test]
fn every_hook_is_explained_without_running() {
    let sandbox = every_reason();
    assert_snapshot!(explain(&sandbox, &RM), @r#"
    exit: 0
    --- stdout
    passes, unless guard, program, any stops it: only a run of the hook shows that
    before_tool of bash {"command": "rm -rf /x"}
    Commands
      rm -rf /x  program rm · flags -r -f · operands /x
    Paths
      /x  delete · outside the project · with everything below it
    1. guard (user, priority 999)
       runs: matcher.tool `Shell` is found in the tool's name Shell; matcher.pattern `rm -rf` is found in command: rm -rf
    2. program (user, priority 100)
       runs: it has no matcher: it runs on every call
    3. any (user, priority 100)
       runs: it has no matcher: it runs on every call
    4. audit (user, priority 100, async)
       runs: matcher.pattern `rm` is found in command: rm; it is asynchronous: it starts after the others if none blocked, and cannot block
    -  end (user, priority 100)
       does not run: it subscribes to session_end only
    -  mkfs (user, priority 100)
       does not run: matcher.pattern `mkfs` is not found in command, the whole input
    -  writes (user, priority 100)
       does not run: matcher.tool `WriteFile` is not found in bash, Bash, Shell, shell, run_shell_command, run_terminal_cmd, run_in_terminal, execute_command, run_command, exec_command, local_shell, Execute, run_commands, developer__shell
    -  foreign (project, priority 100)
       does not run: it is not trusted: look at it and run `tenter trust`
    -  old (user, priority 100)
       does not run: it is disabled: its file's name ends in .disable
    -  builtin:compact-trigger (builtin)
       does not run: it subscribes to after_turn only
    --- stderr
    warning: [ROOT]/home/.config/agents/hooks/audit/HOOK.md:5:8: an asynchronous hook cannot block at `before_tool`
      5 | async: true
                 ^^^^
      help: write `async: false` if it is meant to block
    "#);
    let explained = explain(&sandbox, &["--event", "session_end"]).expect_code(0);
    assert_contains(
        &explained.stdout,
        &[
            "1. end (user, priority 100)\n   runs: it subscribes to this event",
            "run `tenter trust`; also, it subscribes to before_tool only",
        ],
    );
}

#[test]
fn built_in_hooks_run_after_synchronous_ones() {
    let sandbox = sandbox();
    sandbox.sh_hook("program", "after_turn", "touch ran");
    manifest(&user_hooks(&sandbox), "audit", "trigger: after_turn\nasync: true", "touch ran");
    assert_snapshot!(explain(&sandbox, &["--event", "after_turn"]), @"
    exit: 0
    --- stdout
    after_turn
    1. program (user, priority 100)
       runs: it subscribes to this event
    2. builtin:compact-trigger (builtin)
       runs: whatever other hooks reply, it asks for the recipe compact when 80 % of the context window is used
    3. audit (user, priority 100, async)
       runs: it subscribes to this event; it is asynchronous: it starts after the others, and the agent does not wait for it
    ");
}

#[test]
fn the_json_form_has_the_result_of_each_matcher_part() {
    let sandbox = every_reason();
    let explained = explain(&sandbox, &[&RM[..], &["--json"]].concat()).expect_code(0).json();
    let of = |name: &str| {
        let all: &Vec<Value> = explained.as_array().unwrap();
        all.iter().find(|hook| hook["name"] == name).unwrap()
    };
    let guard = of("guard");
    assert_eq!([&guard["verdict"], &guard["layer"], &guard["status"]], ["runs", "user", "active"]);
    assert_eq!(
        guard["matcher"]["pattern"]["search"]["found"],
        json!({"place": "command", "text": "rm -rf"})
    );
    assert_eq!(
        of("mkfs")["matcher"]["pattern"]["search"]["not_found"]["tried"],
        json!(["command", "the whole input"])
    );
    assert_eq!([&of("foreign")["verdict"], &of("foreign")["trust"]], ["skipped", "untrusted"]);
    assert_eq!(of("audit")["async"], true);
    assert!(!sandbox.project().join("ran").exists(), "explaining ran a hook");
}

#[test]
fn what_cannot_be_searched_counts_as_matching_for_a_hook_that_may_deny() {
    let sandbox = sandbox();
    manifest(
        &user_hooks(&sandbox),
        "slow",
        "trigger: before_tool\nmatcher: {pattern: \"(a+)+\\\\1b(?=c)\"}",
        "",
    );
    let input = json!({"command": "a".repeat(70_000)}).to_string();
    let args = ["--event", "before_tool", "--tool", "bash", "--json", "--input", &input];
    let explained = explain(&sandbox, &args).expect_code(0).json();
    assert_eq!(explained[0]["verdict"], "runs", "{explained}");
    let why = explained[0]["why"].as_str().unwrap();
    assert!(why.contains("cannot be searched for: the text is over 64 KiB"), "{why}");
}

#[test]
fn the_json_form_has_the_facts_about_the_call() {
    let sandbox = sandbox();
    sandbox.sh_hook("it", "before_tool_call", "true");
    let input = r#"{"command": "rm -rf /etc"}"#;
    // Without --event, the call is explained before it runs.
    let args = ["hooks", "explain", "--tool", "bash", "--input", input, "--json"];
    let explained = sandbox.run(args).expect_code(0).json();
    assert_eq!(explained[0]["verdict"], "runs", "{explained}");
    assert_eq!(explained[0]["facts"]["commands"][0]["program"], "rm", "{explained}");
    assert_eq!(explained[0]["facts"]["paths"][0]["path"], "/etc");
}

#[test]
fn an_invalid_question_is_an_error() {
    let sandbox = sandbox();
    assert_snapshot!(explain(&sandbox, &["--event", "before_tool"]), @r#"
    exit: 2
    --- stderr
    error: before_tool is about a tool call
      help: say which: --tool bash --input '{"command": "ls"}'
    "#);
    assert_snapshot!(explain(&sandbox, &["--event", "session_end", "--tool", "bash"]), @"
    exit: 2
    --- stderr
    error: session_end is not about a tool call
      help: leave the command, --tool and --input out
    ");
    for input in ["[]", "{", "\"x\""] {
        let args = ["--event", "before_tool", "--tool", "bash", "--input", input];
        explain(&sandbox, &args).fails(2, "the input is not a JSON object");
    }
    assert_eq!(explain(&sandbox, &["--event", "nonsense"]).code, Some(2));
    assert_eq!(explain(&sandbox, &[]).code, Some(2));
}

#[test]
fn a_check_and_a_backtest_name_hooks_that_are_not_trusted() {
    let sandbox = sandbox();
    let rule = "---\nname: no-curl\ndescription: d\ntrigger: before_tool\nmetadata:\n  match:\n    - {program: curl, decision: deny, reason: No.}\n---\n";
    sandbox.write(".agents/hooks/no-curl/HOOK.md", rule);
    let why = "Not judged, because they are not trusted: no-curl.";
    let output = sandbox.run(["check", "curl x"]).expect_code(0);
    assert!(output.stdout.starts_with("passes: the hooks here are not trusted"), "{output}");
    assert!(output.stderr.contains(why), "{output}");
    let json = sandbox.run(["check", "curl x", "--json"]).expect_code(0).json();
    assert_eq!(json["untrusted"][0], "no-curl");
    sandbox.warns("backtest", why);
    let _ = sandbox.run("trust --yes").expect_code(0);
    let output = sandbox.run(["check", "curl x"]).expect_code(1);
    assert!(!output.stderr.contains(why), "{output}");
}

#[test]
fn a_check_says_in_a_line_what_hooks_decide() {
    let sandbox = sandbox();
    let none = sandbox.run("check ls").expect_code(0);
    assert!(none.stdout.starts_with("passes: there are no hooks"), "{none}");
    let _ = sandbox.run("guard add git-safety secrets").expect_code(0);
    let denial = sandbox.run(["check", "git push --force"]).expect_code(1);
    assert!(
        denial.stdout.starts_with("denied by git-safety, rule force-push: A force"),
        "{denial}"
    );
    assert_eq!(denial.stdout.lines().count(), 1, "{denial}");
    for words in
        [&["git", "push", "--force"][..], &["git push --force"], &["sh", "-c", "git push '-f'"]]
    {
        let output = sandbox.run([&["check", "--"], words].concat()).expect_code(1);
        assert!(output.stdout.starts_with("denied by git-safety"), "{output}");
    }
    let _ = sandbox.run(["check", "--", "echo", "git push --force"]).expect_code(0);
    let about = sandbox.run("check --read .env").expect_code(1);
    assert!(about.stdout.starts_with("asked about by secrets, rule env-file: "), "{about}");
    assert_eq!(
        sandbox.run("check --write .env").expect_code(0).stdout,
        "passes: no hook stops it\n"
    );
    let tool = sandbox.run(["check", "--tool", "Bash", r#"{"command": "git push -f"}"#]);
    assert_eq!(tool.expect_code(1).stdout, sandbox.run(["check", "git push -f"]).stdout);
    sandbox.fails(2, ["check", "--tool", "basj", "{}"], "did you mean `bash`?");
    sandbox.sh_hook("program", "before_tool_call", "touch ran");
    let open = sandbox.run("check ls -v").expect_code(0);
    assert!(open.stdout.starts_with("passes, unless program stops it"), "{open}");
    assert!(open.stdout.contains("force-push does not fit"), "{open}");
    assert!(!sandbox.project().join("ran").exists(), "the check ran a hook");
}
