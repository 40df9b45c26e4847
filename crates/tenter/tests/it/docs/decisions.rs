//! `decisions.md` has every decision that the code cites.

use std::collections::BTreeSet;

use regex::Regex;

use super::markdown::text_of;
use crate::architecture::sources;

/// Returns the decisions that the page lists, in its order: a letter and a number.
fn listed() -> Vec<String> {
    let heading = Regex::new(r"(?m)^### ([A-Z]\d+)\n\n\S").unwrap();
    let text = text_of("decisions.md");
    heading.captures_iter(&text).map(|place| place[1].to_owned()).collect()
}

#[test]
fn every_decision_is_listed_once_and_says_something() {
    let codes = listed();
    let different: BTreeSet<&String> = codes.iter().collect();
    assert_eq!(different.len(), codes.len());
    assert_eq!(text_of("decisions.md").matches("\n### ").count(), codes.len());
}

#[test]
fn every_citation_in_the_code_resolves() {
    let codes: BTreeSet<String> = listed().into_iter().collect();
    let comment = Regex::new(r"(?m)//.*$").unwrap();
    let citation = Regex::new(r"\b[RBCFHMPST][1-9]\d?\b").unwrap();
    let (mut citations, mut missing) = (0, BTreeSet::new());
    for (name, text) in sources() {
        for place in comment.find_iter(&text).flat_map(|place| citation.find_iter(place.as_str())) {
            citations += 1;
            if !codes.contains(place.as_str()) {
                missing.insert(format!(
                    "{name} cites {}, which docs/decisions.md lacks",
                    place.as_str()
                ));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(citations > 600, "{citations} citations were found");
}
