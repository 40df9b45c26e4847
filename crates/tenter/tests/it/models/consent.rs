//! A project's file that names the model.

use insta::assert_snapshot;
use tenter_testkit::model_server::{Format, ModelServer};
use tenter_testkit::{Output, Sandbox};

use super::{USER_FILE, keyless, last, server};
use crate::sandbox;

/// Returns a project that chooses a model of the provider `local`, where `server` listens.
fn hostile(server: &ModelServer, more: &str) -> Sandbox {
    let sandbox = sandbox();
    let address = server.base_url(Format::Chat);
    sandbox.write(USER_FILE, format!("{more}\n[providers.local]\nbase_url = \"{address}\"\n"));
    sandbox.write("tenter.toml", "model = \"local/x\"\nweak_model = \"local/weak\"\n");
    sandbox
}

fn run(sandbox: &Sandbox, args: &[&str]) -> Output {
    sandbox.run_with_env(&[], [&["run"], args, &["hi"]].concat())
}

#[test]
fn a_project_cannot_select_a_keyless_server_without_consent() {
    let server = keyless();
    let sandbox = hostile(&server, "");
    let output = run(&sandbox, &[]);
    let address = server.base_url(Format::Chat);
    assert_snapshot!(output.to_string().replace(&address, "[ADDRESS]"), @"
    exit: 4
    --- stderr
    error: this project's tenter.toml chooses the model local/x, and you have not agreed to that: it needs no key, so any program that listens at [ADDRESS] can answer for it and run tools
      help: name a model yourself, with --model or TENTER_MODEL; or agree for this project, at a terminal, with `tenter trust --yes`, or with --trust-project
    ");
    let headless = run(&sandbox, &["--headless"]).expect_code(4).json_lines().pop().unwrap();
    assert_eq!(headless["status"], "untrusted");
    assert_eq!(headless["untrusted"][0], "model:local/x");
    for args in [&["--use-weak-model"][..], &["--follow"], &["--no-hooks"]] {
        let _ = run(&sandbox, args).expect_code(4);
    }
    assert!(server.requests().is_empty());

    let _ = run(&sandbox, &["--trust-project"]).expect_code(0);
    run(&sandbox, &[]).warns("this project's tenter.toml names it");
    sandbox.write("tenter.toml", "model = \"local/y\"\n");
    let _ = run(&sandbox, &[]).expect_code(4);
    let _ = sandbox.run("trust --yes").expect_code(0);
    let _ = run(&sandbox, &[]).expect_code(0);
    let _ = sandbox.run("trust --revoke model:local/y").expect_code(0);
    let _ = run(&sandbox, &[]).expect_code(4);
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn a_switch_to_a_model_of_the_users_own_provider_is_reported() {
    let server = keyless();
    let sandbox = hostile(&server, "model = \"local/own\"");
    let switched = run(&sandbox, &[]).expect_code(0);
    assert_eq!(last(&server, "model"), "x");
    assert!(
        switched
            .stderr
            .contains("The model is local/x, because this project's tenter.toml names it;"),
        "{switched}"
    );
    let stream = run(&sandbox, &["--headless"]).expect_code(0).json_lines();
    assert!(stream.iter().any(|line| line["id"] == "model-of-project"), "{stream:?}");
    let own = run(&sandbox, &["--model", "local/other"]).expect_code(0);
    assert!(!own.stderr.contains("The model is"), "{own}");
    sandbox.write("tenter.toml", "model = \"local/own\"\n");
    let same = run(&sandbox, &[]).expect_code(0);
    assert!(!same.stderr.contains("The model is"), "{same}");
}

#[test]
fn a_key_command_does_not_run_for_a_project_without_consent() {
    let server = server();
    let sandbox = sandbox();
    let address = server.base_url(Format::Anthropic);
    let provider = format!(
        "[providers.anthropic]\nbase_url = \"{address}\"\napi_key_command = \"touch ran; echo k-1\"\n"
    );
    sandbox.write(USER_FILE, provider);
    sandbox.write("tenter.toml", "model = \"claude-sonnet-5\"\n");
    run(&sandbox, &[]).fails(4, "its key comes from your `api_key_command`");
    assert!(!sandbox.home().join("ran").exists());
    let keyed = sandbox.run_with_env(&[("ANTHROPIC_API_KEY", "k-2")], "run hi").expect_code(0);
    assert!(keyed.stderr.contains("The model is anthropic/claude-sonnet-5, because"), "{keyed}");
    let _ = run(&sandbox, &["--trust-project"]).expect_code(0);
    assert!(sandbox.home().join("ran").exists());
}

#[test]
fn at_a_terminal_the_user_is_asked_once() {
    let server = keyless();
    let sandbox = hostile(&server, "");
    let start = || sandbox.at_terminal("run hi");
    let mut session = start();
    session.wait_for("chooses the model local/x");
    session.answer("Use it in this project? [y] yes  [n] no: ", "n");
    assert_eq!(session.end().0, Some(4));
    assert!(server.requests().is_empty());
    let mut agreed = start();
    agreed.answer("[n] no: ", "y");
    agreed.wait_for("Done.");
    assert_eq!(agreed.end().0, Some(0));
    let mut later_output = start();
    later_output.wait_for("Done.");
    assert_eq!(later_output.end().0, Some(0));
    assert_eq!(server.requests().len(), 2);
}
