//! Permissions: the calls that the user is asked about, after hooks.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use tenter_agent::permission::{
    Asker, PermissionAnswer, PermissionMode, PermissionReply, PermissionRequest, Permissions,
    Restrictions, RuleSource, RuleStore, Rules,
};
use tenter_protocol::{Block, ToolCall, json};

use crate::session_stage::{QUICK, Stage};

/// Gives the same answer to every question, and records the calls that the questions are for.
struct Answers {
    reply: PermissionReply,
    questions: Mutex<Vec<String>>,
    is_asking: AtomicBool,
}

impl Asker for Answers {
    fn ask(&self, hook: &str, _: &str, call: &ToolCall) -> PermissionAnswer {
        self.questions.lock().unwrap().push(format!("{hook}: {}", json::to_string(&call.input)));
        PermissionAnswer::Yes
    }

    fn permits(&self, request: &PermissionRequest<'_>) -> PermissionReply {
        assert!(!self.is_asking.swap(true, Ordering::SeqCst), "two questions at once");
        (0..100).for_each(|_| std::thread::yield_now());
        let subagent = if request.is_from_subagent { "subagent " } else { "" };
        let input = json::to_string(&request.call.input);
        self.questions.lock().unwrap().push(format!("{subagent}{} {input}", request.call.name));
        self.is_asking.store(false, Ordering::SeqCst);
        self.reply.clone()
    }
}

/// Returns a stage in this mode, whose user answers like this.
fn stage(script: &str, mode: PermissionMode, reply: PermissionReply) -> (Stage, Arc<Answers>) {
    let mut stage = Stage::new(script, QUICK);
    let questions = Mutex::default();
    let answers = Arc::new(Answers { reply, questions, is_asking: AtomicBool::new(false) });
    stage.agent.permissions = Permissions::new(mode, Rules::default());
    stage.agent.asker = Arc::clone(&answers) as Arc<dyn Asker>;
    (stage, answers)
}

/// Returns the questions, and the results that the model read.
fn played((stage, answers): &(Stage, Arc<Answers>)) -> (Vec<String>, Vec<String>) {
    stage.send(&"go".into());
    let blocks = stage.stored().0.into_iter().flat_map(|message| message.blocks);
    let results = blocks.filter_map(|block| match block {
        Block::ToolResult { result, .. } => Some(result.text()),
        _ => None,
    });
    (answers.questions.lock().unwrap().clone(), results.collect())
}

const NO: PermissionReply = PermissionReply::No { reason: None };

/// One call of each kind.
const KINDS: &str = r"
turns:
  - tool_calls:
      - {name: glob, input: {pattern: '*'}}
      - {name: file_write, input: {file_path: new, text: x}}
      - {name: bash, input: {command: touch ran}}
  - text: Done.
";

fn exists(stage: &Stage, name: &str) -> bool {
    stage.agent.engine.project().join(name).exists()
}

#[test]
fn a_mode_asks_about_what_does_more_than_it_lets_pass() {
    for (mode, asked_tools) in [
        (PermissionMode::Ask, &["bash", "file_write"][..]),
        (PermissionMode::Edits, &["bash"]),
        (PermissionMode::All, &[]),
    ] {
        let played_stage = stage(KINDS, mode, NO);
        let (questions, _) = played(&played_stage);
        let mut tools: Vec<&str> =
            questions.iter().map(|line| line.split(' ').next().unwrap()).collect();
        tools.sort_unstable();
        assert_eq!(tools, asked_tools, "{mode}");
        let stage = &played_stage.0;
        assert_eq!(exists(stage, "new"), !asked_tools.contains(&"file_write"), "{mode}");
        assert_eq!(exists(stage, "ran"), !asked_tools.contains(&"bash"), "{mode}");
    }
}

#[test]
fn the_model_reads_why_a_call_was_not_allowed() {
    let call = "turns: [{tool_calls: [{name: bash, input: {command: touch ran}}]}, {text: Done.}]";
    for (reply, text) in [
        (NO, "<error>not allowed: the user does not allow it</error>"),
        (
            PermissionReply::No { reason: Some("use make".to_owned()) },
            "<error>not allowed: the user does not allow it: use make</error>",
        ),
        (PermissionReply::NoUser, "there is no user to ask"),
    ] {
        let played_stage = stage(call, PermissionMode::Ask, reply);
        let (_, results) = played(&played_stage);
        assert!(results[0].contains(text), "{results:?}");
        assert!(!exists(&played_stage.0, "ran"));
    }
}

