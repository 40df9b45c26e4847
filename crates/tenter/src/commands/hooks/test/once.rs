//! `tenter hooks test`: runs one hook once, as an agent would, and shows what it was told, what it wrote, and how that is
//! understood. Nothing is recorded, and no agent is involved.

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

use serde_json::Value;
use tenter_agent::session::Status as Ended;
use tenter_engine::catalog::{Catalog, Status};
use tenter_engine::hook::Hook;
use tenter_engine::{EngineSettings, Request, run_once};
use tenter_proc::Cancel;
use tenter_protocol::executable::{self, Subscription};
use tenter_protocol::{EventName, Object, json};

use super::report::{self, Report};
use super::{entry, sample};
use crate::commands::Done;
use crate::env;
use crate::failure::{Exit, Failure};
use crate::hooks::Project;
use crate::sanitize::sanitize;
use crate::{signals, ui};

/// Run a hook once, as an agent would, and show what it was told, what it wrote, and how that is understood.
///
/// The exit code is 0 when its answer is understood, whatever it says, and 1 when the hook fails.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The hook's full name.
    name: String,
    /// The payload, a JSON object, instead of a sample; "-" reads it from stdin. Its "event" says which event it is of.
    #[arg(long, value_name = "FILE", conflicts_with = "event")]
    payload: Option<String>,
    /// The event to tell it of, where it is told of several.
    #[arg(long, value_name = "EVENT")]
    event: Option<String>,
    /// Show as JSON.
    #[arg(long)]
    json: bool,
}

/// Does it.
pub(super) fn run(mut project: Project, args: &Args) -> Done {
    let cancel = Cancel::new();
    signals::forward(&cancel)?;
    let given = args.payload.as_deref().map(|file| read_payload(&project, file)).transpose()?;
    let catalog = project.load(&cancel);
    super::show_findings(&project);
    let hook = find(&project, &catalog, &args.name)?;
    let (subscription, payload) = match given {
        Some(payload) => (subscription_of(hook, &payload)?, payload),
        None => sample_for(&project, hook, args.event.as_deref())?,
    };
    let session_id = payload.get("conv_id").and_then(Value::as_str).unwrap_or(sample::CONVERSATION);
    let request = Request {
        subscription,
        session_id: session_id.to_owned(),
        payload: json::to_line(&payload),
    };
    let trial = run_once(hook, request, &settings(&project), &cancel);
    let report = Report::new(hook, subscription, &payload, &trial);
    if args.json {
        ui::out(serde_json::to_string_pretty(&report).unwrap_or_default());
    } else {
        report::print(&project, hook, &report);
        if args.payload.is_none() && args.event.is_none() {
            note_others(hook, subscription);
        }
    }
    Ok(match report.understood.error {
        Some(_) if cancel.is_cancelled() => Exit::Agent(Ended::Interrupted),
        Some(_) => Exit::Failed,
        None => Exit::Done,
    })
}

fn settings(project: &Project) -> EngineSettings {
    EngineSettings {
        project: project.root().to_owned(),
        environment: project.hook_environment(),
        clock: env::now,
        observers: Vec::new(),
    }
}

/// The hook of this name that runs. One that would run in its place if it were trusted is not passed over.
fn find<'c>(project: &Project, catalog: &'c Catalog, name: &str) -> Result<&'c Hook, Failure> {
    let named = entry::entries_named(project, catalog, name)?;
    let mut by_precedence = catalog.listing().iter().filter(|listed| listed.name == name);
    let may_run = by_precedence
        .find(|listed| matches!(listed.status, Status::Active | Status::NotTrusted { .. }));
    if may_run.is_some_and(|listed| listed.status != Status::Active) {
        let failure =
            Failure::new(format!("the hook {name} is not trusted as it is, so it is not run"))
                .help("look at it with `tenter hooks show`, then run `tenter trust`");
        return Err(Failure { exit: Exit::Untrusted, ..failure });
    }
    let active = catalog.hooks().iter().find(|hook| hook.name == name);
    active.map(AsRef::as_ref).ok_or_else(|| {
        let reason = named.iter().find_map(|entry| entry.reason.as_deref());
        Failure::new(format!("the hook {name} {}", reason.unwrap_or("does not run")))
    })
}

fn read_payload(project: &Project, file: &str) -> Result<Object, Failure> {
    let mut bytes = Vec::new();
    let read = if file == "-" {
        io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        fs::read(project.env.cwd.join(Path::new(file)))
    };
    let name = if file == "-" { "stdin" } else { file };
    let bytes = read.map_err(|error| {
        Failure::usage(format!("the payload cannot be read from {name}: {error}"))
    })?;
    let wrong = |why: &str| {
        Failure::usage(format!("the payload in {name} is not a JSON object: {why}")).help(
            "`tenter hooks test NAME --json` without --payload shows a sample under \"payload\"",
        )
    };
    match serde_json::from_slice(&bytes) {
        Ok(Value::Object(payload)) => Ok(payload),
        Ok(_) => Err(wrong("it is other JSON")),
        Err(error) => Err(wrong(&error.to_string())),
    }
}

/// What `hook` calls the event that a payload says it is of.
fn subscription_of(hook: &Hook, payload: &Object) -> Result<Subscription, Failure> {
    let word = payload.get("event").and_then(Value::as_str).ok_or_else(|| {
        Failure::usage("the payload does not say which event it is of")
            .help(format!("add \"event\"; the hook is told of {}", spellings(hook)))
    })?;
    let mut events = super::events_named(word)?;
    let succeeded = payload.get("tool_output").and_then(|output| output.get("success"));
    if succeeded == Some(&Value::Bool(false)) {
        events.sort_by_key(|event| *event != EventName::AfterToolFailure);
    }
    subscription(hook, word, &events)
}

fn sample_for(
    project: &Project,
    hook: &Hook,
    word: Option<&str>,
) -> Result<(Subscription, Object), Failure> {
    let subscription = match word {
        Some(word) => subscription(hook, word, &super::events_named(word)?)?,
        None => *hook
            .subscriptions
            .first()
            .ok_or_else(|| Failure::new(format!("the hook {} is told of nothing", hook.name)))?,
    };
    let line = sample::event(subscription.event, project)
        .and_then(|event| executable::payload(&event, subscription.spelling))
        .and_then(|line| serde_json::from_str(&line).ok());
    let payload =
        line.ok_or_else(|| Failure::new(format!("there is no sample of {}", subscription.event)))?;
    Ok((subscription, payload))
}

fn subscription(hook: &Hook, word: &str, events: &[EventName]) -> Result<Subscription, Failure> {
    events.iter().find_map(|event| hook.subscription(*event)).ok_or_else(|| {
        Failure::usage(format!("the hook {} is not told of {word}", hook.name))
            .help(format!("it is told of {}", spellings(hook)))
    })
}

/// Says how to test a hook on the other events that it is told of.
fn note_others(hook: &Hook, tested: Subscription) {
    for other in hook.subscriptions.iter().filter(|other| **other != tested) {
        ui::note(format!(
            "Told of {}, too: tenter hooks test {} --event {0}",
            other.event,
            sanitize(&hook.name)
        ));
    }
}

fn spellings(hook: &Hook) -> String {
    let mut spellings: Vec<&str> =
        hook.subscriptions.iter().map(|subscription| subscription.spelling).collect();
    spellings.dedup();
    spellings.join(", ")
}
