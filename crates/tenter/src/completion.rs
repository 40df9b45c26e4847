//! Shell completion: `tenter completions SHELL` prints a script, which runs this program to complete a word.
//!
//! Nothing of the project runs: names come from directories and files that are only read. What a shell would show of them has no
//! control characters.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Command;
use clap_complete::Shell;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::Shells;
use tenter_base::visible;
use tenter_commands::completion as candidates;
use tenter_terminal::{Env, Exit, Failure, ui};

/// The variable with which a shell's script asks for completions; its value is the shell.
const VARIABLE: &str = "TENTER_COMPLETE";
/// The program that scripts run.
const PROGRAM: &str = "tenter";
/// The variable with what bash expects between candidates.
const SEPARATOR: &str = "_CLAP_IFS";

/// Returns the candidates for an argument.
type Candidates = fn(&Env) -> Vec<CompletionCandidate>;

/// The arguments with candidates: a command, or none for all commands; the name of the argument; its candidates.
const COMPLETED: &[(&str, &str, Candidates)] = &[
    ("", "event", candidates::events),
    ("hooks show", "name", candidates::hooks),
    ("hooks test", "name", candidates::hooks),
    ("hooks enable", "name", candidates::hooks),
    ("hooks disable", "name", candidates::hooks),
    ("log", "hook", candidates::hooks),
    ("guard add", "names", candidates::guards),
    ("guard set", "name", candidates::guards),
    ("guard show", "name", candidates::guards),
    ("guard remove", "names", candidates::guards),
    ("guard update", "names", candidates::guards),
    ("hooks add", "names", candidates::ready_made),
    ("hooks set", "name", candidates::ready_made),
    ("hooks remove", "names", candidates::ready_made),
    ("hooks update", "names", candidates::ready_made),
    ("plugin show", "name", candidates::plugins),
    ("plugin remove", "names", candidates::plugins),
    ("plugin update", "names", candidates::plugins),
    ("plugin verify", "names", candidates::plugins),
    ("bridge show", "host", candidates::hosts),
    ("bridge install", "hosts", candidates::hosts),
    ("bridge remove", "hosts", candidates::hosts),
    ("bridge prove", "hosts", candidates::hosts),
    ("config list", "table", candidates::tables),
    ("config get", "key", candidates::settings),
    ("config set", "key", candidates::settings),
    ("config unset", "key", candidates::settings),
    ("help", "words", candidates::topics),
    ("trust", "revoke", candidates::hooks),
];

/// The arguments that the agent completes. They take precedence.
#[cfg(feature = "agent")]
const COMPLETED_BY_AGENT: &[(&str, &str, Candidates)] = &[
    ("", "model", tenter_chat::completion::models),
    ("", "weak_model", tenter_chat::completion::models),
    ("chat", "resume", tenter_chat::completion::conversations),
    ("run", "resume", tenter_chat::completion::conversations),
    ("run", "recipe", tenter_chat::completion::recipes),
    ("mcp show", "name", tenter_chat::completion::servers),
    ("mcp test", "name", tenter_chat::completion::servers),
    ("trust", "revoke", tenter_chat::completion::trusted),
    ("log", "session", tenter_chat::completion::conversations),
    ("conversation show", "id", tenter_chat::completion::conversations),
    ("conversation export", "id", tenter_chat::completion::conversations),
    ("conversation fork", "id", tenter_chat::completion::conversations),
    ("conversation restore", "id", tenter_chat::completion::conversations),
    ("conversation delete", "ids", tenter_chat::completion::conversations),
    ("recipe show", "name", tenter_chat::completion::recipes),
    ("skill show", "name", tenter_chat::completion::skills),
    ("models", "provider", tenter_chat::completion::providers),
];
#[cfg(not(feature = "agent"))]
const COMPLETED_BY_AGENT: &[(&str, &str, Candidates)] = &[];

/// Prints candidates if a shell asks for them with the variable; `None` if none does.
pub(crate) fn run(env: &Env, app: fn() -> Command) -> Option<ExitCode> {
    let shell = env.text(VARIABLE)?.to_owned();
    let words: Vec<OsString> = Env::arguments().skip_while(|word| word != "--").skip(1).collect();
    let output = candidates_for(env, &shell, app(), words);
    Some(if output { Exit::Done } else { Exit::Failed }.into())
}

