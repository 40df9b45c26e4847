//! Which of several hooks of one name runs, and in what order hooks run (R9, R22). Pure: the order in which hooks were
//! found does not matter.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::PathBuf;

use tenter_protocol::{Diagnostic, Severity};

use super::examine::Finding;
use super::{Listed, PolicyTable, Status, Untrusted};
use crate::hook::Hook;
use crate::source::Candidate;
use crate::trust::TrustMode;

/// What all findings together come to. Everything is in the order of precedence.
#[derive(Default)]
pub(super) struct Resolved {
    pub(super) hooks: Vec<Hook>,
    pub(super) listing: Vec<Listed>,
    pub(super) untrusted: Vec<Untrusted>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// Decides for every candidate whether it runs. Only a hook that can run shadows another (R9).
pub(super) fn resolve(
    mut examined: Vec<(Candidate, Finding)>,
    policies: &PolicyTable,
    mode: TrustMode,
) -> Resolved {
    examined.sort_by(|(one, _), (other, _)| precedence(one).cmp(&precedence(other)));
    let mut resolver =
        Resolver { policies, mode, running: HashMap::new(), resolved: Resolved::default() };
    for (candidate, finding) in examined {
        resolver.take(candidate, finding);
    }
    resolver.resolved
}

/// The order in which hooks run that come in the order of precedence: by priority, else as they are (R22).
pub(super) fn dispatch_order(mut hooks: Vec<Hook>) -> Vec<Hook> {
    hooks.sort_by_key(|hook| Reverse(hook.policy.priority));
    hooks
}

fn precedence(candidate: &Candidate) -> impl Ord {
    (candidate.layer, candidate.folder, &candidate.name, &candidate.path)
}

struct Resolver<'a> {
    policies: &'a PolicyTable,
    mode: TrustMode,
    /// The files of the hooks that run, by full name.
    running: HashMap<String, PathBuf>,
    resolved: Resolved,
}

impl Resolver<'_> {
    fn take(&mut self, candidate: Candidate, finding: Finding) {
        let status = self.status(&candidate, &finding);
        self.resolved.diagnostics.extend(diagnostic(&candidate, &status));
        self.resolved.listing.push(listed(&candidate, &finding, status.clone()));
        match (status, finding) {
            (Status::Active, Finding::Ready { fingerprint, stamp, subscriptions }) => {
                self.running.insert(candidate.name.clone(), candidate.path.clone());
                self.resolved.hooks.push(Hook {
                    policy: self.policies.of(&candidate.name),
                    pinned: candidate.layer.needs_trust() && self.mode == TrustMode::Gate,
                    name: candidate.name,
                    layer: candidate.layer,
                    path: candidate.path,
                    subscriptions,
                    fingerprint,
                    stamp,
                });
            }
            (Status::NotTrusted { .. }, Finding::NotTrusted { fingerprint, previous }) => {
                let Candidate { name, path, layer, .. } = candidate;
                self.resolved.untrusted.push(Untrusted {
                    name,
                    path,
                    layer,
                    fingerprint,
                    previous,
                });
            }
            _ => {}
        }
    }

    fn status(&self, candidate: &Candidate, finding: &Finding) -> Status {
        let shadowed =
            || self.running.get(&candidate.name).map(|by| Status::Shadowed { by: by.clone() });
        match finding {
            Finding::Ready { .. } => shadowed().unwrap_or(Status::Active),
            // Nobody need be asked to trust what would not run anyway.
            Finding::NotTrusted { previous, .. } => {
                shadowed().unwrap_or(Status::NotTrusted { changed: previous.is_some() })
            }
            Finding::NotExecutable => Status::NotExecutable,
            Finding::Disabled => Status::Disabled,
            Finding::Invalid(why) => Status::Invalid { why: why.clone() },
        }
    }
}

fn listed(candidate: &Candidate, finding: &Finding, status: Status) -> Listed {
    let (subscriptions, fingerprint) = match finding {
        Finding::Ready { fingerprint, subscriptions, .. } => {
            (subscriptions.clone(), Some(fingerprint.clone()))
        }
        Finding::NotTrusted { fingerprint, .. } => (Vec::new(), Some(fingerprint.clone())),
        _ => (Vec::new(), None),
    };
    let Candidate { name, layer, path, .. } = candidate.clone();
    Listed { name, layer, path, status, subscriptions, fingerprint }
}

