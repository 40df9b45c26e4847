//! Recipes that hooks call back: which one, with what it may do, and what it costs; and who wins of several hooks.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use tenter_agent::UserMessage;
use tenter_agent::permission::{Asker, PermissionAnswer};
use tenter_agent::session::Status;
use tenter_agent::store::ListQuery;
use tenter_protocol::ToolCall;

use crate::session_stage::{QUICK, Stage};

/// Returns a hook's answer that has `recipe` called back, the first time.
fn callback(recipe: &str, args: &str) -> String {
    format!(
        "[ -e called ] || {{ touch called; echo '{{\"result\": \"callback\", \"callback\": \"{recipe}\", \"callback_args\": {{{args}}}}}'; }}"
    )
}

/// Returns a stage with two turns, a recipe `digest` with this front matter, which answers so, and a hook that calls it back.
fn stage(front: &str, answers: &str) -> Stage {
    let script = format!(
        "turns:\n  - {{text: One., tool_calls: [{{name: todo}}], usage: {{input_tokens: 100, output_tokens: 10}}, cost_usd: 1.0}}\n  - {{text: Two., usage: {{input_tokens: 50, output_tokens: 5}}, cost_usd: 1.0}}\nrecipes: {{digest: {answers}, compact: [SUM]}}\ncontext_window: 16000\n"
    );
    let mut stage = Stage::new(&script, QUICK);
    stage.write(
        "home/.kodelet/recipes/digest.md",
        &format!(
            "---\nname: digest\n{front}\n---\nDigest it in {{{{default .language \"English\"}}}}.\n"
        ),
    );
    stage.hook("caller", "after_turn", "", &callback("digest", "\"language\": \"Latin\""));
    stage
}

fn sent(stage: &Stage) -> Vec<String> {
    let (finish, _) = stage.send(&"go".into());
    assert_eq!(
        (finish.status, finish.response.as_str()),
        (Status::Done, "Two."),
        "{:?}",
        stage.reports()
    );
    stage.stored().0.iter().map(tenter_protocol::Message::content).collect()
}

#[test]
fn the_recipe_gets_its_arguments_and_its_answer_becomes_the_history() {
    let mut stage =
        stage("", "[{text: DIGEST, expect: {contains: [Digest it in Latin., go, One.]}}]");
    stage.hook("log", "pre_compact", "", "printf '%s\\n' \"$payload\" >> log");
    let history = sent(&stage);
    assert!(history[0].contains("DIGEST"), "{history:?}");
    assert_eq!(history[1..], ["go", "Two."]);
    assert_eq!(stage.logged("log")[0]["trigger"], "hook");
    let change = stage.epochs()[1].change.clone().unwrap();
    assert_eq!(
        (change.by.as_str(), change.reason.as_deref()),
        ("digest", Some("the hook caller requested it"))
    );
}

#[test]
fn without_a_list_a_side_recipe_has_the_callers_tools_without_hooks_and_store() {
    let mut stage = stage(
        "",
        "[{tool_calls: [{name: bash, input: {command: echo aside >> aside}}], usage: {input_tokens: 15900, output_tokens: 9}}, {text: DIGEST}]",
    );
    let triggers = [
        "session_start",
        "before_agent",
        "before_tool",
        "after_tool",
        "after_turn",
        "before_stop",
        "after_agent",
        "pre_compact",
        "post_compact",
        "session_end",
    ];
    for trigger in triggers {
        stage.hook(
            &format!("z-{}", trigger.replace('_', "-")),
            trigger,
            "",
            &format!("echo {trigger} >> log"),
        );
    }
    assert!(sent(&stage)[0].contains("DIGEST"));
    assert_eq!(stage.read("aside"), "aside\n");
    let log = stage.read("log");
    let expected = [
        "session_start",
        "before_agent",
        "before_tool",
        "after_tool",
        "after_turn",
        "pre_compact",
        "post_compact",
        "after_turn",
        "before_stop",
        "after_agent",
        "session_end",
    ];
    assert_eq!(log.lines().collect::<Vec<_>>(), expected);
    assert_eq!(
        stage.reports_of("text"),
        ["text One.", "text Two."],
        "what it says is not the conversation's"
    );
    let query = ListQuery { project: None, limit: 10, include_subagents: true };
    assert_eq!(stage.agent.store.list(&query).unwrap().len(), 1);
}

#[test]
fn a_missing_recipe_is_a_failure_of_its_hook_and_is_not_shown_as_running() {
    let mut stage = stage("", "[DIGEST]");
    stage.hook("caller", "after_turn", "", &callback("digset", ""));
    sent(&stage);
    let reports = stage.reports_of("failed caller");
    assert_eq!(
        reports,
        [
            "failed caller: its callback cannot start: there is no recipe \"digset\"; did you mean \"digest\"?"
        ]
    );
    assert_eq!(stage.reports_of("recipe"), [""; 0]);
}

