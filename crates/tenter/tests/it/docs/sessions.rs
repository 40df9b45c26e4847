//! Runs the documented sessions at a terminal. The examples of one section share one project, in which they are done in
//! order; the project is `/home/ada/shop`, and what differs from run to run may be anything of its kind.
//!
//! A line `…` in what a command prints stands for any number of lines. The note's `exit: N` is how the last command ends;
//! the others end with 0. `needs: PROGRAM` and `given: SHELL` are as for hooks. `transcripts: AGENT SCENARIO` copies recorded
//! transcripts into the home directory.

use std::collections::BTreeMap;
use std::panic::catch_unwind;

use tenter_testkit::{Output, Sandbox};

use super::as_documented;
use super::hooks::has_what_it_needs;
use super::markdown::{Block, pages};
use crate::bridge::Installed;
use crate::{sandbox, transcripts};

#[test]
fn every_session_example_prints_what_is_shown() {
    let pages = pages();
    let mut sections: BTreeMap<&str, Vec<&Block>> = BTreeMap::new();
    for block in pages.iter().flat_map(|page| &page.blocks) {
        if ["file", "session", "chat"].contains(&block.note.kind.as_str()) {
            sections.entry(&block.section).or_default().push(block);
        }
    }
    let failures: Vec<&&str> = sections
        .iter()
        .filter(|(_, blocks)| catch_unwind(|| play(blocks)).is_err())
        .map(|(section, _)| section)
        .collect();
    assert!(failures.is_empty(), "see above: {failures:#?}");
}

fn play(section: &[&Block]) {
    // Only an installed Tenter registers itself with agents.
    let pages = ["bridge.md:", "claude-code.md:"];
    let is_of_bridge =
        section.iter().any(|block| pages.iter().any(|page| block.place.starts_with(page)));
    let host = is_of_bridge.then(Installed::new);
    let is_of_teams = section.iter().any(|block| block.place.starts_with("teams.md:"));
    let plain = if is_of_teams { sandbox().managed() } else { sandbox() };
    let sandbox = host.as_deref().unwrap_or(&plain);
    if section.iter().all(|block| has_what_it_needs(block)) {
        for block in section {
            carry_out(sandbox, block);
        }
    }
}

fn carry_out(sandbox: &Sandbox, block: &Block) {
    for (_, line) in block.note.lines.iter().filter(|(key, _)| key == "given") {
        assert_eq!(sandbox.shell(line).code, Some(0), "{}: {line}", block.place);
    }
    for (_, line) in block.note.lines.iter().filter(|(key, _)| key == "transcripts") {
        let (host, scenario) = line.split_once(' ').unwrap();
        transcripts::add(sandbox, host, scenario);
    }
    match block.note.kind.as_str() {
        "file" => write(sandbox, block),
        "chat" => chat(sandbox, block),
        _ => session(sandbox, block),
    }
}

fn write(sandbox: &Sandbox, block: &Block) {
    let path = block.note.rest.replace("~/", "../home/");
    if block.text.starts_with("#!") {
        sandbox.write_program(&path, &block.text);
    } else {
        sandbox.write(&path, &block.text);
    }
}

fn session(sandbox: &Sandbox, block: &Block) {
    let commands = commands(block);
    for (index, (command, expected)) in commands.iter().enumerate() {
        let output = sandbox.shell(&as_root(sandbox, command));
        let is_last = index + 1 == commands.len();
        let exit = block.note.get("exit").filter(|_| is_last).unwrap_or("0");
        let place = format!("{}: $ {command}", block.place);
        assert_eq!(
            output.code.map(|code| code.to_string()).as_deref(),
            Some(exit),
            "{place}\n{output}"
        );
        let real = lines(&output, &output.stdout);
        let expected = lines(&output, &expected.join("\n"));
        assert!(
            is_so(&expected, &real),
            "{place}\n--- documented\n{}\n--- real\n{}",
            expected.join("\n"),
            real.join("\n")
        );
    }
}

/// The question of a chat before a tool runs.
const QUESTION: &str = "  Run it? ";

/// Types what stands behind the prompt or a question, each line when it is asked for.
fn chat(sandbox: &Sandbox, block: &Block) {
    let mut lines = block.text.lines();
    let start = lines.next().and_then(|line| line.strip_prefix("$ tenter "));
    let args = start.unwrap_or_else(|| panic!("{}: no command", block.place));
    let mut terminal = sandbox.at_terminal(args.split_whitespace().collect::<Vec<_>>());
    let mut screen = String::new();
    for line in lines {
        let question = [("> ", "\n> "), (QUESTION, QUESTION)];
        let question = question
            .into_iter()
            .find_map(|(begins, prompt)| Some((prompt, line.strip_prefix(begins)?)));
        if let Some((prompt, typed)) = question {
            screen += &terminal.wait_for(prompt);
            terminal.enter(typed);
        }
    }
    let output = sandbox.finish_pty(terminal);
    let real = self::lines(&output, &format!("$ tenter {args}\n{screen}{}", output.stdout));
    let documented = self::lines(&output, &block.text);
    assert_eq!(output.code, Some(0), "{}\n{output}", block.place);
    assert!(
        is_so(&documented, &real),
        "{}\n--- documented\n{}\n--- real\n{}",
        block.place,
        documented.join("\n"),
        real.join("\n")
    );
}

/// Returns a command of an administrator as the test runs it: in the sandbox's machine.
fn as_root(sandbox: &Sandbox, command: &str) -> String {
    if !sandbox.machine().is_dir() {
        return command.to_owned();
    }
    let etc = format!("{}/etc/", sandbox.machine().display());
    command.replace("sudo tenter", "tenter").replace("sudo sh", "sh").replace("/etc/", &etc)
}

/// Returns the commands, and what each prints.
fn commands(block: &Block) -> Vec<(String, Vec<&str>)> {
    let mut commands: Vec<(String, Vec<&str>)> = Vec::new();
    for line in block.text.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            commands.push((command.to_owned(), Vec::new()));
        } else {
            let (command, output) =
                commands.last_mut().unwrap_or_else(|| panic!("{}: no command", block.place));
            match line.strip_prefix("> ") {
                Some(more) => *command = format!("{command}\n{more}"),
                None => output.push(line),
            }
        }
    }
    commands
}

/// Returns the lines of what was printed or documented, with what varies replaced.
fn lines(output: &Output, text: &str) -> Vec<String> {
    // The bell is heard, not seen.
    let text = as_documented(output, text).replace('\u{7}', "");
    text.lines().map(|line| line.trim_end().to_owned()).collect()
}

fn is_so(documented: &[String], real: &[String]) -> bool {
    match documented.split_first() {
        None => real.is_empty(),
        Some((first, rest)) if first.trim() == "…" => {
            (0..=real.len()).any(|count| is_so(rest, &real[count..]))
        }
        Some((first, rest)) => real.first() == Some(first) && is_so(rest, &real[1..]),
    }
}
