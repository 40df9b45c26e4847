//! Rules about the commands and paths of a call (C6, C7): a pure function of the facts. Each condition holds, does not hold, or
//! depends on what is not known before the command runs; a rule is as strong as its weakest condition.

mod conditions;
mod explanation;
mod gate;
mod gate_groups;
mod lazy_rules;
mod path;
mod required_texts;
mod texts;
mod words;

use serde::{Deserialize, Serialize};
use tenter_protocol::confinement::Confinement;
use tenter_protocol::manifest::format::CheckExample;
use tenter_protocol::manifest::rule::{Rule, RuleVerdict};
use tenter_protocol::reply::VerdictKind;
use tenter_protocol::{Reply, Verdict};

use crate::facts::{CallFacts, CallSurroundings};
use crate::pattern::{Pattern, Truth};
use conditions::{CompiledConditions, Strength, Subject};
use lazy_rules::LazyRules;

pub use explanation::RuleExplanation;
pub(crate) use gate_groups::RuleGates;

/// Returns whether a path fits a pattern as in rules: `*` does not contain `/`, `**/` is any number of directories.
pub(crate) fn path_fits(pattern: &str, path: &str) -> bool {
    Pattern::parse_paths(pattern).matches(path)
}

/// The rules of a hook.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct HookRules {
    #[serde(deserialize_with = "RuleGates::owned")]
    gates: RuleGates<'static>,
    rules: LazyRules,
    /// True if the rules decide, so that the hook needs no code.
    decide: bool,
    /// True if they may fit commands that were not read: no rule applies to such calls.
    fit_unread: bool,
}

#[derive(Debug, Clone)]
struct CompiledRule {
    rule: Rule,
    conditions: CompiledConditions,
    except: Vec<CompiledConditions>,
    /// True if it may fit commands that were not read.
    fits_unread: bool,
}

/// A rule that a call fits, and the command that does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleFit {
    /// The rule's name, or its place in the list.
    #[serde(rename = "name")]
    pub rule: String,
    /// The text of the command, or the path of a tool.
    #[serde(rename = "command")]
    pub text: String,
    /// True if it is certain.
    #[serde(rename = "certain")]
    pub is_certain: bool,
}

/// The rule that a call fits, and its reply.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RuleMatch {
    pub(crate) fit: RuleFit,
    /// The reply of the hook, unless it has to run.
    pub(crate) reply: Option<Reply>,
}

impl HookRules {
    /// Creates the rules of a manifest; none if it has none.
    pub fn new(rules: &[Rule]) -> Option<Self> {
        (!rules.is_empty()).then(|| Self {
            gates: RuleGates::new(rules),
            rules: LazyRules::new(rules),
            decide: rules.iter().all(|rule| rule.decision.is_some()),
            fit_unread: rules.iter().all(|rule| rule.conditions.over_limit != Some(true)),
        })
    }

    /// Returns whether the rules decide, so that the hook needs no code.
    pub(crate) fn decide(&self) -> bool {
        self.decide
    }

    /// Returns whether each rule has its gate, as in everything that was written.
    pub(crate) fn is_whole(&self) -> bool {
        self.gates.count() == self.rules.count()
    }

    /// Returns the gates of the rules. A call that passes none of them fits no rule.
    pub(crate) fn gates(&self) -> &RuleGates<'static> {
        &self.gates
    }

    /// Returns true if a rule confines calls.
    pub fn confine(&self) -> bool {
        let confines = |rule: &CompiledRule| {
            rule.rule.decision.as_ref().is_some_and(|it| it.verdict == RuleVerdict::Confine)
        };
        (0..self.rules.count()).filter_map(|index| self.rule(index)).any(confines)
    }

    /// Selects the rule for a call: the first denial, else the first rule that a call certainly fits and that leaves the
    /// decision to the hook, else the first question, else the first confinement. All confinements that fit are in its reply. `None` if
    /// the call fits none.
    pub(crate) fn select(&self, call: &CallFacts) -> Option<RuleMatch> {
        self.select_among(&self.gates.open(call), call)
    }

    /// Selects among the rules in these places.
    fn select_among(&self, places: &[usize], call: &CallFacts) -> Option<RuleMatch> {
        let mut best: Option<(Rank, usize, Subject)> = None;
        let mut confinements = Vec::new();
        let rules = places.iter().filter_map(|index| Some((*index, self.rule(*index)?)));
        for (index, rule) in rules {
            let (strength, subject) = rule.best(call);
            let Some(rank) = rule.rank(strength) else { continue };
            if rank == Rank::Confine {
                confinements.push(rule.confinement());
            }
            if best.is_none_or(|(other, ..)| rank > other) {
                best = Some((rank, index, subject));
            }
            if rank == Rank::Deny {
                break;
            }
        }
        let (rank, index, subject) = best?;
        let mut matching = self.rule(index)?.found(index, rank, subject, call);
        if let Some(reply) = &mut matching.reply {
            reply.confinements = confinements;
        }
        Some(matching)
    }

    fn rule(&self, index: usize) -> Option<&CompiledRule> {
        self.rules.get(index, self.fit_unread)
    }

    /// Judges a shell command on no machine in particular, in a project at `/home/user/project`. `None` if
    /// the command fits none.
    pub fn judge_example(&self, command: &str) -> Option<RuleJudgement> {
        self.judge(&CallSurroundings::read_example(command))
    }

    /// Judges a call. Returns `None` if it fits no rule.
    pub fn judge(&self, call: &CallFacts) -> Option<RuleJudgement> {
        let RuleMatch { fit, reply } = self.select(call)?;
        let verdict = reply.and_then(|reply| reply.verdict);
        let reason = verdict.as_ref().and_then(|verdict| verdict.reason.clone());
        Some(RuleJudgement { fit, verdict: verdict.map(|verdict| verdict.kind), reason })
    }

    /// Returns whether a rule stops this call, certainly or perhaps.
    pub(crate) fn stops(&self, index: usize, call: &CallFacts) -> bool {
        let rule = self.rule(index);
        rule.is_some_and(|rule| rule.rank(rule.best(call).0).is_some())
    }
}

