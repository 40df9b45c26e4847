//! The conditions of a rule, on one command and one of its paths.

use tenter_base::AgentState;
use tenter_protocol::manifest::rule::{CodeCondition, Conditions, FlowCondition, SqlCondition};
use tenter_shell::{Class, Command, FlowSource, Location, SqlStatement};

use super::path::PathRule;
use super::words::{Flags, OperandCondition, Variables};
use crate::facts::CallFacts;
use crate::pattern::{Pattern, Text, Truth};

/// Maximum number of commands of a call that needs no index.
const MAX_COMMANDS_WITHOUT_INDEX: usize = 16;

/// The command and the path that conditions apply to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Subject {
    /// An index into the commands.
    pub(super) command: Option<usize>,
    /// An index into the paths.
    pub(super) path: Option<usize>,
}

/// Compiled conditions.
#[derive(Debug, Clone)]
pub(super) struct CompiledConditions {
    program: Vec<Pattern>,
    subcommand: Vec<Pattern>,
    operands: Option<OperandCondition>,
    flags: Option<Flags>,
    env: Option<Variables>,
    pub(super) path: Option<PathRule>,
    flow: Option<FlowCondition>,
    code: Option<CodeCondition>,
    sql: Option<SqlRule>,
    via: Vec<Pattern>,
    location: Vec<Location>,
    forkbomb: Option<bool>,
    unparsed: Option<bool>,
    agent: Vec<AgentState>,
    over_limit: Option<bool>,
    /// True if one of them applies to a command.
    pub(super) is_about_command: bool,
    /// Those of [`CHECKS`] that are set.
    checks: Vec<&'static Check>,
}

/// The strength of a conjunction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Strength {
    /// True if a perhaps counts: enough else is certain (C7).
    pub(super) counts: bool,
    pub(super) truth: Truth,
}

