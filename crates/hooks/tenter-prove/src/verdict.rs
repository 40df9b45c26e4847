//! From what is promised and what was seen to a verdict.

use serde::{Deserialize, Serialize};

use crate::observed::Fact;

/// A promise of Tenter for an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Promise {
    /// The agent provides it.
    Native,
    /// Tenter provides it, in this way.
    Emulated(String),
    /// It has no effect, for this reason.
    Nothing(String),
}

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CheckVerdict {
    /// It works.
    #[serde(rename = "yes")]
    Yes,
    /// It works in another way.
    #[serde(rename = "emulated")]
    Emulated,
    /// It does not work, as Tenter says.
    #[serde(rename = "no")]
    No,
    /// It is not as Tenter says.
    #[serde(rename = "BROKEN")]
    Broken,
}

impl CheckVerdict {
    const ALL: [Self; 4] = [Self::Yes, Self::Emulated, Self::No, Self::Broken];

    /// Returns the verdict with this word in tables.
    pub(crate) fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.as_str() == word)
    }

    /// Returns the word in tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::Emulated => "emulated",
            Self::No => "no",
            Self::Broken => "BROKEN",
        }
    }
}

/// Returns the verdict and its evidence. `failure` is the reason why the client did not do what it was run for.
pub(crate) fn judge(
    promise: Promise,
    facts: &[Fact],
    failure: Option<String>,
) -> (CheckVerdict, String) {
    let holds = !facts.is_empty() && facts.iter().all(|fact| fact.holds);
    let evidence = |all: bool| {
        let texts = facts.iter().filter(|fact| all || !fact.holds).map(|fact| fact.text.as_str());
        texts.collect::<Vec<_>>().join("; ")
    };
    match promise {
        Promise::Native if holds => (CheckVerdict::Yes, evidence(true)),
        Promise::Emulated(how) if holds => {
            (CheckVerdict::Emulated, format!("{how}: {}", evidence(true)))
        }
        Promise::Nothing(_) if holds => {
            (CheckVerdict::Yes, format!("{}; more than Tenter promises", evidence(true)))
        }
        Promise::Nothing(limit) => (CheckVerdict::No, limit),
        Promise::Native | Promise::Emulated(_) => {
            let parts = [evidence(false), failure.unwrap_or_default()];
            let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            (CheckVerdict::Broken, parts.join("; "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(holds: bool) -> Vec<Fact> {
        vec![Fact::new(true, "one"), Fact::new(holds, "two")]
    }

    #[test]
    fn what_is_as_promised_is_not_broken() {
        for (promise, holds, verdict, evidence) in [
            (Promise::Native, true, CheckVerdict::Yes, "one; two"),
            (Promise::Emulated("later".into()), true, CheckVerdict::Emulated, "later: one; two"),
            (Promise::Nothing("no event".into()), false, CheckVerdict::No, "no event"),
        ] {
            assert_eq!(judge(promise, &facts(holds), None), (verdict, evidence.to_owned()));
        }
    }

    #[test]
    fn what_is_not_as_promised_is_broken_with_the_facts_that_differ() {
        for promise in [Promise::Native, Promise::Emulated("later".into())] {
            let verdict = judge(promise, &facts(false), Some("it crashed".into()));
            assert_eq!(verdict, (CheckVerdict::Broken, "two; it crashed".to_owned()));
        }
    }

    #[test]
    fn a_check_without_facts_does_not_hold() {
        let verdict = judge(Promise::Native, &[], Some("it did not start".into()));
        assert_eq!(verdict, (CheckVerdict::Broken, "it did not start".to_owned()));
    }

    #[test]
    fn more_than_promised_is_said() {
        let (verdict, evidence) = judge(Promise::Nothing("no".into()), &facts(true), None);
        assert_eq!(verdict, CheckVerdict::Yes);
        assert!(evidence.ends_with("more than Tenter promises"), "{evidence}");
    }
}
