//! What a matcher found, and what a hook without code does, in words. The first part that is not found settles it, as in a run.

use tenter_engine::matcher::{Explanation, Finding, Part, Search};
use tenter_engine::static_action::StaticAction;

/// What a matcher found, as the end of a sentence: what settled it, or everything that was found.
pub(super) fn matcher_words(explanation: &Explanation) -> String {
    let parts = [(Part::Tool, &explanation.tool), (Part::Pattern, &explanation.pattern)];
    let mut found = Vec::new();
    for (part, finding) in parts {
        let Some(finding) = finding else { continue };
        let words = part_words(part, finding);
        if !matches!(finding.search, Search::Found { .. }) {
            return words;
        }
        found.push(words);
    }
    found.join("; ")
}

/// What a hook without code does, and when.
pub(super) fn action_words(hook: &StaticAction) -> String {
    let action = hook.action();
    match hook.when() {
        Some(when) => format!("it has no code and does `{action}` where `{when}` holds"),
        None => format!("it has no code and does `{action}`"),
    }
}

fn part_words(part: Part, finding: &Finding) -> String {
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
