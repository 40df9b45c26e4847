//! Rules that make permissions stricter: calls that are denied, and calls that the user is asked about in every mode.
//!
//! Allowing needs certainty, and so does not restricting: a rule about commands also applies to a command that runs inside another
//! one, and a call that it may apply to is asked about. `bash(git push *)` denies `sudo git -C . push`, and asks about `git "$x"`.

use std::path::Path;

use tenter_protocol::facts::Command;
use tenter_shell::{KnownUse, Uncertain};

use super::RuleSource;
use super::rule::{ArgPattern, ProgramPattern, Rule, RulePattern};
use super::rules::CallContext;

/// Rules that make permissions stricter.
#[derive(Debug, Clone, Default)]
pub struct Restrictions {
    /// The rules of calls that do not run, whatever hooks and other rules allow.
    pub deny: Vec<(Rule, RuleSource)>,
    /// The rules of calls that the user is asked about in every mode, unless a hook decides.
    pub ask: Vec<(Rule, RuleSource)>,
}

/// The restriction of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Restriction {
    /// The user must be asked, because of this rule.
    Ask(String),
    /// This rule denies it.
    Deny(String),
}

/// The answer to the question whether a rule applies to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Coverage {
    No,
    /// A part of the call is not known before it runs.
    Perhaps,
    Yes,
}

impl From<bool> for Coverage {
    fn from(covers: bool) -> Self {
        if covers { Self::Yes } else { Self::No }
    }
}

impl Restrictions {
    /// Returns whether there are no rules.
    pub(crate) fn is_empty(&self) -> bool {
        self.deny.is_empty() && self.ask.is_empty()
    }

    /// Returns the restriction of a call, if there is one.
    pub(crate) fn find_for_call(&self, context: CallContext<'_>) -> Option<Restriction> {
        let mut asking = None;
        for (rule, _) in &self.deny {
            match coverage(rule, context) {
                Coverage::Yes => return Some(Restriction::Deny(rule.to_string())),
                Coverage::Perhaps => asking = asking.or(Some(rule)),
                Coverage::No => {}
            }
        }
        let mut rules = self.ask.iter().map(|(rule, _)| rule);
        let asking = asking.or_else(|| rules.find(|rule| coverage(rule, context) > Coverage::No));
        asking.map(|rule| Restriction::Ask(rule.to_string()))
    }
}

/// Returns whether a rule applies to a call. A rule about a path applies to every change of that path, whatever makes it.
fn coverage(rule: &Rule, context: CallContext<'_>) -> Coverage {
    let CallContext { call, file, facts, workspace } = context;
    let project = workspace.project();
    if rule.allows_every(&call.name) {
        return Coverage::Yes;
    }
    if let Some(file) = file {
        return rule.names_path(file, false, project).into();
    }
    let commands = facts.commands.iter().map(|command| cover_command(rule, command, project));
    let changes = facts.paths.iter().filter(|path| path.op.changes()).map(|path| {
        if rule.names_path(Path::new(&path.path), path.recursive, project) {
            Coverage::Yes
        } else if path.certain || !rule.has_path() {
            Coverage::No
        } else {
            Coverage::Perhaps
        }
    });
    let is_incomplete = facts.unparsed || facts.over_limit;
    let rest = if is_incomplete { Coverage::Perhaps } else { Coverage::No };
    commands.chain(changes).chain([rest]).max().unwrap_or(Coverage::No)
}

fn cover_command(rule: &Rule, command: &Command, project: &Path) -> Coverage {
    match rule.pattern() {
        RulePattern::Known(known_use) => {
            KnownUse::find_for_command(command).is_some_and(|(other, _)| other == *known_use).into()
        }
        RulePattern::Command(pattern) => cover_program(pattern, command, project),
        RulePattern::Any | RulePattern::Server | RulePattern::Path { .. } => Coverage::No,
    }
}

/// Returns whether a pattern applies to a command. Options may stand anywhere, and further arguments may follow: `rm -rf` covers
/// `rm -r -f x`, and `git push` covers `git -C . push --force`.
fn cover_program(pattern: &ProgramPattern, command: &Command, project: &Path) -> Coverage {
    let program = pattern.program.rsplit('/').next();
    if program != Some(command.program.as_str()) {
        return if command.uncertain.contains(&Uncertain::Program) {
            Coverage::Perhaps
        } else {
            Coverage::No
        };
    }
    let directory = pattern.directory.as_ref().map(|directory| project.join(directory));
    let is_elsewhere = match (&directory, &command.cwd) {
        (Some(directory), Some(cwd)) => !Path::new(cwd).starts_with(directory),
        _ => false,
    };
    if is_elsewhere {
        return Coverage::No;
    }
    if has_args(pattern, command) {
        Coverage::Yes
    } else if command.uncertain.iter().any(|uncertain| matches!(uncertain, Uncertain::Arg(_))) {
        Coverage::Perhaps
    } else {
        Coverage::No
    }
}

