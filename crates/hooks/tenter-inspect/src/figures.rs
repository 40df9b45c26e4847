//! The figures of hooks: how often each ran, what it decided, how long it took. Pure: runs come in, figures come out.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tenter_base::format_count;
use tenter_engine::{DecisionKind, Timestamp};

/// Number of periods of [`HookFigures::over_time`].
const PERIODS: usize = 24;
/// Number of classes of [`HookFigures::spread`].
const CLASSES: usize = 18;

/// Maximum median duration of a hook at every call that is not reported.
const NOTICEABLE: Duration = Duration::from_millis(100);

/// One run of a hook.
#[derive(Debug, Clone, Copy)]
pub struct Run<'r> {
    /// When it started.
    pub at: Timestamp,
    /// The full name of the hook.
    pub hook: &'r str,
    /// The hash of its content.
    pub hash: &'r str,
    /// The rule of its `match` that the call fits; empty if none does.
    pub rule: &'r str,
    /// The duration.
    pub duration: Duration,
    /// The most important part of its decision.
    pub decision: DecisionKind,
    /// True if it would have stopped the event, but is in monitor mode.
    pub would_stop: bool,
    /// True if it reached its timeout.
    pub timed_out: bool,
    /// True if the agent waited for it.
    pub awaited: bool,
}

/// The answer to a question of a hook.
#[derive(Debug, Clone, Copy)]
pub struct QuestionAnswer<'r> {
    /// When it was given.
    pub at: Timestamp,
    /// The full name of the hook.
    pub hook: &'r str,
    /// The answer.
    pub answer: AnswerKind,
}

/// An answer to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerKind {
    /// The user allowed the call.
    Yes,
    /// The user refused it.
    No,
    /// There was no user to ask.
    Unattended,
}

/// A hook that can run at present.
#[derive(Debug, Clone, Default)]
pub struct KnownHook {
    /// The full name.
    pub name: String,
    /// The hash of its content; empty for the built-in hook.
    pub hash: String,
    /// The duration above which a run is reported as too slow.
    pub budget: Option<Duration>,
    /// True if it runs at every tool call, and the agent waits for it.
    pub is_at_every_call: bool,
}

/// The figures of all hooks.
#[derive(Debug, Clone, Default)]
pub struct Figures {
    /// Hooks that ran, those with the largest share of the time first.
    pub hooks: Vec<HookFigures>,
    /// Names of known hooks that never ran.
    pub never_ran: Vec<String>,
}

/// The figures of one hook.
#[derive(Debug, Clone)]
pub struct HookFigures {
    /// The full name.
    pub name: String,
    /// Number of runs.
    pub runs: usize,
    /// Number of runs that denied.
    pub denials: usize,
    /// The questions that it asked.
    pub questions: Questions,
    /// Number of runs in monitor mode that would have denied or asked.
    pub would_stop: usize,
    /// Number of runs that failed.
    pub failures: usize,
    /// Number of runs that reached their timeout.
    pub timeouts: usize,
    /// Its share of the time that all hooks took, from 0 to 1.
    pub share: f64,
    /// The duration of all runs together.
    pub total: Duration,
    /// The durations of single runs.
    pub durations: Durations,
    /// Its runs in equal periods, from the first run of any hook to the last.
    pub over_time: Vec<Period>,
    /// Number of runs by duration: each class has runs of at most twice the duration of the class before, the first has runs of at most
    /// one millisecond, the last all longer ones.
    pub spread: Vec<usize>,
    /// The hash of the newest run's content.
    pub hash: String,
    /// When it ran last.
    pub last: Timestamp,
    /// Its budget.
    pub budget: Option<Duration>,
    /// Set if the p95 of its present content exceeds its budget.
    pub over_budget: Option<OverBudget>,
    /// The median of its present content, if it noticeably slows down every tool call.
    pub slows_every_call: Option<Duration>,
}

/// The questions of a hook, and the answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Questions {
    /// Number of questions.
    pub count: usize,
    /// Number of questions that a user answered with yes.
    pub allowed: usize,
    /// Number of questions that a user answered with no.
    pub refused: usize,
}

impl HookFigures {
    /// Describes its failures, as a sentence without its full stop; `None` if it never failed.
    pub fn describe_failures(&self) -> Option<String> {
        (self.failures > 0).then(|| {
            format!("the hook {} failed in {} of {} runs", self.name, self.failures, self.runs)
        })
    }
}

impl Questions {
    /// Returns the number of questions without an answer: no user was there, or another agent asked and does not report the
    /// answer.
    pub fn unanswered(&self) -> usize {
        self.count.saturating_sub(self.allowed + self.refused)
    }

