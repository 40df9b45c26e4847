//! Attacks on the rules that questions offer (R84): a rule for an ordinary command must not allow what deletes, downloads, sends or
//! runs anything.

mod attacks;
mod ordinary_commands;

use serde_json::json;

use super::rules::testing::with;
use super::{Rule, RuleSource, Rules};
use crate::tools::testing::Bench;
use attacks::{HARM, OTHERS};
use ordinary_commands::SHOWN;

#[test]
fn no_offer_allows_what_is_more_harmful_than_what_was_shown() {
    let bench = Bench::new();
    bench.write("x", "");
    bench.write("y", "");
    bench.write("sub/x", "");
    let none = Rules::default();
    let bash = |command: &str| json!({"command": command});
    let offers = |command: &&str| {
        let offer = with(&bench, "bash", bash(command), |context| none.proposed(context));
        let rules = offer.iter().map(|rule| (rule.clone(), RuleSource::Project)).collect();
        let rules = Rules::new(rules, None);
        let is_allowed =
            with(&bench, "bash", bash(command), |context| rules.allowing(context).is_some());
        assert!(offer.is_empty() || is_allowed, "{command}: {offer:?}");
        offer
    };
    let mut all: Vec<Rule> = SHOWN.iter().flat_map(offers).collect();
    assert!(all.len() > 120, "{all:?}");
    all.dedup();
    let rules = Rules::new(all.into_iter().map(|rule| (rule, RuleSource::Project)).collect(), None);
    let harmed =
        SHOWN.iter().flat_map(|reader| HARM.iter().map(move |harm| format!("{reader} {harm}")));
    let elsewhere = SHOWN.iter().flat_map(|reader| {
        ["cd /tmp && ", "cd .. && ", "PATH=. ", "env PATH=. ", "xargs "]
            .map(|start| format!("{start}{reader}"))
    });
    let others = OTHERS.iter().map(|other| (*other).to_owned());
    let mut passes = Vec::new();
    for attack in harmed.chain(elsewhere).chain(others) {
        let keys = with(&bench, "bash", bash(&attack), |context| rules.allowing(context));
        passes.extend(keys.map(|keys| format!("{attack}: {keys:?}")));
    }
    assert!(passes.is_empty(), "{passes:#?}");
}
