//! `tenter backtest`: what hooks would have done with past tool calls.

mod description;
pub(crate) mod exception;
mod past_calls;
mod print;
mod revision;
mod rules;
mod suggest;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use tenter_backtest::{
    HostCounts, HostPlaces, OWN_AGENT, ReadCounts, RecordedCall, Replay, Report, ReportBuilder,
    ScanOptions, VerdictDiff, VerdictDiffBuilder, readers, scan,
};
use tenter_engine::journal::Redactor;
use tenter_engine::layout::project_root;
use tenter_terminal::question::{confirm, read_at_terminal};
use tenter_terminal::{CommandResult, Env, Exit, Failure, now, ui};

use crate::project::Project;
use crate::since::Since;
use crate::{OwnAgent, user_only};
use rules::RuleSource;
use suggest::Suggestions;

pub(crate) use description::{decisions, describe};
pub(crate) use past_calls::past_calls;
pub(crate) use print::print_notes;

/// The age of the calls that are replayed by default.
const DEFAULT_SINCE: &str = "30d";
/// The number of calls that a new guard is tried on.
const MAX_OFFERED: u64 = 5000;
/// The number of commands of a rule that are shown by default.
const DEFAULT_LIMIT: usize = 5;

/// Show what your hooks would have done with past tool calls.
///
/// Reads the transcripts that your agents keep, and judges each call with the hooks that decide without a process: guards, rules and
/// static hooks. Nothing is executed and nothing is changed.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct Args {
    /// Judge with this guard instead of your hooks, installed or not.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["with", "hook"])]
    guard: Vec<String>,
    /// Judge with the hooks in this directory instead of yours.
    #[arg(long, value_name = "DIR")]
    with: Option<PathBuf>,
    /// Judge with this hook only, by its full name.
    #[arg(long, value_name = "HOOK")]
    hook: Vec<String>,
    /// Compare the verdicts of two sets of hooks: each a directory, `installed`, or a git revision.
    ///
    /// A revision may name its directory of hooks: main:.agents/hooks.
    #[arg(long, num_args = 2, value_names = ["OLD", "NEW"], conflicts_with_all = ["guard", "with", "hook"])]
    diff: Vec<String>,
    /// Exit with code 1 if a verdict differs.
    #[arg(long, requires = "diff")]
    fail_on_change: bool,
    /// Suggest exceptions to rules, permissions, and hooks to remove, from what you allowed.
    #[arg(long, conflicts_with_all = ["guard", "with", "hook", "diff"])]
    suggest: bool,
    /// Change Tenter's files as suggested.
    #[arg(long, requires = "suggest")]
    apply: bool,
    /// Read only the transcripts of these agents, separated by commas.
    #[arg(long, value_name = "AGENT", value_delimiter = ',', value_parser = host)]
    from: Vec<String>,
    /// Replay calls since a time, a date (UTC), or an age: 2h, 7d.
    #[arg(long, value_name = "WHEN", default_value = DEFAULT_SINCE, value_parser = Since::parse)]
    since: Since,
    /// Replay the calls of all projects.
    #[arg(long)]
    all: bool,
    /// Show at most N commands of each rule.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_LIMIT, value_parser = limit)]
    limit: usize,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Parses the maximum number of commands, and says what is wrong in words of our own.
fn limit(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("{text} is not a number"))
}

/// Reads the id of an agent whose transcripts can be read.
pub(crate) fn host(id: &str) -> Result<String, String> {
    let hosts = readers::ALL.iter().map(|reader| reader.host);
    let hosts: Vec<&str> = hosts.chain([OWN_AGENT]).collect();
    let is_known = hosts.contains(&id);
    is_known.then(|| id.to_owned()).ok_or_else(|| format!("the agents are {}", hosts.join(", ")))
}

