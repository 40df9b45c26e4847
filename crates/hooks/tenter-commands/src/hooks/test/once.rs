//! Runs a hook once, on a sample or on a given payload.

use std::sync::Arc;

use tenter_base::visible;
use tenter_engine::inspect::{Hook, HookTest, TestRun};
use tenter_engine::{Engine, Transport};
use tenter_proc::Cancel;
use tenter_protocol::Object;
use tenter_protocol::executable::Subscription;
use tenter_terminal::{CommandResult, Exit, ui};

use super::super::interpretation::UNMATCHED;
use super::super::report::{self, TestReport};
use super::{Args, engine, payload};
use crate::project::Project;

/// Runs `hook` once on the given payload, else on a sample.
pub(super) fn run(
    project: &Project,
    hook: &Arc<Hook>,
    payload: Option<Object>,
    args: &Args,
    cancel: &Cancel,
) -> CommandResult {
    let is_sample = payload.is_none();
    let (subscription, payload) = match payload {
        Some(text) => payload::complete(project, hook, text)?,
        None => payload::sample_for(project, hook, args.event.as_deref(), Object::new())?,
    };
    let event = payload::event(project, subscription, &payload);
    let test = HookTest { event: &event, subscription, payload: &payload };
    let engine = engine(project);
    let report = match engine.test(hook, test, cancel) {
        Some(result) => {
            let report = TestReport::new(result);
            match other_form(&engine, hook, test, cancel) {
                Some(one_shot) => report.compare(&one_shot),
                None => report,
            }
        }
        None => TestReport::unmatched(hook, test),
    };
    if args.json {
        ui::json(&report);
    } else {
        report::print(project, hook, &report);
        if is_sample && report.interpretation.decision == UNMATCHED {
            ui::note(
                "Its matcher does not match the sample; pass a matching call with --payload FILE.",
            );
        }
        if args.payload.is_none() && args.event.is_none() {
            note_others(hook, subscription);
        }
    }
    Ok(match report.interpretation.error {
        Some(_) if cancel.is_cancelled() => Exit::Interrupted,
        Some(_) => Exit::Failed,
        None if report.one_shot.is_some() => Exit::Failed,
        None => Exit::Done,
    })
}

/// Returns a run of the one-shot form of a hook that was called.
pub(super) fn other_form(
    engine: &Engine,
    hook: &Arc<Hook>,
    test: HookTest<'_>,
    cancel: &Cancel,
) -> Option<TestRun> {
    let has_both = hook.runtime.as_ref().is_some_and(|runtime| !runtime.is_serve_only());
    if !has_both || cancel.is_cancelled() {
        return None;
    }
    engine.test_form(hook, test, Some(Transport::OneShot), cancel)
}

/// Notes how to test the hook on the other events that it subscribes to.
fn note_others(hook: &Hook, subscription: Subscription) {
    for other in hook.subscriptions.iter().filter(|other| **other != subscription) {
        ui::note(format!(
            "It also subscribes to {}: tenter hooks test {} --event {0}",
            other.event,
            visible(&hook.name)
        ));
    }
}