/// Returns whether a command has the options of a pattern, in any order, and its other arguments, in this order.
fn has_args(pattern: &ProgramPattern, command: &Command) -> bool {
    let is_option = |arg: &&ArgPattern| arg.literal().is_some_and(|text| text.starts_with('-'));
    let (options, operands): (Vec<&ArgPattern>, Vec<&ArgPattern>) =
        pattern.args.iter().partition(|arg| is_option(arg));
    let has_option = |option: &&ArgPattern| {
        let all = command.flags.iter().chain(&command.args);
        let text = option.literal().unwrap_or_default();
        let bundle = text.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
        all.into_iter().any(|arg| option.is_match(arg))
            || bundle.is_some_and(|letters| {
                letters
                    .chars()
                    .all(|letter| command.flags.iter().any(|flag| *flag == format!("-{letter}")))
            })
    };
    let first = operands.first().and_then(|arg| arg.literal());
    let is_subcommand = match (first, &command.subcommand) {
        (Some(first), Some(subcommand)) => first == subcommand,
        _ => true,
    };
    let mut args = command.args.iter();
    options.iter().all(has_option)
        && is_subcommand
        && operands.iter().all(|operand| args.any(|arg| operand.is_match(arg)))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::rules::testing::with;
    use super::*;
    use crate::tools::testing::Bench;

    fn denied(rule: &str, tool: &str, input: Value) -> Option<Restriction> {
        let bench = Bench::new();
        let deny = vec![(rule.parse().unwrap(), RuleSource::Configuration)];
        let restrictions = Restrictions { deny, ..Restrictions::default() };
        with(&bench, tool, input, |context| restrictions.find_for_call(context))
    }

    #[test]
    fn a_rule_about_a_command_applies_wherever_the_command_runs() {
        for (rule, command, is_denied) in [
            ("bash(git push *)", "git push", true),
            ("bash(git push)", "git push --force origin main", true),
            ("bash(git push *)", "git -C . push --force", true),
            ("bash(git push *)", "ls && sudo git push", true),
            ("bash(git push *)", "bash -c 'git push'", true),
            ("bash(git push *)", "/usr/bin/git push", true),
            ("bash(git push *)", "git log --grep push", false),
            ("bash(git push *)", "git stash push", false),
            ("bash(git push --force *)", "git push origin main", false),
            ("bash(git push --force *)", "git push origin --force", true),
            ("bash(rm -rf *)", "rm -r -f x", true),
            ("bash(rm -rf *)", "rm -r x", false),
            ("bash(rm -r *)", "rm -rf x", true),
            ("bash", "ls", true),
            ("reads(ls)", "ls", true),
            ("reads(ls)", "cat x", false),
            ("bash(npm publish)", "npm test", false),
        ] {
            let expected = is_denied.then(|| Restriction::Deny(rule.to_owned()));
            assert_eq!(
                denied(rule, "bash", json!({"command": command})),
                expected,
                "{rule}: {command}"
            );
        }
    }

    #[test]
    fn a_call_that_a_rule_may_apply_to_is_asked_about() {
        for command in ["git \"$x\"", "\"$x\" push", "git p$x", "if"] {
            let rule = "bash(git push *)";
            let restriction = denied(rule, "bash", json!({"command": command}));
            assert_eq!(restriction, Some(Restriction::Ask(rule.to_owned())), "{command}");
        }
        let rule = "file_edit(keys/**)";
        let restriction = denied(rule, "bash", json!({"command": "echo > \"$x\""}));
        assert_eq!(restriction, Some(Restriction::Ask(rule.to_owned())));
    }

    #[test]
    fn a_rule_about_a_path_applies_to_every_change_of_it() {
        let rule = "file_edit(keys/**)";
        let edit = json!({"file_path": "keys/a", "old_text": "a", "new_text": "b"});
        for (tool, input, is_denied) in [
            ("file_edit", edit, true),
            ("file_write", json!({"file_path": "keys/a", "text": "x"}), true),
            ("file_write", json!({"file_path": "other", "text": "x"}), false),
            ("bash", json!({"command": "echo > keys/a"}), true),
            ("bash", json!({"command": "rm keys/a"}), true),
            ("bash", json!({"command": "rm -r keys"}), true),
            ("bash", json!({"command": "rm -r other"}), false),
            ("bash", json!({"command": "cat keys/a"}), false),
            ("bash", json!({"command": "echo > other"}), false),
        ] {
            let expected = is_denied.then(|| Restriction::Deny(rule.to_owned()));
            assert_eq!(denied(rule, tool, input.clone()), expected, "{tool} {input}");
        }
    }
}
