//! `tenter hooks explain`: whether each hook would run at an event, and why. It starts no hook, except to ask trusted
//! executables for their events, as every listing does.

use serde::Serialize;
use tenter_engine::catalog::{Catalog, Missing};
use tenter_engine::hook::{Hook, Selection};
use tenter_engine::matcher::Explanation;
use tenter_proc::Cancel;
use tenter_protocol::lifecycle::Power;
use tenter_protocol::{EventName, Object, ToolCall, tool_fields, tool_names};

use self::words::{action_words, matcher_words};
use super::entry::{self, HookEntry};
use crate::commands::Done;
use crate::failure::{Exit, Failure};
use crate::project::Project;
use crate::sanitize::{one_line, sanitize, visible};
use crate::ui::{self, BAD, FAINT, GOOD, HEADING, NAME, styled};

mod words;

/// Characters of a tool's input that are shown.
const SHOWN_INPUT: usize = 200;

/// Explain which hooks would run at an event, and why.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The event, in any of its spellings.
    #[arg(long, value_name = "EVENT")]
    event: String,
    /// The tool that is called, in any of its spellings; tool events need it.
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// The tool's input, a JSON object.
    #[arg(long, value_name = "JSON", requires = "tool")]
    input: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Whether one hook would run, and why. The fields are those of the JSON form.
#[derive(Debug, Serialize)]
struct Explained<'c> {
    name: &'c str,
    event: String,
    layer: &'static str,
    path: Option<String>,
    status: &'static str,
    trust: super::entry::TrustStatus,
    priority: Option<u16>,
    #[serde(rename = "async")]
    asynchronous: bool,
    verdict: Verdict,
    /// Why, as the end of a sentence.
    why: String,
    /// The result of each part of its matcher.
    #[serde(skip_serializing_if = "Option::is_none")]
    matcher: Option<Explanation>,
}

/// Whether a hook would run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Runs,
    /// It counts as a run that failed: a search of its matcher cannot be finished, or it cannot run and is set to fail
    /// closed.
    Fails,
    Skipped,
}

pub(super) fn run(mut project: Project, args: &Args) -> Done {
    let events = super::events_named(&args.event)?;
    let call = call(args, &events)?;
    let catalog = project.load(&Cancel::new());
    let entries = entry::entries(&project, &catalog);
    let explained: Vec<Explained> =
        entries.into_iter().map(|entry| explain(&catalog, entry, &events, call.as_ref())).collect();
    if args.json {
        ui::out(serde_json::to_string_pretty(&explained).unwrap_or_default());
    } else {
        print_event(&events, call.as_ref());
        print_all(&explained);
    }
    super::show_findings(&project);
    Ok(Exit::Done)
}

/// The tool call that the arguments describe; exactly the tool events have one.
fn call(args: &Args, events: &[EventName]) -> Result<Option<ToolCall>, Failure> {
    let is_about_tools = events.iter().any(|event| event.lifecycle().matcher);
    match &args.tool {
        None if is_about_tools => {
            Err(Failure::usage(format!("{} is about a tool call", args.event))
                .help("say which: --tool bash --input '{\"command\": \"ls\"}'"))
        }
        Some(_) if !is_about_tools => {
            Err(Failure::usage(format!("{} is not about a tool call", args.event))
                .help("leave --tool and --input out"))
        }
        None => Ok(None),
        Some(tool) => {
            let name = tool_names::canonical(tool).unwrap_or(tool).to_owned();
            let input = args.input.as_deref().map_or(Ok(Object::new()), input)?;
            // As in a run, hooks see the advertised names only (R63).
            let input = tool_fields::renamed(&name, &input).map_err(Failure::usage)?;
            Ok(Some(ToolCall { id: "call_1".to_owned(), name, input }))
        }
    }
}

fn input(text: &str) -> Result<Object, Failure> {
    serde_json::from_str(text)
        .map_err(|error| Failure::usage(format!("--input is not a JSON object: {error}")))
}

fn explain<'c>(
    catalog: &'c Catalog,
    entry: HookEntry<'c>,
    events: &[EventName],
    call: Option<&ToolCall>,
) -> Explained<'c> {
    let path = entry.listed.map(|listed| &listed.path);
    let hook = catalog.hooks().iter().find(|hook| Some(&hook.path) == path);
    let (verdict, why, matcher) = match hook {
        None if entry.active => judge_built_in(&entry, events),
        Some(hook) if entry.subscribes_to(events) => judge(hook, events, call),
        Some(_) => (Verdict::Skipped, subscribes_to_others(&entry), None),
        None => judge_inactive(catalog, &entry, events, call),
    };
    Explained {
        name: entry.name,
        event: entry.event,
        layer: entry.layer,
        path: entry.path,
        status: entry.status,
        trust: entry.trust,
        priority: entry.priority,
        asynchronous: entry.asynchronous,
        verdict,
        why,
        matcher,
    }
}

/// Whether the built-in hook would run.
fn judge_built_in(
    entry: &HookEntry,
    events: &[EventName],
) -> (Verdict, String, Option<Explanation>) {
    if !entry.subscribes_to(events) {
        return (Verdict::Skipped, subscribes_to_others(entry), None);
    }
    let about = entry.description.as_deref().unwrap_or_default();
    (Verdict::Runs, format!("whatever other hooks reply, it {about}"), None)
}