    /// Describes the answers, such as `3 yes, 1 no, 22 without an answer`.
    pub fn describe(&self) -> String {
        let answers =
            [(self.allowed, "yes"), (self.refused, "no"), (self.unanswered(), "without an answer")];
        let answers = answers.into_iter().filter(|(count, _)| *count > 0);
        answers.map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
    }
}

/// The runs of a hook in a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Period {
    /// Number of runs.
    pub runs: usize,
    /// Number of runs that denied or failed.
    pub notable: usize,
}

/// Returns the class of a duration in [`HookFigures::spread`].
pub fn class(duration: Duration) -> usize {
    let ms = duration.as_millis().max(1);
    let class = (ms - 1).checked_ilog2().map_or(0, |log| log as usize + 1);
    class.min(CLASSES - 1)
}

/// The durations of runs, as percentiles: the smallest duration that this percentage of the runs does not exceed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Durations {
    /// The median.
    pub p50: Duration,
    /// The duration that 95 % of the runs do not exceed.
    pub p95: Duration,
    /// The longest run.
    pub max: Duration,
}

/// A p95 that exceeds a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OverBudget {
    /// The duration that 95 % of the runs do not exceed.
    pub p95: Duration,
    /// The budget.
    pub budget: Duration,
    /// Number of runs.
    pub runs: usize,
}

impl OverBudget {
    /// Describes the problem of the hook `name`, as a sentence without its full stop.
    pub fn describe(&self, name: &str) -> String {
        let runs = format_count(self.runs, "run", "runs");
        format!(
            "the hook {name} exceeds its budget of {} ms: the p95 of its {runs} is {} ms",
            self.budget.as_millis(),
            self.p95.as_millis()
        )
    }
}

impl Durations {
    /// Creates the percentiles of durations in any order; zero if there are none.
    pub fn new(mut durations: Vec<Duration>) -> Self {
        durations.sort_unstable();
        let at = |percent: usize| {
            let rank = (durations.len() * percent).div_ceil(100);
            durations.get(rank.saturating_sub(1)).copied().unwrap_or_default()
        };
        Self { p50: at(50), p95: at(95), max: at(100) }
    }
}

/// The runs of one hook, while they are counted.
#[derive(Default)]
struct Tally<'r> {
    runs: Vec<Run<'r>>,
    total: Duration,
    allowed: usize,
    refused: usize,
}

/// Returns the figures of `runs` and of the `answers` to their questions, which may come in any order. Budgets apply to runs of
/// the present content of `known_hooks`.
pub fn compute<'r>(
    runs: impl IntoIterator<Item = Run<'r>>,
    answers: impl IntoIterator<Item = QuestionAnswer<'r>>,
    known_hooks: &[KnownHook],
) -> Figures {
    let mut tallies: BTreeMap<&str, Tally<'r>> = BTreeMap::new();
    for run in runs {
        let tally = tallies.entry(run.hook).or_default();
        tally.total += run.duration;
        tally.runs.push(run);
    }
    for answer in answers {
        // A hook whose questions were not counted has no answers either.
        let Some(tally) = tallies.get_mut(answer.hook) else { continue };
        tally.allowed += usize::from(answer.answer == AnswerKind::Yes);
        tally.refused += usize::from(answer.answer == AnswerKind::No);
    }
    let all: Duration = tallies.values().map(|tally| tally.total).sum();
    let find = |name: &str| known_hooks.iter().find(|hook| hook.name == name);
    let times =
        || tallies.values().flat_map(|tally| &tally.runs).map(|run| run.at.as_millisecond());
    let span = (times().min().unwrap_or_default(), times().max().unwrap_or_default());
    let figures = tallies.iter().map(|(name, tally)| HookFigures {
        over_time: tally.over_time(span),
        spread: tally.spread(),
        ..tally.figures(name, all, find(name))
    });
    let mut hooks: Vec<HookFigures> = figures.collect();
    hooks.sort_by_key(|hook| std::cmp::Reverse(hook.total));
    let never_ran: BTreeSet<&str> = known_hooks.iter().map(|hook| hook.name.as_str()).collect();
    let never_ran = never_ran.into_iter().filter(|name| !tallies.contains_key(name));
    Figures { never_ran: never_ran.map(str::to_owned).collect(), hooks }
}

/// The figures of one rule of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleFigures {
    /// The full name of the hook.
    pub hook: String,
    /// The name of the rule.
    pub rule: String,
    /// Number of calls that it denied.
    pub denials: usize,
    /// Number of calls that it asked about.
    pub questions: usize,
    /// The durations of the runs in which it was the rule that fits.
    pub durations: Durations,
    /// When it last fit.
    pub last: Timestamp,
}

