//! The past calls that `tenter inspect` shows.

use std::collections::{BTreeSet, VecDeque};
use std::path::Path;

use tenter_backtest::{Replay, ReportBuilder};
use tenter_engine::journal::Redactor;
use tenter_inspect::facts::PastCalls;
use tenter_terminal::Failure;

use super::rules::RuleSource;
use super::{DEFAULT_SINCE, Selection, decisions, describe, for_each};
use crate::OwnAgent;
use crate::project::Project;
use crate::since::Since;

/// Number of commands of each rule.
const MAX_COMMANDS: usize = 200;
/// Number of the newest calls.
const MAX_NEWEST: usize = 300;

/// Reads the calls of the last 30 days, of this project or of all, and replays them with the installed hooks.
///
/// # Errors
/// The journal or the agent's own store cannot be read.
pub(crate) fn past_calls(
    project: &Project,
    agent: &'static dyn OwnAgent,
    is_everywhere: bool,
) -> Result<PastCalls, Failure> {
    let selection = Selection {
        hosts: &[],
        agent,
        since: Since::parse(DEFAULT_SINCE).map_err(Failure::new)?,
        is_everywhere,
        hooks: &[],
        limit: MAX_COMMANDS,
        max_calls: None,
    };
    let rules = RuleSource::installed(project);
    let load = |root: &Path| rules.hooks(root);
    let decisions = decisions(project.env)?;
    let redactor = || Redactor::new(project.secrets());
    let (mask, mut report) = (redactor(), ReportBuilder::new(redactor()));
    let mut replay = Replay::new(&project.env.home, &load);
    let mut newest = VecDeque::new();
    let counts = for_each(project, &selection, &mut |call| {
        report.add(&call, &replay.judge(&call));
        let is_newer =
            newest.len() < MAX_NEWEST || newest.front().is_some_and(|(time, _)| *time < call.time);
        if is_newer {
            let place = newest.partition_point(|(time, _)| *time <= call.time);
            newest.insert(place, (call.time, describe(&call, &decisions, &mask)));
            if newest.len() > MAX_NEWEST {
                newest.pop_front();
            }
        }
    })?;
    let undecided: BTreeSet<String> = replay.undecided().clone();
    Ok(PastCalls {
        report: report.finish(counts, undecided, selection.limit),
        newest: newest.into_iter().rev().map(|(_, call)| call).collect(),
        error: None,
    })
}
