//! The conditions of a rule.

use tenter_base::{AgentState, did_you_mean, or_list};
use tenter_shell::{Class, FlowRole, Language, Location, PathOp, PathPlace};

use super::RULE;
use super::values::{boolean, texts, words};
use crate::front_matter::{Field, Meaning, Report, Scalar, find};
use crate::manifest::rule::{
    CodeCondition, Conditions, FlowCondition, Operands, PathCondition, SqlCondition, Words,
};

/// The conditions.
pub(super) const CONDITION_KEYS: [&str; 15] = *tenter_base::words!(
    "program subcommand operands flags env path flow code sql via where forkbomb unparsed agent
     over_limit"
);

/// The operations on a path.
pub(super) const OPS: [(&str, PathOp); 9] = [
    ("read", PathOp::Read),
    ("write", PathOp::Write),
    ("create", PathOp::Create),
    ("delete", PathOp::Delete),
    ("move", PathOp::Move),
    ("execute", PathOp::Execute),
    ("link", PathOp::Link),
    ("mode", PathOp::Mode),
    ("list", PathOp::List),
];

/// The places of a path.
pub(super) const PLACES: [(&str, PathPlace); 6] = [
    ("project", PathPlace::Project),
    ("temp", PathPlace::Temp),
    ("home", PathPlace::Home),
    ("system", PathPlace::System),
    ("device", PathPlace::Device),
    ("remote", PathPlace::Remote),
];

/// The machines on which a command may run.
pub(super) const LOCATIONS: [(&str, Location); 3] =
    [("local", Location::Local), ("remote", Location::Remote), ("container", Location::Container)];

/// The kinds of commands that produce or receive data.
pub(super) const CLASSES: [(&str, Class); 7] = [
    ("download", Class::Download),
    ("decode", Class::Decode),
    ("network", Class::Network),
    ("interpreter", Class::Interpreter),
    ("environment", Class::Environment),
    ("archive", Class::Archive),
    ("encode", Class::Encode),
];

/// The uses of data that a command receives.
pub(super) const ROLES: [(&str, FlowRole); 3] =
    [("code", FlowRole::Code), ("data", FlowRole::Data), ("argument", FlowRole::Argument)];

/// Languages of programs that are given inline.
pub(super) const LANGUAGES: [(&str, Language); 8] = [
    ("python", Language::Python),
    ("node", Language::Node),
    ("perl", Language::Perl),
    ("ruby", Language::Ruby),
    ("php", Language::Php),
    ("awk", Language::Awk),
    ("powershell", Language::Powershell),
    ("other", Language::Other),
];

/// Reads the conditions among the fields of a rule. `None` if one of them is invalid.
pub(super) fn conditions(fields: &[Field], report: &mut Report<'_>) -> Option<Conditions> {
    let mut conditions = Conditions::default();
    let mut is_valid = true;
    for field in fields {
        is_valid &= condition(field, &mut conditions, report).is_some();
    }
    is_valid.then_some(conditions)
}

fn condition(field: &Field, into: &mut Conditions, report: &mut Report<'_>) -> Option<()> {
    match field.key.as_str() {
        "program" => into.program = texts(field, report)?,
        "subcommand" => into.subcommand = texts(field, report)?,
        "operands" => into.operands = Some(operands(field, report)?),
        "flags" => into.flags = Some(flags(field, report)?),
        "env" => into.env = texts(field, report)?,
        "path" => into.path = Some(path(field, report)?),
        "flow" => into.flow = Some(flow(field, report)?),
        "code" => into.code = Some(code(field, report)?),
        "sql" => into.sql = Some(sql(field, report)?),
        "via" => into.via = texts(field, report)?,
        "where" => into.location = words(field, &LOCATIONS, report)?,
        "forkbomb" => into.forkbomb = Some(boolean(field, report)?),
        "unparsed" => into.unparsed = Some(boolean(field, report)?),
        "agent" => into.agent = words(field, &AgentState::WORDS, report)?,
        "over_limit" => into.over_limit = Some(boolean(field, report)?),
        _ => {}
    }
    Some(())
}

/// Returns the fields of a condition that has several parts.
fn parts<'f>(field: &'f Field, keys: &[&str], report: &mut Report<'_>) -> Option<&'f [Field]> {
    let parts = report.mapping(field, &RULE)?;
    if parts.is_empty() {
        report.invalid(field, &RULE, "is empty", &format!("at least one of {}", or_list(keys)));
        return None;
    }
    for part in parts.iter().filter(|part| !keys.contains(&part.key.as_str())) {
        let help = did_you_mean(&part.key, keys, || format!("keys are {}", or_list(keys)));
        report.unknown_field(part, &RULE, &format!("`{}`", field.key), help);
    }
    Some(parts)
}

