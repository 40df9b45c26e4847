//! The table of checks (B33): the promise of Tenter for each, and the facts that show whether it holds.

use std::ffi::OsStr;

use serde_json::Value;
use tenter_bridge::host::{InputRewrite, Support};
use tenter_bridge::user_rules::Checks;
use tenter_bridge::{Host, breach, hosts};
use tenter_protocol::EventName;
use tenter_protocol::lifecycle::{Power, TABLE};

use crate::client::{Client, GUARDED_SKILL, PASSED_SKILL};
use crate::observed::{Fact, Observed, Run, native_event};
use crate::other_program::{self, EntryPosition};
use crate::plan::failures::HookFailure;
use crate::plan::{
    self, confined, deadline, decisions, mcp, own_sandbox, prompt, resume, single, skill, subagent,
    tools, user_rule,
};
use crate::scenario::Scenario;
use crate::verdict::Promise;

/// Something that is proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// An event fires.
    Fires(EventName),
    /// A deny denies a call of a tool.
    Deny,
    /// Exit code 2 denies a call of a tool.
    ExitCode,
    /// One of three parallel calls is denied.
    Parallel,
    /// A call after `cd` out of the project is denied.
    Outside,
    /// A subagent's calls are seen and denied.
    Subagent,
    /// A call that a hook asks about does not run without an answer.
    Ask,
    /// A hook for a tool denies its calls, and no others.
    ByTool,
    /// A call of the tool of an MCP server is denied by the name of the tool.
    Mcp,
    /// A command in the text of a skill is denied.
    Skill,
    /// A denial and a context count if there is a notice beside them.
    BesideNotice,
    /// A deny denies between hooks of another program, which run as well.
    AmongOthers,
    /// A call is rewritten.
    Rewrite,
    /// A rule of the user that denies a call still denies it when a hook rewrites the call.
    UserRule,
    /// Only one of three parallel calls is confined: it writes the project and nothing else.
    Confined,
    /// The agent's own sandbox, which a setting turns on, lets commands write the project and nothing else.
    OwnSandbox,
    /// A hook sees which file a command changed.
    Changed,
    /// An output is replaced.
    Output,
    /// The context of an event reaches the model.
    Context(EventName),
    /// A notice reaches the user.
    Notice,
    /// A message is rejected.
    Prompt,
    /// The agent continues, once.
    Continue,
    /// A hook fails as its fail mode says.
    Fails(HookFailure),
    /// Tenter answers before the agent stops waiting.
    Deadline,
    /// Calls pass if the program is missing, or are blocked with `--fail-closed`.
    Missing,
    /// The agent reads the registration: a deny by the name of a tool denies.
    Registered,
    /// Hooks run once if they are registered twice.
    Twice,
    /// A session that continues in another process does not start again in it.
    Resume,
    /// A registration for all users of the machine denies, although the user disables hooks. It needs mounts, so it is not in the table.
    Managed,
}

impl Check {
    /// Returns every check of the table, in its order.
    pub fn all() -> Vec<Self> {
        let registered = [Self::Registered];
        let events = TABLE.iter().map(|row| Self::Fires(row.event));
        let calls = [
            Self::Deny,
            Self::ExitCode,
            Self::Parallel,
            Self::Outside,
            Self::Subagent,
            Self::Ask,
            Self::ByTool,
            Self::Mcp,
            Self::Skill,
            Self::BesideNotice,
            Self::AmongOthers,
            Self::Rewrite,
            Self::UserRule,
            Self::Confined,
            Self::OwnSandbox,
            Self::Changed,
            Self::Output,
        ];
        let with_context = TABLE.iter().filter(|row| row.event.may(Power::AddContext));
        let contexts = with_context.map(|row| Self::Context(row.event));
        let failures = HookFailure::ALL.map(Self::Fails);
        let others = [Self::Deadline, Self::Missing, Self::Twice, Self::Resume];
        let messages = [Self::Notice, Self::Prompt, Self::Continue];
        let events = registered.into_iter().chain(events);
        events.chain(calls).chain(contexts).chain(messages).chain(failures).chain(others).collect()
    }

