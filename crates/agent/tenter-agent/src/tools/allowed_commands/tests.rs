//! Commands that are allowed and rejected, checked against bash itself.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::tools::Registry;
use crate::tools::testing::Bench;

fn allowed(patterns: &[&str]) -> AllowedCommands {
    let patterns: Vec<String> = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
    AllowedCommands::new(&patterns).unwrap()
}

fn refused(patterns: &[&str], line: &str) -> String {
    allowed(patterns).check(line).expect_err(line)
}

#[test]
fn a_simple_command_that_matches_is_allowed() {
    let git = allowed(&["git status", "git diff *", "cargo {test,check}*", "ls"]);
    for line in [
        "git status",
        "  git   status\t",
        "git diff",
        "git diff --stat -- 'a; b' \"c && d\"",
        "cargo test -p tenter",
        "cargo check",
        "git status; ls && git diff | ls; ",
        "git status\nls",
        "git status 2>&1 | ls",
        "git diff 2>/dev/null",
        "ls > /dev/null 2>&1",
        r"git diff \;",
        r"git diff \$HOME '$HOME' '`'",
    ] {
        assert_eq!(git.check(line), Ok(()), "{line}");
    }
}

#[test]
fn lines_that_run_more_than_the_pattern_are_rejected() {
    for line in [
        "git status; rm -rf x",
        "git status && rm x",
        "git status || rm x",
        "git status | sh",
        "git status |& sh",
        "git status & rm x",
        "git status\nrm x",
        "git status\r\nrm x",
        "git status $(rm x)",
        "git status `rm x`",
        "git status \"$(rm x)\"",
        "git status \"`rm x`\"",
        "git status <(rm x)",
        "git status $SHELL",
        "git status ${x:-y}",
        "git status $'a'",
        "git status > file",
        "git status >> file",
        "git status >| file",
        "git status &> file",
        "git status >& file",
        "git status >&2file",
        "git status 2>&1>file",
        "git status 2>&1&>file",
        "git status > /dev/nullx",
        "git status > /dev/null/../x",
        "git status < file",
        "git status << EOF\nrm x\nEOF",
        "X=1 git status",
        "GIT_DIR+=x git status",
        "x[1]=2 git status",
        "(git status)",
        "{ git status; }",
        "! git status",
        "if git status; then git status; fi",
        "git() { rm x; }; git status",
        "git status # '\nrm -rf x #'",
        "git status 'unclosed",
        "git status \"unclosed\\\"",
        "git status \\\nrm",
        "git status \\",
        "git status \0",
        "git status \x1b[31m",
        "",
        " ; ",
    ] {
        assert!(allowed(&["git status*"]).check(line).is_err(), "{line:?}");
    }
}

#[test]
fn a_disguised_program_name_does_not_match() {
    for line in [
        "\"git\" status",
        "g'i't status",
        r"g\it status",
        "'git status'",
        "git\u{a0}status",
        "./git status",
        "{git,} status",
        "g?t status",
        "~/git status",
    ] {
        assert!(allowed(&["git status*"]).check(line).is_err(), "{line:?}");
        assert!(
            allowed(&["*status*"]).check(line).is_err() || line.starts_with(['.', 'g']),
            "{line:?}"
        );
    }
}

#[test]
fn a_pattern_matches_the_whole_command() {
    assert!(allowed(&["git diff"]).check("git diff --stat").is_err());
    assert!(allowed(&["git diff *"]).check("git difftool").is_err());
    assert!(allowed(&["git diff *"]).check("sudo git diff x").is_err());
    assert!(allowed(&["ls /tmp/*"]).check("ls /tmp/a/b c").is_ok());
}

#[test]
fn the_rejection_names_the_reason_and_the_patterns() {
    assert_eq!(
        refused(&["git log *", "git diff *"], "git log; rm -rf x"),
        "this command is not allowed: `rm -rf x` matches no pattern. Allowed patterns: `git log *`, `git diff *`"
    );
    assert_eq!(
        refused(&["ls"], "ls > x"),
        "this command is not allowed: it reads or writes a file by redirection. Allowed patterns: `ls`"
    );
    assert!(refused(&[], "ls").ends_with("No command is allowed"));
}

#[test]
fn a_star_alone_allows_everything() {
    assert_eq!(allowed(&["*"]).check("X=$(rm x) if; > y"), Ok(()));
    assert!(allowed(&["* *"]).check("a $(rm x)").is_err());
}

