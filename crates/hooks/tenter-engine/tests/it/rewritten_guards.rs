//! The examples of the guards, rewritten: what keeps the meaning of a command is still stopped, or still passes, and a command
//! that is only data always passes (C13).

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use tenter_engine::inspect::{CHECKS, HookRules};
use tenter_protocol::front_matter::Strictness;
use tenter_protocol::manifest::format;
use tenter_protocol::manifest::rule::Rule;
use tenter_protocol::reply::VerdictKind;
use tenter_shell::Surroundings;
use tenter_testkit::shell_text::{PlainCommand, as_data, commands_run, frame};
use tenter_testkit::{Choices, is_soak, soak_factor};

/// Number of rewritings of one example in an ordinary run.
const REWRITINGS: usize = 3;

/// A guard.
struct Guard {
    name: String,
    rules: Vec<Rule>,
    compiled: HookRules,
}

impl Guard {
    fn decides(&self, command: &str) -> Option<VerdictKind> {
        self.compiled.judge_example(command).and_then(|judgement| judgement.verdict)
    }

    fn stopped(&self) -> impl Iterator<Item = &str> {
        self.rules.iter().flat_map(|rule| &rule.examples.stopped).map(String::as_str)
    }

    /// Returns the examples, except of rules about what runs a command: a rewriting changes that.
    fn passed(&self) -> impl Iterator<Item = &str> {
        let rules = self.rules.iter().filter(|rule| rule.conditions.via.is_empty());
        rules.flat_map(|rule| &rule.examples.passed).map(String::as_str)
    }
}

/// Returns all guards.
fn guards() -> Vec<Guard> {
    let directory =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../tenter-commands/src/guard/shipped");
    let mut files: Vec<_> =
        fs::read_dir(directory).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let guard = |file: &std::path::PathBuf| {
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let hook = Path::new(&name).join("HOOK.md");
        let (manifest, diagnostics) =
            format::read(&hook, &fs::read(file).unwrap(), Strictness::Tolerant, CHECKS);
        let rules = manifest.unwrap_or_else(|| panic!("{name}: {diagnostics:?}")).extensions.rules;
        // Ready-made hooks without rules have none.
        let rules_of_guard = HookRules::new(&rules)?;
        Some(Guard { name, rules, compiled: rules_of_guard })
    };
    files.iter().filter_map(guard).collect()
}

/// Returns another text that does the same as `command`.
fn rewrite(command: &str, is_parsed_only: bool, choices: &mut Choices) -> String {
    let Some(plain) = PlainCommand::parse(command) else { return frame(command, 0, choices) };
    match choices.below(if is_parsed_only { 6 } else { 3 }) {
        0 => plain.respell(choices),
        1 => plain.with_other_options(choices).unwrap_or_else(|| plain.respell(choices)),
        2 => plain.wrap(choices),
        3 => plain.wrapped_unsafely(choices),
        4 => plain.redirect(choices),
        _ => frame(command, 0, choices),
    }
}

/// Returns several rewritings within each other.
fn many_times(command: &str, is_parsed_only: bool, choices: &mut Choices) -> String {
    let mut text = rewrite(command, is_parsed_only, choices);
    for depth in 1..=choices.below(3) {
        text = frame(&text, depth, choices);
    }
    text
}

#[test]
fn a_rewritten_command_is_stopped_like_the_example() {
    let mut choices = Choices::new(13);
    let (mut count, mut wrong) = (0, String::new());
    for guard in guards() {
        for example in guard.stopped() {
            let expected = guard.decides(example);
            for _ in 0..REWRITINGS * soak_factor() {
                let text = many_times(example, true, &mut choices);
                let decided = guard.decides(&text);
                count += 1;
                if expected.is_none() || decided != expected {
                    let name = &guard.name;
                    let _ = writeln!(wrong, "{name}: {example}\n  {text:?}\n  {decided:?}");
                }
            }
        }
    }
    assert!(wrong.is_empty(), "of {count}:\n{wrong}");
}

