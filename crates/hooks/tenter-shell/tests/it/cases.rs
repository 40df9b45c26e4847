//! The tables of commands and their facts in `tests/cases/`.
//!
//! A case is a command after `$ `, further lines of it after `> `, and then its facts. `TENTER_UPDATE=1` writes the facts.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use tenter_shell::{known_programs, read};

use crate::rendered::render;
use crate::surroundings;

/// A command and what is expected of it.
pub(crate) struct Case {
    comments: String,
    pub(crate) command: String,
    pub(crate) expected: String,
}

/// All files of cases.
pub(crate) const ALL: [&str; 7] = *tenter_base::words!(
    "words.txt commands.txt heredocs.txt broken.txt data.txt programs.txt misread.txt"
);

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

/// Returns the cases of a file.
pub(crate) fn cases(name: &str) -> Vec<Case> {
    let text = fs::read_to_string(directory().join(name)).unwrap();
    let mut cases: Vec<Case> = Vec::new();
    let mut comments = String::new();
    for line in text.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            cases.push(Case {
                comments: std::mem::take(&mut comments),
                command: command.to_owned(),
                expected: String::new(),
            });
        } else if line.starts_with('#') || line.is_empty() {
            comments = format!("{comments}{line}\n");
        } else if let Some(more) = line.strip_prefix('>') {
            let command = &mut cases.last_mut().unwrap().command;
            command.push('\n');
            command.push_str(more.strip_prefix(' ').unwrap_or(more));
        } else {
            let expected = &mut cases.last_mut().unwrap().expected;
            let _ = writeln!(expected, "{line}");
        }
    }
    cases
}

#[expect(clippy::disallowed_methods, reason = "a switch of the test run")]
fn updates() -> bool {
    std::env::var_os("TENTER_UPDATE").is_some()
}

fn check(name: &str) {
    let mut new_text = String::new();
    let mut wrong = String::new();
    for case in cases(name) {
        let actual = render(&read(&case.command, &surroundings()));
        if actual != case.expected {
            let _ = writeln!(
                wrong,
                "$ {}\n--- expected\n{}--- actual\n{actual}",
                case.command, case.expected
            );
        }
        let command = case.command.replace('\n', "\n> ");
        let _ = write!(new_text, "{}$ {command}\n{actual}", case.comments);
    }
    if updates() {
        fs::write(directory().join(name), new_text).unwrap();
        return;
    }
    assert!(wrong.is_empty(), "{name} (write with TENTER_UPDATE=1):\n{wrong}");
}

#[test]
fn words_and_quotes() {
    check("words.txt");
}

#[test]
fn lists_and_compound_commands() {
    check("commands.txt");
}

#[test]
fn here_documents() {
    check("heredocs.txt");
}

#[test]
fn broken_texts_still_give_facts() {
    check("broken.txt");
}

#[test]
fn data_is_not_a_command() {
    check("data.txt");
}

#[test]
fn programs() {
    check("programs.txt");
}

#[test]
fn every_program_has_an_example() {
    let mut programs = BTreeSet::new();
    for case in cases("programs.txt") {
        for command in read(&case.command, &surroundings()).commands {
            if let Some(subcommand) = &command.subcommand {
                programs.insert(format!("{} {subcommand}", command.program));
                let nested = command.operands.first().map_or("", String::as_str);
                programs.insert(format!("{} {subcommand} {nested}", command.program));
            }
            let family = command.program.split_once('.').map(|(family, _)| family.to_owned());
            let unversioned =
                command.program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
            programs.insert(unversioned.to_owned());
            programs.extend(family);
            programs.insert(command.program);
        }
    }
    let missing: Vec<&str> = known_programs().filter(|name| !programs.contains(*name)).collect();
    assert!(missing.is_empty(), "add a command to programs.txt for {missing:?}");
}

#[test]
fn what_other_parsers_misread() {
    check("misread.txt");
}