/// The name of a guard and its `HOOK.md`.
pub type GuardText = (&'static str, String);

/// Returns the guards with these names.
pub type GuardTexts = dyn Fn(&[String]) -> Result<Vec<GuardText>, Failure>;

/// Runs the command.
pub fn run(
    env: &Env,
    project: Option<&Path>,
    args: &Args,
    guards: &GuardTexts,
    agent: &'static dyn OwnAgent,
) -> CommandResult {
    let project = Project::open(env, project)?;
    if let [old, new] = args.diff.as_slice() {
        let diff = compare(&project, [old, new], &args.selection(agent))?;
        if args.json {
            ui::json(&diff);
        } else {
            print::diff(&diff);
        }
        let is_failure = args.fail_on_change && diff.changed > 0;
        return Ok(if is_failure { Exit::Failed } else { Exit::Done });
    }
    if args.suggest {
        return suggest(&project, args, guards, agent);
    }
    let rules = RuleSource::new(&project, args, guards)?;
    check_names(&args.hook, &rules)?;
    let report = replay(&project, &rules, &args.selection(agent))?;
    if args.json {
        ui::json(&report);
    } else {
        print::report(&report, args.all);
        rules.note_missing();
    }
    Ok(Exit::Done)
}

/// Shows suggestions, and applies them if the arguments say so.
fn suggest(
    project: &Project,
    args: &Args,
    guards: &GuardTexts,
    agent: &'static dyn OwnAgent,
) -> CommandResult {
    if args.apply {
        user_only::check(project.env, project.root(), "backtest --suggest --apply")?;
    }
    let suggestions = Suggestions::find(project, &args.selection(agent), guards)?;
    if args.json {
        ui::json(&suggestions);
    } else {
        suggestions.print(project)?;
    }
    if args.apply {
        suggestions.apply(project)?;
    } else if !args.json {
        ui::note(
            "Nothing was changed. --apply changes Tenter's files; those of other agents are yours to change.",
        );
    }
    Ok(Exit::Done)
}

/// The calls that are replayed, and what is reported of them.
pub(crate) struct Selection<'s> {
    /// The agents; empty for all.
    pub(crate) hosts: &'s [String],
    /// Tenter's own agent, whose conversations are replayed, too.
    pub(crate) agent: &'static dyn OwnAgent,
    pub(crate) since: Since,
    /// True for the calls of all projects.
    pub(crate) is_everywhere: bool,
    /// The only hooks that judge; empty for all.
    pub(crate) hooks: &'s [String],
    /// Maximum number of commands of each rule in the report.
    pub(crate) limit: usize,
    /// Maximum number of calls, the newest transcripts first; `None` for all.
    pub(crate) max_calls: Option<u64>,
}

