//! An exception to a rule: one command or one path that the rule stops although it is harmless.

use std::path::Path;

use serde_json::{Map, Value, json};
use tenter_engine::inspect::CHECKS;
use tenter_protocol::Severity;
use tenter_protocol::front_matter::Strictness;
use tenter_protocol::manifest::format;
use tenter_shell::Surroundings;

/// An exception to a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RuleException {
    /// The condition, as JSON in one line, which is YAML.
    condition: String,
    /// The command as an example that passes, in quotes; `None` for a path.
    example: Option<String>,
}

impl RuleException {
    /// Returns the exception for a part of a call: a command, or the path of another tool. `None` for text that is not one command with
    /// known words.
    pub(crate) fn new(part: &str, is_command: bool) -> Option<Self> {
        if part.is_empty() || part.chars().any(char::is_control) {
            return None;
        }
        if is_command {
            return Self::from_command(part);
        }
        let condition = json!({"path": {"glob": [literal(part)]}}).to_string();
        part.starts_with('/').then_some(Self { condition, example: None })
    }

    fn from_command(text: &str) -> Option<Self> {
        let surroundings = Surroundings { cwd: Some("/".to_owned()), ..Surroundings::default() };
        let facts = tenter_shell::read(text, &surroundings);
        let [command] = facts.commands.as_slice() else { return None };
        let is_known = command.uncertain.is_empty() && command.globs.is_empty() && !facts.unparsed;
        if !is_known || !command.redirects.is_empty() {
            return None;
        }
        let literals =
            |words: &[String]| words.iter().map(|word| literal(word)).collect::<Vec<_>>();
        let mut condition = Map::new();
        condition.insert("program".to_owned(), literal(&command.program).into());
        if let Some(subcommand) = &command.subcommand {
            condition.insert("subcommand".to_owned(), literal(subcommand).into());
        }
        if !command.flags.is_empty() {
            condition.insert("flags".to_owned(), json!({"all": literals(&command.flags)}));
        }
        let count = command.operands.len();
        let operands = match count {
            0 => json!({"count": 0}),
            _ => json!({"all": literals(&command.operands), "count": count}),
        };
        condition.insert("operands".to_owned(), operands);
        let condition = Value::Object(condition).to_string();
        Some(Self { condition, example: Some(Value::from(text).to_string()) })
    }

    /// Returns the lines to add to the rule in its `HOOK.md`.
    pub(crate) fn lines(&self) -> String {
        let example =
            self.example.as_ref().map(|example| format!("\nexamples: {{passed: [{example}]}}"));
        format!("except: [{}]{}", self.condition, example.unwrap_or_default())
    }

    /// Adds the exception to a rule in the text of a `HOOK.md`. `None` if the text has no such rule, or would not be valid: each rule
    /// still has to stop its examples, and no other rule may stop the exception.
    pub(crate) fn add_to(&self, file: &Path, text: &str, rule: &str) -> Option<String> {
        let (start, end) = block(text, rule)?;
        let (first, rest) = text.get(start..end)?.split_once('\n')?;
        let indent = " ".repeat(first.find("name: ")?);
        let rest = match with_item(rest, &format!("{indent}except: ["), &self.condition) {
            Some(rest) => rest,
            None => format!("{indent}except: [{}]\n{rest}", self.condition),
        };
        let with_example =
            self.example.as_ref().and_then(|example| with_item(&rest, "passed: [", example));
        let rest = with_example.unwrap_or(rest);
        let text = format!("{}{first}\n{rest}{}", text.get(..start)?, text.get(end..)?);
        let (manifest, findings) = format::read(file, text.as_bytes(), Strictness::Strict, CHECKS);
        let is_valid =
            manifest.is_some() && findings.iter().all(|one| one.severity != Severity::Error);
        is_valid.then_some(text)
    }
}

/// Returns a pattern that fits only this text.
fn literal(text: &str) -> String {
    let characters = text.chars().map(|c| match c {
        '*' | '?' | '[' => format!("[{c}]"),
        c => c.to_string(),
    });
    characters.collect()
}

/// Returns where the lines of a rule begin and end in the text of a manifest.
fn block(text: &str, rule: &str) -> Option<(usize, usize)> {
    let name = format!("name: {rule}");
    let mut place = 0;
    let mut start = None;
    for line in text.split_inclusive('\n') {
        let indent = line.len() - line.trim_start().len();
        let words = line.trim();
        match start {
            None => {
                let is_start = words.strip_prefix("- ") == Some(name.as_str());
                start = is_start.then_some((place, indent));
            }
            Some((start, item)) if !words.is_empty() && indent <= item => {
                return Some((start, place));
            }
            Some(_) => {}
        }
        place += line.len();
    }
    None
}

/// Returns the text with an item at the beginning of the list that `start` opens; `None` if there is none.
fn with_item(text: &str, start: &str, item: &str) -> Option<String> {
    let at = text.find(start)? + start.len();
    let (before, after) = text.split_at_checked(at)?;
    let comma = if after.trim_start().starts_with(']') { "" } else { ", " };
    Some(format!("{before}{item}{comma}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOOK: &str = "---\nname: g\ndescription: A guard.\ntrigger: before_tool\nmetadata:\n  match:\n    - name: branch\n      program: git\n      subcommand: branch\n      flags: {any: [-D]}\n      decision: ask\n      reason: It deletes a branch.\n      examples: {stopped: [git branch -D main], passed: [git branch]}\n    - name: push\n      program: git\n      subcommand: push\n      except: [{flags: {any: [--dry-run]}}]\n      decision: deny\n      reason: No.\n---\n";

    fn added(part: &str, rule: &str) -> Option<String> {
        RuleException::new(part, true)?.add_to(Path::new("/hooks/g/HOOK.md"), HOOK, rule)
    }

    #[test]
    fn a_command_is_excepted_from_its_rule_and_no_other() {
        let text = added("git branch -D 'wip*'", "branch").unwrap();
        assert!(text.contains("      except: [{\"program\":\"git\",\"subcommand\":\"branch\",\"flags\":{\"all\":[\"-D\"]},\"operands\":{\"all\":[\"wip[*]\"],\"count\":1}}]\n"), "{text}");
        assert!(text.contains("passed: [\"git branch -D 'wip*'\", git branch]"), "{text}");
        let text = added("git push origin main", "push").unwrap();
        assert!(text.contains("except: [{\"program\":\"git\","), "{text}");
        assert!(text.contains("}, {flags: {any: [--dry-run]}}]"), "{text}");
    }

    #[test]
    fn what_is_not_one_known_command_or_breaks_the_rule_is_no_exception() {
        assert_eq!(RuleException::new("git branch -D a && rm b", true), None);
        assert_eq!(RuleException::new("git branch -D \"$NAME\"", true), None);
        assert_eq!(RuleException::new("git log > a", true), None);
        assert_eq!(RuleException::new("", false), None);
        assert_eq!(added("git branch -D main", "branch"), None, "an example that it stops");
        assert_eq!(added("git branch -D a", "gone"), None);
        let path = RuleException::new("/home/ada/.env", false).unwrap();
        assert_eq!(path.lines(), r#"except: [{"path":{"glob":["/home/ada/.env"]}}]"#);
    }
}