fn operands(field: &Field, report: &mut Report<'_>) -> Option<Operands> {
    let mut operands = Operands::default();
    for part in parts(field, &["any", "all", "none", "count", "after_dashes"], report)? {
        match part.key.as_str() {
            "count" => operands.count = Some(count(part, report)?),
            "after_dashes" => operands.after_dashes = boolean(part, report)?,
            _ => list(part, &mut operands.words, report)?,
        }
    }
    Some(operands)
}

fn flags(field: &Field, report: &mut Report<'_>) -> Option<Words> {
    let mut words = Words::default();
    for part in parts(field, &["any", "all", "none"], report)? {
        list(part, &mut words, report)?;
    }
    Some(words)
}

fn list(part: &Field, into: &mut Words, report: &mut Report<'_>) -> Option<()> {
    match part.key.as_str() {
        "any" => into.any = texts(part, report)?,
        "all" => into.all = texts(part, report)?,
        "none" => into.none = texts(part, report)?,
        _ => {}
    }
    Some(())
}

/// Returns a number, or `{min: …, max: …}`.
fn count(field: &Field, report: &mut Report<'_>) -> Option<(usize, usize)> {
    let number = |field: &Field| match field.value.as_scalar().map(Scalar::meaning) {
        Some(Meaning::Integer(number)) => usize::try_from(number).ok(),
        _ => None,
    };
    let limits = match field.value.as_mapping() {
        None => number(field).map(|exactly| (exactly, exactly)),
        Some(limits) => {
            let is_known = limits.iter().all(|limit| {
                matches!(limit.key.as_str(), "min" | "max") && number(limit).is_some()
            });
            let limit = |key, default| find(limits, key).and_then(number).unwrap_or(default);
            let pair = (limit("min", 0), limit("max", usize::MAX));
            Some(pair).filter(|(min, max)| is_known && min <= max && !limits.is_empty())
        }
    };
    if limits.is_none() {
        report.invalid(field, &RULE, "is not a number", "a number, or `{min: 1, max: 2}`");
    }
    limits
}

fn path(field: &Field, report: &mut Report<'_>) -> Option<PathCondition> {
    const KEYS: [&str; 7] = ["op", "glob", "not", "covers", "place", "outside", "recursive"];
    let mut condition = PathCondition::default();
    for part in parts(field, &KEYS, report)? {
        match part.key.as_str() {
            "op" => condition.op = words(part, &OPS, report)?,
            "glob" => condition.glob = texts(part, report)?,
            "not" => condition.not = texts(part, report)?,
            "covers" => condition.covers = texts(part, report)?,
            "place" => condition.place = words(part, &PLACES, report)?,
            "outside" => condition.outside = words(part, &PLACES, report)?,
            "recursive" => condition.recursive = Some(boolean(part, report)?),
            _ => {}
        }
    }
    Some(condition)
}

fn flow(field: &Field, report: &mut Report<'_>) -> Option<FlowCondition> {
    let (mut from, mut into, mut role) = (Vec::new(), Vec::new(), Vec::new());
    for part in parts(field, &["from", "into", "as"], report)? {
        match part.key.as_str() {
            "from" => from = words(part, &CLASSES, report)?,
            "into" => into = words(part, &CLASSES, report)?,
            "as" => role = words(part, &ROLES, report)?,
            _ => {}
        }
    }
    if from.is_empty() {
        report.invalid(
            field,
            &RULE,
            "has no `from`",
            "`{from: download, into: interpreter, as: code}`",
        );
        return None;
    }
    Some(FlowCondition { from, into, role })
}

fn code(field: &Field, report: &mut Report<'_>) -> Option<CodeCondition> {
    let mut operands = CodeCondition::default();
    for part in parts(field, &["language", "dynamic", "text"], report)? {
        match part.key.as_str() {
            "language" => operands.language = words(part, &LANGUAGES, report)?,
            "dynamic" => operands.dynamic = Some(boolean(part, report)?),
            "text" => operands.text = texts(part, report)?,
            _ => {}
        }
    }
    Some(operands)
}

fn sql(field: &Field, report: &mut Report<'_>) -> Option<SqlCondition> {
    let mut operands = SqlCondition::default();
    for part in parts(field, &["statement", "where"], report)? {
        match part.key.as_str() {
            "statement" => operands.statement = texts(part, report)?,
            "where" => operands.has_where = Some(boolean(part, report)?),
            _ => {}
        }
    }
    Some(operands)
}
