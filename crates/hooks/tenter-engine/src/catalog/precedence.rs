//! Decides which of several hooks of one name runs, and in what order hooks run (R9, R22). Pure: the order of discovery is irrelevant.

use std::borrow::Borrow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use tenter_protocol::executable::Subscription;
use tenter_protocol::tool_names::ToolNames;
use tenter_protocol::{Diagnostic, Severity};

use super::examine::{Examination, Examined, Ready};
use super::outline::{HookOutline, Requested};
use super::policy::{OwnPolicy, Policies};
use super::{ListedHook, Missing, OuterHooks, Status, Untrusted, manifest};
use crate::builtin;
use crate::hook::Hook;
use crate::hook_policy::FailMode;
use crate::layer::Layer;
use crate::source::{Candidate, CandidateKind, MANIFEST_FILE};
use crate::trust::{Covered, Fingerprint, Pin, ProjectTrust, TrustMode, TrustStore, Trusted};

/// The result for all candidates, in the order of precedence.
#[derive(Default)]
pub(super) struct Resolved {
    pub(super) hooks: Vec<Hook>,
    pub(super) listing: Vec<ListedHook>,
    pub(super) untrusted_hooks: Vec<Untrusted>,
    pub(super) missing: Vec<Missing>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// The conditions under which project hooks run.
#[derive(Clone, Copy)]
pub(super) struct Gate<'a> {
    pub(super) mode: TrustMode,
    pub(super) project_trust: ProjectTrust<'a>,
    /// The store that keeps trusted contents.
    pub(super) store: Option<&'a TrustStore>,
    /// The root of the project.
    pub(super) project: &'a Path,
    /// True if it is around the engine's project.
    pub(super) is_outer: bool,
    /// The running hooks of the projects around it, which none of its hooks shadows (R89).
    pub(super) outer: &'a OuterHooks,
}

impl Resolved {
    /// Tells the matchers of all hooks what tools are called.
    pub(super) fn set_tool_names(&mut self, names: &ToolNames) {
        let matchers = self.hooks.iter_mut().filter_map(|hook| hook.options.matcher.as_mut());
        let missing_matchers =
            self.missing.iter_mut().filter_map(|missing| missing.matcher.as_mut());
        matchers.chain(missing_matchers).for_each(|matcher| matcher.set_names(names));
    }

    /// Removes what belongs to the user: it is loaded with the engine's project.
    pub(super) fn keep_of_project(&mut self) {
        self.hooks.retain(|hook| hook.layer.needs_trust());
        self.listing.retain(|hook| hook.layer.needs_trust());
        self.missing.retain(|missing| missing.layer.needs_trust());
    }
}

/// Decides for each candidate whether it runs. Only a hook that can run shadows another (R9).
pub(super) fn resolve(mut examined: Vec<Examined>, policies: Policies, gate: Gate) -> Resolved {
    // No two have the same path.
    examined.sort_unstable_by(|one, other| {
        precedence(&one.candidate).cmp(&precedence(&other.candidate))
    });
    let mut resolver = Resolver {
        policies,
        gate,
        protected: protected(&examined, policies),
        own: own(&examined, policies),
        running: HashMap::new(),
        resolution: Resolved {
            hooks: Vec::with_capacity(examined.len()),
            listing: Vec::with_capacity(examined.len()),
            ..Resolved::default()
        },
    };
    for examined in examined {
        resolver.take(examined);
    }
    resolver.resolution
}

/// Sorts hooks, which are in the order of precedence, into the order in which they run: managed ones first, then a stable sort by priority (R22).
pub(super) fn dispatch_order<H: Borrow<Hook>>(mut hooks: Vec<H>) -> Vec<H> {
    let order = |hook: &Hook| (hook.layer != Layer::Managed, Reverse(hook.policy.priority));
    hooks.sort_by_key(|hook| order(hook.borrow()));
    hooks
}

fn precedence(candidate: &Candidate) -> impl Ord {
    (candidate.layer, candidate.directory, &candidate.name, &candidate.path)
}

/// Returns the user's hooks that no project hook shadows, by full name: protected ones (R9), and those that fail closed (R73).
fn protected(examined: &[Examined], policies: Policies) -> HashMap<String, PathBuf> {
    let is_protected = |examined: &&Examined| {
        let Some(ready) = own_ready(examined, policies) else { return false };
        let Candidate { name, layer, .. } = &examined.candidate;
        *layer == Layer::Managed
            || ready.options.protected
            || policies.policy(name, *layer, ready.own).fail == FailMode::Closed
    };
    first_paths(examined.iter().filter(is_protected))
}

