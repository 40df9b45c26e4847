//! `tenter help`: pages of the manual and the help of commands.

use insta::assert_snapshot;

use crate::sandbox;
use tenter_testkit::assert_contains;

#[test]
fn topics_are_listed_after_the_commands() {
    let help = sandbox().run("help").expect_code(0).stdout;
    let place = |text: &str| help.find(text).unwrap_or_else(|| panic!("{text}\n{help}"));
    assert!(place("\nHooks\n") < place("\nOptions:"));
    assert!(place("\nOptions:") < place("\nTopics:"));
    assert!(help.contains("\n  hooks   "), "{help}");
    let options = sandbox().run("--help").expect_code(0).stdout;
    assert!(help.starts_with(&options) && options.lines().count() <= 42, "{options}");
}

#[test]
fn a_page_is_plain_text_in_a_pipe() {
    let output = sandbox().run("help failures").expect_code(0);
    assert!(!output.stdout.contains('\u{1b}'), "{output}");
    assert_contains(&output.stdout, &["\n## Timeouts\n", "tenter help reliability"]);
    assert!(!output.stdout.contains(".md#"), "{output}");
}

#[test]
fn a_topic_with_the_name_of_a_command_points_to_its_options() {
    let output = sandbox().run("help hooks").expect_code(0);
    assert!(output.stdout.starts_with("# Concepts\n"), "{output}");
    assert!(output.stdout.ends_with("Options of the command: `tenter hooks --help`\n"), "{output}");
}

#[test]
fn other_commands_show_their_help() {
    for args in [&["log"][..], &["hooks", "test"], &["conversation", "fork"]] {
        let help_text = sandbox().run([&["help"], args].concat()).expect_code(0).stdout;
        let flag_text = sandbox().run([args, &["--help"]].concat()).expect_code(0).stdout;
        assert_eq!(help_text, flag_text);
    }
}

#[test]
fn an_unknown_topic_names_the_nearest() {
    assert_snapshot!(sandbox().run("help trsut"), @r#"
    exit: 2
    --- stderr
    error: there is no topic or command "trsut"
      help: did you mean `tenter help trust`?
    "#);
    assert_snapshot!(sandbox().run("help hooks tets"), @r#"
    exit: 2
    --- stderr
    error: there is no topic or command "hooks tets"
      help: did you mean `tenter help hooks test`?
    "#);
    assert_snapshot!(sandbox().run("help quantum"), @r#"
    exit: 2
    --- stderr
    error: there is no topic or command "quantum"
      help: `tenter help` lists commands and topics
    "#);
}

#[test]
fn the_pager_shows_a_page_from_its_beginning() {
    let sandbox = sandbox();
    let vars = [("PAGER", "echo $LESS; head -n 1"), ("TERM", "xterm")];
    let output = sandbox.finish_pty(sandbox.at_terminal_with_env(&vars, "help trust"));
    assert!(output.stdout.contains("FRX\r\n") || output.stdout.contains("FRX\n"), "{output}");
    assert!(output.stdout.contains("# Trust"), "{output}");
}

#[test]
fn a_page_is_wrapped_to_the_terminal() {
    let sandbox = sandbox();
    let mut command = sandbox.command();
    command.args(["help", "permissions"]).env("PAGER", "cat").env("TERM", "xterm");
    let terminal = tenter_testkit::PtySession::start_sized(command, (60, 40));
    let output = sandbox.finish_pty(terminal);
    // In the source, both sentences are on two lines that end elsewhere.
    for line in [
        "`permissions.chat` and `permissions.run` those of all. A",
        "A mode is a guard rail, not a sandbox: see what a guard is.",
    ] {
        assert!(output.stdout.lines().any(|text| text.trim_end() == line), "{output}");
    }
}
