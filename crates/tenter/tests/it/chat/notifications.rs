//! Notifications: a bell or a notification of the desktop, on a terminal that can show it.

use tenter_testkit::{PtySession, Sandbox};

use super::PROMPT;
use crate::manifests::hook as manifest_hook;
use crate::sandbox;

const USER: &str = "../home/.config/tenter/config.toml";

/// Returns the raw output of a chat with one message whose call a hook asks about, or not.
fn chat_with(sandbox: &Sandbox, settings: &str, variables: &[(&str, &str)], asks: bool) -> String {
    sandbox.write(USER, settings);
    if asks {
        manifest_hook(
            sandbox,
            "careful",
            "before_tool",
            "",
            r#"echo '{"decision": "ask", "reason": "sure?"}'"#,
        );
    }
    let model = sandbox.script("turns: [{tool_calls: [{name: todo}]}, {text: Done.}]");
    let mut chat = sandbox.at_terminal_with_env(variables, ["chat", "--model", &model]);
    chat.answer(PROMPT, "go");
    if asks {
        chat.answer("[n] no: ", "y");
    }
    chat.wait_for(PROMPT);
    chat.raw()
}

/// Counts the rings of the bell; one that ends an escape sequence is not counted.
fn bells(raw: &str) -> usize {
    let sequences = raw.matches("\u{1b}]").count();
    raw.matches('\u{7}').count() - sequences
}

#[test]
fn a_question_rings_the_bell_and_short_work_does_not() {
    assert_eq!(bells(&chat_with(&sandbox(), "", &[], true)), 1);
    assert_eq!(bells(&chat_with(&sandbox(), "", &[], false)), 0);
    let at_once = "[notify]\nafter_s = 0\n";
    assert_eq!(bells(&chat_with(&sandbox(), at_once, &[], false)), 1);
    let off = "[notify]\nmethod = \"off\"\nafter_s = 0\n";
    assert_eq!(bells(&chat_with(&sandbox(), off, &[], true)), 0);
}

#[test]
fn the_desktop_is_notified_with_an_escape_sequence() {
    let desktop = "[notify]\nmethod = \"desktop\"\nafter_s = 0\n";
    let raw = chat_with(&sandbox(), desktop, &[], true);
    assert!(raw.contains("\u{1b}]777;notify;Tenter;needs an answer: "), "{raw:?}");
    assert!(raw.contains("\u{1b}]777;notify;Tenter;is done\u{7}"), "{raw:?}");
    let raw = chat_with(&sandbox(), desktop, &[("TERM_PROGRAM", "WezTerm")], false);
    assert!(raw.contains("\u{1b}]9;Tenter is done\u{7}"), "{raw:?}");
    let raw = chat_with(&sandbox(), desktop, &[("TMUX", "/tmp/x,1,0")], false);
    assert!(
        raw.contains("\u{1b}Ptmux;\u{1b}\u{1b}]777;notify;Tenter;is done\u{7}\u{1b}\\"),
        "{raw:?}"
    );
}

#[test]
fn run_notifies_only_on_a_terminal() {
    let sandbox = sandbox();
    sandbox.write(USER, "[notify]\nafter_s = 0\n");
    let model = sandbox.script("turns: [{text: Done.}]");
    let start = |flags: &[&str]| {
        let mut command = sandbox.command();
        command.args(["run", "--model", &model]).args(flags).arg("go");
        PtySession::start(command)
    };
    start(&[]).wait_for("\u{7}");
    let (code, screen) = start(&["--headless"]).end();
    assert!(code == Some(0) && !screen.contains('\u{7}'), "{screen}");
    let args = ["run", "--model", &model, "go"];
    let output = sandbox.run_with_env(&[("TERM", "xterm")], args).to_string();
    assert!(!output.contains('\u{7}'), "{output}");
}