#[test]
fn a_side_recipe_has_its_own_todo_list() {
    let mut stage = Stage::new(
        "turns:
  - {tool_calls: [{name: todo, input: {todos: [{content: mine, status: pending}]}}]}
  - {tool_calls: [{name: todo}]}
  - {text: Two., expect: {contains: [mine], lacks: [aside]}}
recipes:
  digest:
    - {tool_calls: [{name: todo, input: {todos: [{content: aside, status: pending}]}}]}
    - {text: DIGEST, expect: {contains: [aside]}}
",
        QUICK,
    );
    stage.write("home/.kodelet/recipes/digest.md", "Digest it.");
    stage.hook("caller", "after_turn", "", &callback("digest", ""));
    assert!(sent(&stage)[0].contains("DIGEST"), "{:?}", stage.reports());
}

/// A project could contain a recipe that makes the model do what the user's hooks forbid, without hooks.
#[test]
fn an_untrusted_project_recipe_gets_no_tools_and_this_is_reported() {
    let stage = stage(
        "",
        "[{tool_calls: [{name: bash, input: {command: touch made}}]}, {text: DIGEST, expect: {contains: ['there is no tool \"bash\"']}}]",
    );
    stage.write("project/.kodelet/recipes/digest.md", "Digest it with bash.");
    assert!(sent(&stage)[0].contains("DIGEST"), "{:?}", stage.reports());
    assert!(!stage.agent.engine.project().join("made").exists());
    assert_eq!(stage.reports_of("recipe-untrusted").len(), 1, "{:?}", stage.reports());
}

#[test]
fn an_empty_list_means_no_tools_and_a_list_never_exceeds_the_callers() {
    for (front, own) in [
        ("allowed_tools: []", vec!["bash", "todo"]),
        ("allowed_tools: [grep]", vec!["bash", "todo"]),
        ("allowed_tools: [bash]", vec!["todo"]),
    ] {
        let mut stage = stage(
            front,
            "[{tool_calls: [{name: bash, input: {command: touch made}}]}, {text: DIGEST, expect: {contains: ['there is no tool \"bash\"']}}]",
        );
        let own: Vec<String> = own.into_iter().map(str::to_owned).collect();
        stage.agent.tools = stage.agent.tools.restrict(&own).unwrap();
        assert!(sent(&stage)[0].contains("DIGEST"), "{front}: {:?}", stage.reports());
        assert!(!stage.agent.engine.project().join("made").exists());
        assert!(
            stage.agent.tools.iter().any(|tool| tool.name() == "todo"),
            "its caller keeps its own"
        );
    }
}

#[test]
fn a_side_recipe_runs_only_allowed_commands() {
    let stage = stage(
        "allowed_commands: ['echo *']",
        "[{tool_calls: [{name: bash, input: {command: touch made}}, {name: bash, input: {command: echo fine}}]}, {text: DIGEST, expect: {contains: [fine, not allowed]}}]",
    );
    assert!(sent(&stage)[0].contains("DIGEST"), "{:?}", stage.reports());
    assert!(!stage.agent.engine.project().join("made").exists());
}

#[test]
fn usage_of_a_side_recipe_counts_once_now_and_after_a_reload() {
    let usage_of =
        "usage: {input_tokens: 1000, output_tokens: 100, cached_input_tokens: 900}, cost_usd: 0.5";
    let stage = stage(
        "",
        &format!("[{{tool_calls: [{{name: todo}}], {usage_of}}}, {{text: DIGEST, {usage_of}}}]"),
    );
    let (_, usage) = stage.send(&"go".into());
    assert_eq!((usage.input_tokens, usage.output_tokens, usage.cost_usd), (2150, 215, Some(3.0)));
    let saved_value = stage.agent.store.load(crate::session_stage::ID).unwrap().summary.usage;
    assert_eq!(
        (saved_value.input_tokens, saved_value.output_tokens, saved_value.cost_usd),
        (2150, 215, Some(3.0))
    );
    assert_eq!((saved_value.current_context_window, usage.current_context_window), (55, 55));
}

#[test]
fn usage_of_failed_attempts_is_counted() {
    let usage_line = "usage: {input_tokens: 1000, output_tokens: 100}, cost_usd: 0.5";
    let script = format!(
        "turns: [{{text: One., usage: {{input_tokens: 100, output_tokens: 10}}, cost_usd: 1.0}}]\nrecipes: {{compact: [{{tool_calls: [{{name: todo}}], {usage_line}}}, {{fault: {{kind: refused}}}}]}}\n"
    );
    let stage = Stage::new(&script, QUICK);
    let mut session = stage.session();
    session.send(&"go".into());
    session.compact(&BTreeMap::new()).unwrap();
    let live = *session.usage();
    session.end(Status::Done, Status::Done.exit_reason());
    let saved_value = stage.agent.store.load(crate::session_stage::ID).unwrap().summary.usage;
    for usage in [live, saved_value] {
        assert_eq!(
            (usage.input_tokens, usage.output_tokens, usage.cost_usd),
            (1100, 110, Some(1.5))
        );
        assert_eq!(usage.current_context_window, 110, "the history is what it was");
    }
}

