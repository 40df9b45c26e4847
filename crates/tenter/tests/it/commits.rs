//! `tenter commit` and `tenter pr`: real repositories, a scripted model, a `gh` that writes down what it is asked.

use std::fs;

use insta::assert_snapshot;
use tenter_testkit::{Output, PtySession, Sandbox, needs};

use crate::sandbox;

/// Returns a repository with one commit and one staged change; none where there is no git, which is said.
fn repository() -> Option<Sandbox> {
    let sandbox = sandbox();
    if !needs::has("git") {
        return None;
    }
    let _ = sandbox
        .shell(
            "rm -rf .git && git init -q -b main . && git config user.email ada@example.com && git config user.name Ada \
             && echo one > a && git add a && git commit -q -m 'Add a' && echo two > a && git add a",
        )
        .expect_code(0);
    Some(sandbox)
}

/// Returns a repository on a branch with one commit that main does not have.
fn branch() -> Option<Sandbox> {
    let sandbox = repository()?;
    let _ =
        sandbox.shell("git switch -q -c topic && git commit -q -m 'Make it two'").expect_code(0);
    Some(sandbox)
}

/// Returns a script that answers with this text, given that it is asked with these.
fn answer(text: &str, prompts: &[&str]) -> String {
    let (text, prompts) = (serde_json::json!(text), serde_json::json!(prompts));
    format!("turns: [{{text: {text}, expect: {{contains: {prompts}}}}}]")
}

/// Returns the message of git's last commit.
fn last_message(sandbox: &Sandbox) -> String {
    sandbox.shell("git log -1 --format=%B").stdout.trim().to_owned()
}

fn commit(sandbox: &Sandbox, text: &str, args: &[&str]) -> Output {
    let model = sandbox.script(&answer(text, &["+two", "-one", "Add a"]));
    let all: Vec<&str> =
        ["commit", "--model", &model].into_iter().chain(args.iter().copied()).collect();
    sandbox.run(&all)
}

fn on_terminal(sandbox: &Sandbox, args: &[&str], editor: &str) -> PtySession {
    sandbox.at_terminal_with_env(&[("EDITOR", editor)], args)
}

#[test]
fn staged_changes_are_committed_with_the_models_message() {
    let Some(sandbox) = repository() else { return };
    let output =
        commit(&sandbox, "```\nMake it two\n\nOne was not enough.\n```\n", &["-y"]).expect_code(0);
    assert_eq!(output.stdout, "Make it two\n\nOne was not enough.\n");
    assert!(output.stderr.contains("1 file changed"), "{output}");
    assert_eq!(last_message(&sandbox), "Make it two\n\nOne was not enough.");
    assert_eq!(sandbox.run("conversation list").stdout, "", "nothing of it is stored");
}

