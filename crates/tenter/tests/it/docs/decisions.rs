//! `decisions.md` has every decision that the code cites.

use std::collections::BTreeSet;

use regex::Regex;

use super::markdown::text_of;
use crate::architecture::sources;

/// The decisions that the page lists, in its order: a letter and a number.
fn listed() -> Vec<(String, u32)> {
    let heading = Regex::new(r"(?m)^### ([A-Z])(\d+)\n\n\S").unwrap();
    let text = text_of("decisions.md");
    let found = heading.captures_iter(&text);
    found.map(|found| (found[1].to_owned(), found[2].parse().unwrap())).collect()
}

#[test]
fn the_decisions_of_each_letter_are_listed_in_order() {
    let listed = listed();
    let letters: BTreeSet<&String> = listed.iter().map(|(letter, _)| letter).collect();
    for letter in letters {
        let numbers = listed.iter().filter(|(of, _)| of == letter).map(|(_, number)| *number);
        assert!(numbers.is_sorted_by(|one, next| one < next), "{letter}");
    }
    assert_eq!(text_of("decisions.md").matches("\n### ").count(), listed.len());
}

#[test]
fn every_citation_in_the_code_resolves() {
    let listed: BTreeSet<(String, u32)> = listed().into_iter().collect();
    let comment = Regex::new(r"(?m)//.*$").unwrap();
    let citation = Regex::new(r"\b([RBCFHMPST])([1-9]\d?)\b").unwrap();
    let (mut citations, mut missing) = (0, BTreeSet::new());
    for (name, text) in sources() {
        for found in
            comment.find_iter(&text).flat_map(|found| citation.captures_iter(found.as_str()))
        {
            let cited = (found[1].to_owned(), found[2].parse().unwrap());
            citations += 1;
            if !listed.contains(&cited) {
                missing
                    .insert(format!("{name} cites {}, which docs/decisions.md lacks", &found[0]));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(citations > 600, "{citations} citations were found");
}
