//! The conditions of a rule, on one command and one of its paths.

use tenter_base::AgentState;
use tenter_protocol::manifest::rule::{CodeCondition, Conditions, FlowCondition, SqlCondition};
use tenter_shell::{Class, Command, FlowSource, Location, SqlStatement};

use super::path::PathRule;
use super::words::{Flags, OperandCondition, Variables};
use crate::facts::CallFacts;
use crate::pattern::Truth;
use crate::pattern::{Pattern, Text};

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
    /// Returns whether one of them applies to a command.
    pub(super) is_about_command: bool,
}

/// The strength of a conjunction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Strength {
    /// True if a perhaps counts: enough else is certain (C7).
    pub(super) counts: bool,
    pub(super) truth: Truth,
}

/// One condition: its name in manifests, and whether it holds.
pub(super) type Part = (&'static str, Truth);

type Check = fn(&CompiledConditions, &CallFacts, Subject) -> Option<Truth>;

/// The conditions, those first that cost least.
const CHECKS: [(&str, Check); 15] = [
    ("program", |it, call, at| {
        command_checks(!it.program.is_empty(), call, at, |command| {
            let is_certain = command.is_program_certain();
            one_of(&it.program, Text { is_certain, ..Text::known(&command.program) })
        })
    }),
    ("subcommand", |it, call, at| {
        let fits = |command: &Command| subcommand(&it.subcommand, command);
        command_checks(!it.subcommand.is_empty(), call, at, fits)
    }),
    ("where", |it, call, at| {
        let fits = |command: &Command| it.location.contains(&command.location).into();
        command_checks(!it.location.is_empty(), call, at, fits)
    }),
    ("via", |it, call, at| {
        let fits = |word: &String| one_of(&it.via, Text::known(word));
        let fits = |command: &Command| Truth::any(command.via.iter().map(fits));
        command_checks(!it.via.is_empty(), call, at, fits)
    }),
    ("forkbomb", |it, call, _| Some((it.forkbomb? == call.facts.call.forkbomb).into())),
    ("unparsed", |it, call, _| Some((it.unparsed? == call.facts.call.unparsed).into())),
    ("agent", |it, call, _| {
        let is_so = || it.agent.iter().any(|state| call.agent.contains(state));
        (!it.agent.is_empty()).then(|| is_so().into())
    }),
    ("over_limit", |it, call, _| Some((it.over_limit? == call.facts.call.over_limit).into())),
    ("sql", |it, call, at| Some(it.sql.as_ref()?.fit(call, at))),
    ("flags", |it, call, at| {
        let flags = it.flags.as_ref()?;
        command_checks(true, call, at, |command| flags.fit(command))
    }),
    ("operands", |it, call, at| {
        let operands = it.operands.as_ref()?;
        command_checks(true, call, at, |command| operands.fit(command))
    }),
    ("env", |it, call, at| {
        let env = it.env.as_ref()?;
        command_checks(true, call, at, |command| env.fit(command))
    }),
    ("code", |it, call, at| Some(code(it.code.as_ref()?, call, at))),
    ("flow", |it, call, at| Some(flow(it.flow.as_ref()?, call, at))),
    ("path", |it, call, at| {
        let path = it.path.as_ref()?;
        Some(at.path.map_or(Truth::No, |index| path.fit(call, index).truth))
    }),
];

/// A condition on the command; `None` if it is not set.
fn command_checks(
    is_set: bool,
    call: &CallFacts,
    at: Subject,
    fits: impl FnOnce(&Command) -> Truth,
) -> Option<Truth> {
    let command = || call.facts.call.commands.get(at.command?);
    is_set.then(|| command().map_or(Truth::No, fits))
}

impl CompiledConditions {
    pub(super) fn new(conditions: &Conditions) -> Self {
        let patterns =
            |texts: &[String]| texts.iter().map(|text| Pattern::of_words(text)).collect();
        Self {
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
        }
    }

    /// The commands whose programs fit, and unless `needs_program`, those whose programs are not known.
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
        let mut call_checks = CHECKS.iter().filter(|(name, _)| OF_CALL.contains(name));
        is_about_parts
            && call.facts.call.over_limit
            && call_checks
                .all(|(_, check)| check(self, call, Subject::default()) != Some(Truth::No))
    }

    /// Returns how strongly all of them hold. Stops at the first that does not.
    pub(super) fn strength(&self, call: &CallFacts, at: Subject) -> Strength {
        let mut truth = Truth::Yes;
        let (mut is_program_certain, mut has_certain, mut has_deed) = (true, false, false);
        for (name, check) in &CHECKS {
            let Some(part) = check(self, call, at) else { continue };
            truth = truth.and(part);
            match (part, *name) {
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
    pub(super) fn parts(&self, call: &CallFacts, at: Subject) -> Vec<Part> {
        let part = |(name, check): &(&'static str, Check)| Some((*name, check(self, call, at)?));
        CHECKS.iter().filter_map(part).collect()
    }
}

fn one_of(patterns: &[Pattern], text: Text<'_>) -> Truth {
    Truth::any(patterns.iter().map(|pattern| pattern.fits(text)))
}

/// The subcommand is known unless its argument is not.
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
}

impl SqlRule {
    fn new(condition: &SqlCondition) -> Self {
        let statement = condition.statement.iter().map(|text| Pattern::of_words(text)).collect();
        Self { statement, has_where: condition.has_where }
    }

    /// Checks whether a statement of the command fits. What is not known of it counts as text.
    fn fit(&self, call: &CallFacts, at: Subject) -> Truth {
        let fits = |sql: &SqlStatement| {
            let is_kind = self.statement.is_empty()
                || self.statement.iter().any(|pattern| pattern.matches(&sql.statement));
            is_kind && self.has_where.is_none_or(|has_where| has_where == sql.has_where)
        };
        let all = &call.facts.call.sql;
        if all.is_empty() {
            return Truth::No;
        }
        let own = at.command.and_then(|command| call.index().sql_of.get(command));
        own.is_some_and(|own| own.iter().filter_map(|place| all.get(*place)).any(fits)).into()
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
