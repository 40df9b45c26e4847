//! Permission modes, in the program: flags, configuration, questions at a terminal, records.

use tenter_testkit::{Output, PtySession, Sandbox};

use crate::chat::{PROMPT, asking};
use crate::{filter_kind, headless, sandbox};

const CONFIG: &str = "../home/.config/tenter/config.toml";

/// One edit and one command.
const WORK: &str = r"
turns:
  - tool_calls:
      - {name: file_write, input: {file_path: new.txt, text: hello}}
      - {name: bash, input: {command: touch ran}}
  - text: Done.
";

fn run(sandbox: &Sandbox, flags: &[&str]) -> Output {
    let model = sandbox.script(WORK);
    sandbox.run([&["run", "--model", &model], flags, &["go"]].concat()).expect_code(0)
}

/// Returns whether the edit and the command took effect.
fn effects(sandbox: &Sandbox) -> (bool, bool) {
    let exists = |name| sandbox.project().join(name).exists();
    (exists("new.txt"), exists("ran"))
}

const ALL: &[&str] = &["--permissions", "all"];
const ASK: &[&str] = &["--permissions", "ask"];
const FOREIGN_RULES: &[&str] = &["--allow", "Bash(touch:*)", "--allow", "Write(*.txt)"];
const ALLOW_BASH: &[&str] = &["--allow", "bash", "--permissions", "all"];
const RUN_ASK: &str = "run = \"ask\"";
const RUN_ALL: &str = "run = \"all\"";
const NOT_ALL: &str = "may not set permissions.run = \"all\"";
const DENY_TOUCH: &str = "deny = [\"bash(touch *)\"]";
const UNANSWERED: &str = "✗ bash touch ran: not allowed: the permission mode `ask` asks the user, and there is no user to ask";
const ALLOW: &str = "run = \"ask\"\nallow = [\"bash\"]";
const ASKS: &str = "the rule bash(touch *) asks the user, and there is no user to ask";
const DENIES: &str = "the rule bash(touch *) denies it";

/// Each row has flags, the user's and the project's table `permissions`, whether the edit and the command took effect, and a part of
/// what is printed.
#[test]
fn flags_and_both_files_decide_what_runs() {
    for (flags, user, project, effects, message) in [
        (&[][..], "", "", (true, true), ""),
        (ALL, "", "", (true, true), ""),
        (&["--permissions", "edits"], "", "", (true, false), ""),
        (ASK, "", "", (false, false), UNANSWERED),
        (ASK, "", "", (false, false), "--permissions all"),
        (&[], RUN_ASK, RUN_ALL, (false, false), NOT_ALL),
        (&[], "run = \"edits\"", RUN_ASK, (false, false), ""),
        (ALL, "run = \"ask\"\nchat = \"all\"", "", (true, true), ""),
        (ALLOW_BASH, DENY_TOUCH, "", (true, false), DENIES),
        (ALLOW_BASH, "", DENY_TOUCH, (true, false), DENIES),
        (ALLOW_BASH, "deny = [\"file_edit(*.txt)\"]", DENY_TOUCH, (false, false), DENIES),
        (&[], "ask = [\"bash(touch *)\"]", "", (true, false), ASKS),
        (&["--allow", "bash(touch *)"], RUN_ASK, "", (false, true), ""),
        (FOREIGN_RULES, RUN_ASK, "", (true, true), ""),
        (&[], "run = \"ask\"\nallow = [\"bash(touch ran)\"]", "", (false, true), ""),
        (&["--allow", "bash(git *)"], RUN_ASK, "", (false, false), ""),
        (&[], "run = \"ask\"\nallow = [\"bash(*)\"]", "", (false, false), "it allows nothing"),
        (&[], "", ALLOW, (false, false), "may not set permissions.allow"),
    ] {
        let sandbox = sandbox();
        sandbox.write(CONFIG, format!("[permissions]\n{user}\n"));
        sandbox.write("tenter.toml", format!("[permissions]\n{project}\n"));
        let output = run(&sandbox, flags);
        assert_eq!(self::effects(&sandbox), effects, "{flags:?} {user} {project}\n{output}");
        assert!(output.stderr.contains(message), "{message}\n{output}");
    }
}