#[test]
fn without_a_terminal_the_message_is_printed_and_the_command_fails() {
    let Some(sandbox) = repository() else { return };
    assert_snapshot!(commit(&sandbox, "\"Make it two\"", &[]), @"
    exit: 1
    --- stdout
    Make it two
    --- stderr
    error: nothing was committed: there is no terminal to ask on
      help: pass --no-confirm to skip the question; the text is printed above
    ");
    assert_eq!(last_message(&sandbox), "Add a");
}

#[test]
fn a_commit_that_cannot_succeed_is_reported_before_the_model_is_called() {
    let Some(sandbox) = repository() else { return };
    let _ = sandbox.shell("git reset -q --hard").expect_code(0);
    assert_snapshot!(commit(&sandbox, "never", &["-y"]), @"
    exit: 1
    --- stderr
    error: nothing is staged
      help: stage changes with `git add FILE` or `git add -p`
    ");
    let _ = sandbox.shell("rm -rf .git").expect_code(0);
    assert_snapshot!(commit(&sandbox, "never", &["-y"]), @"
    exit: 1
    --- stderr
    error: [ROOT]/project is not in a git repository
      help: run `git init`, or pass --project DIR
    ");
    let model = sandbox.script("turns: [{text: never}]");
    assert_snapshot!(sandbox.run(["pr", "--model", &model]), @"
    exit: 1
    --- stderr
    error: [ROOT]/project is not in a git repository
      help: run `git init`, or pass --project DIR
    ");
}

#[test]
fn a_rejected_commit_shows_gits_reason_and_keeps_the_message() {
    let Some(sandbox) = repository() else { return };
    let script = "#!/bin/sh\necho 'the tests fail' >&2\nexit 1\n";
    sandbox.write_program(".git/hooks/pre-commit", script);
    assert_snapshot!(commit(&sandbox, "Make it two", &["--yes"]), @"
    exit: 1
    --- stdout
    Make it two
    --- stderr
    the tests fail
    error: git commit ended with code 1
      help: nothing was committed; the message is printed above
    ");
    assert_eq!(last_message(&sandbox), "Add a");
}

#[test]
fn the_first_commit_of_a_repository_works() {
    let Some(sandbox) = repository() else { return };
    let _ = sandbox.shell("git checkout -q --orphan new").expect_code(0);
    let model = sandbox.script("turns: [{text: Begin}]");
    let _ = sandbox.run(["commit", "-y", "--model", &model]).expect_code(0);
    assert_eq!(last_message(&sandbox), "Begin");
}

#[test]
fn a_short_message_is_one_line_and_arguments_reach_the_recipe() {
    let Some(sandbox) = repository() else { return };
    let model = sandbox.script(&answer(
        "Make it two\n\nOne was not enough.",
        &["Write the first line and nothing else.", "The user also wants: no verbs"],
    ));
    let args = ["commit", "--short", "-y", "--arg", "instructions=no verbs", "--model", &model];
    assert_eq!(sandbox.run(args).expect_code(0).stdout, "Make it two\n");
    assert_eq!(last_message(&sandbox), "Make it two");
}

#[test]
fn the_small_model_is_used_if_configured() {
    let Some(sandbox) = repository() else { return };
    let weak = sandbox.root().join("weak.yaml");
    fs::write(&weak, answer("Weak but right", &["+two"])).unwrap();
    let strong = sandbox.script(&answer("Strong", &["+two"]));
    let config = format!("model = \"{strong}\"\nweak_model = \"scripted:{}\"\n", weak.display());
    sandbox.configure(config);
    assert_eq!(sandbox.run("commit").expect_code(1).stdout, "Weak but right\n");
    assert_eq!(sandbox.run(["commit", "--model", &strong]).expect_code(1).stdout, "Strong\n");
}

#[test]
fn there_are_no_tools_and_hooks_run_only_with_the_flag() {
    let Some(sandbox) = repository() else { return };
    sandbox.sh_hook(
        "stop",
        "user_message_send",
        r#"echo '{"blocked": true, "reason": "no commits today"}'"#,
    );
    sandbox
        .write("../home/.kodelet/recipes/commit.md", "---\nallowed_tools: [bash]\n---\nWrite it.");
    let model = sandbox.script(
        "turns: [{tool_calls: [{name: bash, input: {command: \"touch ran\"}}]}, {text: Fine, expect: {contains: [there is no tool]}}]",
    );
    assert_eq!(sandbox.run(["commit", "--model", &model]).expect_code(1).stdout, "Fine\n");
    assert!(!sandbox.project().join("ran").exists());
    assert_snapshot!(sandbox.run(["commit", "--hooks", "-y", "--model", &model]), @"
    exit: 3
    --- stderr
      ✗ blocked by hook stop at before_agent: no commits today
    error: a hook blocked the request, so the model wrote no text
      help: `tenter log` shows why; leave out --hooks to run without hooks
    ");
}

#[test]
fn a_project_recipe_that_starts_programs_needs_trust() {
    let Some(sandbox) = repository() else { return };
    sandbox.write(
        "recipes/commit.md",
        "{{bash \"touch\" \"ran\"}}{{bash \"git\" \"diff\" \"--cached\"}}",
    );
    let model = sandbox.script(&answer("Ours", &["+two"]));
    let output = sandbox.run(["commit", "-y", "--model", &model]).expect_code(4);
    assert!(
        output.stderr.contains("the recipe commit comes with the project")
            && !sandbox.project().join("ran").exists(),
        "{output}"
    );
    assert_eq!(
        sandbox.run(["commit", "--trust-project", "--model", &model]).expect_code(1).stdout,
        "Ours\n"
    );
}

#[test]
fn at_a_terminal_the_message_is_accepted_edited_or_rejected() {
    let Some(sandbox) = repository() else { return };
    let model = sandbox.script(&answer("Make it two", &[]).replace("contains: []", ""));
    let args = ["commit", "--model", &model];
    let mut remainder = on_terminal(&sandbox, &args, "false");
    remainder.answer("Make it two\nCommit with this message? [y] yes  [e] edit  [n] no: ", "e");
    remainder.answer("The editor ended with code 1, so the text is unchanged.", "n");
    remainder.wait_for("Nothing was committed.");
    assert_eq!(remainder.end().0, Some(1), "nothing was committed");
    assert_eq!(last_message(&sandbox), "Add a");

    // The editor has the terminal: it asks there, and is answered there.
    sandbox.write("../editor.sh", "printf 'which word? '; read word; sed \"s/two/$word/\" \"$2\" > \"$2.new\" && mv \"$2.new\" \"$2\"\n");
    let editor = format!("sh {} --wait", sandbox.root().join("editor.sh").display());
    let mut session = on_terminal(&sandbox, &args, &editor);
    session.answer("[n] no: ", "e");
    session.answer("which word? ", "deux");
    session.answer("Make it deux\nCommit with this message?", "y");
    session.wait_for("1 file changed");
    assert_eq!(session.end().0, Some(0));
    assert_eq!(last_message(&sandbox), "Make it deux");
}

/// Variables by which models are reached, as a shell sets them, and one that git needs.
const KEYS: &str = "AWS_BEARER_TOKEN_BEDROCK=s-1 ANTHROPIC_CUSTOM_HEADERS=s-2 OPENAIKEY=s-3 HUGGINGFACEHUB_API_TOKEN=s-4 \
     COPILOT_TOKEN=s-5 OPENAI_API_KEY=s-6 WORK_LLM=s-7 GITHUB_TOKEN=t-1";

fn assert_no_keys(sandbox: &Sandbox, file: &str) {
    let environment = sandbox.read(file);
    assert!(environment.contains("GITHUB_TOKEN=t-1"), "{file}: {environment}");
    assert!(!environment.contains("=s-"), "{file}: {environment}");
}

#[test]
fn git_its_hooks_gh_and_the_editor_receive_no_model_keys() {
    let Some(sandbox) = branch() else { return };
    let provider = "[providers.work]\napi = \"chat\"\nbase_url = \"http://localhost:1\"\napi_key_env = \"WORK_LLM\"\n";
    sandbox.configure(provider);
    let bin = fake_gh(&sandbox, "env > ../env-of-gh");
    sandbox.write_program(".git/hooks/pre-commit", "#!/bin/sh\nenv > ../env-of-hook\n");
    let model = sandbox.script("turns: [{text: Title}]");
    let with_keys = |line: &str| {
        let line = format!("env PATH={bin}:$PATH {KEYS} {line} --model {model}");
        let _ = sandbox.shell(&line).expect_code(0);
    };
    with_keys("tenter pr -y");
    assert_no_keys(&sandbox, "../env-of-gh");
    let _ = sandbox.shell("echo three > a && git add a").expect_code(0);
    with_keys("tenter commit -y");
    assert_no_keys(&sandbox, "../env-of-hook");

    let _ = sandbox.shell("echo four > a && git add a").expect_code(0);
    let mut command = sandbox.command();
    command.args(["commit", "--model", &model]).env("EDITOR", "env > ../env-of-editor; true");
    command.envs(KEYS.split_whitespace().filter_map(|set| set.split_once('=')));
    let mut session = PtySession::start(command);
    session.answer("[n] no: ", "e");
    session.wait_for("Title\nCommit with this message?");
    assert_no_keys(&sandbox, "../env-of-editor");
    session.enter("y");
    assert_eq!(session.end().0, Some(0));
}

/// Returns a `gh` that writes down what it was asked; returns what to put before PATH.
fn fake_gh(sandbox: &Sandbox, then: &str) -> String {
    let path = sandbox.write_program(
        "../bin/gh",
        format!("#!/bin/sh\n[ \"$1\" = --version ] && exit 0\nprintf '<%s>' \"$@\" > ../asked\ncat > ../body\n{then}\n"),
    );
    path.parent().unwrap().display().to_string()
}

const TEXT: &str = "Make it two\n\n## Summary\n\nOne was not enough.";

#[test]
fn a_pull_request_is_created_with_the_first_line_as_title() {
    let Some(sandbox) = branch() else { return };
    let bin = fake_gh(&sandbox, "echo https://example.com/pull/1");
    let model = sandbox.script(&answer(TEXT, &["+two", "Make it two", "into `main`"]));
    let output = sandbox
        .shell(&format!("PATH={bin}:$PATH tenter pr --draft -y --model {model}"))
        .expect_code(0);
    assert_eq!(output.stdout, format!("{TEXT}\nhttps://example.com/pull/1\n"));
    assert_eq!(
        sandbox.read("../asked"),
        "<pr><create><--title><Make it two><--body-file><-><--base><main><--draft>"
    );
    assert_eq!(sandbox.read("../body"), "## Summary\n\nOne was not enough.");
}

#[test]
fn without_gh_or_consent_it_is_only_printed_and_the_command_fails() {
    let Some(sandbox) = branch() else { return };
    let model = sandbox.script(&answer(TEXT, &["+two"]));
    let bin = fake_gh(&sandbox, "");
    let without_terminal = sandbox
        .shell(&format!("PATH={bin}:$PATH tenter pr --model {model} < /dev/null"))
        .expect_code(1);
    assert!(
        without_terminal.stdout.starts_with(TEXT)
            && without_terminal.stdout.contains("nothing was created: there is no terminal"),
        "{without_terminal}"
    );
    // The programs that it needs, and no others.
    let line = format!(
        "mkdir ../few && ln -s \"$(command -v git)\" ../few/git && tenter=$(command -v tenter) && PATH=$PWD/../few \"$tenter\" pr -y --model {model}"
    );
    let without = sandbox.shell(&line).expect_code(1);
    assert!(without.stdout.contains("`gh` is not in PATH"), "{without}");
    assert!(!sandbox.root().join("asked").exists());
}

#[test]
fn a_pull_request_that_gh_rejects_fails_with_its_message() {
    let Some(sandbox) = branch() else { return };
    let bin = fake_gh(&sandbox, "echo 'you must first push the current branch' >&2; exit 1");
    let model = sandbox.script(&answer(TEXT, &["+two"]));
    assert_snapshot!(sandbox.shell(&format!("PATH={bin}:$PATH tenter pr -y --model {model}")), @"
    exit: 1
    --- stdout
    Make it two

    ## Summary

    One was not enough.
    you must first push the current branch
    error: gh pr ended with code 1
      help: the text is printed above; gh needs a pushed branch (`git push -u origin HEAD`) and a login (`gh auth status`)
    ");
}

#[test]
fn a_template_determines_the_body() {
    let Some(sandbox) = branch() else { return };
    sandbox.write("template.md", "## Why\n<!-- say why -->\n");
    let question = ["fill in this template", "## Why\n<!-- say why -->"];
    let model = sandbox.script(&answer(TEXT, &question));
    let args = ["pr", "--template-file", "template.md", "--model", &model];
    assert!(sandbox.run(args).expect_code(1).stdout.starts_with(TEXT));
    let missing =
        sandbox.run(["pr", "--template-file", "none.md", "--model", &model]).expect_code(2);
    assert!(
        missing.stderr.contains("cannot read ") && missing.stderr.contains("none.md: "),
        "{missing}"
    );
}

#[test]
fn a_branch_without_commits_or_target_is_an_error() {
    let Some(sandbox) = repository() else { return };
    let model = sandbox.script("turns: [{text: never}]");
    assert_snapshot!(sandbox.run(["pr", "--model", &model]), @"
    exit: 1
    --- stderr
    error: main has no commits that are not in main
      help: commit to a new branch (`git switch -c NAME`), or pass --target BRANCH
    ");
    assert_snapshot!(sandbox.run(["pr", "--target", "trunk", "--model", &model]), @r#"
    exit: 1
    --- stderr
    error: there is no target branch "trunk"
      help: pass --target BRANCH; `git branch --all` lists them
    "#);
    let option = sandbox.run(["pr", "--target=--help", "--model", &model]).expect_code(1);
    assert!(option.stderr.contains("there is no target branch \"--help\""), "{option}");
}

#[test]
fn a_target_that_was_only_fetched_is_found() {
    let Some(sandbox) = branch() else { return };
    let line = "git update-ref refs/remotes/origin/trunk main && git branch -q -D main";
    let _ = sandbox.shell(line).expect_code(0);
    let model = sandbox.script(&answer(TEXT, &["+two", "origin/trunk"]));
    let output = sandbox.run(["pr", "--target", "trunk", "--model", &model]).expect_code(1);
    assert!(output.stdout.starts_with(TEXT), "{output}");
}

#[test]
fn the_commit_contains_what_was_shown() {
    let Some(sandbox) = repository() else { return };
    let output = commit(&sandbox, "Make it \u{1b}[8mhidden\u{1b}[0m two\u{7}", &["-y"]);
    let screen = output.expect_code(0).stdout;
    assert_eq!(screen.trim(), last_message(&sandbox));
    assert!(!screen.contains(['\u{1b}', '\u{7}']), "{screen:?}");
}