    /// Returns the id in JSON, such as `fires.before_tool`.
    pub fn id(self) -> String {
        self.words().0
    }

    /// Returns the statement that it proves, for users.
    pub fn proves(self) -> String {
        self.words().1
    }

    /// Returns the id and the statement.
    fn words(self) -> (String, String) {
        let (id, statement) = match self {
            Self::Fires(event) => return (format!("fires.{event}"), format!("{event} fires")),
            Self::Context(event) => {
                let statement = format!("context of {event} reaches the model");
                return (format!("context.{event}"), statement);
            }
            Self::Fails(HookFailure::Hangs) => ("fails.hangs", "a hook that hangs fails as set"),
            Self::Fails(HookFailure::Crashes) => {
                ("fails.crashes", "a hook that crashes fails as set")
            }
            Self::Fails(HookFailure::Garbage) => {
                ("fails.garbage", "a hook that prints garbage fails as set")
            }
            Self::Deny => ("deny", breach::PROMISE),
            Self::ExitCode => ("deny.exit-code", "exit code 2 denies"),
            Self::Parallel => ("deny.parallel", "one of three parallel calls is denied"),
            Self::Outside => ("deny.outside", "denies outside of the project"),
            Self::Subagent => ("deny.subagent", "a subagent's calls are seen and denied"),
            Self::Ask => ("ask", "a call that a hook asks about waits"),
            Self::ByTool => ("deny.tool", "a guard by the name of a tool denies"),
            Self::Mcp => ("deny.mcp", "a tool of an MCP server is denied"),
            Self::Skill => ("deny.skill", "a command in a skill is denied"),
            Self::BesideNotice => ("deny.notice", "an answer beside a notice counts"),
            Self::AmongOthers => ("deny.others", "denies among hooks of other programs"),
            Self::Notice => ("notice", "a notice reaches the user"),
            Self::Rewrite => ("rewrite", "a call is rewritten"),
            Self::UserRule => ("rewrite.user-rule", "your own deny rule beside a rewrite holds"),
            Self::Confined => ("confined", "a confined call writes the project only"),
            Self::OwnSandbox => ("sandbox", "its own sandbox holds if it is on"),
            Self::Changed => ("changed", "a hook sees which file a command changed"),
            Self::Output => ("output", "an output is replaced"),
            Self::Prompt => ("prompt", "a message is rejected"),
            Self::Continue => ("continue", "the agent continues, once"),
            Self::Deadline => {
                ("deadline", "a hook that exceeds the time limit of the agent denies")
            }
            Self::Missing => ("missing", "a missing program does as stated"),
            Self::Registered => ("registered", "the registration is read"),
            Self::Twice => ("twice", "registered twice, hooks run once"),
            Self::Resume => ("resume", "a resumed session starts once"),
            Self::Managed => ("managed", "the managed registration cannot be disabled"),
        };
        (id.to_owned(), statement.to_owned())
    }

    /// Returns the promise of Tenter where `path` is the `PATH`.
    pub(crate) fn promise(self, (host, client): (&Host, &Client), path: &OsStr) -> Promise {
        let why = || plan::impossible(self.scenario(), (host, client), path);
        if let Some(limit) = client.limit(&self.id()).or_else(why) {
            return Promise::Nothing(limit.to_owned());
        }
        match self {
            Self::Fires(event) => fires(host, event),
            Self::Context(event) => power(host, event, Power::AddContext),
            Self::Deny
            | Self::ExitCode
            | Self::Parallel
            | Self::Outside
            | Self::Subagent
            | Self::ByTool
            | Self::Mcp
            | Self::Skill
            | Self::BesideNotice
            | Self::AmongOthers
            | Self::Fails(_)
            | Self::Managed
            | Self::Deadline => power(host, EventName::BeforeTool, Power::Block),
            Self::Ask => power(host, EventName::BeforeTool, Power::Ask),
            Self::Notice if host.shows_notices() => Promise::Native,
            Self::Notice => Promise::Nothing(format!("{} does not show notices", host.name)),
            Self::Rewrite if host.input_rewrite == InputRewrite::Demanded => Promise::Emulated(
                "denied, and the model is asked to make the changed call".to_owned(),
            ),
            Self::Rewrite => power(host, EventName::BeforeTool, Power::RewriteInput),
            Self::UserRule if host.user_rules.checks == Checks::Both => Promise::Native,
            Self::UserRule => {
                Promise::Emulated("Tenter compares the call with the rules".to_owned())
            }
            Self::Confined if confined::is_run(host) => {
                power(host, EventName::BeforeTool, Power::RewriteInput)
            }
            Self::Confined => Promise::Emulated(confined::EMULATED.to_owned()),
            Self::Changed => fires(host, EventName::AfterTool),
            Self::Output => power(host, EventName::AfterTool, Power::RewriteOutput),
            Self::Prompt => power(host, EventName::BeforeAgent, Power::Block),
            Self::Continue => power(host, EventName::BeforeStop, Power::Continue),
            Self::OwnSandbox | Self::Registered | Self::Missing | Self::Twice | Self::Resume => {
                Promise::Native
            }
        }
    }