/// One condition: its name in manifests, and whether it holds.
pub(super) type ConditionTruth = (&'static str, Truth);

/// A kind of condition.
#[derive(Debug)]
struct Check {
    /// The condition's name in manifests.
    name: &'static str,
    is_set: fn(&CompiledConditions) -> bool,
    /// Checks whether it holds, if it is set.
    holds: fn(&CompiledConditions, &CallFacts, Subject) -> Truth,
}

/// The conditions, those first that cost least.
static CHECKS: [Check; 15] = [
    Check {
        name: "program",
        is_set: |it| !it.program.is_empty(),
        holds: |it, call, at| {
            check_command(call, at, |command| {
                let is_certain = command.is_program_certain();
                one_of(&it.program, Text { is_certain, ..Text::known(&command.program) })
            })
        },
    },
    Check {
        name: "subcommand",
        is_set: |it| !it.subcommand.is_empty(),
        holds: |it, call, at| {
            check_command(call, at, |command| subcommand(&it.subcommand, command))
        },
    },
    Check {
        name: "where",
        is_set: |it| !it.location.is_empty(),
        holds: |it, call, at| {
            check_command(call, at, |command| it.location.contains(&command.location).into())
        },
    },
    Check {
        name: "via",
        is_set: |it| !it.via.is_empty(),
        holds: |it, call, at| {
            let fits = |word: &String| one_of(&it.via, Text::known(word));
            check_command(call, at, |command| Truth::any(command.via.iter().map(fits)))
        },
    },
    Check {
        name: "forkbomb",
        is_set: |it| it.forkbomb.is_some(),
        holds: |it, call, _| (it.forkbomb == Some(call.facts.call.forkbomb)).into(),
    },
    Check {
        name: "unparsed",
        is_set: |it| it.unparsed.is_some(),
        holds: |it, call, _| (it.unparsed == Some(call.facts.call.unparsed)).into(),
    },
    Check {
        name: "agent",
        is_set: |it| !it.agent.is_empty(),
        holds: |it, call, _| it.agent.iter().any(|state| call.agent.contains(state)).into(),
    },
    Check {
        name: "over_limit",
        is_set: |it| it.over_limit.is_some(),
        holds: |it, call, _| (it.over_limit == Some(call.facts.call.over_limit)).into(),
    },
    Check {
        name: "sql",
        is_set: |it| it.sql.is_some(),
        holds: |it, call, at| it.sql.as_ref().map_or(Truth::No, |sql| sql.fit(call, at)),
    },
    Check {
        name: "flags",
        is_set: |it| it.flags.is_some(),
        holds: |it, call, at| {
            check_command(call, at, |command| {
                it.flags.as_ref().map_or(Truth::No, |flags| flags.fit(command, &[]))
            })
        },
    },
    Check {
        name: "operands",
        is_set: |it| it.operands.is_some(),
        holds: |it, call, at| {
            check_command(call, at, |command| {
                it.operands.as_ref().map_or(Truth::No, |operands| operands.fit(command, &[]))
            })
        },
    },
    Check {
        name: "env",
        is_set: |it| it.env.is_some(),
        holds: |it, call, at| {
            check_command(call, at, |command| {
                it.env.as_ref().map_or(Truth::No, |env| env.fit(command, &[]))
            })
        },
    },
    Check {
        name: "code",
        is_set: |it| it.code.is_some(),
        holds: |it, call, at| it.code.as_ref().map_or(Truth::No, |it| code(it, call, at)),
    },
    Check {
        name: "flow",
        is_set: |it| it.flow.is_some(),
        holds: |it, call, at| it.flow.as_ref().map_or(Truth::No, |it| flow(it, call, at)),
    },
    Check {
        name: "path",
        is_set: |it| it.path.is_some(),
        holds: |it, call, at| {
            let fit = it.path.as_ref().zip(at.path).map(|(path, index)| path.fit(call, index));
            fit.map_or(Truth::No, |fit| fit.truth)
        },
    },
];

/// Checks a condition on the command.
fn check_command(call: &CallFacts, at: Subject, fits: impl FnOnce(&Command) -> Truth) -> Truth {
    at.command.and_then(|command| call.facts.call.commands.get(command)).map_or(Truth::No, fits)
}

impl CompiledConditions {
    /// Makes an exception to a rule of these conditions.
    pub(super) fn into_exception_to(mut self, rule: &Self) -> Self {
        if let (Some(own), Some(rule)) = (&mut self.sql, &rule.sql) {
            own.exempted = Some(Box::new(rule.clone()));
        }
        self.flags = self.flags.map(Flags::into_exception);
        self.operands = self.operands.map(OperandCondition::into_exception);
        self
    }

    pub(super) fn new(conditions: &Conditions) -> Self {
        let patterns =
            |texts: &[String]| texts.iter().map(|text| Pattern::parse_words(text)).collect();
        let condition = Self {
            program: patterns(&conditions.program),
            subcommand: patterns(&conditions.subcommand),
            operands: conditions.operands.as_ref().map(OperandCondition::new),
            flags: conditions.flags.as_ref().map(Flags::new),
            env: Some(&conditions.env).filter(|env| !env.is_empty()).map(|env| Variables::new(env)),
            path: conditions.path.as_ref().map(PathRule::new),
            flow: conditions.flow.clone(),
            code: conditions.code.clone(),
            sql: conditions.sql.as_ref().map(SqlRule::new),
            via: patterns(&conditions.via),
            location: conditions.location.clone(),
            forkbomb: conditions.forkbomb,
            unparsed: conditions.unparsed,
            agent: conditions.agent.clone(),
            over_limit: conditions.over_limit,
            is_about_command: conditions.is_about_command(),
            checks: Vec::new(),
        };
        let checks = CHECKS.iter().filter(|check| (check.is_set)(&condition)).collect();
        Self { checks, ..condition }
    }

    /// Returns the commands whose programs fit, and unless `needs_program`, those whose programs are not known.
    pub(super) fn commands(&self, call: &CallFacts, needs_program: bool) -> Vec<usize> {
        let count = call.facts.call.commands.len();
        if count <= MAX_COMMANDS_WITHOUT_INDEX {
            return (0..count).collect();
        }
        let index = call.index();
        if self.program.is_empty() {
            return index.distinct().to_vec();
        }
        let mut commands =
            if needs_program { Vec::new() } else { index.unknown_programs().to_vec() };
        for pattern in &self.program {
            if let Some(name) = pattern.literal() {
                commands.extend(index.commands_of(name));
            } else {
                let programs = index.programs_from(pattern.prefix());
                let programs = programs.filter(|(name, _)| pattern.matches(name));
                commands.extend(programs.flat_map(|(_, places)| places));
            }
        }
        commands.sort_unstable();
        commands.dedup();
        commands
    }

    /// Returns whether they may hold for a command of a call that was not read to its end.
    pub(super) fn may_hold_for_unread(&self, call: &CallFacts) -> bool {
        const OF_CALL: [&str; 4] = ["forkbomb", "unparsed", "agent", "over_limit"];
        let is_about_parts = self.is_about_command || self.path.is_some();
        let mut call_checks = self.checks.iter().filter(|check| OF_CALL.contains(&check.name));
        is_about_parts
            && call.facts.call.over_limit
            && call_checks.all(|check| (check.holds)(self, call, Subject::default()) != Truth::No)
    }

    /// Returns how strongly all of them hold.
    pub(super) fn strength(&self, call: &CallFacts, at: Subject) -> Strength {
        self.strength_of(call, at, |check| (check.holds)(self, call, at))
    }

    /// Returns how strongly all of them hold for the words that none of the exceptions covers.
    pub(super) fn strength_beside(
        &self,
        call: &CallFacts,
        at: Subject,
        excepts: &[&Self],
    ) -> Strength {
        let Some(command) = at.command.and_then(|at| call.facts.call.commands.get(at)) else {
            return Strength { truth: Truth::No, counts: false };
        };
        if excepts.iter().any(|except| !self.is_by_word(except, command)) {
            return Strength { truth: Truth::No, counts: false };
        }
        self.strength_of(call, at, |check| {
            match (check.name, &self.flags, &self.operands, &self.env) {
                ("flags", Some(flags), ..) => {
                    flags.fit(command, &those(excepts, |it| it.flags.as_ref()))
                }
                ("operands", _, Some(operands), _) => {
                    operands.fit(command, &those(excepts, |it| it.operands.as_ref()))
                }
                ("env", .., Some(env)) => env.fit(command, &those(excepts, |it| it.env.as_ref())),
                _ => (check.holds)(self, call, at),
            }
        })
    }

    /// Checks whether an exception that a command fits covers only words of it, not the command.
    fn is_by_word(&self, except: &Self, command: &Command) -> bool {
        let flags = self.flags.as_ref().zip(except.flags.as_ref());
        let operands = self.operands.as_ref().zip(except.operands.as_ref());
        let variables = self.env.as_ref().zip(except.env.as_ref());
        flags.is_some_and(|(own, except)| own.is_by_word(except, command))
            || operands.is_some_and(|(own, except)| own.is_by_word(except, command))
            || variables.is_some_and(|(own, except)| own.is_by_word(except, command))
    }

    /// Returns how strongly all of them hold, given whether each does. Stops at the first that does not.
    fn strength_of(
        &self,
        call: &CallFacts,
        at: Subject,
        holds: impl Fn(&Check) -> Truth,
    ) -> Strength {
        let mut truth = Truth::Yes;
        let (mut is_program_certain, mut has_certain, mut has_deed) = (true, false, false);
        for check in &self.checks {
            let part = holds(check);
            truth = truth.and(part);
            match (part, check.name) {
                (Truth::No, _) => return Strength { truth, counts: false },
                (Truth::Perhaps, "program") => is_program_certain = false,
                (Truth::Perhaps, "path") => has_deed |= self.is_path_as_written(call, at),
                (Truth::Perhaps, _) => {}
                (Truth::Yes, name) => {
                    has_certain = true;
                    has_deed |= matches!(name, "flags" | "path");
                }
            }
        }
        let counts = truth == Truth::Yes || has_deed || (has_certain && is_program_certain);
        Strength { counts, truth }
    }

    fn is_path_as_written(&self, call: &CallFacts, at: Subject) -> bool {
        let fit = self.path.as_ref().zip(at.path).map(|(path, index)| path.fit(call, index));
        fit.is_some_and(|fit| fit.is_as_written)
    }

    /// Returns whether each of them holds.
    pub(super) fn parts(&self, call: &CallFacts, at: Subject) -> Vec<ConditionTruth> {
        self.checks.iter().map(|check| (check.name, (check.holds)(self, call, at))).collect()
    }
}

/// Returns a condition of each exception that has it.
fn those<'a, C>(
    excepts: &[&'a CompiledConditions],
    condition: impl Fn(&'a CompiledConditions) -> Option<&'a C>,
) -> Vec<&'a C> {
    excepts.iter().filter_map(|except| condition(except)).collect()
}

fn one_of(patterns: &[Pattern], text: Text<'_>) -> Truth {
    Truth::any(patterns.iter().map(|pattern| pattern.fits(text)))
}

/// Tests the subcommand, which is known unless its argument is not.
fn subcommand(patterns: &[Pattern], command: &Command) -> Truth {
    let Some(subcommand) = &command.subcommand else { return Truth::No };
    let arg = command.args.iter().position(|arg| arg == subcommand);
    let is_certain = arg.is_none_or(|arg| command.is_arg_certain(arg));
    one_of(patterns, Text { is_certain, ..Text::known(subcommand) })
}

/// A condition on a statement of SQL.
#[derive(Debug, Clone)]
struct SqlRule {
    statement: Vec<Pattern>,
    has_where: Option<bool>,
    /// For an exception, the condition of its rule: all statements that fit that must fit the exception.
    exempted: Option<Box<Self>>,
}

impl SqlRule {
    fn new(condition: &SqlCondition) -> Self {
        let statement = condition.statement.iter().map(|text| Pattern::parse_words(text)).collect();
        Self { statement, has_where: condition.has_where, exempted: None }
    }

    /// Checks whether a statement of the command fits. What is not known of it counts as text.
    fn fit(&self, call: &CallFacts, at: Subject) -> Truth {
        let all = &call.facts.call.sql;
        if all.is_empty() {
            return Truth::No;
        }
        let own = at.command.and_then(|command| call.index().sql_of.get(command));
        let mut own = own.into_iter().flatten().filter_map(|place| all.get(*place));
        let holds = match &self.exempted {
            Some(rule) => own.filter(|sql| rule.fits(sql)).all(|sql| self.fits(sql)),
            None => own.any(|sql| self.fits(sql)),
        };
        holds.into()
    }

    fn fits(&self, sql: &SqlStatement) -> bool {
        let is_kind = self.statement.is_empty()
            || self.statement.iter().any(|pattern| pattern.matches(&sql.statement));
        is_kind && self.has_where.is_none_or(|has_where| has_where == sql.has_where)
    }
}

fn code(condition: &CodeCondition, call: &CallFacts, at: Subject) -> Truth {
    let CodeCondition { language, dynamic, text } = condition;
    let fits = |code: &tenter_shell::Code| {
        (language.is_empty() || language.contains(&code.language))
            && dynamic.is_none_or(|dynamic| dynamic == code.dynamic)
            && (text.is_empty() || text.iter().any(|part| code.text.contains(part)))
    };
    let all = &call.facts.call.code;
    if all.is_empty() {
        return Truth::No;
    }
    let own = at.command.and_then(|command| call.index().code_of.get(command));
    own.is_some_and(|own| own.iter().filter_map(|place| all.get(*place)).any(fits)).into()
}

fn flow(condition: &FlowCondition, call: &CallFacts, at: Subject) -> Truth {
    let FlowCondition { from, into, role } = condition;
    let commands = &call.facts.call.commands;
    let Some((index, receiver)) = at.command.and_then(|at| Some((at, commands.get(at)?))) else {
        return Truth::No;
    };
    if !into.is_empty() && !into.iter().any(|class| receiver.classes.contains(class)) {
        return Truth::No;
    }
    let is_source = |source: FlowSource| match source {
        FlowSource::Network => from.contains(&Class::Network) || from.contains(&Class::Download),
        FlowSource::Command(sender) => commands
            .get(sender)
            .is_some_and(|sender| from.iter().any(|class| sender.classes.contains(class))),
    };
    let fits_role = |as_role| role.is_empty() || role.contains(&as_role);
    let mut sources = call.sources_of(index).into_iter();
    sources.any(|(source, as_role)| fits_role(as_role) && is_source(source)).into()
}