fn diagnostic(candidate: &Candidate, status: &Status) -> Option<Diagnostic> {
    let name = &candidate.name;
    let diagnostic = match status {
        Status::Shadowed { by } => {
            let message = format!(
                "the hook {name} does not run: {} of the same name runs in its place",
                by.display()
            );
            Diagnostic::new("hook-shadowed", Severity::Info, message)
        }
        Status::Invalid { why } => {
            let message = format!("the hook {name} does not run: it {why}");
            Diagnostic::new("hook-invalid", Severity::Error, message)
                .help("mend it, or disable it by adding `.disable` to its name")
        }
        _ => return None,
    };
    Some(diagnostic.at(&candidate.path))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use proptest::prelude::*;
    use tenter_protocol::executable::subscriptions;

    use super::*;
    use crate::hook::{Fingerprint, Layer};
    use crate::source::Kind;
    use crate::stamp::FileStamp;

    const LAYERS: [Layer; 4] =
        [Layer::Project, Layer::ProjectPlugin, Layer::User, Layer::UserPlugin];

    fn finding(kind: usize) -> Finding {
        let fingerprint = Fingerprint("f".to_owned());
        let stamp = FileStamp::new(&fs::metadata(".").unwrap());
        match kind {
            0 => Finding::NotTrusted { fingerprint, previous: None },
            1 => Finding::NotExecutable,
            2 => Finding::Disabled,
            3 => Finding::Invalid("printed nothing".to_owned()),
            _ => Finding::Ready {
                fingerprint,
                stamp,
                subscriptions: subscriptions("agent_stop").unwrap(),
            },
        }
    }

    fn examined(layer: usize, folder: usize, name: usize, kind: usize) -> (Candidate, Finding) {
        let name = ["a", "b", "Z"][name].to_owned();
        let suffix = if kind == 2 { ".disable" } else { "" };
        let path = PathBuf::from(format!("/{layer}/{folder}/{name}{suffix}"));
        // Each layer has its own folders.
        let folder = layer * 2 + folder;
        let candidate_kind = Kind::NotExecutable;
        let layer = LAYERS[layer];
        (
            Candidate { name, layer, folder, real_path: path.clone(), path, kind: candidate_kind },
            finding(kind),
        )
    }

    type Examined = Vec<(Candidate, Finding)>;

    /// Findings with different paths, and the same in another order.
    fn two_orders() -> impl Strategy<Value = (Examined, Examined)> {
        prop::collection::vec((0..4usize, 0..2usize, 0..3usize, 0..8usize), 0..24)
            .prop_map(|found| {
                let mut found: Vec<_> =
                    found.into_iter().map(|(l, f, n, k)| examined(l, f, n, k)).collect();
                found.sort_by(|(one, _), (other, _)| one.path.cmp(&other.path));
                found.dedup_by(|(one, _), (other, _)| one.path == other.path);
                found
            })
            .prop_flat_map(|found| (Just(found.clone()), Just(found).prop_shuffle()))
    }

    fn resolved(found: Examined) -> Resolved {
        resolve(found, &PolicyTable::default(), TrustMode::Gate)
    }

    fn paths(hooks: &[Hook]) -> Vec<&Path> {
        hooks.iter().map(|hook| hook.path.as_path()).collect()
    }

    proptest! {
        #[test]
        fn the_order_of_discovery_does_not_matter((one, other) in two_orders()) {
            let (one, other) = (resolved(one), resolved(other));
            prop_assert_eq!(paths(&one.hooks), paths(&other.hooks));
            prop_assert_eq!(one.listing, other.listing);
            prop_assert_eq!(one.untrusted, other.untrusted);
            prop_assert_eq!(one.diagnostics, other.diagnostics);
        }

        #[test]
        fn of_every_name_with_a_hook_that_can_run_exactly_the_highest_runs((found, _) in two_orders()) {
            let expected: Vec<Candidate> = found
                .iter()
                .filter(|(_, finding)| matches!(finding, Finding::Ready { .. }))
                .map(|(candidate, _)| candidate.clone())
                .collect();
            let hooks = resolved(found).hooks;
            for candidate in &expected {
                let running: Vec<&Hook> = hooks.iter().filter(|hook| hook.name == candidate.name).collect();
                prop_assert_eq!(running.len(), 1);
                prop_assert!(running[0].layer <= candidate.layer);
            }
        }

        #[test]
        fn priority_goes_before_precedence(priorities in prop::collection::vec(0u16..4, 0..10)) {
            let (candidate, ready) = examined(0, 0, 0, 4);
            let hook = resolved(vec![(candidate, ready)]).hooks.remove(0);
            let with_priority = |(index, priority): (usize, &u16)| {
                let mut hook = hook.clone();
                hook.name = index.to_string();
                hook.policy.priority = *priority;
                hook
            };
            let ordered = dispatch_order(priorities.iter().enumerate().map(with_priority).collect());
            for pair in ordered.windows(2) {
                let place = |hook: &Hook| hook.name.parse::<usize>().unwrap();
                let (one, next) = (&pair[0], &pair[1]);
                prop_assert!(one.policy.priority > next.policy.priority
                    || (one.policy.priority == next.policy.priority && place(one) < place(next)));
            }
        }
    }
}
