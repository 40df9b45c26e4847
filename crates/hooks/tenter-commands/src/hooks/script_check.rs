//! Checks the text of a hook's script without running it: its line endings, and its syntax as its own interpreter reads it.
//!
//! The interpreter gets only `PATH`, so that no variable makes it load or run anything else.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, iter};

use tenter_base::{one_line, untrusted_file};
use tenter_engine::inspect::{EntryPoint, Environment};
use tenter_proc::{Cancel, Completion, Invocation, Limits, ProcessEnd, Streams};
use tenter_protocol::{Diagnostic, Severity};

use super::scripts;

/// Extensions of scripts that a hook's entry point may start.
const MODULES: [&str; 3] = ["py", "mjs", "cjs"];
/// Maximum number of such scripts that are checked.
const MAX_MODULES: usize = 16;
/// Maximum size of a script that is checked, in bytes.
const MAX_SCRIPT: u64 = 1 << 20;
/// Timeout of an interpreter that reads a script.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Characters of an interpreter's message that are shown.
const MAX_MESSAGE: usize = 200;
/// Parses stdin, and prints the line and the message of a syntax error.
const PYTHON: &str = "\
import ast, sys
try:
    ast.parse(sys.stdin.buffer.read())
except (SyntaxError, ValueError) as error:
    sys.exit(f'line {getattr(error, \"lineno\", None) or 1}: {error.args[0]}')
";

/// Returns the errors in the text of a script, and in the scripts beside it that it may start; none in those whose interpreter is
/// unknown or not installed.
pub(super) fn check(script: &EntryPoint, env: &Environment) -> Vec<Diagnostic> {
    let others = scripts_beside(&script.path);
    let others = others.into_iter().map(|path| EntryPoint { path, interpreter: None });
    iter::once(script.clone()).chain(others).filter_map(|script| check_one(&script, env)).collect()
}

/// Returns the other scripts in the directory `scripts` of a manifest hook, such as a module that a starter runs.
fn scripts_beside(path: &Path) -> Vec<PathBuf> {
    let Some(directory) = path.parent().filter(|parent| parent.ends_with("scripts")) else {
        return Vec::new();
    };
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let is_module = |path: &PathBuf| {
        path.extension().is_some_and(|end| MODULES.contains(&&*end.to_string_lossy()))
    };
    let others =
        entries.map(|entry| entry.path()).filter(|other| other != path && is_module(other));
    others.take(MAX_MODULES).collect()
}

fn check_one(script: &EntryPoint, env: &Environment) -> Option<Diagnostic> {
    let text = untrusted_file::read_prefix(&script.path, MAX_SCRIPT + 1).ok()?;
    if text.len() as u64 > MAX_SCRIPT {
        return None;
    }
    let first_line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let first_line = String::from_utf8_lossy(first_line);
    if first_line.starts_with("#!") && first_line.ends_with('\r') {
        return Some(carriage_return(&script.path));
    }
    let extension = script.path.extension().and_then(|end| end.to_str()).unwrap_or_default();
    let interpreter = match (script.interpreter, scripts::interpreter(&first_line)) {
        (Some(name), _) => name.to_owned(),
        (None, Some(name)) => name,
        (None, None) if extension == "py" => "python3".to_owned(),
        (None, None) if MODULES.contains(&extension) => "node".to_owned(),
        (None, None) => return None,
    };
    let message = syntax_error(&parse(&interpreter, &script.path, text, env)?)?;
    let message = format!("{interpreter} cannot read the script: {message}");
    Some(Diagnostic::new("script-syntax", Severity::Error, message).at(&script.path))
}

fn carriage_return(path: &Path) -> Diagnostic {
    let message =
        "the first line ends with a carriage return, which becomes part of the interpreter's name";
    Diagnostic::new("script-line-endings", Severity::Error, message)
        .at(path)
        .help("save it with Unix line endings (LF)")
}

/// Lets an interpreter parse a script; `None` if the interpreter has no way to do only that.
fn parse(interpreter: &str, path: &Path, text: Vec<u8>, env: &Environment) -> Option<Completion> {
    let name = Path::new(interpreter).file_name()?.to_str()?;
    let (args, stdin): (Vec<OsString>, _) =
        match name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') {
            "sh" | "bash" | "dash" | "ksh" | "zsh" => (vec!["-n".into()], text),
            "python" => (vec!["-I".into(), "-S".into(), "-c".into(), PYTHON.into()], text),
            // Node reads the kind of module from the extension.
            "node" | "nodejs" if path.extension().is_some() => {
                (vec!["--check".into(), fs::canonicalize(path).ok()?.into_os_string()], Vec::new())
            }
            "node" | "nodejs" => (vec!["--check".into(), "-".into()], text),
            _ => return None,
        };
    let invocation = Invocation {
        program: PathBuf::from(interpreter),
        args,
        cwd: PathBuf::from("/"),
        env: env.iter().filter(|(name, _)| name == "PATH").cloned().collect(),
        stdin,
        streams: Streams::Separate,
        limits: Limits { timeout: TIMEOUT, ..Limits::default() },
    };
    Some(tenter_proc::run(&invocation, &Cancel::new()))
}

/// Returns an interpreter's message on one line, if it rejected the script.
fn syntax_error(completion: &Completion) -> Option<String> {
    if !matches!(completion.end, ProcessEnd::Exited(code) if code != 0) {
        return None;
    }
    let text = completion.stderr.text();
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    // Node prints the place first, then the text with a caret, then the error.
    let node = text.lines().find(|line| line.starts_with("SyntaxError"));
    let first = lines.next().unwrap_or("no message");
    // Without an extension, how a module is read depends on the version of Node.
    if node.is_some_and(|error| error.contains("import statement") || error.contains("'export'")) {
        return None;
    }
    let message = match node {
        Some(error) => format!("line {}: {error}", first.rsplit(':').next().unwrap_or("?")),
        // Shells begin with their own name.
        None => {
            first.split_once(": line ").map_or(first.to_owned(), |(_, rest)| format!("line {rest}"))
        }
    };
    Some(one_line(&message, MAX_MESSAGE))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(name: &str, text: &str) -> Option<String> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(name);
        fs::write(&path, text).unwrap();
        let env = vec![(OsString::from("PATH"), OsString::from("/usr/local/bin:/usr/bin:/bin"))];
        check_one(&EntryPoint { path, interpreter: None }, &env).map(|finding| finding.message)
    }

    #[test]
    fn syntax_errors_have_a_line() {
        let bash = message("run", "#!/bin/bash\nif true; then\n").unwrap();
        assert!(bash.contains("/bin/bash cannot read the script: line 3: "), "{bash}");
        assert_eq!(message("run", "#!/bin/bash\necho $(date)\n"), None);
    }

    #[test]
    fn a_carriage_return_after_the_interpreter_is_an_error() {
        let message = message("run", "#!/bin/sh\r\nexit 0\r\n").unwrap();
        assert!(message.contains("carriage return"), "{message}");
    }

    #[test]
    fn other_interpreters_are_not_asked() {
        assert_eq!(message("run", "#!/usr/bin/perl\nif (\n"), None);
        assert_eq!(message("run", "\u{7f}ELF"), None);
    }

    #[test]
    fn nothing_of_the_script_runs() {
        let directory = tempfile::tempdir().unwrap();
        let mark = directory.path().join("mark");
        message("run", &format!("#!/bin/sh\ntouch {}\n", mark.display()));
        assert!(!mark.exists());
    }
}