/// Returns the user's hooks that can run, by full name.
fn own(examined: &[Examined], policies: Policies) -> HashMap<String, PathBuf> {
    first_paths(examined.iter().filter(|examined| own_ready(examined, policies).is_some()))
}

/// Returns the hook if it is the user's and can run.
fn own_ready<'e>(examined: &'e Examined, policies: Policies) -> Option<&'e Ready> {
    let Candidate { name, layer, .. } = &examined.candidate;
    let is_on = policies.disabled_by(name, *layer).is_none();
    match &examined.finding {
        Examination::Ready(ready) if is_on && !layer.needs_trust() => Some(ready),
        _ => None,
    }
}

/// Returns the path of the first hook of each name, which is the one that runs.
fn first_paths<'e>(examined: impl Iterator<Item = &'e Examined>) -> HashMap<String, PathBuf> {
    let mut paths = HashMap::new();
    for Examined { candidate, .. } in examined {
        paths.entry(candidate.name.clone()).or_insert_with(|| candidate.path.clone());
    }
    paths
}

/// The facts about an untrusted hook that the trust question shows.
struct TrustQuestion {
    covered: Covered,
    fingerprint: Fingerprint,
    previous: Option<Trusted>,
    subscriptions: Vec<Subscription>,
    requests: Box<Requested>,
}

struct Resolver<'a> {
    policies: Policies<'a>,
    gate: Gate<'a>,
    protected: HashMap<String, PathBuf>,
    /// The user's hooks, by full name.
    own: HashMap<String, PathBuf>,
    /// The layer and path of the hooks that run, by full name.
    running: HashMap<String, (Layer, PathBuf)>,
    resolution: Resolved,
}

