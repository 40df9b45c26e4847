//! What each candidate turns out to be: first what it is made of, then whether it may be asked, then what it answers. In
//! that order, so that nothing untrusted ever runs (R11).

use std::fs;
use std::path::Path;

use tenter_protocol::executable::Subscription;

use crate::hook::Fingerprint;
use crate::query::{Answer, Cache, Known, Query, explain, parallel};
use crate::source::{Candidate, Kind};
use crate::stamp::FileStamp;
use crate::trust::{ProjectTrust, TrustMode, Trusted, fingerprint};

/// Hooks that are asked at once.
const ASKED_AT_ONCE: usize = 8;

/// What a candidate turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Finding {
    /// It can run.
    Ready {
        fingerprint: Fingerprint,
        stamp: FileStamp,
        subscriptions: Vec<Subscription>,
    },
    /// It was not asked, because it is not trusted.
    NotTrusted {
        fingerprint: Fingerprint,
        previous: Option<Trusted>,
    },
    NotExecutable,
    Disabled,
    /// Why it cannot run, as the end of a sentence that begins with its name.
    Invalid(String),
}

/// Examines candidates: the same way for all of one load.
pub(super) struct Examiner<'a> {
    pub(super) query: Query<'a>,
    pub(super) mode: TrustMode,
    pub(super) trusted: ProjectTrust<'a>,
}

/// What an executable turned out to be, and what is worth remembering of it.
type Asked = (Finding, Option<(FileStamp, Known)>);

impl Examiner<'_> {
    /// What every candidate is. Those that the cache does not know are asked in parallel, so that one that hangs holds up
    /// no other; what they answer goes into the cache.
    pub(super) fn examine_all(
        &self,
        candidates: Vec<Candidate>,
        cache: &mut Cache,
    ) -> Vec<(Candidate, Finding)> {
        let mut settled = Vec::new();
        let mut open = Vec::new();
        for candidate in candidates {
            match self.at_once(&candidate, cache) {
                Some(finding) => settled.push((candidate, finding)),
                None => open.push(candidate),
            }
        }
        let asked = parallel::map(&open, ASKED_AT_ONCE, |candidate| self.examine(candidate));
        for (candidate, (finding, fresh)) in open.into_iter().zip(asked) {
            if let Some((stamp, known)) = fresh {
                cache.put(&candidate.real_path, stamp, &known);
            }
            settled.push((candidate, finding));
        }
        settled
    }

    /// What can be told without opening the file.
    fn at_once(&self, candidate: &Candidate, cache: &Cache) -> Option<Finding> {
        match &candidate.kind {
            Kind::Executable(stamp) => {
                let known = cache.get(&candidate.real_path, *stamp)?;
                let refusal = self.refusal(candidate, &known.fingerprint);
                Some(refusal.unwrap_or_else(|| finding(known, *stamp)))
            }
            Kind::NotExecutable => Some(Finding::NotExecutable),
            Kind::Disabled => Some(Finding::Disabled),
            Kind::Invalid(why) => Some(Finding::Invalid(why.clone())),
        }
    }

    fn examine(&self, candidate: &Candidate) -> Asked {
        let path = &candidate.path;
        let (fingerprint, stamp) = match fingerprint(path) {
            Ok(taken) => taken,
            Err(error) => return (Finding::Invalid(format!("cannot be read: {error}")), None),
        };
        if let Some(refusal) = self.refusal(candidate, &fingerprint) {
            return (refusal, None);
        }
        if !looks_like(path, stamp) {
            return (Finding::Invalid("was changed while it was looked at".to_owned()), None);
        }
        let known = Known { fingerprint, answer: self.query.ask(&candidate.name, path) };
        // What was changed meanwhile may have answered with either content.
        let fresh = looks_like(path, stamp).then(|| (stamp, known.clone()));
        (finding(known, stamp), fresh)
    }

    /// The finding for a hook that may not even be asked (R45).
    fn refusal(&self, candidate: &Candidate, fingerprint: &Fingerprint) -> Option<Finding> {
        let is_open = !candidate.layer.needs_trust() || self.mode == TrustMode::All;
        if is_open || self.trusted.is_trusted(&candidate.name, fingerprint) {
            return None;
        }
        let previous = self.trusted.previous(&candidate.name, &candidate.path).cloned();
        Some(Finding::NotTrusted { fingerprint: fingerprint.clone(), previous })
    }
}

fn looks_like(path: &Path, stamp: FileStamp) -> bool {
    fs::metadata(path).is_ok_and(|metadata| FileStamp::new(&metadata) == stamp)
}

fn finding(known: Known, stamp: FileStamp) -> Finding {
    match known.answer {
        Answer::Subscriptions(subscriptions) => {
            Finding::Ready { fingerprint: known.fingerprint, stamp, subscriptions }
        }
        Answer::Printed(text) => Finding::Invalid(explain(&text)),
        Answer::Failed(why) => Finding::Invalid(why),
    }
}