#[test]
fn a_mode_or_a_rule_that_is_not_understood_is_an_error() {
    for (flags, project, message) in [
        (&["--permissions", "some"][..], "", "must be ask, edits or all"),
        (&["--allow", "bash(a; b)"], "", "is not a permission rule"),
        (&[], "deny = [\"bash(\"]", "permissions.deny in tenter.toml: "),
    ] {
        let sandbox = sandbox();
        sandbox.write("tenter.toml", format!("[permissions]\n{project}\n"));
        let model = sandbox.script(WORK);
        let args = [&["run", "--model", &model], flags, &["go"]].concat();
        sandbox.fails(2, &args, message);
    }
}

#[test]
fn a_run_that_plans_changes_nothing() {
    let sandbox = sandbox();
    let script = WORK.replace("  - text", "  - expect: {contains: [Plan mode is on]}\n    text");
    let output = sandbox.play(&script, &["--plan", "go"]).expect_code(0);
    assert_eq!(effects(&sandbox), (false, false), "{output}");
    assert!(output.stderr.contains("plan mode is on"), "{output}");
}

#[test]
fn in_a_chat_a_plan_is_carried_out_when_the_user_approves_it() {
    let sandbox = sandbox();
    let call = "{tool_calls: [{name: bash, input: {command: touch ran}}]}";
    let script = format!(
        "turns: [{call}, {{text: My plan., expect: {{contains: [Plan mode is on]}}}}, {call}, {{text: Done., expect: {{contains: [I approve the plan]}}}}]"
    );
    let mut chat = asking(&sandbox, &script, &["--allow", "bash"]);
    chat.wait_for(PROMPT);
    chat.type_in("do \x1b[Z");
    chat.answer("plan> do ", "it");
    let screen = chat.wait_for("\nplan> ");
    assert!(screen.contains("plan mode is on") && screen.contains("My plan."), "{screen}");
    assert!(!effects(&sandbox).1);
    chat.enter("/permissions");
    assert!(chat.wait_for("\nplan> ").contains("plan mode is on"));
    chat.enter("/go");
    chat.wait_for("\n> I approve the plan. Carry it out.\n");
    assert!(chat.wait_for(PROMPT).contains("Done."));
    assert!(effects(&sandbox).1);
    chat.enter("/go");
    assert!(chat.wait_for(PROMPT).contains("there is no plan to approve"));
}

#[test]
fn a_chat_asks_before_it_edits_and_runs() {
    let sandbox = sandbox();
    let mut chat = asking(&sandbox, WORK, &["go"]);
    let first = chat.answer("Run it? ", "y");
    let second = chat.answer("Run it? ", "r");
    chat.answer("Why not? ", "not here");
    let rest = chat.wait_for(PROMPT);
    let output = format!("{first}{second}{rest}");
    assert!(output.contains("? file_write needs your permission\n  new.txt\n"), "{output}");
    assert!(output.contains("    +hello\n"), "{output}");
    assert!(output.contains("? bash needs your permission\n  touch ran\n"), "{output}");
    // The two calls run at once, so either may be asked about first.
    let is_bash_last = second.contains("? bash needs");
    let refusal = if is_bash_last { "bash touch ran" } else { "file_write new.txt" };
    let reason = "not allowed: the user does not allow it: not here";
    assert!(output.contains(&format!("✗ {refusal}: {reason}")), "{output}");
}

#[test]
fn text_at_a_question_is_no_answer_and_follows_the_work() {
    let sandbox = sandbox();
    let script = "turns:
  - tool_calls: [{name: bash, input: {command: touch ran}}]
  - text: Back.
  - {text: Said., expect: {contains: [wait what?]}}";
    let mut chat = asking(&sandbox, script, &["go"]);
    chat.wait_for("Run it? ");
    chat.type_in("wait");
    chat.wait_for_row("> wait");
    assert!(!effects(&sandbox).1);
    chat.enter(" what?");
    chat.wait_for_row("queued: wait what?");
    chat.type_in("y");
    chat.wait_for("Back.");
    chat.wait_for("\n> wait what?\n");
    chat.wait_for("Said.");
    assert!(effects(&sandbox).1);
}

