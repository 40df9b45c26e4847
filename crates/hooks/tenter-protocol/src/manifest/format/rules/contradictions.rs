//! Rules that can never fit.

use super::RULE;
use crate::front_matter::{Node, Report};
use crate::manifest::rule::{Conditions, PathCondition, Rule, Words};

/// Reports conditions that exclude each other.
pub(super) fn report(rule: &Rule, item: &Node, report: &mut Report<'_>) {
    let help = "remove one of them: all conditions of a rule must hold";
    if let Some(what) = contradiction(&rule.conditions) {
        report.add(&RULE, &item.at, format!("the rule can never fit: {what}"), help);
    }
    if rule.except.contains(&rule.conditions) {
        let message = "the rule can never fit: it is its own exception";
        report.add(&RULE, &item.at, message, "remove the exception");
    }
}

fn contradiction(conditions: &Conditions) -> Option<String> {
    let operands = conditions.operands.as_ref();
    let flags = conditions.flags.as_ref().and_then(|flags| find_in_words("flags", flags));
    let operand_words = operands.and_then(|operands| find_in_words("operands", &operands.words));
    let count = operands
        .filter(|operands| operands.count.is_some_and(|(_, max)| max < needed(&operands.words)));
    let count =
        count.map(|_| "`operands.count` is less than the operands that it needs".to_owned());
    let path = conditions.path.as_ref().and_then(find_in_path);
    flags.or(operand_words).or(count).or(path)
}

/// Returns the number of words that there must at least be.
fn needed(words: &Words) -> usize {
    usize::from(!words.any.is_empty() || !words.all.is_empty())
}

fn find_in_words(name: &str, words: &Words) -> Option<String> {
    let is_excluded = |word: &&String| words.none.contains(word);
    let all_any = !words.any.is_empty() && words.any.iter().all(|word| is_excluded(&word));
    let twice =
        words.all.iter().find(is_excluded).or_else(|| words.any.first().filter(|_| all_any))?;
    Some(format!("`{name}` needs and excludes `{twice}`"))
}

fn find_in_path(path: &PathCondition) -> Option<String> {
    if let Some(glob) = path.glob.iter().find(|glob| path.not.contains(glob))
        && path.glob.len() == 1
    {
        return Some(format!("`path` needs and excludes `{glob}`"));
    }
    let is_excluded =
        !path.place.is_empty() && path.place.iter().all(|it| path.outside.contains(it));
    is_excluded.then(|| "`path.place` and `path.outside` exclude each other".to_owned())
}