/// Returns the figures of all rules that fit a call, those that stopped most calls first.
pub fn rules<'r>(runs: impl IntoIterator<Item = Run<'r>>) -> Vec<RuleFigures> {
    let mut by_rule: BTreeMap<(&str, &str), Vec<Run<'r>>> = BTreeMap::new();
    for run in runs.into_iter().filter(|run| !run.rule.is_empty()) {
        by_rule.entry((run.hook, run.rule)).or_default().push(run);
    }
    let figures = by_rule.into_iter().map(|((hook, rule), runs)| {
        let count =
            |decision| runs.iter().filter(|run: &&Run<'_>| run.decision == decision).count();
        RuleFigures {
            hook: hook.to_owned(),
            rule: rule.to_owned(),
            denials: count(DecisionKind::Deny),
            questions: count(DecisionKind::Ask),
            durations: Durations::new(runs.iter().map(|run| run.duration).collect()),
            last: runs.iter().map(|run| run.at).max().unwrap_or_default(),
        }
    });
    let mut figures: Vec<RuleFigures> = figures.collect();
    figures.sort_by_key(|rule| std::cmp::Reverse(rule.denials + rule.questions));
    figures
}

impl<'r> Tally<'r> {
    /// Returns the runs in equal periods of the time from `first` to `last`, in milliseconds.
    fn over_time(&self, (first, last): (i64, i64)) -> Vec<Period> {
        let mut periods = vec![Period::default(); PERIODS];
        let whole = u128::from(first.abs_diff(last)) + 1;
        for run in &self.runs {
            let milliseconds = u128::from(first.abs_diff(run.at.as_millisecond()));
            let at = usize::try_from(milliseconds * PERIODS as u128 / whole).unwrap_or_default();
            let period = &mut periods[at.min(PERIODS - 1)];
            period.runs += 1;
            let is_notable = matches!(run.decision, DecisionKind::Deny | DecisionKind::Failed);
            period.notable += usize::from(is_notable);
        }
        periods
    }

    fn spread(&self) -> Vec<usize> {
        let mut classes = vec![0; CLASSES];
        for run in &self.runs {
            classes[class(run.duration)] += 1;
        }
        classes
    }

    fn figures(&self, name: &str, all: Duration, hook: Option<&KnownHook>) -> HookFigures {
        let count = |is: fn(&Run<'r>) -> bool| self.runs.iter().filter(|run| is(run)).count();
        let newest = self.runs.iter().max_by_key(|run| run.at);
        let share = self.total.as_secs_f64() / all.as_secs_f64().max(f64::MIN_POSITIVE);
        let durations =
            |runs: &[&Run<'r>]| Durations::new(runs.iter().map(|run| run.duration).collect());
        let every: Vec<&Run<'r>> = self.runs.iter().collect();
        let present = hook.map(|hook| {
            let present: Vec<&Run<'r>> =
                self.runs.iter().filter(|run| run.hash == hook.hash).collect();
            (hook, durations(&present), present.len())
        });
        HookFigures {
            name: name.to_owned(),
            runs: self.runs.len(),
            denials: count(|run| run.decision == DecisionKind::Deny),
            questions: Questions {
                count: count(|run| run.decision == DecisionKind::Ask),
                allowed: self.allowed,
                refused: self.refused,
            },
            would_stop: count(|run| run.would_stop),
            failures: count(|run| run.decision == DecisionKind::Failed),
            timeouts: count(|run| run.timed_out),
            share,
            total: self.total,
            durations: durations(&every),
            hash: newest.map(|run| run.hash.to_owned()).unwrap_or_default(),
            last: newest.map(|run| run.at).unwrap_or_default(),
            over_time: Vec::new(),
            spread: Vec::new(),
            budget: present.and_then(|(hook, _, _)| hook.budget),
            over_budget: present.and_then(|(hook, took, runs)| {
                let budget = hook.budget.filter(|budget| took.p95 > *budget)?;
                Some(OverBudget { p95: took.p95, budget, runs })
            }),
            slows_every_call: present.and_then(|(hook, took, _)| {
                (hook.is_at_every_call && took.p50 >= NOTICEABLE).then_some(took.p50)
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(
        hook: &'static str,
        hash: &'static str,
        ms: u64,
        decision: DecisionKind,
    ) -> Run<'static> {
        Run {
            at: Timestamp::from_second(i64::try_from(ms).unwrap()).unwrap(),
            hook,
            hash,
            rule: "",
            duration: Duration::from_millis(ms),
            decision,
            would_stop: false,
            timed_out: false,
            awaited: true,
        }
    }

    fn known(name: &str, hash: &str, budget: Option<u64>, is_at_every_call: bool) -> KnownHook {
        let budget = budget.map(Duration::from_millis);
        KnownHook { name: name.to_owned(), hash: hash.to_owned(), budget, is_at_every_call }
    }

    #[test]
    fn percentiles_are_durations_that_occurred() {
        let of = |durations: &[u64]| {
            let took =
                Durations::new(durations.iter().copied().map(Duration::from_millis).collect());
            [took.p50, took.p95, took.max].map(|duration| duration.as_millis())
        };
        assert_eq!(of(&[]), [0, 0, 0]);
        assert_eq!(of(&[7]), [7, 7, 7]);
        assert_eq!(of(&[9, 1]), [1, 9, 9]);
        let hundred: Vec<u64> = (1..=100).rev().collect();
        assert_eq!(of(&hundred), [50, 95, 100]);
    }

    #[test]
    fn runs_are_counted_by_hook_and_the_slowest_come_first() {
        let runs = [
            run("quick", "1", 10, DecisionKind::Deny),
            run("slow", "2", 90, DecisionKind::Failed),
            run("quick", "1", 20, DecisionKind::None),
        ];
        let figures =
            compute(runs, [], &[known("idle", "3", None, true), known("slow", "2", None, true)]);
        assert_eq!(figures.never_ran, ["idle"]);
        let statistics: Vec<_> = figures
            .hooks
            .iter()
            .map(|hook| (hook.name.as_str(), hook.runs, hook.denials, hook.failures))
            .collect();
        assert_eq!(statistics, [("slow", 1, 0, 1), ("quick", 2, 1, 0)]);
        assert!((figures.hooks[0].share - 0.75).abs() < 1e-9);
        assert_eq!(figures.hooks[0].slows_every_call, None);
        let quick = &figures.hooks[1];
        let first = Period { runs: 1, notable: 1 };
        assert_eq!((quick.over_time.len(), quick.over_time[0]), (PERIODS, first));
        assert_eq!(figures.hooks[0].over_time[PERIODS - 1], first);
        assert_eq!(quick.spread.iter().sum::<usize>(), 2);
    }

    #[test]
    fn questions_are_counted_with_their_answers() {
        let answer = |hook, answer| QuestionAnswer { at: Timestamp::UNIX_EPOCH, hook, answer };
        let runs = (0..5).map(|ms| run("guard", "1", ms, DecisionKind::Ask));
        let answers = [
            answer("guard", AnswerKind::Yes),
            answer("guard", AnswerKind::No),
            answer("guard", AnswerKind::Unattended),
            answer("other", AnswerKind::Yes),
        ];
        let figures = compute(runs, answers, &[]);
        let questions = figures.hooks[0].questions;
        assert_eq!(questions, Questions { count: 5, allowed: 1, refused: 1 });
        assert_eq!(questions.describe(), "1 yes, 1 no, 3 without an answer");
    }

    #[test]
    fn the_rule_that_stops_most_calls_comes_first() {
        let fits = |rule, decision| Run { rule, ..run("guard", "1", 1, decision) };
        let figures = rules([
            fits("quiet", DecisionKind::Deny),
            fits("noisy", DecisionKind::Ask),
            fits("noisy", DecisionKind::Deny),
            fits("", DecisionKind::None),
        ]);
        let counts: Vec<_> =
            figures.iter().map(|it| (it.rule.as_str(), it.denials, it.questions)).collect();
        assert_eq!(counts, [("noisy", 1, 1), ("quiet", 1, 0)]);
    }

    #[test]
    fn durations_are_classed_by_powers_of_two() {
        let classes = |ms: &[u64]| -> Vec<usize> {
            ms.iter().map(|ms| class(Duration::from_millis(*ms))).collect()
        };
        assert_eq!(classes(&[0, 1, 2, 3, 4, 5, 8, 9, 1024]), [0, 0, 1, 2, 2, 3, 3, 4, 10]);
        assert_eq!(class(Duration::MAX), CLASSES - 1);
    }

    #[test]
    fn budgets_apply_to_the_present_content() {
        let runs = [
            run("fixed", "old", 900, DecisionKind::None),
            run("fixed", "new", 10, DecisionKind::None),
            run("slow", "a", 200, DecisionKind::None),
            run("slow", "a", 100, DecisionKind::None),
        ];
        let hooks = [known("fixed", "new", Some(50), true), known("slow", "a", Some(150), true)];
        let figures = compute(runs, [], &hooks);
        let over = |name: &str| {
            let hook = figures.hooks.iter().find(|hook| hook.name == name).unwrap();
            (hook.over_budget.map(|over| over.describe(name)), hook.slows_every_call)
        };
        assert_eq!(over("fixed"), (None, None));
        let message = "the hook slow exceeds its budget of 150 ms: the p95 of its 2 runs is 200 ms";
        assert_eq!(over("slow"), (Some(message.to_owned()), Some(Duration::from_millis(100))));
        assert!(compute([], [], &[]).hooks.is_empty());
    }
}
