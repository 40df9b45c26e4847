//! Attacks on the rules that questions offer (R84): a rule for an ordinary command must not allow what deletes, downloads, sends or
//! runs anything.

use serde_json::json;

use super::rules::testing::with;
use super::{Rule, RuleSource, Rules};
use crate::tools::testing::Bench;

/// Ordinary commands, as an agent runs them: questions offer rules for them.
const SHOWN: &str = include_str!("offers/shown.txt");
/// Arguments after the program and its subcommands that delete, download, send, write or run something.
const HARM: &str = include_str!("offers/harm.txt");
/// Commands of the same programs that delete, download, send, write or run something.
const OTHERS: &str = include_str!("offers/others.txt");

#[test]
fn no_offer_allows_what_is_more_harmful_than_what_was_shown() {
    let bench = Bench::new();
    bench.write("x", "");
    bench.write("y", "");
    bench.write("sub/x", "");
    let none = Rules::default();
    let bash = |command: &str| json!({"command": command});
    let offers = |command: &str| {
        let offer = with(&bench, "bash", bash(command), |context| none.proposed(context));
        let rules = offer.iter().map(|rule| (rule.clone(), RuleSource::Project)).collect();
        let rules = Rules::new(rules, None);
        let is_allowed =
            with(&bench, "bash", bash(command), |context| rules.allowing(context).is_some());
        assert!(offer.is_empty() || is_allowed, "{command}: {offer:?}");
        offer
    };
    let mut all: Vec<Rule> = SHOWN.lines().flat_map(offers).collect();
    assert!(all.len() > 120, "{all:?}");
    all.dedup();
    let rules = Rules::new(all.into_iter().map(|rule| (rule, RuleSource::Project)).collect(), None);
    let harmed =
        SHOWN.lines().flat_map(|reader| HARM.lines().map(move |harm| format!("{reader} {harm}")));
    let elsewhere = SHOWN.lines().flat_map(|reader| {
        ["cd /tmp && ", "cd .. && ", "PATH=. ", "env PATH=. ", "xargs "]
            .map(|start| format!("{start}{reader}"))
    });
    let others = OTHERS.lines().map(str::to_owned);
    let mut passes = Vec::new();
    for attack in harmed.chain(elsewhere).chain(others) {
        let keys = with(&bench, "bash", bash(&attack), |context| rules.allowing(context));
        passes.extend(keys.map(|keys| format!("{attack}: {keys:?}")));
    }
    assert!(passes.is_empty(), "{passes:#?}");
}