fn subscribes_to_others(entry: &HookEntry) -> String {
    format!("it subscribes to {} only", entry.event)
}

/// Whether a hook that is not active stops the event (R42).
fn judge_inactive(
    catalog: &Catalog,
    entry: &HookEntry,
    events: &[EventName],
    call: Option<&ToolCall>,
) -> (Verdict, String, Option<Explanation>) {
    let why = not_active(entry, events);
    let is_this = |missing: &Missing| {
        entry.listed.is_some_and(|it| (&it.name, it.layer) == (&missing.name, missing.layer))
    };
    let stops = |missing: &&Missing| events.iter().any(|event| missing.stops(*event, call));
    if catalog.missing().iter().filter(|missing| is_this(missing)).any(|missing| stops(&missing)) {
        let why = format!("{why}; it is set to fail closed, so this is blocked");
        return (Verdict::Fails, why, None);
    }
    (Verdict::Skipped, why, None)
}

fn not_active(entry: &HookEntry, events: &[EventName]) -> String {
    let reason = entry.reason.as_deref().unwrap_or("does not run");
    let other = !entry.event.is_empty() && !entry.subscribes_to(events);
    let besides = if other {
        format!("; also, it subscribes to {} only", entry.event)
    } else {
        String::new()
    };
    format!("it {reason}{besides}")
}

/// Whether a hook that subscribes to one of the events would run, as the engine selects it.
fn judge(
    hook: &Hook,
    events: &[EventName],
    call: Option<&ToolCall>,
) -> (Verdict, String, Option<Explanation>) {
    let event = events.iter().find(|event| hook.subscription(**event).is_some());
    let aim = event.map_or(Selection::NotSubscribed, |event| hook.select(*event, call));
    let explanation = hook.matcher().zip(call).map(|(matcher, call)| matcher.explain(call));
    let verdict = match aim {
        Selection::Runs { .. } => Verdict::Runs,
        Selection::Undecided(_) => Verdict::Fails,
        Selection::NotMatched | Selection::NotSubscribed => Verdict::Skipped,
    };
    let why = match &explanation {
        Some(explanation) => matcher_words(explanation),
        None if call.is_some() => "it has no matcher: it runs on every call".to_owned(),
        None => "it subscribes to this event".to_owned(),
    };
    let why = match hook.static_action().filter(|_| verdict == Verdict::Runs) {
        Some(declared) => format!("{why}; {}", action_words(declared)),
        None => why,
    };
    let why = match (verdict, hook.policy.asynchronous) {
        (Verdict::Runs, true) => format!("{why}{}", background_note(events)),
        _ => why,
    };
    (verdict, why, explanation)
}

/// What is different for an asynchronous hook (R22).
fn background_note(events: &[EventName]) -> &'static str {
    if events.iter().any(|event| event.may(Power::Block)) {
        "; it is asynchronous: it starts after the others if none blocked, and cannot block"
    } else {
        "; it is asynchronous: it starts after the others, and the agent does not wait for it"
    }
}

fn print_event(events: &[EventName], call: Option<&ToolCall>) {
    let events: Vec<&str> = events.iter().map(|event| event.as_str()).collect();
    let call = call.map(|call| {
        let input = one_line(&tenter_protocol::json::to_string(&call.input), SHOWN_INPUT);
        format!(" of {} {input}", one_line(&call.name, SHOWN_INPUT))
    });
    ui::out(styled(HEADING, format!("{}{}", events.join(", "), call.unwrap_or_default())));
}

/// What runs is numbered in the order in which it starts.
fn print_all(explained: &[Explained]) {
    let runs = |hook: &&Explained| hook.verdict != Verdict::Skipped;
    let (later, sooner): (Vec<&Explained>, Vec<&Explained>) =
        explained.iter().filter(runs).partition(|hook| hook.asynchronous);
    let running = sooner.into_iter().chain(later).enumerate();
    let running = running.map(|(index, hook)| lines(&format!("{}.", index + 1), hook));
    let others = explained.iter().filter(|hook| !runs(hook)).map(|hook| lines("- ", hook));
    // At once: a write for each line would take longer than finding the hooks.
    ui::out(running.chain(others).collect::<Vec<_>>().join("\n"));
}

fn lines(mark: &str, hook: &Explained) -> String {
    let (style, word) = match hook.verdict {
        Verdict::Runs => (GOOD, "runs"),
        Verdict::Fails => (BAD, "fails"),
        Verdict::Skipped => (FAINT, "does not run"),
    };
    let asynchronous = if hook.asynchronous { ", async" } else { "" };
    let priority =
        hook.priority.map(|priority| format!(", priority {priority}")).unwrap_or_default();
    let place = format!("({}{priority}{asynchronous})", hook.layer);
    let (name, why) = (styled(NAME, visible(hook.name)), sanitize(&hook.why));
    format!("{mark} {name} {}\n   {}: {why}", styled(FAINT, place), styled(style, word))
}
