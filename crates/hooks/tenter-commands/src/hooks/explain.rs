//! `tenter hooks explain`: shows whether the engine would run each hook at an event, and why. It starts no hook, except to ask
//! trusted executables for their events, as every listing does.

use std::collections::HashMap;

use serde::Serialize;
use tenter_base::{one_line, sanitize, visible};
use tenter_engine::inspect::{
    Catalog, ConsideredHook, Explanation, HookFacts, RuleExplanation, Selection, SelectionSubject,
    Truth,
};
use tenter_proc::Cancel;
use tenter_protocol::lifecycle::Power;
use tenter_protocol::{EventName, ToolCall};
use tenter_terminal::{BAD, CommandResult, Exit, FAINT, Failure, GOOD, HEADING, NAME, styled, ui};

use self::words::{action_words, matcher_words, rule_words};
use super::call;
use super::call_verdict::CallVerdict;
use super::entry::{self, HookEntry};
use crate::project::Project;

mod facts;
mod words;

/// The event of a tool call, if the arguments name none.
const DEFAULT_EVENT: &str = "before_tool";
/// Characters of a tool's input that are shown.
const SHOWN_INPUT: usize = 200;

/// Number of rules of a hook up to which all are shown.
const MANY_RULES: usize = 5;

/// Explain which hooks would run at an event, and why.
///
/// About a tool call, the first line says what they decide: `tenter hooks explain 'git push --force'`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A shell command that the agent runs.
    #[arg(conflicts_with_all = ["tool", "input"])]
    command: Option<String>,
    /// The event, in any of its spellings [default with a command or --tool: before_tool].
    #[arg(long, value_name = "EVENT", required_unless_present_any = ["tool", "command"])]
    event: Option<String>,
    /// The tool that is called, in any of its spellings; tool events need it.
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// The tool's input, a JSON object.
    #[arg(long, value_name = "JSON", requires = "tool")]
    input: Option<String>,
    /// Show the rules that do not fit, too, and why.
    #[arg(long, short)]
    verbose: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// The explanation of one hook: whether it would run, and why. The JSON form has the same fields.
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
    /// `serve` or `serve-only` for a runtime hook.
    #[serde(skip_serializing_if = "Option::is_none")]
    runtime: Option<&'static str>,
    verdict: HookVerdict,
    /// The reason, as the end of a sentence.
    why: String,
    /// The result of each part of its matcher.
    #[serde(skip_serializing_if = "Option::is_none")]
    matcher: Option<Explanation>,
    /// The explanation of each of its rules.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    rules: Vec<RuleExplanation>,
    /// The facts about the call, as its rules and its script see them.
    #[serde(skip_serializing_if = "Option::is_none")]
    facts: Option<&'c tenter_protocol::facts::CallFacts>,
}

/// The verdict about a hook at an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum HookVerdict {
    Runs,
    /// It counts as a run that failed: a search of its matcher cannot be finished, or it cannot run and is set to fail
    /// closed.
    Fails,
    Skipped,
}

pub(super) fn run(mut project: Project, args: &Args) -> CommandResult {
    let event = args.event.as_deref().unwrap_or(DEFAULT_EVENT);
    let events = super::events_named(event)?;
    let call = call(args, event, &events)?;
    let catalog = project.load(&Cancel::new());
    let facts = call.as_ref().map(|call| facts_of(&project, &catalog, call));
    let considered = catalog.explain(&events, call.as_ref().zip(facts.as_ref()));
    let mut explained = explain_all(entry::entries(&project, &catalog), &considered, &events);
    for hook in &mut explained {
        hook.facts = facts.as_ref().map(|facts| &facts.own().facts.call);
    }
    if args.json {
        ui::json(&explained);
    } else {
        let verdict = facts.as_ref().filter(|_| events.contains(&EventName::BeforeTool));
        if let Some(facts) = verdict {
            ui::out(CallVerdict::new(&considered, facts).line());
        }
        print_event(&events, call.as_ref());
        facts.iter().flat_map(|facts| facts::lines(&facts.own().facts.call)).for_each(ui::out);
        print_all(&explained, args.verbose);
    }
    super::show_findings(&project);
    Ok(Exit::Done)
}