/// The judgement of rules about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleJudgement {
    /// The rule that fits.
    pub fit: RuleFit,
    /// The decision; `None` if it is left to the hook.
    pub verdict: Option<VerdictKind>,
    /// The reason of the decision.
    pub reason: Option<String>,
}

/// Compiles rules to check their examples.
pub fn check_examples(rules: &[Rule]) -> CheckExample<'_> {
    let hook = HookRules::new(rules);
    Box::new(move |index, command, is_stopped| {
        let hook = hook.as_ref()?;
        let call = CallSurroundings::read_example(command);
        let label =
            |index: usize| rules.get(index).map(|rule| rule.label(index)).unwrap_or_default();
        if is_stopped {
            let is_right = hook.stops(index, &call);
            return (!is_right).then(|| format!("{} does not stop this example", label(index)));
        }
        // A command that runs with fewer rights passes.
        let confines = |rule: &Rule| {
            rule.decision.as_ref().is_some_and(|decision| decision.verdict == RuleVerdict::Confine)
        };
        let mut others = (0..rules.len()).filter(|index| !confines(&rules[*index]));
        let stopping = others.find(|index| hook.stops(*index, &call))?;
        Some(format!("{} stops this example", label(stopping)))
    })
}

/// The effect of a rule, the strongest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Confine,
    Ask,
    Run,
    Deny,
}

impl From<RuleVerdict> for Rank {
    fn from(verdict: RuleVerdict) -> Self {
        match verdict {
            RuleVerdict::Ask => Self::Ask,
            RuleVerdict::Confine => Self::Confine,
            RuleVerdict::Deny => Self::Deny,
        }
    }
}

impl CompiledRule {
    fn new(rule: Rule, fits_unread: bool) -> Self {
        let conditions = CompiledConditions::new(&rule.conditions);
        let except = rule.except.iter().map(CompiledConditions::new);
        let except = except.map(|except| except.into_exception_to(&conditions)).collect();
        Self { rule, conditions, except, fits_unread }
    }

    /// Returns the effect of the rule on a call that fits this strongly; `None` if it does not fit.
    fn rank(&self, Strength { counts, truth }: Strength) -> Option<Rank> {
        match truth {
            Truth::No => None,
            Truth::Yes => {
                Some(self.rule.decision.as_ref().map_or(Rank::Run, |it| it.verdict.into()))
            }
            Truth::Perhaps => self.rule.uncertain.verdict().filter(|_| counts).map(Rank::from),
        }
    }

    /// Returns the confinement of a rule that confines.
    fn confinement(&self) -> Confinement {
        let decision = self.rule.decision.as_ref();
        decision.and_then(|decision| decision.confine.clone()).unwrap_or_default()
    }

    /// Returns the command and path that fit best, and how strongly they do.
    fn best(&self, call: &CallFacts) -> (Strength, Subject) {
        let mut best = (Strength { counts: false, truth: Truth::No }, Subject::default());
        for subject in self.subjects(call) {
            let strength = self.strength(call, subject);
            if strength > best.0 {
                best = (strength, subject);
            }
            if strength.truth == Truth::Yes {
                break;
            }
        }
        let is_certain = best.0.truth == Truth::Yes;
        if !is_certain && self.fits_unread && self.conditions.may_hold_for_unread(call) {
            best = (Strength { counts: true, truth: Truth::Perhaps }, best.1);
        }
        best
    }

