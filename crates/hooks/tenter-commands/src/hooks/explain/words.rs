//! The result of a matcher, and the action of a static hook, in words. As in a run, the first part without a match decides.

use tenter_engine::inspect::{
    Explanation, MatchResult, Part, RuleExplanation, Search, StaticAction, Truth,
};

/// Describes the result of a matcher, as the end of a sentence: the part that decided, or every match.
pub(super) fn matcher_words(explanation: &Explanation) -> String {
    let parts = [(Part::Tool, &explanation.tool), (Part::Pattern, &explanation.pattern)];
    let mut matches = Vec::new();
    for (part, finding) in parts {
        let Some(finding) = finding else { continue };
        let words = part_words(part, finding);
        if !matches!(finding.search, Search::Found { .. }) {
            return words;
        }
        matches.push(words);
    }
    matches.join("; ")
}

/// Explains why a rule fits the command or path that fits best, or does not.
pub(super) fn rule_words(rule: &RuleExplanation) -> String {
    let about =
        if rule.command.is_empty() { String::new() } else { format!(" `{}`", rule.command) };
    let conditions = |truth: Truth| {
        let conditions = rule.conditions.iter().filter(|result| result.holds == truth);
        conditions.map(|result| result.condition).collect::<Vec<_>>().join(", ")
    };
    let name = &rule.rule;
    match (rule.fits, rule.effect) {
        (Truth::Yes, effect) => format!("{name} fits{about}: {}", effect.unwrap_or("run")),
        (Truth::Perhaps, Some(effect)) => {
            format!("{name} fits{about} perhaps ({}): {effect}", conditions(Truth::Perhaps))
        }
        (Truth::Perhaps, None) => {
            format!("{name} fits{about} only perhaps ({})", conditions(Truth::Perhaps))
        }
        (Truth::No, _) if rule.excepted => format!("{name} does not fit{about}: an exception does"),
        (Truth::No, _) if rule.conditions.is_empty() || conditions(Truth::No).is_empty() => {
            format!("{name} does not fit")
        }
        (Truth::No, _) => format!("{name} does not fit{about}: {}", conditions(Truth::No)),
    }
}

/// Describes the action of a static hook, and when it acts.
pub(super) fn action_words(hook: &StaticAction) -> String {
    let action = hook.action();
    match hook.when() {
        Some(when) => format!("it has no code and does `{action}` where `{when}` holds"),
        None => format!("it has no code and does `{action}`"),
    }
}

fn part_words(part: Part, finding: &MatchResult) -> String {
    let expression = &finding.expression;
    match &finding.search {
        Search::Found { place, .. } if part == Part::Tool => {
            format!("{part} `{expression}` is found in the tool's name {place}")
        }
        Search::Found { place, text } => {
            format!("{part} `{expression}` is found in {place}: {text}")
        }
        Search::NotFound { tried } => {
            format!("{part} `{expression}` is not found in {}", tried.join(", "))
        }
        Search::GivenUp { reason } => {
            format!("{part} `{expression}` cannot be searched for: {reason}")
        }
    }
}