/// Prints how a call is read, and why each hook stops it or not.
pub(super) fn print_call(
    project: &Project,
    catalog: &Catalog,
    (call, facts): (&ToolCall, &HookFacts),
) {
    let events = [EventName::BeforeTool];
    let considered = catalog.explain(&events, Some((call, facts)));
    let explained = explain_all(entry::entries(project, catalog), &considered, &events);
    facts::lines(&facts.own().facts.call).iter().for_each(ui::out);
    print_all(&explained, true);
}

/// Returns the facts about the call, started in the current directory.
pub(super) fn facts_of(project: &Project, catalog: &Catalog, call: &ToolCall) -> HookFacts {
    project.engine_builder().surroundings(catalog).hook_facts(call, &project.env.cwd)
}

/// Returns the tool call that the arguments describe; exactly the tool events have one.
fn call(args: &Args, event: &str, events: &[EventName]) -> Result<Option<ToolCall>, Failure> {
    let is_about_tools = events.iter().any(|event| event.lifecycle().matcher);
    let call = match (&args.command, &args.tool) {
        (Some(command), _) => Some(call::command(command)),
        (None, Some(tool)) => Some(call::build_call(tool, args.input.as_deref())?),
        (None, None) => None,
    };
    match call {
        None if is_about_tools => Err(Failure::usage(format!("{event} is about a tool call"))
            .help("say which: --tool bash --input '{\"command\": \"ls\"}'")),
        Some(_) if !is_about_tools => {
            Err(Failure::usage(format!("{event} is not about a tool call"))
                .help("leave the command, --tool and --input out"))
        }
        call => Ok(call),
    }
}

/// Explains every hook: first those that the engine considered, in its order, then the others.
fn explain_all<'c>(
    mut entries: Vec<HookEntry<'c>>,
    considered: &[ConsideredHook<'_>],
    events: &[EventName],
) -> Vec<Explained<'c>> {
    let paths = considered.iter().enumerate();
    let places: HashMap<_, _> = paths.map(|(place, hook)| (hook.subject.path(), place)).collect();
    let place = |entry: &HookEntry| places.get(&entry.hook.map(|it| it.path.as_path())).copied();
    entries.sort_by_key(|entry| place(entry).unwrap_or(usize::MAX));
    let explain = |entry: HookEntry<'c>| {
        let hook = place(&entry).map(|place| &considered[place]);
        explain(entry, hook, events)
    };
    entries.into_iter().map(explain).collect()
}

/// Explains a hook; `considered` is what the engine decided about the hook; none if it does not consider it for the event.
fn explain<'c>(
    entry: HookEntry<'c>,
    considered: Option<&ConsideredHook<'_>>,
    events: &[EventName],
) -> Explained<'c> {
    let (verdict, why) = match considered.filter(|hook| may_act(hook, &entry)) {
        Some(hook) => (verdict(&hook.selection), why(&entry, hook, events)),
        None if entry.active => (HookVerdict::Skipped, subscribes_to_others(&entry)),
        None => (HookVerdict::Skipped, not_active(&entry, events)),
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
        runtime: entry.runtime,
        verdict,
        why,
        matcher: considered.and_then(|hook| hook.explanation.clone()),
        rules: considered.map(|hook| hook.rules.clone()).unwrap_or_default(),
        facts: None,
    }
}

/// Checks whether a hook does what the engine decided: the built-in one does not if the configuration turns it off.
fn may_act(hook: &ConsideredHook<'_>, entry: &HookEntry) -> bool {
    entry.active || matches!(hook.subject, SelectionSubject::Missing(_))
}

fn verdict(selection: &Selection) -> HookVerdict {
    match selection {
        Selection::Runs { .. } => HookVerdict::Runs,
        Selection::NotMatched | Selection::NotSubscribed => HookVerdict::Skipped,
        _ => HookVerdict::Fails,
    }
}