    /// Returns how strongly one command and path fit. An exception counts only if it is certain: what may be harmless is not.
    /// An exception about words that the rule applies to covers only these words.
    fn strength(&self, call: &CallFacts, subject: Subject) -> Strength {
        let strength = self.conditions.strength(call, subject);
        if strength.truth == Truth::No || self.except.is_empty() {
            return strength;
        }
        let holds = |except: &&CompiledConditions| {
            let mut subjects = except.subjects_of(call, subject);
            subjects.any(|subject| except.strength(call, subject).truth == Truth::Yes)
        };
        let excepts: Vec<&CompiledConditions> = self.except.iter().filter(holds).collect();
        if excepts.is_empty() {
            return strength;
        }
        self.conditions.strength_beside(call, subject, &excepts)
    }

    /// Returns the subjects of the rule: each command with each of its paths, each path, or the call as a whole.
    fn subjects<'c>(&'c self, call: &'c CallFacts) -> Box<dyn Iterator<Item = Subject> + 'c> {
        let commands = || {
            let needs_program = gate::needs_program(&self.rule);
            self.conditions.commands(call, needs_program).into_iter().map(Some)
        };
        match (self.conditions.is_about_command, &self.conditions.path) {
            (true, None) => Box::new(commands().map(|command| Subject { command, path: None })),
            (true, Some(_)) => Box::new(commands().flat_map(|command| call.paths_of(command))),
            (false, Some(_)) => {
                let paths = &call.facts.call.paths;
                let depends_on_command = self.except.iter().any(|except| except.is_about_command);
                let places: Box<dyn Iterator<Item = usize>> = if depends_on_command {
                    Box::new(0..paths.len())
                } else {
                    Box::new(call.index().distinct_paths.iter().copied())
                };
                let subject =
                    |path: usize| Subject { command: paths[path].command, path: Some(path) };
                Box::new(places.map(subject))
            }
            (false, None) => Box::new(std::iter::once(Subject::default())),
        }
    }

    fn found(&self, index: usize, rank: Rank, subject: Subject, call: &CallFacts) -> RuleMatch {
        let truth = self.strength(call, subject).truth;
        let fit = RuleFit {
            rule: self.rule.label(index),
            text: call.text_of(subject),
            is_certain: truth == Truth::Yes,
        };
        let kind = match rank {
            Rank::Run => None,
            Rank::Confine => Some(VerdictKind::Confine),
            Rank::Ask => Some(VerdictKind::Ask),
            Rank::Deny => Some(VerdictKind::Deny),
        };
        let verdict = kind.map(|kind| Verdict::new(kind, Some(self.reason(&fit))));
        let reply = verdict.map(|verdict| Reply { verdict: Some(verdict), ..Reply::default() });
        RuleMatch { fit, reply }
    }

    /// Returns the reason for the model. If the rule fits only perhaps, it says how to make that certain.
    fn reason(&self, fit: &RuleFit) -> String {
        let reason = self.rule.decision.as_ref().map(|decision| decision.reason.clone());
        if fit.is_certain {
            return reason.unwrap_or_default();
        }
        if fit.text.is_empty() {
            let unread =
                "The command cannot be read to its end: split it, or pass its input with the call.";
            return reason.into_iter().chain([unread.to_owned()]).collect::<Vec<_>>().join(" ");
        }
        let unclear = format!(
            "It is not certain that this applies to `{}`: write out the program, options and paths instead of variables.",
            fit.text
        );
        reason.into_iter().chain([unclear]).collect::<Vec<_>>().join(" ")
    }
}

impl CompiledConditions {
    /// Returns the subjects of an exception to a rule about `subject`.
    fn subjects_of<'c>(
        &self,
        call: &'c CallFacts,
        subject: Subject,
    ) -> Box<dyn Iterator<Item = Subject> + 'c> {
        if self.path.is_some() && subject.path.is_none() {
            return Box::new(call.paths_of(subject.command));
        }
        Box::new(std::iter::once(subject))
    }
}

impl CallFacts {
    fn paths_of(&self, command: Option<usize>) -> impl Iterator<Item = Subject> {
        let index = self.index();
        let paths = match command {
            Some(command) => index.paths_of.get(command).map_or(&[][..], Vec::as_slice),
            None => &index.other_paths,
        };
        paths.iter().map(move |path| Subject { command, path: Some(*path) })
    }

    /// Returns the text of the command, or the path as given to a tool.
    fn text_of(&self, subject: Subject) -> String {
        let command = subject.command.and_then(|index| self.facts.call.commands.get(index));
        let path = subject.path.and_then(|index| self.facts.call.paths.get(index));
        match (command, path) {
            (Some(command), _) => command.text.clone(),
            (None, Some(path)) => path.given.clone(),
            (None, None) => String::new(),
        }
    }
}

#[cfg(test)]
mod tests;