    /// Returns the check with this id.
    pub fn find(id: &str) -> Option<Self> {
        Self::all().into_iter().find(|check| check.id() == id)
    }

    /// Returns the scenarios that show it.
    pub(crate) fn scenarios(self) -> Vec<Scenario> {
        match self {
            Self::Missing => vec![Scenario::Missing, Scenario::MissingClosed],
            // Every scenario may show them.
            Self::Fires(_) | Self::Context(_) => Scenario::ALL.into(),
            _ => vec![self.scenario()],
        }
    }

    /// Returns the scenario that is for it.
    pub(crate) fn scenario(self) -> Scenario {
        match self {
            Self::Fires(EventName::PreCompact | EventName::PostCompact)
            | Self::Context(EventName::PreCompact) => Scenario::Compaction,
            Self::Fires(EventName::SubagentStart | EventName::SubagentStop) | Self::Subagent => {
                Scenario::Subagent
            }
            Self::Context(EventName::BeforeStop) | Self::Resume => Scenario::Resume,
            Self::Ask | Self::ByTool | Self::BesideNotice | Self::Notice => Scenario::Decisions,
            Self::Mcp => Scenario::Mcp,
            Self::Skill => Scenario::Skill,
            Self::AmongOthers => Scenario::Others,
            Self::Fails(_) => Scenario::Failures,
            Self::Prompt => Scenario::Prompt,
            Self::UserRule => Scenario::UserRule,
            Self::Confined => Scenario::Confined,
            Self::OwnSandbox => Scenario::OwnSandbox,
            Self::Deadline => Scenario::Deadline,
            Self::Missing => Scenario::Missing,
            Self::Registered => Scenario::Registered,
            Self::Twice => Scenario::Twice,
            Self::Managed => Scenario::Managed,
            _ => Scenario::Tools,
        }
    }

    /// Returns the facts that show whether it holds; without any fact, it was not tried.
    pub(crate) fn facts(self, observed: &Observed, client: &Client) -> Vec<Fact> {
        match self {
            Self::Fires(event) => vec![fired(observed, event)],
            Self::Context(event) => vec![read_anywhere(observed, event)],
            Self::Missing => missing(observed),
            _ => observed
                .runs
                .get(&self.scenario())
                .map_or_else(Vec::new, |run| self.facts_of_run(run, client)),
        }
    }

