//! `decisions.md` has every decision that the code cites.

use std::collections::BTreeSet;

use regex::Regex;

use super::markdown::text_of;
use crate::architecture::sources;

/// The numbers of the decisions that the page lists, in its order.
fn listed() -> Vec<u32> {
    let heading = Regex::new(r"(?m)^### R(\d+)\n\n\S").unwrap();
    let text = text_of("decisions.md");
    heading.captures_iter(&text).map(|found| found[1].parse().unwrap()).collect()
}

#[test]
fn decisions_are_listed_in_order_and_none_is_missing() {
    let listed = listed();
    let last = u32::try_from(listed.len()).unwrap();
    assert_eq!(listed, (1..=last).collect::<Vec<_>>());
}

#[test]
fn every_citation_in_the_code_resolves() {
    let listed: BTreeSet<u32> = listed().into_iter().collect();
    let citation = Regex::new(r"\bR([1-9]\d?)\b").unwrap();
    let mut citations = 0;
    for (name, text) in sources() {
        for found in citation.captures_iter(&text) {
            let number = found[1].parse().unwrap();
            assert!(
                listed.contains(&number),
                "{name} cites R{number}, which docs/decisions.md lacks"
            );
            citations += 1;
        }
    }
    assert!(citations > 200, "{citations} citations were found");
}
