//! `tenter config`: settings with their sources; files are changed at one place, checked, and replaced at once.

use std::fs;
use std::os::unix::fs::symlink;

use insta::assert_snapshot;
use tenter_testkit::Sandbox;

use crate::sandbox;

const USER: &str = "../home/.config/tenter/config.toml";
const PROJECT: &str = "tenter.toml";

fn value(sandbox: &Sandbox, key: &str) -> (String, String) {
    let json = sandbox.run(["config", "get", key, "--json"]).expect_code(0).json();
    (json["value"].to_string(), json["source"].as_str().unwrap().to_owned())
}

#[test]
fn list_names_the_source_of_each_value() {
    let sandbox = sandbox();
    sandbox.write(USER, "max_turns = 30\ntools.protect = [\"a\"]\n[providers.work]\napi = \"chat\"\n[[hooks.override]]\nname = \"acme/x\"\ntimeout_ms = 500\n");
    sandbox.write(PROJECT, "max_turns = 100\nmodel = \"work/big\"\ntrust = \"all\"\ntools.protect = [\"b\"]\n[[hooks.override]]\nname = \"g\"\nfail = \"closed\"\n");
    let vars = [("TENTER_REASONING_EFFORT", "high")];
    let output = sandbox.run_with_env(&vars, "config list --changed");
    assert_snapshot!(output.stdout, @r#"
    model                               "work/big"  project
    reasoning_effort                    "high"  TENTER_REASONING_EFFORT
    providers.work.api                  "chat"  user
    max_turns                           30  user
    tools.protect                       ["a", "b"]  user and project
    hooks.override."acme/x".timeout_ms  500  user
    hooks.override.g.fail               "closed"  project
    "#);
    let warned = sandbox.run("config list hooks --changed").expect_code(0);
    assert!(warned.stderr.contains("a project may not set trust"), "{warned}");
    assert_eq!(warned.stdout.lines().count(), 2, "{warned}");
    assert_eq!(value(&sandbox, "trust"), ("\"ask\"".to_owned(), "default".to_owned()));
}

#[test]
fn get_prints_a_value_for_scripts() {
    let sandbox = sandbox();
    sandbox.write(USER, "model = \"work/big\"\n[hooks]\npass_env = [\"A\", \"B\"]\n");
    assert_eq!(sandbox.run("config get model").expect_code(0).stdout, "work/big\n");
    assert_eq!(sandbox.run("config get max_turns").expect_code(0).stdout, "50\n");
    let list = sandbox.run("config get hooks.pass_env").expect_code(0);
    assert_eq!(list.stdout, "[\"A\", \"B\"]\n");
    assert_snapshot!(sandbox.run("config get max_tokens"), @"
    exit: 1
    --- stderr
    error: max_tokens is not set
      help: the default is the provider's
    ");
    assert_snapshot!(sandbox.run("config get max_turn"), @r#"
    exit: 2
    --- stderr
    error: there is no setting "max_turn"
      help: did you mean `max_turns`?
    "#);
}

#[test]
fn set_changes_one_place_and_keeps_the_rest() {
    let sandbox = sandbox();
    let old = "# mine\nmax_turns = 3 # few\n\n[hooks] # strict\nfail = \"open\"\n";
    let file = sandbox.write(USER, old);
    let set = |args: &[&str]| {
        let _ = sandbox.run([&["config", "set"], args].concat()).expect_code(0);
    };
    set(&["max_turns", "100"]);
    set(&["hooks.pass_env", "A", "B"]);
    set(&["models.openai/gpt-5.2.input_price", "1.5"]);
    set(&["tools.protect", "deploy"]);
    set(&["model", "5"]);
    let new = fs::read_to_string(&file).unwrap();
    assert_snapshot!(new, @r#"
    # mine
    max_turns = 100 # few
    model = "5"

    [hooks] # strict
    fail = "open"
    pass_env = ["A", "B"]

    [models."openai/gpt-5.2"]
    input_price = 1.5

    [tools]
    protect = ["deploy"]
    "#);
    let unset = sandbox.run("config unset max_turns").expect_code(0);
    assert!(unset.stderr.starts_with("Removed max_turns from "), "{unset}");
    let again = sandbox.run("config unset max_turns").expect_code(0);
    assert!(again.stderr.starts_with("max_turns is not set in "), "{again}");
    assert_eq!(fs::read_to_string(&file).unwrap(), new.replace("max_turns = 100 # few\n", ""));
}

#[test]
fn an_invalid_value_is_not_written() {
    let sandbox = sandbox();
    let file = sandbox.write(USER, "max_turns = 3\n");
    for (key, value, why) in [
        ("max_turns", "many", "cannot set max_turns: invalid type: string \"many\", expected u64"),
        ("hooks.fail", "shut", "cannot set hooks.fail: unknown variant `shut`"),
        ("compact.ratio", "2", "cannot set compact.ratio: compact.ratio is 2, but must be above 0"),
        ("models.x/y.input_price", "-1", "a price must be a number that is not negative"),
        ("hooks.fial", "open", "did you mean `hooks.fail`?"),
    ] {
        let output = sandbox.run(["config", "set", key, value]).expect_code(2);
        assert!(output.stderr.contains(why), "{key}\n{output}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "max_turns = 3\n");
    // A file that is invalid elsewhere is not touched either.
    sandbox.write(USER, "max_turns = 3\nzzz = 1\n");
    let output = sandbox.run("config set max_turns 4").expect_code(1);
    assert!(
        output.stderr.contains("unknown field `zzz`")
            && output.stderr.contains("tenter config edit"),
        "{output}"
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), "max_turns = 3\nzzz = 1\n");
}

#[test]
fn a_project_file_accepts_only_what_a_project_may_set() {
    let sandbox = sandbox();
    let set = |key: &str, value: &str| sandbox.run(["config", "set", "--project", key, value]);
    for (key, value) in
        [("trust", "all"), ("hooks.fail", "open"), ("max_turns", "0"), ("providers.x.api", "chat")]
    {
        let output = set(key, value).expect_code(1);
        assert!(output.stderr.contains("error: a project may not set "), "{output}");
        assert!(!output.stderr.contains("no effect"), "{output}");
        assert!(output.stderr.contains("help: a project may choose a model"), "{output}");
    }
    assert!(!sandbox.project().join(PROJECT).exists());
    let _ = set("hooks.fail", "closed").expect_code(0);
    assert_eq!(sandbox.read(PROJECT), "[hooks]\nfail = \"closed\"\n");
    assert_eq!(value(&sandbox, "hooks.fail"), ("\"closed\"".to_owned(), "project".to_owned()));
    // A symlink is not followed: it may lead out of the project.
    let outside = sandbox.write("../outside.toml", "max_turns = 3\n");
    fs::remove_file(sandbox.project().join(PROJECT)).unwrap();
    symlink(&outside, sandbox.project().join(PROJECT)).unwrap();
    set("max_turns", "4").fails(1, "it is a symlink");
    assert_eq!(fs::read_to_string(outside).unwrap(), "max_turns = 3\n");
}

#[test]
fn a_symlinked_file_of_the_user_stays_a_symlink() {
    let sandbox = sandbox();
    let real = sandbox.write("../home/dotfiles/config.toml", "max_turns = 3\n");
    let link = sandbox.root().join("home/.config/tenter/config.toml");
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink(&real, &link).unwrap();
    let _ = sandbox.run("config set max_turns 4").expect_code(0);
    assert!(link.is_symlink());
    assert_eq!(fs::read_to_string(real).unwrap(), "max_turns = 4\n");
}

#[test]
fn secrets_and_control_characters_are_not_printed() {
    let sandbox = sandbox();
    sandbox.write(USER, "[providers.x]\nbase_url = \"https://me:hunter2@host/v1\"\napi_key_command = [\"echo\", \"hunter2\"]\nproxy = \"http://me:hunter2@proxy\"\n[providers.y]\napi_key_command = \"echo hunter2\"\napi_key_env = \"sk-abcdefghijklmnopqrstuvwxyz\"\n");
    sandbox.write(PROJECT, "model = \"evil/\\u202e\\u200bx\"\n");
    for json in [&["--json"][..], &[]] {
        let output = sandbox.run([&["config", "list"], json].concat()).expect_code(0);
        for secret in ["hunter2", "klmnop"] {
            assert!(!output.stdout.contains(secret), "{output}");
        }
        assert!(output.stdout.contains("…@proxy"), "{output}");
    }
    let listing = sandbox.run("config list").stdout;
    assert!(!listing.contains(['\u{202e}', '\u{200b}']), "{listing}");
    let got = sandbox.run("config get model").stdout;
    assert!(!got.contains(['\u{202e}', '\u{200b}']), "{got}");
}

#[test]
fn path_prints_where_the_files_are() {
    let sandbox = sandbox();
    // Also if the file is not valid.
    sandbox.write(USER, "=");
    let user = sandbox.run("config path").expect_code(0).stdout;
    assert!(user.ends_with("/.config/tenter/config.toml\n"), "{user}");
    let project = sandbox.run("config path --project").expect_code(0).stdout;
    assert!(project.ends_with("/tenter.toml\n"), "{project}");
}

/// Returns an editor that replaces the file by the next of `texts`.
fn editor(sandbox: &Sandbox, texts: &[&str]) -> String {
    let directory = sandbox.root().join("texts");
    for (index, text) in texts.iter().enumerate() {
        sandbox.write(&format!("../texts/{}", index + 1), text);
    }
    let directory = directory.display();
    sandbox.write("../editor.sh", format!("n=$(cat '{directory}/n' 2>/dev/null || echo 0); n=$((n+1)); echo $n > '{directory}/n'; echo \"EDITED $n\"; cat '{directory}'/$n > \"$1\"\n"));
    format!("sh '{}'", sandbox.root().join("editor.sh").display())
}

#[test]
fn edit_writes_a_valid_text_and_offers_to_repair_an_invalid_one() {
    let sandbox = sandbox();
    sandbox.write(USER, "max_turns = 3\n");
    let editor = editor(&sandbox, &["max_turns = x\n", "max_turns = 5\n"]);
    let mut session = sandbox.at_terminal_with_env(&[("EDITOR", &editor)], "config edit");
    session.wait_for("[d] discard the changes: ");
    // The file in use is never the invalid one.
    assert_eq!(sandbox.read(USER), "max_turns = 3\n");
    session.enter("e");
    session.wait_for("EDITED 2");
    let output = sandbox.finish_pty(session);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stdout.contains("Saved "), "{output}");
    assert_eq!(sandbox.read(USER), "max_turns = 5\n");
}

#[test]
fn an_invalid_text_is_kept_without_a_terminal() {
    let sandbox = sandbox();
    sandbox.write(USER, "max_turns = 3\n");
    let editor = editor(&sandbox, &["max_turns = x\n"]);
    let output = sandbox.run_with_env(&[("VISUAL", &editor)], "config edit").expect_code(1);
    let (_, path) = output.stderr.split_once("your text is in ").unwrap();
    assert_eq!(fs::read_to_string(path.trim()).unwrap(), "max_turns = x\n");
    fs::remove_file(path.trim()).unwrap();
    assert_eq!(sandbox.read(USER), "max_turns = 3\n");
}

#[test]
fn edit_without_a_change_writes_nothing() {
    let sandbox = sandbox();
    let args = ["config", "edit", "--project"];
    assert_eq!(sandbox.run_with_env(&[("EDITOR", "true")], args).stderr, "Nothing changed.\n");
    assert!(!sandbox.project().join(PROJECT).exists());
    let output = sandbox.run_with_env(&[("EDITOR", "no-such-editor")], "config edit");
    assert!(output.expect_code(1).stderr.contains("set VISUAL or EDITOR"));
}