    /// Returns the facts that its own scenario shows.
    fn facts_of_run(self, run: &Run, client: &Client) -> Vec<Fact> {
        let denial = |file: &str, hook: &str, reason: &str| {
            let why = if client.deny_ends_run { run.denied_by(hook) } else { run.read(reason) };
            vec![run.not_made(file), why]
        };
        let with_passed =
            |file: &str, denial: Vec<Fact>| [run.made(file)].into_iter().chain(denial).collect();
        match self {
            Self::Deny => denial(tools::DENIED, tools::DENY_HOOK, tools::DENY_REASON),
            Self::ExitCode => denial(tools::WRITTEN, tools::EXIT_HOOK, tools::EXIT_REASON),
            Self::Outside => denial(tools::OUTSIDE, tools::OUTSIDE_HOOK, tools::OUTSIDE_REASON),
            Self::Parallel => parallel(run, client),
            Self::Ask => denial(decisions::ASKED, decisions::ASK_HOOK, decisions::QUESTION),
            Self::ByTool => with_passed(
                decisions::PASSED,
                denial(decisions::WRITTEN, decisions::TOOL_HOOK, decisions::TOOL_REASON),
            ),
            Self::Mcp => with_passed(mcp::FILE, denial(mcp::DENIED, mcp::HOOK, mcp::REASON)),
            Self::Skill => with_passed(
                PASSED_SKILL.file,
                denial(GUARDED_SKILL.file, skill::HOOK, skill::REASON),
            ),
            Self::BesideNotice => {
                let fact = denial(decisions::DENIED, decisions::DENY_HOOK, decisions::REASON);
                fact.into_iter().chain(context_beside_notice(run, client)).collect()
            }
            Self::AmongOthers => {
                let fact = denial(single::DENIED, single::HOOK, single::REASON);
                fact.into_iter().chain(other_programs(run, client)).collect()
            }
            Self::Notice => vec![run.shown(decisions::NOTICE)],
            Self::Rewrite => vec![run.not_made(tools::ORIGINAL), run.made(tools::REWRITTEN)],
            Self::UserRule => user_rule::facts(run, client),
            Self::Confined => confined::facts(run, client),
            Self::OwnSandbox => own_sandbox::facts(run, client),
            Self::Changed => vec![run.changed(tools::TOUCHED)],
            Self::Output => vec![run.read(tools::REPLACED), run.not_read(tools::OUTPUT)],
            Self::Continue => continued(run, client),
            Self::Subagent => with_passed(
                subagent::FILE,
                denial(subagent::DENIED, subagent::HOOK, subagent::REASON),
            ),
            Self::Prompt => rejected(run),
            Self::Fails(failure) => failed(run, failure, client),
            Self::Deadline => denial(deadline::FILE, deadline::HOOK, deadline::HOOK),
            Self::Registered => {
                with_passed(single::FILE, denial(single::DENIED, single::HOOK, single::REASON))
            }
            Self::Managed => single::managed_facts(run, client),
            Self::Twice => single::twice_facts(run),
            Self::Resume => resume::facts(run),
            Self::Fires(_) | Self::Context(_) | Self::Missing => Vec::new(),
        }
    }
}

fn power(host: &Host, event: EventName, power: Power) -> Promise {
    match host.support(event, power) {
        Support::Native => Promise::Native,
        Support::Emulated(how) => Promise::Emulated(how.to_owned()),
        Support::Unsupported => {
            Promise::Nothing(format!("{} has no way to {} at {event}", host.name, power.as_str()))
        }
    }
}

fn fires(host: &Host, event: EventName) -> Promise {
    let fires = host.powers.iter().any(|row| row.event == event && !row.fired_by.is_empty());
    if fires {
        Promise::Native
    } else {
        Promise::Nothing(format!("no event of {} stands for it", host.name))
    }
}

/// States that hooks saw an event in any scenario.
fn fired(observed: &Observed, event: EventName) -> Fact {
    let payloads: Vec<&Value> =
        observed.runs.values().flat_map(|run| run.payloads(event)).collect();
    let mut native: Vec<&str> = payloads.iter().filter_map(|one| native_event(one)).collect();
    native.sort_unstable();
    native.dedup();
    let twice = observed.runs.values().find_map(Run::call_seen_twice);
    match (payloads.len(), twice.filter(|_| event == EventName::BeforeTool)) {
        (_, Some(call)) => Fact::new(false, format!("hooks saw one call twice: {call}")),
        (0, None) => Fact::new(false, format!("hooks saw no {event}")),
        (count, None) => {
            Fact::new(true, format!("hooks saw it {count} times, at {}", native.join(", ")))
        }
    }
}

/// States that the model read the context of an event in any scenario.
fn read_anywhere(observed: &Observed, event: EventName) -> Fact {
    let word = tools::context_word(event);
    let facts = observed.runs.values().map(|run| run.read(&word));
    let first = facts.into_iter().find(|fact| fact.holds);
    first.unwrap_or_else(|| Fact::new(false, format!("the model did not read {word}")))
}

