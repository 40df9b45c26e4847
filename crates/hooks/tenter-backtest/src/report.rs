//! Counts what hooks would have stopped.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher as _};

use serde::Serialize;
use tenter_base::rfc3339;
use tenter_engine::DecisionKind;
use tenter_engine::journal::Redactor;

use crate::recorded::RecordedCall;
use crate::replay::{CallAnswer, Judgement, RuleStop};
use crate::scan::HostCounts;

/// Maximum number of distinct commands that are kept of one rule; more are counted.
const MAX_COMMANDS: usize = 1000;
/// Maximum number of projects that are named for one command.
const MAX_PROJECTS: usize = 50;

/// The report of what hooks would have done with past calls.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Report {
    /// Calls.
    pub calls: u64,
    /// Sessions of these calls.
    pub sessions: usize,
    /// Calls that a hook would have stopped.
    pub stopped: u64,
    /// Calls that no hook would have stopped.
    pub passed: u64,
    /// Calls of which that is not known.
    pub unknown: u64,
    /// Calls that did not run, because the user, a rule or a hook denied them.
    pub denied: u64,
    /// The rules that would have stopped calls, those with the most calls first.
    pub rules: Vec<RuleReport>,
    /// Hooks that need a process, so that they judged no call.
    pub undecided: Vec<String>,
    /// The counts of each agent.
    pub hosts: HostCounts,
}

/// The calls that one rule would have stopped.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RuleReport {
    /// The hook.
    pub hook: String,
    /// The rule, if the hook has rules.
    pub rule: Option<String>,
    /// The strongest decision.
    pub decision: DecisionKind,
    /// The reason for the model, of the last call.
    pub reason: String,
    /// Calls that it would have stopped.
    pub calls: u64,
    /// Sessions of these calls.
    pub sessions: usize,
    /// Distinct commands.
    pub distinct: usize,
    /// Calls that did not run in any case.
    pub denied: u64,
    /// Some of the commands, the newest first.
    pub commands: Vec<StoppedCommand>,
}

/// A command that a rule would have stopped.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct StoppedCommand {
    /// The command, or the tool and its path; masked.
    pub command: String,
    /// The part of it that the rule applies to; masked.
    pub part: String,
    /// The tool.
    pub tool: String,
    /// The agents that made such calls.
    pub hosts: BTreeSet<&'static str>,
    /// The projects of such calls.
    pub projects: BTreeSet<String>,
    /// The number of calls.
    pub calls: u64,
    /// Calls that did not run in any case.
    pub denied: u64,
    /// The time of the last call; empty if it is not known.
    pub time: String,
    /// The agent.
    pub host: &'static str,
    /// The project.
    pub project: String,
    /// The session of the last call.
    pub session: String,
    /// The id of the last call.
    pub call: String,
    /// The transcript of the last call.
    pub file: String,
    /// The line in it.
    pub line: u64,
}

/// Builds a report, one call after another.
pub struct ReportBuilder {
    redactor: Redactor,
    report: Report,
    sessions: HashSet<u64>,
    rules: BTreeMap<(String, Option<String>), RuleCounts>,
}

/// The counts of one rule.
#[derive(Default)]
pub(crate) struct RuleCounts {
    decision: DecisionKind,
    reason: String,
    calls: u64,
    denials: u64,
    sessions: HashSet<u64>,
    /// The hashes of all commands, and those that are kept.
    distinct: HashSet<u64>,
    commands: HashMap<u64, StoppedCommand>,
}

impl ReportBuilder {
    /// Creates an empty report, whose texts are masked by `redactor`.
    pub fn new(redactor: Redactor) -> Self {
        let (report, sessions, rules) = Default::default();
        Self { redactor, report, sessions, rules }
    }

