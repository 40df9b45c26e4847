//! Tests of precedence.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use tenter_protocol::executable::subscriptions;

use super::super::policy::{OwnPolicy, PolicyTable};
use super::*;
use crate::hook::HookKind;
use crate::hook_stamp::HookStamp;
use crate::source::{CandidateKind, HookSettings, ProjectSetting};
use crate::trust::{CoveredSiblings, CoveredStamp};
use tenter_base::FileStamp;

const LAYERS: [Layer; 4] = [Layer::Project, Layer::ProjectPlugin, Layer::User, Layer::UserPlugin];

fn finding(kind: usize) -> Examination {
    let fingerprint = Fingerprint("f".to_owned());
    let own = HookStamp::File(FileStamp::new(&fs::metadata(".").unwrap()));
    let stamp = CoveredStamp { own, beside: [].into() };
    match kind {
        0 => Examination::NotTrusted {
            fingerprint,
            previous: None,
            subscriptions: Vec::new(),
            requests: Box::default(),
        },
        1 => Examination::NotExecutable,
        2 => Examination::Disabled,
        3 => Examination::Invalid("printed nothing".to_owned()),
        _ => Examination::Ready(Box::new(Ready {
            fingerprint,
            stamp,
            subscriptions: subscriptions("agent_stop").unwrap(),
            kind: HookKind::Executable,
            options: Box::default(),
            runtime: None,
            own: OwnPolicy::default(),
        })),
    }
}

fn build_examined(layer: usize, directory: usize, name: usize, kind: usize) -> Examined {
    let name = ["a", "b", "Z"][name].to_owned();
    let suffix = if kind == 2 { ".disable" } else { "" };
    let path = PathBuf::from(format!("/{layer}/{directory}/{name}{suffix}"));
    // Each layer has its own directories.
    let directory = layer * 2 + directory;
    let candidate_kind = CandidateKind::NotExecutable;
    let layer = LAYERS[layer];
    let (prefix, real_path) = (String::new(), path.clone());
    let candidate =
        Candidate { name, prefix, layer, directory, real_path, path, kind: candidate_kind };
    let covered = Covered {
        path: candidate.path.clone(),
        beside: CoveredSiblings::Nothing,
        setting: ProjectSetting::default(),
    };
    Examined {
        candidate,
        covered,
        finding: finding(kind),
        diagnostics: Vec::new(),
        about: HookOutline::default(),
    }
}

/// Returns findings with different paths, and the same in another order.
fn two_orders() -> impl Strategy<Value = (Vec<Examined>, Vec<Examined>)> {
    prop::collection::vec((0..4usize, 0..2usize, 0..3usize, 0..8usize), 0..24)
        .prop_map(|all| {
            let mut all: Vec<_> =
                all.into_iter().map(|(l, f, n, k)| build_examined(l, f, n, k)).collect();
            all.sort_by(|one, other| one.candidate.path.cmp(&other.candidate.path));
            all.dedup_by(|one, other| one.candidate.path == other.candidate.path);
            all
        })
        .prop_flat_map(|all| (Just(all.clone()), Just(all).prop_shuffle()))
}

fn resolve_all(hooks: Vec<Examined>) -> Resolved {
    let (table, settings) = (PolicyTable::default(), HookSettings::default());
    let (outer, project, is_outer) = (OuterHooks::new(), Path::new("/project"), false);
    let project_trust = ProjectTrust::default();
    let gate =
        Gate { mode: TrustMode::All, project_trust, store: None, project, is_outer, outer: &outer };
    resolve(hooks, Policies { project_table: &table, settings: &settings }, gate)
}

fn paths(hooks: &[Hook]) -> Vec<&Path> {
    hooks.iter().filter_map(Hook::path).collect()
}

proptest! {
    #[test]
    fn precedence_does_not_depend_on_the_order_of_discovery((one, other) in two_orders()) {
        let (one, other) = (resolve_all(one), resolve_all(other));
        prop_assert_eq!(paths(&one.hooks), paths(&other.hooks));
        prop_assert_eq!(one.listing, other.listing);
        prop_assert_eq!(one.untrusted_hooks, other.untrusted_hooks);
        prop_assert_eq!(one.diagnostics, other.diagnostics);
    }

    #[test]
    fn for_every_name_exactly_the_runnable_hook_of_the_highest_layer_runs((candidates, _) in two_orders()) {
        let expected: Vec<Candidate> = candidates
            .iter()
            .filter(|examined| matches!(examined.finding, Examination::Ready(_)))
            .map(|examined| examined.candidate.clone())
            .collect();
        let hooks = resolve_all(candidates).hooks;
        for candidate in &expected {
            let running: Vec<&Hook> = hooks.iter().filter(|hook| hook.name == candidate.name).collect();
            prop_assert_eq!(running.len(), 1);
            prop_assert!(running[0].layer <= candidate.layer);
        }
    }

    #[test]
    fn priority_takes_precedence_over_layers(priorities in prop::collection::vec(0u16..4, 0..10)) {
        let hook = resolve_all(vec![build_examined(0, 0, 0, 4)]).hooks.remove(0);
        let with_priority = |(index, priority): (usize, &u16)| {
            let mut hook = hook.clone();
            hook.name = index.to_string();
            hook.policy.priority = *priority;
            hook
        };
        let order = dispatch_order(priorities.iter().enumerate().map(with_priority).collect());
        for pair in order.windows(2) {
            let place = |hook: &Hook| hook.name.parse::<usize>().unwrap();
            let (one, next) = (&pair[0], &pair[1]);
            prop_assert!(one.policy.priority > next.policy.priority
                || (one.policy.priority == next.policy.priority && place(one) < place(next)));
        }
    }
}