#[test]
fn run_asks_at_a_terminal() {
    let sandbox = sandbox();
    let model = sandbox.script(WORK);
    let mut terminal =
        sandbox.at_terminal(["run", "--permissions", "edits", "--model", &model, "go"]);
    terminal.answer("Run it? ", "yes");
    assert_eq!(terminal.end().0, Some(0));
    assert_eq!(effects(&sandbox), (true, true));
}

#[test]
fn ctrl_c_at_a_question_stops_the_answer() {
    let sandbox = sandbox();
    let script =
        "turns: [{tool_calls: [{name: bash, input: {command: touch ran}}]}, {text: Back.}]";
    let mut chat = asking(&sandbox, script, &["go"]);
    chat.wait_for("Run it? ");
    chat.type_in("\x03");
    chat.wait_for("stopped; your next message continues from here");
    chat.answer(PROMPT, "and now?");
    assert!(chat.wait_for(PROMPT).contains("Back."));
    assert_eq!(effects(&sandbox), (false, false));
}

#[test]
fn a_new_conversation_keeps_the_mode_and_forgets_the_answers() {
    let sandbox = sandbox();
    let call = "{tool_calls: [{name: bash, input: {command: echo x >> ran}}]}";
    let script = format!("turns: [{call}, {call}, {{text: One.}}, {call}, {{text: Two.}}]");
    let mut chat = asking(&sandbox, &script, &["go"]);
    chat.answer("Run it? ", "a");
    assert!(chat.wait_for(PROMPT).contains("One."));
    chat.enter("/new");
    chat.answer(PROMPT, "again");
    chat.answer("Run it? ", "n");
    assert!(chat.wait_for(PROMPT).contains("Two."));
    assert_eq!(sandbox.read("ran"), "x\nx\n");
}

#[test]
fn a_call_that_hides_its_end_or_controls_the_terminal_is_shown_as_what_it_is() {
    let sandbox = sandbox();
    let script = r#"turns: [{tool_calls: [{name: bash, input: {command: "ls\u001b[2K\rtouch ran \u202e"}}]}, {text: Ok.}]"#;
    let mut chat = asking(&sandbox, script, &["go"]);
    let screen = chat.answer("Run it? ", "n");
    assert!(screen.contains("touch ran"), "{screen}");
    assert!(!chat.raw().contains("\x1b[2K") && !chat.raw().contains('\u{202e}'), "{}", chat.raw());
}