    /// Adds a call and its judgement.
    pub fn add(&mut self, call: &RecordedCall, judgement: &Judgement) {
        let session = hash((call.host, &call.session));
        self.sessions.insert(session);
        self.report.calls += 1;
        self.report.denied += u64::from(call.was_denied());
        match judgement.answer {
            CallAnswer::Stopped => self.report.stopped += 1,
            CallAnswer::Passed => self.report.passed += 1,
            CallAnswer::Unknown => self.report.unknown += 1,
        }
        if judgement.answer == CallAnswer::Stopped {
            for stop in &judgement.stops {
                let counts = self.rules.entry((stop.hook.clone(), stop.rule.clone()));
                let counts = counts.or_insert_with(|| RuleCounts::new(stop.decision));
                counts.add(call, judgement, stop, &self.redactor);
            }
        }
    }

    /// Returns the report, with at most `limit` commands of each rule.
    pub fn finish(
        self,
        hosts: HostCounts,
        undecided: impl IntoIterator<Item = String>,
        limit: usize,
    ) -> Report {
        let rules = self.rules.into_iter();
        let mut rules: Vec<RuleReport> =
            rules.map(|((hook, rule), counts)| counts.report(hook, rule, limit)).collect();
        rules.sort_by_key(|rule| std::cmp::Reverse(rule.calls));
        Report {
            sessions: self.sessions.len(),
            rules,
            undecided: undecided.into_iter().collect(),
            hosts,
            ..self.report
        }
    }
}

impl RuleCounts {
    pub(crate) fn new(decision: DecisionKind) -> Self {
        Self { decision, ..Self::default() }
    }

    /// Adds a call that the rule would have stopped.
    pub(crate) fn add(
        &mut self,
        call: &RecordedCall,
        judgement: &Judgement,
        stop: &RuleStop,
        redactor: &Redactor,
    ) {
        self.calls += 1;
        self.denials += u64::from(call.was_denied());
        self.sessions.insert(hash((call.host, &call.session)));
        self.decision = self.decision.max(stop.decision);
        self.reason = redactor.text(&stop.reason);
        let text = call.text();
        let key = hash(&text);
        self.distinct.insert(key);
        if self.commands.len() < MAX_COMMANDS || self.commands.contains_key(&key) {
            let command = self.commands.entry(key);
            let command =
                command.or_insert_with(|| StoppedCommand::new(redactor.text(&text), call.host));
            command.part = redactor.text(&stop.part);
            command.add(call, judgement, redactor);
        }
    }

    /// Returns the report of the rule, with at most `limit` commands.
    pub(crate) fn report(self, hook: String, rule: Option<String>, limit: usize) -> RuleReport {
        let mut commands: Vec<StoppedCommand> = self.commands.into_values().collect();
        commands
            .sort_by(|one, other| (&other.time, &one.command).cmp(&(&one.time, &other.command)));
        commands.truncate(limit);
        RuleReport {
            hook,
            rule,
            decision: self.decision,
            reason: self.reason,
            calls: self.calls,
            sessions: self.sessions.len(),
            distinct: self.distinct.len(),
            denied: self.denials,
            commands,
        }
    }
}

impl StoppedCommand {
    fn new(command: String, host: &'static str) -> Self {
        Self { command, host, ..Self::default() }
    }

    fn add(&mut self, call: &RecordedCall, judgement: &Judgement, redactor: &Redactor) {
        self.calls += 1;
        self.denied += u64::from(call.was_denied());
        let project = redactor.text(&judgement.project.to_string_lossy());
        self.hosts.insert(call.host);
        if self.projects.len() < MAX_PROJECTS {
            self.projects.insert(project.clone());
        }
        let time = call.time.map(rfc3339).unwrap_or_default();
        if time < self.time {
            return;
        }
        self.time = time;
        self.host = call.host;
        self.project = project;
        self.tool = call.tool_call().name;
        self.session = redactor.text(&call.session);
        self.call = redactor.text(call.native.id.as_deref().unwrap_or_default());
        self.file = redactor.text(&call.file.to_string_lossy());
        self.line = call.line;
    }
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