impl Resolver<'_> {
    fn take(&mut self, examined: Examined) {
        let Examined { candidate, covered, finding, diagnostics, about } = examined;
        let status = self.status(&candidate, &finding);
        let has_error = diagnostics.iter().any(|finding| finding.severity == Severity::Error);
        self.resolution.diagnostics.extend(diagnostics);
        let missing = self.missing(&candidate, &status, about);
        let diagnostic = match &missing {
            Some(missing) if missing.fail == FailMode::Closed => Some(missing.fails_closed()),
            Some(_) if status == Status::NotExecutable => Some(not_executable(&candidate)),
            _ => self.diagnostic(&candidate, &status, has_error),
        };
        self.resolution.diagnostics.extend(diagnostic);
        self.resolution.missing.extend(missing);
        let project = self.gate.project;
        self.resolution.listing.push(listed(
            project,
            (&candidate, &covered),
            &finding,
            status.clone(),
        ));
        match (status, finding) {
            (Status::Active, Examination::Ready(ready)) => self.run(candidate, covered, *ready),
            (Status::WouldDisplace { .. }, Examination::Ready(ready)) => {
                let requests = Box::new(Requested::by_hook(
                    (&ready.kind, &ready.options),
                    ready.runtime.as_ref(),
                ));
                let Ready { fingerprint, subscriptions, .. } = *ready;
                let previous = self.gate.project_trust.previous(&candidate.name, &candidate.path);
                let previous = previous.cloned();
                let question =
                    TrustQuestion { covered, fingerprint, previous, subscriptions, requests };
                self.ask(candidate, question);
            }
            (
                Status::NotTrusted { .. },
                Examination::NotTrusted {
                    fingerprint,
                    previous,
                    subscriptions,
                    requests: requested,
                },
            ) => {
                let question = TrustQuestion {
                    covered,
                    fingerprint,
                    previous,
                    subscriptions,
                    requests: requested,
                };
                self.ask(candidate, question);
            }
            _ => {}
        }
    }

    fn ask(&mut self, candidate: Candidate, question: TrustQuestion) {
        let TrustQuestion { covered, fingerprint, previous, subscriptions, requests: requested } =
            question;
        let Requested { env, services, endpoint, is_pure } = *requested;
        let Candidate { name, path, layer, .. } = candidate;
        let env = [env, self.policies.env_of(&name, layer)].concat();
        let displaces = self.own.get(&name).cloned();
        self.resolution.untrusted_hooks.push(Untrusted {
            name,
            project: self.gate.project.to_owned(),
            path,
            layer,
            subscriptions,
            covered,
            fingerprint,
            previous,
            env,
            services,
            endpoint,
            is_pure,
            displaces,
        });
    }

    fn run(&mut self, candidate: Candidate, covered: Covered, ready: Ready) {
        let Candidate { name, layer, path, .. } = candidate;
        self.running.insert(name.clone(), (layer, path.clone()));
        let is_pinned = layer.needs_trust() && self.gate.mode == TrustMode::Gate;
        let allow_shared = self.policies.project_table.allow_shared;
        let pin = is_pinned.then(|| Pin::new(covered, ready.stamp, allow_shared));
        self.resolution.hooks.push(Hook {
            policy: self.policies.policy(&name, layer, ready.own),
            env: self.policies.env_of(&name, layer),
            name,
            layer,
            outer: self.gate.is_outer.then(|| self.gate.project.to_owned()),
            path: Some(path),
            kind: ready.kind,
            options: ready.options,
            runtime: ready.runtime,
            subscriptions: ready.subscriptions,
            fingerprint: ready.fingerprint,
            pin,
        });
    }

    /// Returns the hook as missing if it cannot run, unless it is disabled or another hook of its name runs instead.
    fn missing(&self, hook: &Candidate, status: &Status, about: HookOutline) -> Option<Missing> {
        let Candidate { name, layer, path, .. } = hook;
        let is_hook = about.is_hook || self.policies.names(name);
        let why = match status {
            Status::Invalid { why } => why.clone(),
            Status::NoScript => format!("has no script: {NO_SCRIPT}"),
            Status::NotExecutable if is_hook => "is not executable".to_owned(),
            _ => return None,
        };
        let is_off = self.policies.disabled_by(name, *layer).is_some();
        if is_off || self.is_replaced(hook) {
            return None;
        }
        let own = OwnPolicy { fail_closed: self.fails_closed(hook, &about), ..about.own };
        let policy = self.policies.policy(name, *layer, own);
        let fail = if policy.asynchronous { FailMode::Open } else { policy.fail };
        let HookOutline { events, matcher, .. } = about;
        let (name, path) = (name.clone(), path.clone());
        Some(Missing { name, layer: *layer, path, why, fail, events, matcher })
    }

    /// Returns whether a hook that cannot run says itself that it fails closed. Nothing that a project says counts before the user
    /// trusted it; later, what the trusted content said counts as well, so that a broken manifest removes no guard (R61, R73).
    fn fails_closed(&self, hook: &Candidate, about: &HookOutline) -> bool {
        let Gate { mode, project_trust: trusted, store, .. } = self.gate;
        if mode != TrustMode::Gate || !hook.layer.needs_trust() {
            return about.own.fail_closed;
        }
        let Some(previous) = trusted.previous(&hook.name, &hook.path) else { return false };
        about.own.fail_closed
            || store.and_then(|store| store.kept(&previous.hash)).is_some_and(|contents| {
                contents.text_of(MANIFEST_FILE).is_some_and(manifest::is_fail_closed)
            })
    }

    fn status(&self, candidate: &Candidate, finding: &Examination) -> Status {
        match finding {
            Examination::NotExecutable => return Status::NotExecutable,
            Examination::NoScript(_) => return Status::NoScript,
            Examination::Disabled => return Status::Disabled,
            Examination::Invalid(_) | Examination::Ready(_) | Examination::NotTrusted { .. } => {}
        }
        if let Some(by) = self.policies.disabled_by(&candidate.name, candidate.layer) {
            return Status::SwitchedOff { by: by.to_owned() };
        }
        if let Examination::Invalid(why) = finding {
            return Status::Invalid { why: why.clone() };
        }
        if candidate.name.starts_with(builtin::PREFIX) {
            return Status::Invalid { why: reserved() };
        }
        // A hook that would not run anyway need not be trusted.
        if let Some(by) = self.replacement_for(candidate) {
            return Status::Shadowed { by: by.clone() };
        }
        match finding {
            Examination::NotTrusted { previous, .. } => {
                Status::NotTrusted { has_changed: previous.is_some() }
            }
            Examination::Ready(ready) => self.displacing(candidate, &ready.fingerprint),
            _ => Status::Active,
        }
    }

    /// Returns the status of a hook that can run. It depends on whether the user agreed that it shadows a hook of their own.
    fn displacing(&self, candidate: &Candidate, fingerprint: &Fingerprint) -> Status {
        let Gate { mode, project_trust: trusted, .. } = self.gate;
        let needs_consent = mode == TrustMode::Gate && candidate.layer.needs_trust();
        match self.own.get(&candidate.name) {
            Some(own) if needs_consent && !trusted.may_displace(&candidate.name, fingerprint) => {
                Status::WouldDisplace { own: own.clone() }
            }
            _ => Status::Active,
        }
    }

    /// Returns the hook that runs instead of another.
    fn replacement_for(&self, candidate: &Candidate) -> Option<&PathBuf> {
        let protected =
            self.protected.get(&candidate.name).filter(|_| candidate.layer.needs_trust());
        let outer = self.gate.outer.get(&candidate.name);
        let outer = outer.filter(|_| candidate.layer != Layer::Managed);
        outer.or(protected).or_else(|| self.running.get(&candidate.name).map(|(_, path)| path))
    }

    /// Returns whether another hook replaces one that cannot run. A project's hook never replaces a user's hook.
    fn is_replaced(&self, candidate: &Candidate) -> bool {
        let running = self.running.get(&candidate.name);
        let is_project_hook = running.is_some_and(|(layer, _)| layer.needs_trust());
        let counts = candidate.layer.needs_trust() || !is_project_hook;
        counts && self.replacement_for(candidate).is_some()
    }

    fn diagnostic(
        &self,
        candidate: &Candidate,
        status: &Status,
        has_error: bool,
    ) -> Option<Diagnostic> {
        let name = &candidate.name;
        let diagnostic = match status {
            Status::Shadowed { by }
                if self.gate.outer.get(name) == Some(by) && candidate.layer.needs_trust() =>
            {
                let message = format!(
                    "the hook {name} does not run: {} of a project around this one has the same name",
                    by.display()
                );
                Diagnostic::new("hook-of-outer-project", Severity::Warning, message)
                    .help("give this hook another name; both will run")
            }
            Status::Shadowed { by }
                if self.protected.get(name) == Some(by) && candidate.layer.needs_trust() =>
            {
                let message = format!(
                    "the hook {name} does not run: {} of the same name is managed, protected, or fails closed",
                    by.display()
                );
                Diagnostic::new("hook-protected", Severity::Warning, message)
                    .help("give the project's hook another name; both will run")
            }
            Status::Shadowed { by } => {
                let message = format!(
                    "the hook {name} does not run: {} of the same name runs in its place",
                    by.display()
                );
                Diagnostic::new("hook-shadowed", Severity::Info, message)
            }
            Status::NoScript => {
                let message = format!("the hook {name} does nothing: {NO_SCRIPT}");
                Diagnostic::new("hook-without-script", Severity::Warning, message)
            }
            Status::Invalid { why } if !has_error => {
                let message = format!("the hook {name} does not run: it {why}");
                Diagnostic::new("hook-invalid", Severity::Error, message)
                    .help("fix it, or disable it by adding `.disable` to its name")
            }
            _ => return None,
        };
        Some(diagnostic.at(&candidate.path))
    }
}