#[test]
fn every_decision_is_in_the_stream_and_in_the_journal() {
    for (rules, by_rules, expected) in [
        ("", false, [r#""edits" "mode" true "#, r#""edits" "user" false nobody to ask"#]),
        (
            "allow = [\"bash(touch *)\"]",
            true,
            [r#""edits" "mode" true "#, r#""edits" "rule" true "#],
        ),
    ] {
        let sandbox = sandbox();
        sandbox.write(CONFIG, format!("[permissions]\nrun = \"edits\"\n{rules}\n"));
        let (lines, _) = headless(&sandbox, WORK);
        for records in [lines, sandbox.run("log --json").expect_code(0).json_lines()] {
            let text = |record: &&serde_json::Value| {
                let answer = record["answer"].as_str().unwrap_or_default();
                format!("{} {} {} {answer}", record["mode"], record["by"], record["allowed"])
            };
            let records = filter_kind(&records, "permission");
            let mut decided: Vec<String> = records.iter().map(text).collect();
            decided.sort();
            assert_eq!(decided, expected);
            let names_rule = |record: &&serde_json::Value| record["rules"][0] == "bash(touch *)";
            assert_eq!(records.iter().any(names_rule), by_rules, "{records:?}");
        }
        let log = sandbox.run("log").expect_code(0).stdout;
        assert!(log.contains("permission") && log.contains("by the mode in mode edits"), "{log}");
        let text = if by_rules { "bash(touch *)" } else { "answer: nobody to ask" };
        assert!(log.contains(text), "{log}");
    }
}

/// Builds a repository without the name `.git`, whose settings name a program, and has git read it.
const BARE: &str = r#"
turns:
  - tool_calls: [{name: file_write, input: {file_path: x/config, text: "[core]\n\tworktree = .\n\tfsmonitor = \"touch ../ran; false\"\n"}}]
  - tool_calls: [{name: file_write, input: {file_path: x/objects/a, text: ""}}]
  - tool_calls: [{name: file_write, input: {file_path: x/refs/a, text: ""}}]
  - tool_calls: [{name: file_write, input: {file_path: x/HEAD, text: "ref: refs/heads/main\n"}}]
  - tool_calls: [{name: bash, input: {command: cd x && git status}}]
  - tool_calls: [{name: bash, input: {command: git status}}]
  - text: Done.
"#;

#[test]
fn no_repository_that_file_tools_write_runs_a_program() {
    tenter_testkit::skip_unless!(tenter_testkit::needs::has("git"));
    let sandbox = sandbox();
    let model = sandbox.script(BARE);
    let run = |flags: &[&str]| {
        sandbox.run([&["run", "--model", &model], flags, &["go"]].concat()).expect_code(0)
    };
    let exists = |name| sandbox.project().join(name).exists();
    let output = run(&["--permissions", "edits", "--allow", "bash(git status)"]);
    assert!(exists("x/config") && !exists("x/HEAD") && !exists("ran"), "{output}");
    // Once it is complete, git does not use it either.
    sandbox.write("x/HEAD", "ref: refs/heads/main\n");
    let output = run(&["--permissions", "all"]);
    assert!(exists("x/objects/a") && exists("x/refs/a") && !exists("ran"), "{output}");
}

/// Two messages, each with a command.
const TWO: &str = "turns: [{tool_calls: [{name: bash, input: {command: pytest -x}}]}, {text: One.}, {tool_calls: [{name: bash, input: {command: pytest -q}}]}, {text: Two.}]";

#[test]
fn a_rule_is_kept_for_the_project_and_removed_again() {
    let sandbox = sandbox();
    let mut chat = asking(&sandbox, TWO, &["go"]);
    let screen = chat.answer("Run it? ", "p");
    assert!(screen.contains("[p] always in this project: builds(pytest)"), "{screen}");
    assert!(chat.wait_for(PROMPT).contains("One."));
    chat.enter("/exit");
    assert_eq!(chat.end().0, Some(0));
    let file = sandbox.home().join(".local/state/tenter/permissions.json");
    let mode = std::os::unix::fs::PermissionsExt::mode(&file.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);

    let mut chat = asking(&sandbox, TWO, &["go"]);
    assert!(chat.wait_for(PROMPT).contains("One."));
    let screen = |chat: &mut PtySession, line: &str| {
        chat.enter(line);
        chat.wait_for(PROMPT)
    };
    let listing = screen(&mut chat, "/permissions");
    assert!(
        listing.contains("ask  asks before") && listing.contains("builds(pytest) (this project)"),
        "{listing}"
    );
    assert!(
        screen(&mut chat, "/permissions remove builds(pytest)").contains("Removed: builds(pytest)")
    );
    chat.enter("again");
    chat.answer("Run it? ", "n");
    assert!(chat.wait_for(PROMPT).contains("Two."));
    assert!(!std::fs::read_to_string(file).unwrap().contains("pytest"));
}

#[test]
fn the_chat_switches_modes_and_adds_rules() {
    let sandbox = sandbox();
    let mut chat = asking(&sandbox, WORK, &[]);
    chat.wait_for(PROMPT);
    let mut say = |line: &str| {
        chat.enter(line);
        chat.wait_for(PROMPT)
    };
    assert!(say("/permissions edits").contains("The mode is edits now"));
    assert!(
        say("/permissions add bash(touch *)").contains("Allowed in this project: bash(touch *)")
    );
    assert!(say("/permissions some").contains("is neither a mode nor"));
    assert!(say("/permissions add bash(a; b)").contains("is not a permission rule"));
    assert!(say("/permissions remove bash").contains("there is no rule bash"));
    assert!(say("go").contains("Done."));
    assert_eq!(effects(&sandbox), (true, true));
}

#[test]
fn a_damaged_file_of_rules_allows_nothing_and_is_reported() {
    let sandbox = sandbox();
    sandbox.write(
        "../home/.local/state/tenter/permissions.json",
        "{\"version\": 1, \"projects\": [\"bash\"]}",
    );
    let output = run(&sandbox, &["--permissions", "ask"]);
    assert!(output.stderr.contains("it is damaged"), "{output}");
    assert_eq!(effects(&sandbox), (false, false));
}
