//! The user's own rules in the real agent: the model calls the first example of each rule, and the rule must stop the call.
//!
//! An example may be a command that destroys files, so each call begins with `exit 0`: a shell that runs it does nothing. Rules read the
//! whole text.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tenter_engine::journal::{Record, RecordKind};
use tenter_engine::{DecisionKind, RunRecord};
use tenter_model_server::ModelReply;

use crate::client::Client;
use crate::observed::Run;

/// Maximum number of rules in one session of the agent.
pub(crate) const MAX_IN_SESSION: usize = 25;

/// A rule of one of the user's hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnRule {
    /// The name of the hook.
    pub hook: String,
    /// The name of the rule.
    pub rule: String,
    /// A command that it stops.
    pub example: String,
    /// The directory of the hook. Only its manifest is read: its rules decide without a program.
    pub directory: PathBuf,
}

/// The fate of the call of an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuleOutcome {
    /// The hook stopped it.
    Stopped,
    /// Hooks saw it, and the rule does not apply: it may except this user, or temporary directories.
    DoesNotApply,
    /// No hook saw it.
    NotSeen,
}

/// The result for one rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProvedRule {
    /// The name of the hook.
    pub hook: String,
    /// The name of the rule.
    pub rule: String,
    /// The command that the model called.
    pub example: String,
    /// The fate of the call.
    pub outcome: RuleOutcome,
    /// The observation.
    pub evidence: String,
}

impl OwnRule {
    /// Returns the command that the model calls: an example that does nothing if it runs.
    pub fn harmless(&self, number: usize) -> String {
        format!("exit 0; : {}; {}", mark(number), self.example)
    }

    /// Judges the rule by the runs of hooks. `problem` is the reason why the agent did not do what it was run for.
    pub(crate) fn judge(&self, number: usize, run: &Run, problem: Option<&str>) -> ProvedRule {
        let mark = mark(number);
        let calls = run.journal.iter().filter(|record| is_of_call(record, &mark));
        let stop = calls.filter_map(|record| run_of(record, &self.hook)).find(|run| stops(run));
        let is_seen = run.calls_seen(&mark) > 0;
        let (outcome, evidence) = match stop {
            Some(run) => {
                let words = || run.decision.as_str().to_owned();
                (RuleOutcome::Stopped, run.reason.clone().unwrap_or_else(words))
            }
            None if is_seen => {
                (RuleOutcome::DoesNotApply, "its example does not fit it here".to_owned())
            }
            None => {
                let why = problem.unwrap_or("no hook saw the call");
                (RuleOutcome::NotSeen, why.to_owned())
            }
        };
        ProvedRule {
            hook: self.hook.clone(),
            rule: self.rule.clone(),
            example: self.example.clone(),
            outcome,
            evidence,
        }
    }
}

/// Returns the hooks of the rules, each once.
pub(crate) fn hooks(rules: &[OwnRule]) -> BTreeMap<&str, &Path> {
    rules.iter().map(|rule| (rule.hook.as_str(), rule.directory.as_path())).collect()
}

/// Returns the replies of a model that calls the example of each rule, one after the other.
pub(crate) fn replies(rules: &[OwnRule], client: &Client) -> Vec<ModelReply> {
    let call = |(number, rule): (usize, &OwnRule)| {
        (client.shell)(ModelReply::new(), &rule.harmless(number))
    };
    let calls = rules.iter().enumerate().map(call);
    calls.chain([ModelReply::text("All finished.")]).collect()
}

/// Returns the word by which a call is recognized.
fn mark(number: usize) -> String {
    format!("proof-{number}-")
}

fn is_of_call(record: &Record, mark: &str) -> bool {
    let input = record.tool_input.as_ref();
    input.is_some_and(|input| input.values().any(|value| value.to_string().contains(mark)))
}

fn run_of<'r>(record: &'r Record, hook: &str) -> Option<&'r RunRecord> {
    match &record.kind {
        RecordKind::Run(run) if run.hook == hook => Some(run),
        _ => None,
    }
}

fn stops(run: &RunRecord) -> bool {
    matches!(run.decision, DecisionKind::Deny | DecisionKind::Ask)
}
