//! The tables are consistent: no program twice, no option that is not listed.

use std::collections::HashSet;

use super::{Inline, Program, Run, Style, TABLES};

fn rows() -> impl Iterator<Item = &'static Program> {
    TABLES.iter().flat_map(|table| table.iter())
}

#[test]
fn every_program_has_one_row() {
    let mut names = HashSet::new();
    for row in rows() {
        assert!(names.insert(row.name), "{} has two rows", row.name);
        assert_eq!(super::named(row.name).map(|other| other.name), Some(row.name));
        if let Some((program, _)) = row.name.split_once(' ') {
            let parent = super::program(program);
            assert!(parent.is_some_and(|parent| parent.has_subcommands), "{}", row.name);
        }
    }
}

/// Returns the options that a row names in its rules.
fn named(row: &Program) -> Vec<&'static str> {
    let mut texts = vec![row.recursive, row.directory];
    texts.extend(row.paths);
    texts.extend(row.classes.iter().map(|(_, when)| *when));
    for run in row.runs {
        match run {
            Run::Option(names)
            | Run::OptionRemote(names)
            | Run::AfterFlag(names)
            | Run::Unless(names, _)
            | Run::Keyed(names, _) => {
                texts.push(names);
            }
            Run::Transfers(inline, files) => texts.extend([inline, files]),
            Run::Recipes(files) => texts.extend([files.options, files.inline]),
            Run::Sql(client) => texts.extend([client.options, client.files]),
            _ => {}
        }
    }
    if let Some(interpreter) = row.interpreter {
        texts.extend([interpreter.module, interpreter.stdin]);
        if let Inline::Values(names) | Inline::OperandWith(names) = interpreter.inline {
            texts.push(names);
        }
    }
    texts
        .into_iter()
        .flat_map(str::split_ascii_whitespace)
        .filter(|word| word.starts_with('-'))
        .collect()
}

#[test]
fn every_option_in_a_rule_is_listed() {
    let mut missing = Vec::new();
    for row in rows() {
        let words: HashSet<&str> = row
            .options
            .split_ascii_whitespace()
            .map(|option| option.trim_end_matches(['=', '?']))
            .collect();
        let unlisted = named(row).into_iter().filter(|option| !words.contains(option));
        missing.extend(unlisted.map(|option| format!("{}: {option}", row.name)));
    }
    assert!(missing.is_empty(), "not in `options`: {missing:#?}");
}

#[test]
fn every_path_rule_can_be_read() {
    const OPERATIONS: [&str; 22] = *tenter_base::words!(
        "read write create delete move execute link mode list read-at read-file-url read-prefix
         write-prefix create-name read-glob create-first-after link-mount read-mount
         create-second-after write-first-after move-first-after delete-first-after"
    );
    for row in rows() {
        for rule in row.paths {
            let (operation, rest) = rule.split_once(' ').unwrap();
            assert!(OPERATIONS.contains(&operation), "{}: {rule}", row.name);
            assert!(!rest.is_empty(), "{}: {rule}", row.name);
        }
        assert!(row.style != Style::Keys || row.options.is_empty(), "{}", row.name);
    }
}