impl Args {
    fn selection(&self, agent: &'static dyn OwnAgent) -> Selection<'_> {
        Selection {
            hosts: &self.from,
            agent,
            since: self.since,
            is_everywhere: self.all,
            hooks: &self.hook,
            limit: self.limit,
            max_calls: None,
        }
    }
}

/// Replays the latest calls of all projects with guards that were just added, and offers to show what they would have stopped.
pub(crate) fn offer(project: &Project, agent: &'static dyn OwnAgent, guards: &[GuardText]) {
    let Ok(rules) = RuleSource::from_guards(project, guards) else { return };
    let Ok(since) = Since::parse(DEFAULT_SINCE) else { return };
    let selection = Selection {
        hosts: &[],
        agent,
        since,
        is_everywhere: true,
        hooks: &[],
        limit: DEFAULT_LIMIT,
        max_calls: Some(MAX_OFFERED),
    };
    let Ok(report) = replay(project, &rules, &selection) else { return };
    if report.calls == 0 {
        return;
    }
    let calls = print::format_count(report.calls, "call");
    let subject = if guards.len() == 1 { "This guard" } else { "These guards" };
    let count = print::number(report.stopped);
    let sentence = format!("{subject} would have stopped {count} of your last {calls}");
    let options: Vec<String> = guards.iter().map(|(name, _)| format!("--guard {name}")).collect();
    let options = options.join(" ");
    if report.stopped == 0 {
        ui::note(format!("{sentence}."));
    } else if confirm(&format!("{sentence}: show them?"), &mut read_at_terminal) {
        print::report(&report, true);
    } else {
        ui::note(format!("{sentence}: `tenter backtest --all {options}` shows them."));
    }
}

/// Replays the calls that `selection` selects.
fn replay(
    project: &Project,
    rules: &RuleSource<'_>,
    selection: &Selection<'_>,
) -> Result<Report, Failure> {
    let load = |root: &Path| rules.hooks(root);
    let only: BTreeSet<String> = selection.hooks.iter().cloned().collect();
    let mut replay = Replay::new(&project.env.home, &load).with_only(only);
    let mut report = ReportBuilder::new(Redactor::new(project.secrets()));
    let counts = for_each(project, selection, &mut |call| {
        let judgement = replay.judge(&call);
        report.add(&call, &judgement);
    })?;
    let undecided = replay.undecided().clone();
    Ok(report.finish(counts, undecided, selection.limit))
}

/// Compares the verdicts of two sets of hooks about the calls that `selection` selects.
fn compare(
    project: &Project,
    [old, new]: [&str; 2],
    selection: &Selection<'_>,
) -> Result<VerdictDiff, Failure> {
    let (old, new) = (RuleSource::parse(project, old)?, RuleSource::parse(project, new)?);
    let (load_old, load_new) = (|root: &Path| old.hooks(root), |root: &Path| new.hooks(root));
    let home = &project.env.home;
    let (mut before, mut after) = (Replay::new(home, &load_old), Replay::new(home, &load_new));
    let mut diff = VerdictDiffBuilder::new(Redactor::new(project.secrets()));
    let counts = for_each(project, selection, &mut |call| {
        diff.add(&call, &before.judge(&call), &after.judge(&call));
    })?;
    Ok(diff.finish(counts, selection.limit))
}

/// Passes the calls that `selection` selects to `sink`.
fn for_each(
    project: &Project,
    selection: &Selection<'_>,
    sink: &mut dyn FnMut(RecordedCall),
) -> Result<HostCounts, Failure> {
    let places = places(project.env);
    let since = selection.since.before(now());
    let options = ScanOptions {
        places: &places,
        hosts: selection.hosts,
        since: Some(since),
        max_calls: selection.max_calls,
    };
    let mut pass = |call: RecordedCall| {
        if selection.is_everywhere || is_in(project, call.cwd.as_deref()) {
            sink(call);
        }
    };
    let mut counts = scan(options, &mut pass);
    if selection.hosts.is_empty() || selection.hosts.iter().any(|host| host == OWN_AGENT) {
        let mut own = ReadCounts::default();
        selection.agent.past_calls(project.env, &mut |call| {
            if call.time.is_none_or(|time| time >= since) {
                own.calls += 1;
                pass(call);
            }
        })?;
        if own.calls > 0 {
            counts.insert(OWN_AGENT, own);
        }
    }
    Ok(counts)
}

/// Returns whether a call in this directory, which may be the path of a symlink, is a call in the project.
pub(crate) fn is_in(project: &Project, cwd: Option<&Path>) -> bool {
    let root = project.root();
    let is_inside = |cwd: &Path| {
        cwd == root || (cwd.starts_with(root) && project_root(cwd, &project.env.home) == root)
    };
    cwd.is_some_and(|cwd| {
        is_inside(cwd) || fs::canonicalize(cwd).is_ok_and(|real| real != cwd && is_inside(&real))
    })
}

/// Returns where the transcripts of this user are.
pub(crate) fn places(env: &Env) -> HostPlaces {
    HostPlaces { home: env.home.clone(), variables: env.vars.iter().cloned().collect() }
}

/// Fails if a hook that was asked for does not exist.
fn check_names(names: &[String], rules: &RuleSource<'_>) -> Result<(), Failure> {
    let hooks = rules.names();
    match names.iter().find(|name| !hooks.contains(*name)) {
        None => Ok(()),
        Some(name) => {
            let near = tenter_base::nearest(name, hooks.iter().map(String::as_str));
            let failure = Failure::usage(format!("no hook is named {name:?}"));
            Err(match near {
                Some(near) => failure.help(format!("did you mean {near}?")),
                None => failure.help("`tenter hooks list` lists them"),
            })
        }
    }
}
