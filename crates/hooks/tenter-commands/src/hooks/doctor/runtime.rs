//! Finds runtime hooks whose process does not answer, by starting it, and those whose process ended too often, in the journal.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread;

use tenter_engine::Engine;
use tenter_engine::inspect::{Catalog, Hook, RuntimeHook};
use tenter_engine::journal::RecordKind;
use tenter_proc::Cancel;
use tenter_protocol::{Diagnostic, Severity};

use super::at_hook;
use crate::project::Project;

/// Returns warnings about the runtime hooks of a catalog.
pub(super) fn examine(project: &Project, catalog: &Catalog) -> Vec<Diagnostic> {
    let hooks: Vec<&Arc<Hook>> =
        catalog.hooks().iter().filter(|hook| hook.runtime.is_some()).collect();
    if hooks.is_empty() {
        return Vec::new();
    }
    let given_up = given_up(project);
    let engine = project.engine_builder().build(Catalog::default());
    let failures = check_all(&engine, &hooks);
    let mut findings = Vec::new();
    for (hook, failure) in hooks.iter().zip(failures) {
        let one_shot = if hook.runtime.as_ref().is_some_and(RuntimeHook::is_serve_only) {
            "it has no other form, so it fails at every event"
        } else {
            "it runs once per event instead"
        };
        let finding = |id, message: String, help: &str| {
            at_hook(hook, Diagnostic::new(id, Severity::Warning, message)).help(help)
        };
        if let Some(why) = failure {
            let message =
                format!("the process of the runtime hook {} {why}; {one_shot}", hook.name);
            let help = "start its script with the argument `serve`, and write an `initialize` request to its stdin";
            findings.push(finding("hook-does-not-serve", message, help));
        }
        if given_up.contains(&(hook.name.clone(), hook.fingerprint.0.clone())) {
            let message = format!(
                "the process of the runtime hook {} ended several times within a minute",
                hook.name
            );
            let help = format!("`tenter log --hook {} --failed` says why", hook.name);
            findings.push(finding("hook-process-ended", message, &help));
        }
    }
    findings
}

/// Returns why the process of each hook cannot be called. All are checked at once: each may take seconds.
fn check_all(engine: &Engine, hooks: &[&Arc<Hook>]) -> Vec<Option<String>> {
    let cancel = Cancel::new();
    let check = |hook: &Arc<Hook>| engine.check_runtime(hook, &cancel).err();
    thread::scope(|scope| {
        let checks: Vec<_> = hooks.iter().map(|hook| scope.spawn(move || check(hook))).collect();
        let panicked = |_| Some("could not be checked".to_owned());
        checks.into_iter().map(|check| check.join().unwrap_or_else(panicked)).collect()
    })
}

/// Returns the names and hashes of the hooks whose process ended too often, in any journal.
fn given_up(project: &Project) -> BTreeSet<(String, String)> {
    let journals = project.env.journals();
    let conversations = journals.conversations().unwrap_or_default();
    let lines = conversations.iter().filter_map(|id| Some(journals.read(id).ok()?.lines));
    let runs = lines.flatten().filter_map(|line| match line.record.kind {
        RecordKind::Run(run) => Some(run),
        _ => None,
    });
    runs.filter(|run| run.given_up).map(|run| (run.hook, run.fingerprint.0)).collect()
}
