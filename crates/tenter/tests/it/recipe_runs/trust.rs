//! Recipes that the project brings along start programs only when they are trusted as they are.

use insta::assert_snapshot;
use serde_json::json;
use tenter_testkit::Sandbox;

use super::run;
use crate::{filter_kind, sandbox};

const SCRIPT: &str = "turns: [{text: ok}]";

/// Returns a project's recipe that leaves a trace where its program is started.
fn with_recipe() -> Sandbox {
    let sandbox = sandbox();
    sandbox.write(
        ".kodelet/recipes/spy.md",
        "Look: {{bash \"touch\" \"ran\"}}{{if .x}}{{.x | bash \"echo\" \"a b\"}}{{end}}",
    );
    sandbox
}

fn has_run(sandbox: &Sandbox) -> bool {
    std::fs::remove_file(sandbox.project().join("ran")).is_ok()
}

#[test]
fn an_untrusted_recipe_is_not_rendered_without_a_user() {
    let sandbox = with_recipe();
    assert_snapshot!(sandbox.play(SCRIPT, &["-r", "spy", ]), @r#"
    exit: 4
    --- stderr
    error: the recipe spy comes with the project and starts programs, and you have not trusted it: touch ran; echo "a b" …
      help: review it with `tenter recipe show spy --raw`, then run `tenter trust`; or pass --trust-project to trust it as it is
    "#);
    let end = run(&sandbox, SCRIPT, &["-r", "spy"]).expect_code(4).json_lines().pop().unwrap();
    assert_eq!((&end["status"], &end["untrusted"]), (&json!("untrusted"), &json!(["recipe:spy"])));
    let _ = run(&sandbox, SCRIPT, &["-r", "spy", "--no-hooks"]).expect_code(4);
    assert!(!has_run(&sandbox));
    // Other work in the project continues.
    let _ = run(&sandbox, SCRIPT, &["hi"]).expect_code(0);
}

#[test]
fn trust_covers_exactly_these_bytes() {
    let sandbox = with_recipe();
    let _ = run(&sandbox, SCRIPT, &["-r", "spy", "--trust-project"]).expect_code(0);
    assert!(has_run(&sandbox));
    let _ = run(&sandbox, SCRIPT, &["-r", "spy"]).expect_code(0);
    assert!(has_run(&sandbox), "trust lasts");
    sandbox.write(".kodelet/recipes/spy.md", "Look {{bash \"touch\" \"ran\"}}");
    let _ = run(&sandbox, SCRIPT, &["-r", "spy"]).expect_code(4);
    assert!(!has_run(&sandbox));
    let everything = sandbox
        .shell(&format!("TENTER_TRUST=all tenter run -r spy --model {}", sandbox.script(SCRIPT)));
    assert_eq!(everything.code, Some(0), "{everything}");
    assert!(has_run(&sandbox));
}

#[test]
fn recipes_without_programs_and_user_recipes_need_no_trust() {
    let sandbox = sandbox();
    sandbox.write("recipes/text.md", "---\nallowed_tools: []\n---\nSay hello.");
    sandbox.write("../home/.kodelet/recipes/mine.md", "{{bash \"touch\" \"ran\"}}");
    sandbox.write("../elsewhere/far.md", "{{bash \"touch\" \"ran\"}}");
    sandbox.write("more/near.md", "{{bash \"touch\" \"ran\"}}");
    let _ = run(&sandbox, SCRIPT, &["-r", "text"]).expect_code(0);
    let _ = run(&sandbox, SCRIPT, &["-r", "mine"]).expect_code(0);
    assert!(has_run(&sandbox));
    let _ = run(&sandbox, SCRIPT, &["-r", "far", "--fragment-dirs", "../elsewhere"]).expect_code(0);
    assert!(has_run(&sandbox));
    // A directory is not trusted because it is named: these came with the project.
    for directory in ["more", "."] {
        let name = if directory == "." { "more/near" } else { "near" };
        let _ = run(&sandbox, SCRIPT, &["-r", name, "--fragment-dirs", directory]).expect_code(4);
    }
    sandbox.write("recipes/own.md", "{{bash \"touch\" \"ran\"}}");
    let _ = run(&sandbox, SCRIPT, &["-r", "own", "--fragment-dirs", "recipes"]).expect_code(4);
    let output = sandbox.run("trust --yes --fragment-dirs more").expect_code(0);
    assert_eq!(output.stderr, "Trusted: recipe:own, recipe:near.\n");
}

#[test]
fn the_user_is_asked_and_may_trust_skip_or_quit() {
    let sandbox = with_recipe();
    let script =
        "turns: [{text: ok, expect: {contains: [\"Look: [bash: touch ran was not started\"]}}]";
    let start = |script: &str| {
        let model = sandbox.script(script);
        sandbox.at_terminal(["run", "-r", "spy", "--model", &model])
    };
    let mut session = start(SCRIPT);
    let question = session.wait_for("[q] quit: ");
    assert!(
        question.contains(
            "has recipes that can start programs or use tools, and that you have not trusted:"
        ),
        "{question}"
    );
    assert!(question.contains("  recipe:spy  starts touch ran; echo \"a b\" …  "), "{question}");
    session.enter("v");
    assert!(session.wait_for("[q] quit: ").contains("Look: {{bash \"touch\" \"ran\"}}"));
    session.enter("q");
    assert_eq!(session.end().0, Some(4));

    let mut session = start(script);
    session.answer("[q] quit: ", "s");
    session.wait_for("ok");
    assert_eq!(session.end().0, Some(0));
    assert!(!has_run(&sandbox));

    let mut session = start(SCRIPT);
    session.answer("[q] quit: ", "t");
    session.wait_for("Trusted: recipe:spy.");
    assert_eq!(session.end().0, Some(0));
    assert!(has_run(&sandbox));
}

#[test]
fn the_trust_command_covers_recipes_and_hooks() {
    let sandbox = with_recipe();
    sandbox.write("recipes/text.md", "---\nallowed_tools: []\n---\nSay hello.");
    sandbox.write("recipes/broken.md", "{{bash \"touch\"");
    sandbox.write(".kodelet/plugins/acme@tools/recipes/go.md", "{{bash \"go\" \"version\"}}");
    sandbox.hook("guard", "#!/bin/sh\n[ \"$1\" = hook ] && echo before_tool_call\nexit 0\n");
    assert_snapshot!(sandbox.run("trust"), @"
    exit: 4
    --- stderr
    error: this project has hooks, and recipes that can start programs or use tools, that you have not trusted: guard, recipe:spy, recipe:acme/tools/go
      help: run `tenter trust` at a terminal, which asks; or `tenter trust --yes` to trust them as they are
    ");
    assert_snapshot!(sandbox.run("trust --yes"), @"
    exit: 0
    --- stderr
    Trusted: guard.
    Trusted: recipe:spy, recipe:acme/tools/go.
    ");
    assert_snapshot!(sandbox.run("trust"), @"
    exit: 0
    --- stderr
    Nothing to trust: everything in [ROOT]/project is already trusted.
    ");
    assert_snapshot!(sandbox.run("trust --list"), @"
    exit: 0
    --- stdout
    [ROOT]/project  guard  before_tool_call  [TIME]
    [ROOT]/project  recipe:acme/tools/go  [TIME]
    [ROOT]/project  recipe:spy  [TIME]
    ");
    assert_snapshot!(sandbox.run("trust --revoke recipe:spy"), @"
    exit: 0
    --- stderr
    Removed 1 trust record of [ROOT]/project.
    ");
    let _ = run(&sandbox, SCRIPT, &["-r", "spy"]).expect_code(4);
    assert_snapshot!(sandbox.run("trust --revoke recipe:spy"), @r#"
    exit: 1
    --- stderr
    error: nothing named "recipe:spy" of [ROOT]/project is trusted
      help: `tenter trust --list` shows what is
    "#);
    let _ = sandbox.run("trust --revoke").expect_code(0);
    assert_eq!(sandbox.run("trust --list").stdout, "");
}

#[test]
fn showing_an_untrusted_recipe_starts_nothing() {
    let sandbox = with_recipe();
    assert_snapshot!(sandbox.run("recipe show spy"), @r#"
    exit: 0
    --- stdout
    Look: [bash: touch ran was not started: the recipe comes with the project and is not trusted (see `tenter trust`)]
    --- stderr
    warning: [ROOT]/project/.kodelet/recipes/spy.md:1:9: `touch ran` was not started: the recipe comes with the project and is not trusted (see `tenter trust`)
      1 | Look: {{bash "touch" "ran"}}{{if .x}}{{.x | bash "echo" "a b"}}{{end}}
                  ^^^^
      help: the text contains this message instead of the output
    warning: [ROOT]/project/.kodelet/recipes/spy.md:1:34: the argument `x` is neither given nor declared, so this is false
      1 | Look: {{bash "touch" "ran"}}{{if .x}}{{.x | bash "echo" "a b"}}{{end}}
                                           ^^
      help: declare it in the front matter, as `x:` below `arguments:`
    Its programs were not started: the recipe comes with the project and is not trusted; see `tenter trust`.
    "#);
    let _ = sandbox.run("trust --yes").expect_code(0);
    assert_eq!(sandbox.run("recipe show spy").expect_code(0).stdout, "Look: \n");
    assert!(has_run(&sandbox));
}

#[test]
fn a_callback_to_an_untrusted_recipe_is_reported_once() {
    let sandbox = with_recipe();
    sandbox.sh_hook("tidy", "after_turn", r#"echo '{"result": "callback", "callback": "spy"}'"#);
    let script = "turns: [{tool_calls: [{name: todo}]}, {tool_calls: [{name: todo}]}, {text: ok}]\nrecipes: {spy: [Short.]}";
    let output = run(&sandbox, script, &["hi"]).expect_code(0);
    let lines = output.json_lines();
    let message = filter_kind(&lines, "diagnostic")
        .into_iter()
        .filter(|finding| finding["id"] == "recipe-untrusted");
    assert_eq!((message.count(), filter_kind(&lines, "history").len()), (1, 3), "{output}");
    assert!(!has_run(&sandbox));
    let _ = run(&sandbox, script, &["--trust-project", "hi"]).expect_code(0);
    assert!(has_run(&sandbox));
}
