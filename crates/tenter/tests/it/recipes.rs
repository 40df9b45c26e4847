//! `tenter recipe`: what is listed, what a prompt becomes, and what is said where there is none.

use insta::assert_snapshot;
use serde_json::{Value, json};

use tenter_testkit::{assert_contains, assert_fields, needs};

use crate::sandbox;

#[test]
fn a_listing_shows_sources_and_problems() {
    let sandbox = sandbox();
    sandbox.write("recipes/commit.md", "---\ndescription: Ours\n---\nCommit.");
    sandbox.write("../home/.kodelet/plugins/acme@tools/recipes/go.md", "Go.");
    sandbox.write("more/broken.md", "a {{if}}");
    assert_snapshot!(sandbox.run("recipe list --fragment-dirs more"), @r#"
    exit: 0
    --- stdout
    commit         project        Ours  [ROOT]/project/recipes/commit.md
    broken         fragment-dirs  cannot be used  [ROOT]/project/more/broken.md
    acme/tools/go  user-plugin    [ROOT]/home/.kodelet/plugins/acme@tools/recipes/go.md
    commit         builtin        shadowed by [ROOT]/project/recipes/commit.md  builtin:commit.md
    compact        builtin        Summarise the conversation so that the work can continue from the summary alone  builtin:compact.md
    github/pr      builtin        Write title and body of a pull request for the current branch  builtin:github/pr.md
    init           builtin        Look at the project and write AGENTS.md, the page that tells coding agents how to work in it  builtin:init.md
    review         builtin        Review the changes that are not committed, or those since a commit, and report what is wrong  builtin:review.md
    --- stderr
    error: [ROOT]/project/more/broken.md:1:3: the `if` that begins here has no end
      1 | a {{if}}
            ^^^^^^
      help: close it with `{{end}}`
    error: [ROOT]/project/more/broken.md:1:7: a value is missing here
      1 | a {{if}}
                ^^
      help: write an argument, `{{.name}}`, or a function
    "#);
    let list = sandbox.run("recipe list --json").json();
    let own = sandbox.project().join("recipes/commit.md");
    assert_eq!(
        list[0],
        json!({"name": "commit", "title": "commit", "description": "Ours", "confine": [], "layer": "project", "path": own,
            "shadowed_by": null, "usable": true})
    );
    let built_in =
        list.as_array().unwrap().iter().find(|recipe| recipe["path"] == "builtin:commit.md");
    assert_eq!(built_in.unwrap()["shadowed_by"], json!(own));
}

#[test]
fn a_prompt_is_rendered_with_arguments_and_program_output() {
    let sandbox = sandbox();
    sandbox.write(
        "../home/.kodelet/recipes/team/hello.md",
        "---\narguments: {name: {}, style: {default: kind}}\n---\nSay {{.style}}ly hello to {{.name}} from {{bash \"pwd\"}}.\n{{bash \"false\"}}\n",
    );
    assert_snapshot!(sandbox.run(["recipe", "show", "team/hello", "--arg", "name=Ada = Eve", "--arg", "stile=rude"]), @r#"
    exit: 0
    --- stdout
    Say kindly hello to Ada = Eve from [ROOT]/project.
    [bash: false failed with exit code 1]
    --- stderr
    warning: [ROOT]/home/.kodelet/recipes/team/hello.md: the recipe team/hello has no argument `stile`: it changes nothing
      help: did you mean `style`?
    warning: [ROOT]/home/.kodelet/recipes/team/hello.md:5:3: `false` failed with exit code 1
      5 | {{bash "false"}}
            ^^^^
      help: the text contains this message instead of the output
    "#);
    let value =
        sandbox.run("recipe show team/hello -a name=x -a style= --json").expect_code(0).json();
    assert_eq!(
        value["arguments"][1],
        json!({"name": "style", "description": "", "default": "kind"})
    );
    assert!(value["text"].as_str().unwrap().starts_with("Say ly hello to x from /"), "{value}");
    assert_eq!(value["findings"][0]["id"], "template-command-failed");
    assert_eq!(value["allowed_tools"], Value::Null);
}

#[test]
fn without_an_argument_the_text_is_shown_as_it_was_written() {
    let sandbox = sandbox();
    sandbox
        .write("recipes/hello.md", "---\narguments: {name: {}}\n---\nHello {{.name}}, {{.wish}}!");
    assert_snapshot!(sandbox.run("recipe show hello"), @r#"
    exit: 0
    --- stdout
    Hello {{.name}}, {{.wish}}!
    --- stderr
    error: [ROOT]/project/recipes/hello.md:4:9: the argument `name` was not given
      4 | Hello {{.name}}, {{.wish}}!
                  ^^^^^
      help: pass `--arg name=…`, or write `(default .name "…")`
    error: [ROOT]/project/recipes/hello.md:4:20: the argument `wish` was not given
      4 | Hello {{.name}}, {{.wish}}!
                             ^^^^^
      help: pass `--arg wish=…`, or write `(default .wish "…")`
    Arguments are missing, so the text above is not filled in.
    "#);
    let value = sandbox.run("recipe show hello --json").expect_code(0).json();
    assert_fields(&value, &json!({"text": null, "body": "Hello {{.name}}, {{.wish}}!"}));
    assert_eq!(value["findings"].as_array().unwrap().len(), 2);
}

#[test]
fn a_raw_text_runs_nothing() {
    let sandbox = sandbox();
    sandbox.write("recipes/bad.md", "{{bash \"touch\" \"ran\"}}");
    let output = sandbox.run("recipe show bad --raw").expect_code(0);
    assert_eq!(
        (output.stdout.as_str(), output.stderr.as_str()),
        ("{{bash \"touch\" \"ran\"}}\n", "")
    );
    assert!(!sandbox.project().join("ran").exists());
    sandbox.write("../home/.kodelet/recipes/own.md", "{{bash \"touch\" \"ran\"}}");
    let _ = sandbox.run("recipe show own").expect_code(0);
    assert!(sandbox.project().join("ran").exists());
}

#[test]
fn a_recipe_that_cannot_be_shown_is_an_error() {
    let sandbox = sandbox();
    sandbox.write("recipes/broken.md", "---\nallowed_tools: x: y\n---\n{{if .a}}");
    sandbox.write("recipes/wrong.md", "{{range \"x\"}}{{end}}");
    assert_snapshot!(sandbox.run("recipe show broken"), @r#"
    exit: 1
    --- stderr
    error: [ROOT]/project/recipes/broken.md:2:17: a second `:` is not allowed here
      2 | allowed_tools: x: y
                          ^
      help: quote a value that contains `: `; indent the keys of one mapping alike
    error: the recipe "broken" cannot be used
      help: fix the file; `tenter recipe list` shows where it is
    "#);
    assert_snapshot!(sandbox.run("recipe show wrong"), @r#"
    exit: 1
    --- stderr
    error: [ROOT]/project/recipes/wrong.md:1:9: this is text, but `range` needs a list
      1 | {{range "x"}}{{end}}
                  ^^^
      help: create a list with `lines .text` or `split "," .text`
    error: the recipe "wrong" cannot be filled in
    "#);
    assert_snapshot!(sandbox.run("recipe show pr"), @r#"
    exit: 2
    --- stderr
    error: there is no recipe "pr"; did you mean "github/pr"?
      help: `tenter recipe list` lists them
    "#);
    assert_snapshot!(sandbox.run("recipe show ../../etc/passwd"), @r#"
    exit: 2
    --- stderr
    error: "../../etc/passwd" leads out of its directory, so no recipe has this name
      help: `tenter recipe list` lists them
    "#);
    sandbox.fails(2, "recipe show commit --arg x", "write NAME=VALUE");
}

#[test]
fn model_keys_do_not_reach_a_recipes_programs() {
    let sandbox = sandbox();
    sandbox.write("../home/.kodelet/recipes/leak.md", "{{bash \"env\"}}");
    let output =
        sandbox.shell("ANTHROPIC_API_KEY=sk-secret OTHER=1 tenter recipe show leak").expect_code(0);
    assert!(output.stdout.contains("OTHER=1") && !output.stdout.contains("sk-secret"), "{output}");
}

#[test]
fn a_commit_message_is_requested_with_the_staged_diff() {
    let sandbox = sandbox();
    let init = "rm -rf .git && git init -q -b main . && git config user.email a@b && git config user.name A && echo one > a && git add a && git commit -q -m 'Add a' && echo two > a && git add a";
    tenter_testkit::skip_unless!(needs::has("git"));
    let _ = sandbox.shell(init).expect_code(0);
    let output = sandbox.run("recipe show commit").expect_code(0);
    assert_eq!(output.stderr, "");
    assert_contains(&output.stdout, &["Add a\n", "+two", "-one"]);
    let branch = "git commit -q -m 'Add a' && git switch -q -c topic && echo three > a && git commit -q -a -m 'Make it three' && git switch -q main && echo x > b && git add b && git commit -q -m 'Main continues' && git switch -q topic";
    let _ = sandbox.shell(branch).expect_code(0);
    let output = sandbox.run("recipe show github/pr").expect_code(0);
    assert_eq!(output.stderr, "");
    for (part, is_there) in
        [("Make it three", true), ("+three", true), ("Main continues", false), ("topic\n", true)]
    {
        assert_eq!(output.stdout.contains(part), is_there, "{part}\n{output}");
    }
}
