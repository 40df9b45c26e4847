//! `tenter backtest`: what hooks would have done with past tool calls.

mod print;
mod rules;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tenter_backtest::{HostPlaces, Replay, Report, ReportBuilder, ScanOptions, readers, scan};
use tenter_engine::journal::Redactor;
use tenter_engine::layout::project_root;
use tenter_terminal::env::{self, Env};
use tenter_terminal::failure::{CommandResult, Exit, Failure};
use tenter_terminal::ui;

use crate::project::Project;
use crate::since::Since;
use rules::RuleSource;

/// The age of the calls that are replayed by default.
const DEFAULT_SINCE: &str = "30d";
/// The number of commands of a rule that are shown by default.
const DEFAULT_LIMIT: usize = 5;

/// Show what your hooks would have done with past tool calls.
///
/// Reads the transcripts that your agents keep, and judges each call with the hooks that decide without a process: guards, rules and
/// static hooks. Nothing is executed and nothing is changed.
#[derive(Debug, clap::Args)]
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
    #[arg(long, value_name = "N", default_value_t = DEFAULT_LIMIT)]
    limit: usize,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Reads the id of an agent whose transcripts can be read.
fn host(id: &str) -> Result<String, String> {
    let hosts: Vec<&str> = readers::ALL.iter().map(|reader| reader.host()).collect();
    let is_known = hosts.contains(&id);
    is_known.then(|| id.to_owned()).ok_or_else(|| format!("the agents are {}", hosts.join(", ")))
}

/// Runs the command.
pub fn run(env: &Env, project: Option<&Path>, args: &Args) -> CommandResult {
    let project = Project::open(env, project)?;
    let rules = RuleSource::new(&project, args)?;
    let report = replay(&project, &rules, &args.selection());
    if args.json {
        ui::out(serde_json::to_string_pretty(&report).unwrap_or_default());
    } else {
        print::report(&report, args.all);
    }
    check_names(&args.hook, &rules)?;
    Ok(Exit::Done)
}

/// The calls that are replayed, and what is reported of them.
pub(crate) struct Selection<'s> {
    /// The agents; empty for all.
    pub(crate) hosts: &'s [String],
    pub(crate) since: Since,
    /// True for the calls of all projects.
    pub(crate) is_everywhere: bool,
    /// The only hooks that judge; empty for all.
    pub(crate) hooks: &'s [String],
    /// Maximum number of commands of each rule in the report.
    pub(crate) limit: usize,
}

impl Args {
    fn selection(&self) -> Selection<'_> {
        Selection {
            hosts: &self.from,
            since: self.since,
            is_everywhere: self.all,
            hooks: &self.hook,
            limit: self.limit,
        }
    }
}

/// Replays the calls that `selection` selects.
fn replay(project: &Project, rules: &RuleSource<'_>, selection: &Selection<'_>) -> Report {
    let env = project.env;
    let places = places(env);
    let load = |root: &Path| rules.hooks(root);
    let only: BTreeSet<String> = selection.hooks.iter().cloned().collect();
    let mut replay = Replay::new(&env.home, &load).with_only(only);
    let mut report = ReportBuilder::new(Redactor::new(project.secrets()));
    let options = ScanOptions {
        places: &places,
        hosts: selection.hosts,
        since: Some(selection.since.before(env::now())),
    };
    let mut in_scope = InScope { project, is_everywhere: selection.is_everywhere };
    let counts = scan(options, &mut |call| {
        if in_scope.contains(call.cwd.as_deref()) {
            let judgement = replay.judge(&call);
            report.add(&call, &judgement);
        }
    });
    let undecided = replay.undecided().clone();
    report.finish(counts, undecided, selection.limit)
}

/// Returns where the transcripts of this user are.
fn places(env: &Env) -> HostPlaces {
    HostPlaces { home: env.home.clone(), variables: env.vars.iter().cloned().collect() }
}

/// Selects the calls of a project.
struct InScope<'p> {
    project: &'p Project<'p>,
    is_everywhere: bool,
}

impl InScope<'_> {
    /// Returns whether a call in this directory is replayed.
    fn contains(&mut self, cwd: Option<&Path>) -> bool {
        if self.is_everywhere {
            return true;
        }
        let root = self.project.root();
        cwd.is_some_and(|cwd| {
            cwd == root
                || (cwd.starts_with(root) && project_root(cwd, &self.project.env.home) == root)
        })
    }
}

/// Fails if a hook that was asked for does not exist.
fn check_names(names: &[String], rules: &RuleSource<'_>) -> Result<(), Failure> {
    let hooks = rules.names();
    match names.iter().find(|name| !hooks.contains(*name)) {
        None => Ok(()),
        Some(name) => {
            let near = tenter_base::nearest(name, hooks.iter().map(String::as_str));
            let failure = Failure::new(format!("no hook is named {name:?}"));
            Err(match near {
                Some(near) => failure.help(format!("did you mean {near}?")),
                None => failure.help("`tenter hooks list` lists them"),
            })
        }
    }
}
