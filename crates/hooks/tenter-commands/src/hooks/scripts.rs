//! Checks whether a hook's script can be started: it exists, it is executable, and its interpreter is installed. Only first
//! lines are read.

use std::ffi::OsStr;
use std::path::Path;

use tenter_base::{search_path, untrusted_file};
use tenter_engine::inspect::{EntryPoint, Environment};
use tenter_engine::source::{self, Script};
use tenter_protocol::{Diagnostic, Severity};

/// Maximum length of a first line in bytes; systems read fewer.
const FIRST_LINE: u64 = 512;

/// Returns the diagnostics of the script of the manifest hook in `directory` (R15).
pub(super) fn script_of(directory: &Path) -> Vec<Diagnostic> {
    let script = source::script(directory);
    let unused_files = match &script {
        Script::Entry(EntryPoint { path, .. }) | Script::NotExecutable(path) => {
            unused(directory, path)
        }
        Script::Missing => None,
    };
    about(script, directory).into_iter().chain(unused_files).collect()
}

fn about(script: Script, directory: &Path) -> Option<Diagnostic> {
    match script {
        Script::Entry(EntryPoint { path, interpreter: None }) => {
            source::names_no_interpreter(&path).then(|| without_interpreter(&path))
        }
        Script::Entry(EntryPoint { path, interpreter: Some(interpreter) }) => {
            let message = format!("the script is not executable; {interpreter} runs it");
            let finding = not_executable(&path, Severity::Warning, &message);
            Some(finding.help(format!("begin it with a #! line, and chmod +x {}", path.display())))
        }
        Script::NotExecutable(path) => {
            let message =
                "the script is not executable, and its name does not imply an interpreter";
            Some(not_executable(&path, Severity::Error, message))
        }
        Script::Missing => {
            let names = source::SCRIPTS.map(|(name, _)| name).join(", ");
            let message = "the hook has no script, so it does nothing";
            let finding = Diagnostic::new("hook-without-script", Severity::Warning, message);
            Some(
                finding
                    .at(directory)
                    .help(format!("add a script: the first that exists is used of {names}")),
            )
        }
    }
}

fn without_interpreter(path: &Path) -> Diagnostic {
    let message = "the script has no #! line, so the system cannot start it";
    Diagnostic::new("script-without-interpreter", Severity::Error, message)
        .at(path)
        .help("begin it with a #! line, such as #!/bin/sh")
}

/// Returns the other files that could be the script of the hook in `directory`, which is `entry`. `exists` says which files are there.
pub(super) fn unused_scripts(
    directory: &Path,
    entry: &Path,
    exists: impl Fn(&str) -> bool,
) -> Vec<&'static str> {
    let names = source::SCRIPTS.map(|(name, _)| name).into_iter();
    names.filter(|name| directory.join(name) != entry && exists(name)).collect()
}

/// Returns the warning that there are several scripts, of which one is used.
fn unused(directory: &Path, entry: &Path) -> Option<Diagnostic> {
    let unused_files = unused_scripts(directory, entry, |name| directory.join(name).is_file());
    let script_path = entry.strip_prefix(directory).unwrap_or(entry).display();
    let message =
        format!("{script_path} is the hook's script; {} is not used", unused_files.join(", "));
    let finding = Diagnostic::new("script-not-used", Severity::Warning, message).at(directory);
    (!unused_files.is_empty()).then(|| finding.help("remove the one that you do not need"))
}

fn not_executable(path: &Path, severity: Severity, message: &str) -> Diagnostic {
    Diagnostic::new("script-not-executable", severity, message)
        .at(path)
        .help(format!("chmod +x {}", path.display()))
}

/// Returns the file that a hook starts, and its interpreter if the file is not executable.
pub(super) fn entry_of(path: &Path) -> Option<EntryPoint> {
    if !path.is_dir() {
        return Some(EntryPoint { path: path.to_owned(), interpreter: None });
    }
    match source::script(path) {
        Script::Entry(entry) => Some(entry),
        Script::NotExecutable(_) | Script::Missing => None,
    }
}

/// Returns the diagnostic that a script's interpreter is not installed, if so.
pub(super) fn interpreter_missing(entry: &EntryPoint, env: &Environment) -> Option<Diagnostic> {
    let missing = match entry.interpreter {
        // Without bash, sh runs it (R15).
        Some("bash") if is_installed("sh", env) => None,
        Some(interpreter) => Some(interpreter.to_owned()).filter(|name| !is_installed(name, env)),
        None => interpreter(&untrusted_file::first_line(&entry.path, FIRST_LINE).ok()?)
            .filter(|name| !is_installed(name, env)),
    }?;
    let message = format!("its interpreter {missing} is not installed, so it cannot run");
    let help = format!("install {missing}, or change the script's first line");
    Some(
        Diagnostic::new("interpreter-missing", Severity::Error, message).at(&entry.path).help(help),
    )
}

/// Returns the program that a first line names, or the one that `env` looks for.
pub(super) fn interpreter(line: &str) -> Option<String> {
    let mut words = line.strip_prefix("#!")?.split_whitespace();
    let program = words.next()?;
    if Path::new(program).file_name() != Some(OsStr::new("env")) {
        return Some(program.to_owned());
    }
    let word = words.find(|word| !word.starts_with('-') && !word.contains('='));
    Some(word.unwrap_or(program).to_owned())
}

/// Checks whether a program is there: at its path, or in a directory of `PATH`.
fn is_installed(program: &str, env: &Environment) -> bool {
    if program.contains('/') {
        return Path::new(program).is_file();
    }
    search_path::program(program, env).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_lines_name_their_interpreter() {
        for (line, expected) in [
            ("#!/bin/sh", Some("/bin/sh")),
            ("#! /usr/bin/perl -w", Some("/usr/bin/perl")),
            ("#!/usr/bin/env python3", Some("python3")),
            ("#!/usr/bin/env -S FOO=1 deno run", Some("deno")),
            ("#!/usr/bin/env", Some("/usr/bin/env")),
            ("#!", None),
            ("echo", None),
            ("\u{7f}ELF", None),
        ] {
            assert_eq!(interpreter(line).as_deref(), expected, "{line}");
        }
    }
}