#[test]
fn an_invalid_pattern_is_an_error() {
    let error = AllowedCommands::new(&["git [".to_owned()]).unwrap_err();
    assert!(error.to_string().starts_with("the pattern \"git [\" is invalid: "), "{error}");
    assert!(AllowedCommands::new(&[" ".to_owned()]).is_err());
}

#[test]
fn rejected_commands_do_not_start_in_the_background() {
    let bench = Bench::new();
    let registry = Registry::standard()
        .with_commands(&allowed(&["touch *", "ls"]))
        .with_commands(&allowed(&["touch a", "rm *"]));
    let run = |input: Value| bench.run_tool(registry.get("bash").unwrap(), input);
    for line in ["touch b", "rm x", "ls", "touch a; touch b", "sh -c 'touch b'"] {
        for background in [false, true] {
            let result = run(json!({"command": line, "background": background}));
            assert!(result.error.unwrap().starts_with("this command is not allowed: "), "{line}");
        }
    }
    assert_eq!(bench.names(), [] as [&str; 0]);
    assert!(!run(json!({"command": "touch a"})).is_failure());
    assert_eq!(bench.names(), ["a"]);
    for (input, error) in
        [(json!({}), "missing field"), (json!({"command": ["touch a"]}), "command: invalid type")]
    {
        assert!(run(input).error.unwrap().contains(error), "{error}");
    }
}

#[test]
fn words_that_the_shell_evaluates_are_written_out_in_a_pattern() {
    let patterns = allowed(&["printf *", "test *", "export *", "wait *", "export A=1"]);
    for line in ["printf '%s' -v", "test -f x; wait 1", "export A=1"] {
        assert_eq!(patterns.check(line), Ok(()), "{line}");
    }
    for line in [
        "printf -v 'a[$(rm x)]' y",
        "printf -v PATH y",
        "test -v 'a[$(rm x)]'",
        "wait -n -p 'a[$(rm x)]'",
        "export PATH=.",
    ] {
        assert!(patterns.check(line).unwrap_err().contains("evaluates"), "{line}");
    }
}

/// Runs a line in bash with fake programs that record that they ran.
fn run_in_bash(line: &str) -> Vec<String> {
    let bench = Bench::new();
    let programs = bench.directory.path().join("fake");
    fs::create_dir(&programs).unwrap();
    for name in ["git", "rm"] {
        let script = format!("#!/bin/sh\n: > '{}/{name}-ran'\n", bench.directory.path().display());
        fs::write(programs.join(name), script).unwrap();
        fs::set_permissions(programs.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let fakes = format!("PATH='{}'\n{line}", programs.display());
    bench.run("bash", json!({"command": fakes}));
    let has_run = |name: &&str| bench.directory.path().join(format!("{name}-ran")).exists();
    let names = ["rm"].iter().filter(|name| has_run(name)).map(|name| (*name).to_owned());
    names.chain(bench.names()).collect()
}

#[test]
fn the_fake_programs_record_their_runs() {
    assert_eq!(run_in_bash("git status; rm x; echo > file"), ["rm", "file"]);
}

fn pieces() -> impl Strategy<Value = Vec<&'static str>> {
    let piece = prop::sample::select(vec![
        "git status",
        "git status",
        " ",
        "rm",
        "rm x",
        ";",
        "&&",
        "|",
        "&",
        "\n",
        "'",
        "'",
        "\"",
        "\"",
        "`",
        "$(",
        ")",
        "(",
        "#",
        " #",
        "\\",
        ">",
        "<",
        "2>&1",
        ">/dev/null",
        "x",
        "x=",
        "{",
        "}",
        "!",
        "$'",
        "<<x",
        "if ",
        "then ",
        "fi",
    ]);
    prop::collection::vec(piece, 1..10)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// Bash is the reference: for an allowed line it runs nothing else and writes nothing.
    #[test]
    fn an_allowed_line_runs_nothing_else(pieces in pieces()) {
        let line = format!("git status{}", pieces.concat());
        if allowed(&["git status*"]).check(&line).is_ok() {
            prop_assert_eq!(run_in_bash(&line), Vec::<String>::new(), "{}", line);
        }
    }

    #[test]
    fn any_text_is_accepted_or_rejected(line in "\\PC{0,60}") {
        let _ = allowed(&["git *"]).check(&line);
    }
}