#[test]
fn always_allows_exactly_this_call_however_the_model_describes_it() {
    let script = r"
turns:
  - tool_calls: [{name: bash, input: {command: echo a >> ran, description: once}}]
  - tool_calls: [{name: bash, input: {command: echo a >> ran, description: again}}]
  - tool_calls: [{name: bash, input: {command: echo b >> ran}}]
  - text: Done.
";
    let stage = stage(script, PermissionMode::Ask, PermissionReply::Always);
    assert_eq!(played(&stage).0.len(), 2);
    assert_eq!(stage.0.read("ran"), "a\na\nb\n");
}

#[test]
fn parallel_calls_ask_one_after_the_other() {
    let call = |n: usize| format!("{{name: bash, input: {{command: touch ran{n}}}}}");
    let calls: Vec<String> = (0..12).map(call).collect();
    let script = format!("turns: [{{tool_calls: [{}]}}, {{text: Done.}}]", calls.join(", "));
    let stage = stage(&script, PermissionMode::Ask, PermissionReply::Yes);
    assert_eq!(played(&stage).0.len(), 12);
    assert!((0..12).all(|n| exists(&stage.0, &format!("ran{n}"))));
}

#[test]
fn a_subagents_calls_are_asked_about_and_the_subagent_itself_is_not() {
    let script = r"
turns:
  - tool_calls: [{name: subagent, input: {question: Do it.}}]
  - tool_calls: [{name: bash, input: {command: touch ran}}]
  - text: I may not.
  - text: Done.
";
    let played_stage = stage(script, PermissionMode::Ask, NO);
    let (questions, _) = played(&played_stage);
    assert_eq!(questions, [r#"subagent bash {"command": "touch ran"}"#]);
    assert!(!exists(&played_stage.0, "ran"));
}

/// One command.
const COMMAND: &str = r"
turns:
  - tool_calls: [{name: bash, input: {command: touch ran}}]
  - text: Done.
";

#[test]
fn a_hooks_deny_stands_and_its_allow_settles_the_question() {
    for (reply, runs) in [("deny", false), ("allow", true)] {
        let mut stage = stage(COMMAND, PermissionMode::Ask, NO);
        let body = format!(r#"echo '{{"decision": "{reply}"}}'"#);
        stage.0.hook("guard", "before_tool", "", &body);
        assert_eq!(played(&stage).0, [] as [&str; 0], "{reply}");
        assert_eq!(exists(&stage.0, "ran"), runs, "{reply}");
    }
}

#[test]
fn a_hooks_question_is_not_followed_by_another() {
    let mut stage = stage(COMMAND, PermissionMode::Ask, NO);
    stage.0.hook("guard", "before_tool", "", r#"echo '{"decision": "ask", "reason": "sure?"}'"#);
    assert_eq!(played(&stage).0, [r#"guard: {"command": "touch ran"}"#]);
    assert!(exists(&stage.0, "ran"));
}

#[test]
fn an_executable_that_does_not_object_allows_nothing() {
    let mut stage = stage(COMMAND, PermissionMode::Ask, NO);
    let script = "#!/bin/sh\nif [ \"$1\" = hook ]; then echo before_tool_call; exit; fi\necho '{\"blocked\": false}'\n";
    let file = stage.0.write("home/.config/agents/hooks/fine", script);
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
    // Loads all hooks.
    stage.0.hook("silent", "before_tool", "", "touch seen");
    assert_eq!(played(&stage).0.len(), 1);
    assert!(exists(&stage.0, "seen") && !exists(&stage.0, "ran"));
}

#[test]
fn the_question_is_about_the_input_that_runs() {
    let mut stage = stage(COMMAND, PermissionMode::Ask, PermissionReply::Yes);
    let rewrite = r#"echo '{"modified_input": {"command": "touch other"}}'"#;
    stage.0.hook("rewriter", "before_tool", "", rewrite);
    assert_eq!(played(&stage).0, [r#"bash {"command": "touch other"}"#]);
    assert!(exists(&stage.0, "other") && !exists(&stage.0, "ran"));
}

#[test]
fn a_hooks_allow_is_for_the_input_that_it_saw() {
    for (priorities, asks) in [((900, 100), true), ((100, 900), false)] {
        let mut stage = stage(COMMAND, PermissionMode::Ask, NO);
        let (allow, rewrite) = priorities;
        let body = r#"echo '{"decision": "allow"}'"#;
        stage.0.hook("allows", "before_tool", &format!("priority: {allow}"), body);
        let body = r#"echo '{"modified_input": {"command": "touch other"}}'"#;
        stage.0.hook("rewrites", "before_tool", &format!("priority: {rewrite}"), body);
        assert_eq!(!played(&stage).0.is_empty(), asks, "{priorities:?}");
        assert_eq!(exists(&stage.0, "other"), !asks, "{priorities:?}");
    }
}

#[test]
fn an_invalid_input_is_not_asked_about() {
    let script = "turns: [{tool_calls: [{name: bash, input: {command: ''}}, {name: nothing, input: {}}]}, {text: Done.}]";
    let (questions, results) = played(&stage(script, PermissionMode::Ask, PermissionReply::Yes));
    assert_eq!(questions, [] as [&str; 0]);
    assert!(results[0].contains("the input does not fit: command: must not be empty"));
    assert!(results[1].contains("there is no tool"));
}

/// Keeps nothing, and fails.
struct FullDisk;

impl RuleStore for FullDisk {
    fn add(&self, _: &[tenter_agent::permission::Rule]) -> Result<(), String> {
        Err("disk full".to_owned())
    }

    fn remove(&self, _: &tenter_agent::permission::Rule) -> Result<(), String> {
        Err("disk full".to_owned())
    }
}

#[test]
fn an_added_rule_settles_the_questions_that_wait_for_the_answer() {
    let call = |n: usize| format!("{{name: bash, input: {{command: pytest ran{n}}}}}");
    let calls: Vec<String> = (0..6).map(call).collect();
    let script = format!("turns: [{{tool_calls: [{}]}}, {{text: Done.}}]", calls.join(", "));
    let mut stage = stage(&script, PermissionMode::Ask, PermissionReply::AddRules);
    let rules = Rules::new(Vec::new(), Some(Arc::new(FullDisk)));
    stage.0.agent.permissions = Permissions::new(PermissionMode::Ask, rules);
    let (questions, results) = played(&stage);
    assert_eq!(questions.len(), 1);
    assert!(!results.concat().contains("not allowed"), "{results:?}");
    let rules = stage.0.agent.permissions.rules().list();
    assert_eq!(rules, [("builds(pytest)".parse().unwrap(), RuleSource::Project)]);
    let reports = stage.0.reports();
    assert!(
        reports.iter().any(|line| line.contains("in this session only: disk full")),
        "{reports:?}"
    );
}

/// Returns a stage whose agent runs each of these commands, a response each.
fn commands(commands: &[&str], mode: PermissionMode) -> (Stage, Arc<Answers>) {
    let call = |command: &&str| {
        let input = json::to_string(&serde_json::json!({"command": command}));
        format!("  - tool_calls: [{{name: bash, input: {input}}}]\n")
    };
    let turns: String = commands.iter().map(call).collect();
    stage(&format!("turns:\n{turns}  - text: Done.\n"), mode, NO)
}

/// Returns the commands that the user was asked about.
fn questions_about(stage: &(Stage, Arc<Answers>)) -> Vec<String> {
    let command = |question: String| {
        let input = question.split_once(' ').unwrap().1.to_owned();
        let input: serde_json::Value = serde_json::from_str(&input).unwrap();
        input["command"].as_str().unwrap().to_owned()
    };
    played(stage).0.into_iter().map(command).collect()
}

#[test]
fn commands_that_only_read_run_without_a_question() {
    let reading = ["ls -la", "cat a | wc -l", "git status && git log -1", "rg -n x .", "ls; pwd"];
    let stage = commands(&reading, PermissionMode::Ask);
    stage.0.write("project/a", "x");
    assert_eq!(questions_about(&stage), [""; 0]);
    let others = [
        "touch ran",
        "cat /etc/passwd",
        "cat a > ran",
        "ls $(touch ran)",
        "ls \"$x\"",
        "git -c core.pager=x log",
        "find . -delete",
        "cd / && cat a",
        "PATH=. ls",
        "./ls",
        "curl example.com",
        "sh -c ls",
        "kubectl get secrets",
        "gh pr list",
        "journalctl",
        "ls & rm a",
    ];
    let stage = commands(&others, PermissionMode::Ask);
    assert_eq!(questions_about(&stage), others);
    assert!(!exists(&stage.0, "ran"));
}

fn restrict(stage: &mut Stage, mode: PermissionMode, deny: &[&str], ask: &[&str]) {
    let rules = |rules: &[&str]| {
        let rules = rules.iter().map(|rule| (rule.parse().unwrap(), RuleSource::Configuration));
        rules.collect()
    };
    let restrictions = Restrictions { deny: rules(deny), ask: rules(ask) };
    let allow = vec![("bash".parse().unwrap(), RuleSource::Flag)];
    let permissions = Permissions::new(mode, Rules::new(allow, None));
    stage.agent.permissions = permissions.with_restrictions(restrictions);
}

#[test]
fn a_denied_call_does_not_run_whatever_else_allows_it() {
    for mode in [PermissionMode::Ask, PermissionMode::All] {
        let mut stage = stage(COMMAND, mode, PermissionReply::Yes);
        restrict(&mut stage.0, mode, &["bash(touch *)"], &[]);
        stage.0.hook("allows", "before_tool", "", r#"echo '{"decision": "allow"}'"#);
        let (questions, results) = played(&stage);
        assert_eq!(questions, [""; 0]);
        assert!(results[0].contains("the rule bash(touch *) denies it"), "{results:?}");
        assert!(!exists(&stage.0, "ran"));
    }
}

#[test]
fn an_ask_rule_asks_in_every_mode_unless_a_hook_decides() {
    for (reply, runs) in [(NO, false), (PermissionReply::Yes, true)] {
        let mut stage = stage(COMMAND, PermissionMode::All, reply);
        restrict(&mut stage.0, PermissionMode::All, &[], &["bash(touch *)"]);
        assert_eq!(played(&stage).0.len(), 1);
        assert_eq!(exists(&stage.0, "ran"), runs);
    }
    let mut stage = stage(COMMAND, PermissionMode::All, NO);
    restrict(&mut stage.0, PermissionMode::All, &[], &["bash(touch *)"]);
    stage.0.hook("allows", "before_tool", "", r#"echo '{"decision": "allow"}'"#);
    assert_eq!(played(&stage).0, [""; 0]);
    assert!(exists(&stage.0, "ran"));
}

#[test]
fn in_plan_mode_nothing_changes_until_the_user_approves_the_plan() {
    let script = r"
turns:
  - tool_calls:
      - {name: glob, input: {pattern: '*'}}
      - {name: bash, input: {command: ls}}
      - {name: file_write, input: {file_path: new, text: x}}
      - {name: bash, input: {command: touch ran}}
  - text: My plan.
  - tool_calls: [{name: bash, input: {command: touch ran}}]
  - text: Done.
";
    let mut stage = stage(script, PermissionMode::All, PermissionReply::Yes);
    stage.0.hook("allows", "before_tool", "", r#"echo '{"decision": "allow"}'"#);
    stage.0.agent.permissions.set_planning(true);
    let (questions, results) = played(&stage);
    assert_eq!(questions, [""; 0]);
    assert!(!results[0].contains("not allowed") && !results[1].contains("not allowed"));
    for result in &results[2..] {
        assert!(result.contains("plan mode is on"), "{result}");
    }
    assert!(!exists(&stage.0, "new") && !exists(&stage.0, "ran"));
    stage.0.agent.permissions.set_planning(false);
    stage.0.send(&"go ahead".into());
    assert!(exists(&stage.0, "ran"));
}