fn parallel(run: &Run, client: &Client) -> Vec<Fact> {
    let [first, second, third] = tools::PARALLEL;
    if client.deny_ends_run {
        return vec![run.not_made(second), run.denied_by(tools::PARALLEL_HOOK)];
    }
    vec![run.made(first), run.not_made(second), run.made(third), run.read(tools::PARALLEL_REASON)]
}

/// States that the model read the context, where a result can have one.
fn context_beside_notice(run: &Run, client: &Client) -> Option<Fact> {
    let host = hosts::find(client.host)?;
    let support = host.support(EventName::AfterTool, Power::AddContext);
    (support == Support::Native).then(|| run.read(decisions::CONTEXT))
}

/// States that the hooks of the other program ran, and that the call which nothing denies ran.
fn other_programs(run: &Run, client: &Client) -> Vec<Fact> {
    let is_run = hosts::find(client.host).is_some_and(other_program::is_run);
    let places = [EntryPosition::Before, EntryPosition::After].into_iter().filter(|_| is_run);
    let files = places.map(EntryPosition::file).chain([single::FILE]);
    files.map(|file| run.made(file)).collect()
}

fn continued(run: &Run, client: &Client) -> Vec<Fact> {
    let first = run.processes.iter().take(1).flat_map(|process| &process.payloads);
    let stops = first.filter(|one| crate::observed::is_of(one, EventName::BeforeStop)).count();
    let is_over = stops > usize::from(client.shows_second_stop());
    vec![
        run.made(tools::CONTINUED),
        run.read(tools::CONTINUE),
        Fact::new(is_over, format!("hooks saw {stops} stops")),
    ]
}

fn rejected(run: &Run) -> Vec<Fact> {
    let requests = run.requests.iter().filter(|request| request.lane == "main").count();
    vec![
        run.denied_by(prompt::HOOK),
        Fact::new(requests == 0, format!("the model got {requests} requests")),
        run.not_made(prompt::FILE),
    ]
}

fn failed(run: &Run, failure: HookFailure, client: &Client) -> Vec<Fact> {
    let (guard, open) = (failure.hook(true), failure.hook(false));
    let says = if client.deny_ends_run { run.denied_by(&guard) } else { run.read(&guard) };
    let runs = run.journal.iter().any(|record| {
        matches!(&record.kind, tenter_engine::journal::RecordKind::Run(one) if one.hook == open)
    });
    vec![
        run.not_made(&failure.file(true)),
        says,
        run.made(&failure.file(false)),
        Fact::new(runs, format!("the hook {open} {}", if runs { "ran" } else { "did not run" })),
    ]
}

fn missing(observed: &Observed) -> Vec<Fact> {
    let passes = observed
        .runs
        .get(&Scenario::Missing)
        .into_iter()
        .flat_map(|run| [run.made(single::FILE), run.made(single::DENIED)]);
    let blocks = observed.runs.get(&Scenario::MissingClosed).into_iter().flat_map(|run| {
        let guard =
            |fact: Fact| Fact::new(fact.holds, format!("with --fail-closed, {}", fact.text));
        [guard(run.not_made(single::FILE)), guard(run.not_made(single::DENIED))]
    });
    passes.chain(blocks).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ids_are_unique() {
        let ids: BTreeSet<String> = Check::all().into_iter().map(Check::id).collect();
        assert_eq!(ids.len(), Check::all().len());
    }

    #[test]
    fn a_breach_in_daily_use_is_reported_in_the_same_words() {
        let breach = breach::Breach { at: String::new(), tool: "Bash".into(), session: "s".into() };
        let words = format!("{}: {}: ", crate::CheckVerdict::Broken.as_str(), Check::Deny.proves());
        assert!(breach.describe(tenter_bridge::hosts::ALL[0]).starts_with(&words));
    }

    #[test]
    fn limits_of_clients_name_checks() {
        let ids: BTreeSet<String> = Check::all().into_iter().map(Check::id).collect();
        for client in Client::ALL {
            for (id, _) in client.limits {
                assert!(ids.contains(*id), "{}: {id}", client.host);
            }
        }
    }
}