fn why(entry: &HookEntry, considered: &ConsideredHook<'_>, events: &[EventName]) -> String {
    let hook = match considered.subject {
        SelectionSubject::Hook(hook) => hook,
        SelectionSubject::BuiltIn => {
            let about = entry.description.as_deref().unwrap_or_default();
            return format!("whatever other hooks reply, it {about}");
        }
        _ => {
            let why = not_active(entry, events);
            return format!("{why}; it is set to fail closed, so this is blocked");
        }
    };
    let why = match (&considered.selection, &considered.explanation) {
        (Selection::NotSubscribed, _) => subscribes_to_others(entry),
        (_, explanation) if !considered.rules.is_empty() => {
            let unmatched = explanation.as_ref().filter(|explanation| !explanation.is_match());
            unmatched.map_or_else(|| in_short(&considered.rules), matcher_words)
        }
        (_, Some(explanation)) => matcher_words(explanation),
        (_, None) if events.iter().any(|event| event.lifecycle().matcher) => {
            "it has no matcher: it runs on every call".to_owned()
        }
        (_, None) => "it subscribes to this event".to_owned(),
    };
    if !matches!(considered.selection, Selection::Runs { .. }) {
        return why;
    }
    let action = hook.static_action().map(|action| format!("; {}", action_words(action)));
    let background = if hook.policy.asynchronous { background_note(events) } else { "" };
    format!("{why}{}{background}", action.unwrap_or_default())
}

/// Summarizes which rules a call fits.
fn in_short(rules: &[RuleExplanation]) -> String {
    let fitting: Vec<&str> =
        rules.iter().filter(|rule| rule.effect.is_some()).map(|rule| rule.rule.as_str()).collect();
    match fitting.as_slice() {
        [] => "the call fits none of its rules".to_owned(),
        [rule] => format!("the call fits its rule {rule}"),
        rules => format!("the call fits its rules {}", rules.join(", ")),
    }
}

fn subscribes_to_others(entry: &HookEntry) -> String {
    format!("it subscribes to {} only", entry.event)
}

/// Explains why a hook that is not active does not run.
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

/// Returns the note for an asynchronous hook (R22).
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

/// Numbers what acts, in the order in which it does.
fn print_all(explained: &[Explained], verbose: bool) {
    let lines = explained.iter().enumerate().map(|(index, hook)| match hook.verdict {
        HookVerdict::Skipped => lines("- ", hook, verbose),
        HookVerdict::Runs | HookVerdict::Fails => lines(&format!("{}.", index + 1), hook, verbose),
    });
    // At once: a write for each line would take longer than finding the hooks.
    ui::out(lines.collect::<Vec<_>>().join("\n"));
}

fn lines(mark: &str, hook: &Explained, verbose: bool) -> String {
    let (style, word) = match hook.verdict {
        HookVerdict::Runs => (GOOD, "runs"),
        HookVerdict::Fails => (BAD, "fails"),
        HookVerdict::Skipped => (FAINT, "does not run"),
    };
    let asynchronous = if hook.asynchronous { ", async" } else { "" };
    let priority =
        hook.priority.map(|priority| format!(", priority {priority}")).unwrap_or_default();
    let runtime = hook.runtime.map(|runtime| format!(", {runtime}")).unwrap_or_default();
    let place = format!("({}{priority}{asynchronous}{runtime})", hook.layer);
    let (name, why) = (styled(NAME, visible(hook.name)), sanitize(&hook.why));
    // A guard has dozens of rules.
    let is_shown = |rule: &&RuleExplanation| {
        verbose || hook.rules.len() <= MANY_RULES || rule.fits != Truth::No
    };
    let rules_in_view: Vec<&RuleExplanation> = hook.rules.iter().filter(is_shown).collect();
    let hidden_count = hook.rules.len() - rules_in_view.len();
    let rules = rules_in_view.iter().map(|rule| format!("\n     {}", sanitize(&rule_words(rule))));
    let rest = (hidden_count > 0).then(|| {
        styled(FAINT, format!("\n     {hidden_count} other rules do not fit; -v shows why"))
    });
    let rules: String = rules.chain(rest).collect();
    format!("{mark} {name} {}\n   {}: {why}{rules}", styled(FAINT, place), styled(style, word))
}