#[test]
fn a_rewritten_command_passes_like_the_example() {
    let mut choices = Choices::new(14);
    let (mut count, mut wrong) = (0, String::new());
    for guard in guards() {
        for example in guard.passed() {
            for _ in 0..REWRITINGS * soak_factor() {
                let text = many_times(example, guard.name != "privilege", &mut choices);
                let decided = guard.decides(&text);
                count += 1;
                if decided.is_some() {
                    let name = &guard.name;
                    let _ = writeln!(wrong, "{name}: {example}\n  {text:?}\n  {decided:?}");
                }
            }
        }
    }
    assert!(wrong.is_empty(), "of {count}:\n{wrong}");
}

#[test]
fn a_command_that_is_data_passes() {
    let guards = guards();
    let examples: BTreeSet<&str> =
        guards.iter().flat_map(|guard| guard.stopped().chain(guard.passed())).collect();
    let rules: Vec<Rule> = guards.iter().flat_map(|guard| guard.rules.clone()).collect();
    let all_guards = HookRules::new(&rules).unwrap();
    let (mut count, mut wrong) = (0, String::new());
    let mut choices = Choices::new(17);
    let mut sampled = |example: &&str| {
        let mut texts = as_data(example);
        texts.retain(|_| is_soak() || choices.once_in(8));
        texts
    };
    for text in examples.iter().flat_map(&mut sampled) {
        count += 1;
        if let Some(judgement) = all_guards.judge_example(&text) {
            let _ = writeln!(wrong, "{text:?}\n  {judgement:?}");
        }
    }
    assert!(wrong.is_empty(), "of {count}:\n{wrong}");
}

/// Real bash runs the rewritings of the examples with the arguments that the facts have. Programs only record their arguments,
/// and operands are replaced by names of nothing.
#[test]
fn bash_runs_what_the_facts_say() {
    let mut choices = Choices::new(15);
    let guards = guards();
    let examples = guards.iter().flat_map(|guard| guard.stopped().chain(guard.passed()));
    let plain: Vec<PlainCommand> = examples
        .filter_map(PlainCommand::parse)
        .map(|plain| plain.with_placeholders())
        .filter(can_run)
        .collect();
    let programs: BTreeSet<&str> = plain.iter().map(PlainCommand::program).collect();
    let programs: Vec<&str> = programs.into_iter().collect();
    let mut cases = Vec::new();
    for plain in &plain {
        let command = plain.words().join(" ");
        for _ in 0..soak_factor() {
            cases.push((many_times(&command, false, &mut choices), true));
            let data = as_data(&command);
            let safe: Vec<&String> = data.iter().filter(|text| !text.contains('>')).collect();
            cases.push((choices.one_of(&safe).clone(), false));
        }
    }
    let texts: Vec<String> = cases.iter().map(|(text, _)| text.clone()).collect();
    let Some(commands) = commands_run(&texts, &programs) else { return };
    let surroundings = Surroundings {
        cwd: Some("/empty".to_owned()),
        home: Some("/home/ann".to_owned()),
        ..Surroundings::default()
    };
    let mut wrong = String::new();
    for ((text, runs), ran) in cases.iter().zip(&commands) {
        let facts = tenter_shell::read(text, &surroundings);
        let command_words: Vec<Vec<String>> = facts
            .commands
            .iter()
            .map(|command| {
                std::iter::once(&command.program).chain(&command.args).cloned().collect()
            })
            .collect();
        // The facts have the programs of PowerShell in lower case.
        let is_same = |one: &[String], other: &[String]| {
            one[0].eq_ignore_ascii_case(&other[0]) && one[1..] == other[1..]
        };
        let is_known =
            ran.iter().all(|words| command_words.iter().any(|fact| is_same(fact, words)));
        let is_there = !runs || !ran.is_empty();
        if !is_known || !is_there || facts.unparsed {
            let _ = writeln!(wrong, "{text}\n  bash: {ran:?}\n  facts: {command_words:?}");
        }
    }
    assert!(wrong.is_empty(), "of {}:\n{wrong}", cases.len());
}

/// Returns whether a command can be run with a recording program: it is no builtin or helper, and its text names nothing else.
fn can_run(command: &PlainCommand) -> bool {
    const NEVER: [&str; 17] = [
        "source",
        "exec",
        "kill",
        "eval",
        "echo",
        "env",
        "bash",
        "sh",
        "find",
        "cat",
        "set",
        "cd",
        "test",
        "command", // Languages of Windows are not read.
        "pwsh",
        "powershell",
        "cmd",
    ];
    !NEVER.contains(&command.program())
}