#[test]
fn the_first_history_action_wins_later_ones_are_reported_and_the_built_in_yields_silently() {
    let script = "turns:\n  - {text: One., tool_calls: [{name: todo}], usage: {input_tokens: 15000, output_tokens: 10}}\n  - {text: Two.}\nrecipes: {compact: [SUM]}\ncontext_window: 16000\n";
    let mutate = "[ -e called ] || { touch called; echo '{\"result\": \"mutate\", \"messages\": [{\"role\": \"user\", \"content\": \"MINE\"}]}'; }";
    for with_second in [false, true] {
        let mut stage = Stage::new(script, QUICK);
        stage.hook("a", "after_turn", "", mutate);
        if with_second {
            stage.hook(
                "b",
                "after_turn",
                "",
                &callback("compact", "").replace("called", "called-b"),
            );
        }
        let history = sent(&stage);
        assert_eq!(history, ["MINE", "Two."]);
        assert_eq!(stage.reports_of("recipe"), [] as [&str; 0]);
        assert_eq!(stage.reports_of("history-conflict").len(), usize::from(with_second));
    }
}

#[test]
fn a_mutation_that_a_model_could_not_continue_from_changes_nothing() {
    let unanswered = r#"{"role": "assistant", "blocks": [{"type": "tool_use", "id": "1", "name": "bash", "input": {}}]}"#;
    for messages in [
        String::new(),
        r#"{"role": "assistant", "content": "bye"}"#.to_owned(),
        r#"{"role": "user", "content": " "}"#.to_owned(),
        r#"{"role": "root", "content": "x"}"#.to_owned(),
        format!(r#"{unanswered}, {{"role": "user", "content": "continue"}}"#),
    ] {
        let mut stage = Stage::new(
            "turns: [{text: One., tool_calls: [{name: todo}]}, {text: Two., expect: {contains: [One.]}}]",
            QUICK,
        );
        stage.hook(
            "a",
            "after_turn",
            "",
            &format!("echo '{{\"result\": \"mutate\", \"messages\": [{messages}]}}'"),
        );
        assert_eq!(sent(&stage)[0], "go", "{messages}");
        assert_eq!(stage.epochs().len(), 1, "{messages}");
    }
}

#[test]
fn at_the_stop_a_callback_precedes_the_follow_up() {
    let script = "turns:\n  - {text: One.}\n  - {text: Two., expect: {contains: [SUM, go, again], lacks: [One.]}}\nrecipes: {compact: [SUM]}\n";
    let mut stage = Stage::new(script, QUICK);
    let answer = callback("compact", "")
        .replace("\"result\"", "\"follow_up_messages\": [\"again\"], \"result\"");
    stage.hook("stop", "before_stop", "", &answer);
    let history = sent(&stage);
    assert!(history[0].contains("SUM"));
    assert_eq!(history[1..], ["go", "again", "Two."]);
}

#[test]
fn a_project_that_is_not_trusted_starts_nothing_through_its_recipe() {
    let stage = Stage::new(
        "turns: [{text: One.}]\nrecipes: {compact: [{text: SUM, expect: {contains: [is not trusted]}}]}",
        QUICK,
    );
    stage.write(
        "project/.kodelet/recipes/compact.md",
        "---\nname: compact\n---\n{{bash \"touch\" \"made\"}}\n",
    );
    let mut session = stage.session();
    session.send(&UserMessage::from("go"));
    session.compact(&BTreeMap::new()).unwrap();
    assert_eq!(stage.reports_of("history").len(), 1, "{:?}", stage.reports());
    assert!(!stage.agent.engine.project().join("made").exists());
}

/// A user who agrees to everything.
struct Agrees;

impl Asker for Agrees {
    fn ask(&self, _: &str, _: &str, _: &ToolCall) -> PermissionAnswer {
        PermissionAnswer::Yes
    }
    fn agrees_to_write(&self, _: &Path, _: &Path) -> bool {
        true
    }
}

#[test]
fn a_side_recipe_asks_no_questions_and_changes_nothing_protected() {
    let write = |name: &str| {
        format!("{{name: file_write, input: {{file_path: .agents/hooks/{name}, text: x}}}}")
    };
    let answers = format!("[{{tool_calls: [{}]}}, {{text: DIGEST}}]", write("recipe"));
    let mut stage = stage("", &answers);
    stage.agent.asker = Arc::new(Agrees);
    assert!(sent(&stage)[0].contains("DIGEST"));
    assert_eq!(stage.read(".agents/hooks/recipe"), "");
    let script = format!("turns: [{{tool_calls: [{}]}}, {{text: ok}}]", write("agent"));
    let mut stage = Stage::new(&script, QUICK);
    stage.agent.asker = Arc::new(Agrees);
    stage.send(&"go".into());
    assert_eq!(stage.read(".agents/hooks/agent"), "x");
}