fn candidates_for(env: &Env, shell: &str, mut app: Command, words: Vec<OsString>) -> bool {
    let shells = Shells::builtins();
    let Some(shell) = shells.completer(shell) else { return false };
    app.build(); // otherwise commands have no arguments yet
    add_candidates(&mut app, "", &for_line(env, &words));
    let mut output = Vec::new();
    let is_complete = shell.write_complete(&mut app, words, Some(&env.cwd), &mut output).is_ok();
    let separator = env.text(SEPARATOR).unwrap_or("\n");
    ui::out_raw(&safe(&String::from_utf8_lossy(&output), separator));
    is_complete
}

/// Returns the environment with the project that the line names.
fn for_line(env: &Env, words: &[OsString]) -> Env {
    let mut words = words.iter().filter_map(|word| word.to_str());
    let directory = words
        .find_map(|word| word.strip_prefix("--project"))
        .map(|rest| rest.strip_prefix('=').unwrap_or_else(|| words.next().unwrap_or(".")));
    let cwd = directory.map(|directory| env.cwd.join(directory)).filter(|cwd| cwd.is_dir());
    Env { cwd: cwd.unwrap_or_else(|| env.cwd.clone()), ..env.clone() }
}

/// Adds candidates to the arguments of `command`, whose path of names is `path`, and of its subcommands.
fn add_candidates(command: &mut Command, path: &str, env: &Env) {
    let rows = COMPLETED_BY_AGENT.iter().chain(COMPLETED);
    let rows: Vec<_> = rows.filter(|row| row.0.is_empty() || row.0 == path).collect();
    *command = std::mem::take(command).mut_args(|arg| {
        let Some((_, _, candidates)) = rows.iter().find(|row| arg.get_id() == row.1) else {
            return arg;
        };
        let (candidates, env) = (*candidates, env.clone());
        arg.add(ArgValueCandidates::new(move || candidates(&env)))
    });
    for subcommand in command.get_subcommands_mut() {
        let path = format!("{path} {}", subcommand.get_name());
        add_candidates(subcommand, path.trim_start(), env);
    }
}

/// Returns the candidates without those that a terminal would not show as they are.
fn safe(candidates: &str, separator: &str) -> String {
    let is_safe = |candidate: &&str| {
        let mut parts = candidate.split('\t');
        parts.all(|part| visible(part) == part)
    };
    candidates.split(separator).filter(is_safe).collect::<Vec<_>>().join(separator)
}

/// Returns the script for a shell.
pub(crate) fn script(shell: Shell) -> Result<String, Failure> {
    let mut script = Vec::new();
    let shells = Shells::builtins();
    let result = shells.completer(&shell.to_string()).and_then(|shell| {
        shell.write_registration(VARIABLE, PROGRAM, PROGRAM, PROGRAM, &mut script).ok()
    });
    result.ok_or_else(|| Failure::usage(format!("there is no completion for {shell}")))?;
    Ok(String::from_utf8_lossy(&script).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has_arg(command: &Command, path: &str, arg: &str) -> bool {
        let subcommand = path.split_whitespace().try_fold(command, Command::find_subcommand);
        subcommand.is_some_and(|command| command.get_arguments().any(|one| one.get_id() == arg))
    }

    #[test]
    fn every_completed_argument_exists() {
        let mut app = crate::app::command();
        app.build();
        for (path, arg, _) in COMPLETED_BY_AGENT.iter().chain(COMPLETED) {
            assert!(path.is_empty() || has_arg(&app, path, arg), "{path} {arg}");
        }
    }

    #[test]
    fn candidates_with_control_characters_are_left_out() {
        assert_eq!(safe("a\nb\u{1b}[2J\nc\thelp\nd\te\u{202e}", "\n"), "a\nc\thelp");
        assert_eq!(safe("a\u{b}x\ny\u{b}b", "\u{b}"), "a\u{b}b");
        assert_eq!(safe("", "\n"), "");
    }

    #[test]
    fn the_project_is_that_of_the_line() {
        let env = Env::from_variables(Vec::new(), "/".into());
        let cwd = |words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            for_line(&env, &words).cwd
        };
        assert_eq!(
            cwd(&["tenter", "hooks", "--project", "tmp", "show"]),
            std::path::Path::new("/tmp")
        );
        assert_eq!(cwd(&["tenter", "hooks", "--project=tmp"]), std::path::Path::new("/tmp"));
        assert_eq!(
            cwd(&["tenter", "hooks", "--project", "no such directory"]),
            std::path::Path::new("/")
        );
    }
}
