//! Permission rules for shell commands as rules for the effects of commands (B38): `Bash(git push:*)` also applies to
//! `git -C . push`.

use std::path::Path;

use serde_json::json;
use tenter_engine::inspect::{CallSurroundings, check_examples};
use tenter_protocol::event::Body;
use tenter_protocol::facts::Command;
use tenter_protocol::manifest::rule::{
    CodeCondition, Conditions, Operands, Rule, RuleDecision, RuleVerdict, UncertainPolicy, Words,
};
use tenter_protocol::{Object, ToolCall};

/// Characters that the shell, or a pattern of a rule, does not read as they are.
const NOT_LITERAL: &str = "[]{}$`\\~<>|&;()#!";

/// Converts a permission rule for exactly `command`, or with `:*` or ` *` at its end, for all commands that begin with it. `None` if
/// it is not one command that can be read completely.
pub(super) fn rules(command: &str, verdict: RuleVerdict, reason: &str) -> Option<Vec<Rule>> {
    let (body, is_prefix) = match command.strip_suffix(":*").or_else(|| command.strip_suffix(" *"))
    {
        Some(body) => (body.trim_end(), true),
        None => (command, command.contains('*')),
    };
    // Elsewhere than at the end, `*` is any number of words: `git push*--force*`.
    let spans_words = body.strip_suffix('*').unwrap_or(body).contains('*');
    let is_literal = !body.contains(|c: char| NOT_LITERAL.contains(c) || c.is_control());
    if body.is_empty() || spans_words || !is_literal {
        return None;
    }
    let is_open = command.ends_with(":*");
    let rule = |conditions| Rule {
        conditions,
        decision: Some(RuleDecision { verdict, reason: reason.to_owned(), confine: None }),
        uncertain: match verdict {
            RuleVerdict::Deny => UncertainPolicy::Deny,
            RuleVerdict::Ask => UncertainPolicy::Ask,
            RuleVerdict::Confine => UncertainPolicy::Confine,
        },
        ..Rule::default()
    };
    let rules = vec![rule(conditions(body, is_prefix, is_open)?), rule(in_code(body))];
    let example = body.replace('*', "x");
    let mut examples = vec![example.clone()];
    if is_prefix {
        examples.push(format!("{example} x"));
    }
    let applies = {
        let check = check_examples(&rules);
        examples.iter().all(|example| check(0, example, true).is_none())
    };
    applies.then_some(rules)
}

/// Returns the conditions for the command `body`.
fn conditions(body: &str, is_prefix: bool, is_open: bool) -> Option<Conditions> {
    let commands = commands(body);
    let (command, around) = commands.split_last()?;
    let is_one = around.len() == command.via.len()
        && around.iter().zip(&command.via).all(|(wrapper, via)| wrapper.program == *via);
    if !is_one || !command.env.is_empty() || !command.redirects.is_empty() {
        return None;
    }
    let mut operands = command.operands.clone();
    let count = (!is_prefix).then_some((operands.len(), operands.len()));
    let ends_with_operand = operands.last().is_some_and(|last| body.ends_with(last.as_str()));
    if let Some(last) = operands.last_mut().filter(|_| is_open && ends_with_operand) {
        last.push('*');
    }
    let specific = |texts: Vec<String>| -> Vec<String> {
        texts.into_iter().filter(|text| text.chars().any(|c| c != '*')).collect()
    };
    let words = Words { all: specific(operands), ..Words::default() };
    let operands = Operands { words, count, after_dashes: false };
    let flags = Words { all: specific(command.flags.clone()), ..Words::default() };
    let conditions = Conditions {
        program: specific(vec![command.program.clone()]),
        subcommand: specific(command.subcommand.clone().into_iter().collect()),
        operands: Some(operands).filter(|operands| *operands != Operands::default()),
        flags: Some(flags).filter(|flags| *flags != Words::default()),
        via: command.via.last().cloned().into_iter().collect(),
        ..Conditions::default()
    };
    (!conditions.is_empty()).then_some(conditions)
}

/// Returns the conditions for code in another language that contains the command in quotes.
fn in_code(body: &str) -> Conditions {
    let quotes = ["'", "\"", "`"];
    let text = quotes
        .iter()
        .flat_map(|quote| [format!("{quote}{body} "), format!("{quote}{body}{quote}")]);
    let code = CodeCondition { text: text.collect(), ..CodeCondition::default() };
    Conditions { code: Some(code), ..Conditions::default() }
}

fn commands(text: &str) -> Vec<Command> {
    let input: Object = json!({"command": text}).as_object().cloned().unwrap_or_default();
    let body = Body::BeforeTool(ToolCall::new("", "bash", input));
    CallSurroundings::default().facts(&body, None, Path::new("/")).facts.call.commands
}

#[cfg(test)]
mod tests {
    use tenter_engine::inspect::HookRules;

    use super::*;

    fn denies(command: &str, example: &str) -> bool {
        let rules = rules(command, RuleVerdict::Deny, "no").unwrap_or_else(|| panic!("{command}"));
        HookRules::new(&rules).unwrap().judge_example(example).is_some()
    }

    #[test]
    fn a_rule_applies_to_its_command_however_that_is_written() {
        for (rule, examples) in [
            (
                "git push:*",
                &[
                    "git push",
                    "git -C . push --force",
                    "git -c a.b=c push origin",
                    "/usr/bin/git push",
                    "\"git\" pu\"\"sh",
                    "sudo git push",
                    "env X=1 timeout 5 git --no-pager push",
                    "bash -c 'cd x && git push'",
                    "echo $(git push)",
                    "g=git; $g push",
                    "true\ngit push",
                    "python3 -c \"import os; os.system('git push')\"",
                ][..],
            ),
            (
                "npm run test:*",
                &["npm run test", "npm --silent run test -- --watch", "npm run test:unit"],
            ),
            ("rm -rf:*", &["rm -fr x", "rm -r -f x", "sudo rm -rf /"]),
            ("curl:*", &["curl http://a", "/usr/bin/curl -s a | sh", "xargs curl"]),
            ("curl https://a.b/c:*", &["curl -s https://a.b/c/d"]),
            ("ls *", &["ls", "ls -la"]),
            ("ls*", &["lsof"]),
            ("git push", &["git push", "git -C . push"]),
            ("sudo:*", &["sudo ls", "sudo -u x ls"]),
            ("docker compose up:*", &["docker --context a compose up -d"]),
            ("mytool deploy:*", &["./mytool deploy now"]),
        ] {
            for example in examples {
                assert!(denies(rule, example), "{rule}: {example}");
            }
        }
    }

    #[test]
    fn a_rule_does_not_apply_to_other_commands() {
        for (rule, example) in [
            ("git push:*", "git status"),
            ("git push:*", "git commit -m 'git push'"),
            ("git push:*", "echo git push"),
            ("git push", "git push origin"),
            ("npm run test:*", "npm run build"),
            ("rm -rf:*", "rm x"),
            ("ls *", "lsof"),
            ("rm:*", "python3 -c 'print(\"format\")'"),
        ] {
            assert!(!denies(rule, example), "{rule}: {example}");
        }
    }

    #[test]
    fn what_is_not_one_known_command_has_no_rules() {
        for command in [
            "",
            "*",
            "cd x && git push:*",
            "echo $HOME:*",
            "ls > x",
            "cat [ab]",
            "git * main",
            "git push*--force*",
            "*--force*",
        ] {
            assert_eq!(rules(command, RuleVerdict::Deny, "no"), None, "{command}");
        }
    }
}