const NO_SCRIPT: &str = "it has neither scripts/run nor scripts/run.sh nor scripts/run.py";

/// Returns a warning: a hook is never off silently (R61).
fn not_executable(candidate: &Candidate) -> Diagnostic {
    let (name, path) = (&candidate.name, candidate.path.display());
    let help = if matches!(candidate.kind, CandidateKind::Manifest(_)) {
        format!("run `chmod +x {path}/scripts/run`")
    } else {
        format!("run `chmod +x {path}`; a file that is no hook needs no `#!` line")
    };
    let message = format!("the hook {name} does not run: it is not executable");
    Diagnostic::new("hook-not-executable", Severity::Warning, message)
        .help(help)
        .at(&candidate.path)
}

fn reserved() -> String {
    format!("has a name that begins with {}, as only what is part of Tenter does", builtin::PREFIX)
}

fn listed(
    project: &Path,
    (candidate, covered): (&Candidate, &Covered),
    finding: &Examination,
    status: Status,
) -> ListedHook {
    let (subscriptions, fingerprint) = match finding {
        Examination::Ready(ready) => (ready.subscriptions.clone(), Some(ready.fingerprint.clone())),
        Examination::NotTrusted { fingerprint, subscriptions, .. } => {
            (subscriptions.clone(), Some(fingerprint.clone()))
        }
        Examination::NoScript(subscriptions) => (subscriptions.clone(), None),
        _ => (Vec::new(), None),
    };
    let Candidate { name, layer, path, .. } = candidate.clone();
    let (project, covered) = (project.to_owned(), covered.clone());
    ListedHook { name, layer, project, path, status, subscriptions, covered, fingerprint }
}

#[cfg(test)]
mod tests;
