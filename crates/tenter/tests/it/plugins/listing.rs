//! `add`, `list`, `show`, `verify`, `remove`: what they print.

use insta::assert_snapshot;
use serde_json::json;

use super::{Repository, left};
use crate::sandbox;

#[test]
fn a_plugin_is_added_listed_shown_verified_and_removed() {
    let sandbox = sandbox();
    let repository = Repository::new(&sandbox, "guards");
    assert_snapshot!(sandbox.run(["plugin", "add", &repository.url()]), @r#"
    exit: 0
    --- stdout
    Installed ada/guards:
      Skills:  1
      Recipes: 1
      Hooks:   1
    --- stderr
    Fetching ada/guards from file://[ROOT]/srv/ada/guards …
    ? Hooks that run only when you trust them:
      ada/guards/guard  executable; its events are asked after you trust it  .kodelet/plugins/ada@guards/hooks/guard
    They do not run yet: review them and run `tenter trust`.
    "#);
    let _ =
        sandbox.run(["plugin", "add", "-g", &format!("{}@main", repository.url())]).expect_code(0);
    assert_snapshot!(sandbox.run("plugin list"), @r#"
    exit: 0
    --- stdout
    NAME        LOCATION  SKILLS  RECIPES  HOOKS
    ----        --------  ------  -------  -----
    ada/guards  local     1       1        1
    ada/guards  global    1       1        1
    "#);
    let expected = json!({
        "name": "ada/guards", "location": "local",
        "path": sandbox.project().join(".kodelet/plugins/ada@guards"),
        "skills": ["pdf"], "recipes": ["review"], "hooks": ["guard"],
    });
    assert_eq!(sandbox.run("plugin list --json").json()[0], expected);
    let value = sandbox.run("plugin show ada@guards --json").json();
    assert_eq!((&value["source"], &value["ref"]), (&json!(repository.url()), &json!(null)));
    assert_eq!(value["commit"], repository.git("rev-parse HEAD"));
    assert_snapshot!(sandbox.run("plugin verify"), @r#"
    exit: 0
    --- stdout
    ada/guards  local  ok
    ada/guards  global  ok
    "#);
    assert_snapshot!(sandbox.run("plugin remove ada@guards"), @r#"
    exit: 0
    --- stderr
    Removed ada/guards.
    "#);
    assert_eq!(left(&sandbox), ["plugin.lock"]);
    assert_snapshot!(sandbox.run("plugin remove ada/guards"), @r#"
    exit: 1
    --- stderr
    error: the plugin "ada/guards" is your own, not the project's
      help: pass -g for your own plugins
    "#);
    let _ = sandbox.run("plugin remove -g ada/guards").expect_code(0);
    assert_snapshot!(sandbox.run("plugin list"), @r#"
    exit: 0
    --- stderr
    No plugins are installed. `tenter plugin add ORG/REPO` installs one.
    "#);
    assert_eq!(sandbox.run("plugin list --json").json(), json!([]));
}

#[test]
fn a_close_name_is_suggested() {
    let sandbox = sandbox();
    let repository = Repository::new(&sandbox, "guards");
    let _ = sandbox.run(["plugin", "add", &repository.url()]).expect_code(0);
    for command in ["show", "verify", "update", "remove"] {
        for name in ["ada/gaurds", "bob/guards", "ada@guard"] {
            let output = sandbox.run(["plugin", command, name]).expect_code(1);
            assert!(output.stderr.contains("did you mean \"ada/guards\"?"), "{command}\n{output}");
        }
    }
}

#[test]
fn differences_are_reported_with_exit_code_1() {
    let sandbox = sandbox();
    let repository = Repository::new(&sandbox, "guards");
    let _ = sandbox.run(["plugin", "add", &repository.url()]).expect_code(0);
    sandbox.write(".kodelet/plugins/ada@guards/hooks/lib/words.sh", "words=2\n");
    sandbox.write(".kodelet/plugins/ada@guards/hooks/more", "");
    sandbox.write(".kodelet/plugins/by@hand/recipes/x.md", "X.\n");
    std::fs::remove_file(sandbox.project().join(".kodelet/plugins/ada@guards/recipes/review.md"))
        .unwrap();
    assert_snapshot!(sandbox.run("plugin verify"), @r#"
    exit: 1
    --- stdout
    ada/guards  local  differs
      changed  hooks/lib/words.sh
      extra    hooks/more
      missing  recipes/review.md
    by/hand  local  differs
    --- stderr
    error: [ROOT]/project/.kodelet/plugins/by@hand: plugin.lock has no record of this plugin
      help: `tenter plugin add SPEC --force` records it
    "#);
    let differences = sandbox.run("plugin verify ada/guards --json").expect_code(1).json();
    assert_eq!(differences[0]["ok"], json!(false));
    assert_eq!(
        differences[0]["differences"][0],
        json!({"path": "hooks/lib/words.sh", "what": "changed"})
    );
}

#[test]
fn a_failing_plugin_stops_the_command_unless_told_to_continue() {
    let sandbox = sandbox();
    let (one, two) = (Repository::new(&sandbox, "one"), Repository::new(&sandbox, "two"));
    let specs = [one.url(), "file:///no/such/repository".to_owned(), two.url()];
    let args = |flags: &[&'static str]| -> Vec<String> {
        let start = ["plugin", "add"].iter().chain(flags).map(|word| (*word).to_owned());
        start.chain(specs.clone()).collect()
    };
    let run = |args: Vec<String>| sandbox.run(args.iter().map(String::as_str).collect::<Vec<_>>());
    let _ = run(args(&[])).expect_code(1);
    assert_eq!(left(&sandbox), ["ada@one", "plugin.lock"]);
    let output = run(args(&["--force", "--continue-on-error", "--json"])).expect_code(1).json();
    assert_eq!((&output[0]["name"], &output[1]["name"]), (&json!("ada/one"), &json!("ada/two")));
}

#[test]
fn an_invalid_spec_does_not_stop_others_with_continue() {
    let sandbox = sandbox();
    let repository = Repository::new(&sandbox, "guards");
    let specs = ["./missing", &repository.url()];
    let _ = sandbox.run(["plugin", "add", specs[0], specs[1]]).expect_code(2);
    assert!(!sandbox.project().join(".kodelet").exists(), "nothing was begun");
    let output =
        sandbox.run(["plugin", "add", "--continue-on-error", specs[0], specs[1]]).expect_code(2);
    assert!(output.stderr.contains("/missing: No such file"), "{output}");
    assert_eq!(left(&sandbox), ["ada@guards", "plugin.lock"]);
}

#[test]
fn an_installed_plugin_is_replaced_only_with_the_flag() {
    let sandbox = sandbox();
    let repository = Repository::new(&sandbox, "guards");
    let _ = sandbox.run(["plugin", "add", &repository.url()]).expect_code(0);
    assert_snapshot!(sandbox.run(["plugin", "add", &repository.url()]), @r#"
    exit: 1
    --- stderr
    error: ada/guards is already installed
      help: `tenter plugin update ada/guards` updates it; --force replaces it
    "#);
    let _ = sandbox.run(["plugin", "add", "--force", &repository.url()]).expect_code(0);
}
