//! `metadata.match`: rules about the commands and paths of tool calls. Everything unknown is an error: a guard with a misspelled
//! condition must not run as if it were not there.

mod conditions;
mod contradictions;
mod values;

use tenter_base::{did_you_mean, or_list};

use super::checks::Checks;
use super::codes::RULE;
use crate::EventName;
use crate::confinement::Confinement;
use crate::front_matter::{Field, Node, Report, Strictness, find};
use crate::manifest::rule::{
    Conditions, Examples, Rule, RuleDecision, RuleVerdict, UncertainPolicy,
};

use conditions::{CONDITION_KEYS, conditions};
use values::{boolean, one_of, texts};

/// The keys of a rule besides its conditions.
const RULE_KEYS: [&str; 8] =
    ["name", "enabled", "except", "decision", "reason", "confine", "uncertain", "examples"];

/// The hook that the rules belong to.
#[derive(Clone, Copy)]
pub(super) struct RuleOwner<'o> {
    /// The fields of `metadata`.
    pub(super) fields: &'o [Field],
    pub(super) events: &'o [EventName],
    pub(super) asynchronous: bool,
}

/// Reads the rules of a hook; none if it has no `match`.
pub(super) fn read(owner: RuleOwner<'_>, checks: Checks<'_>, report: &mut Report<'_>) -> Vec<Rule> {
    let Some(field) = find(owner.fields, "match") else { return Vec::new() };
    let expected = "a list of rules, such as `- {program: git, subcommand: push}`";
    let Some(items) = report.list(field, &RULE, expected) else { return Vec::new() };
    if items.is_empty() {
        report.invalid(field, &RULE, "has no rules, so the hook would never run", expected);
    }
    if let Some(event) = owner.events.iter().find(|event| !event.lifecycle().matcher) {
        let message = format!("`match` has no effect at `{event}`, which has no tool call");
        let help = "use it with `before_tool`, `after_tool` and `after_tool_failure` only";
        report.add(&RULE, &field.key_at, message, help);
    }
    let read_rule = |item| report.part(|report| RuleReader { owner, item, report }.rule());
    let rules: Vec<Option<Rule>> = items.iter().map(read_rule).collect();
    let is_whole = rules.iter().all(Option::is_some);
    let rules: Vec<Rule> = rules.into_iter().flatten().collect();
    if rules.is_empty() && !items.is_empty() && report.strictness() == Strictness::RuleByRule {
        // Without rules, it would apply to every call.
        report.invalid(field, &RULE, "has no valid rule", expected);
    }
    report_mixed(field, owner, &rules, report);
    if is_whole && report.strictness() == Strictness::Strict {
        run_examples(items, &rules, checks, report);
    }
    rules
}

/// Reports that some rules decide and others do not: else it would be unclear what a call that fits several of them leads to.
fn report_mixed(field: &Field, owner: RuleOwner<'_>, rules: &[Rule], report: &mut Report<'_>) {
    let deciding = rules.iter().filter(|rule| rule.decision.is_some()).count();
    if deciding != 0 && deciding != rules.len() {
        let message = "some rules have a `decision` and others have none";
        let help = "move the rules without one to a hook of their own";
        report.add(&RULE, &field.key_at, message, help);
    }
    if let Some(action) = find(owner.fields, "action").filter(|_| deciding > 0) {
        let message = "`action` has no effect, because the rules of `match` have decisions";
        report.add(&RULE, &action.key_at, message, "remove one of them");
    }
}

/// Reports examples that the rules treat differently.
fn run_examples(items: &[Node], rules: &[Rule], checks: Checks<'_>, report: &mut Report<'_>) {
    let check = (checks.examples)(rules);
    for (index, item) in items.iter().enumerate() {
        let examples = item.as_mapping().and_then(|fields| find(fields, "examples"));
        let Some(lists) = examples.and_then(|examples| examples.value.as_mapping()) else {
            continue;
        };
        for list in lists {
            let is_stopped = list.key == "stopped";
            let single = std::slice::from_ref(&list.value);
            for node in list.value.as_list().unwrap_or(single) {
                let Some(text) = node.as_text() else { continue };
                if let Some(message) = check(index, text, is_stopped) {
                    let help = "change the rule or the example; `tenter hooks explain` shows how a command is read";
                    report.add(&RULE, &node.at, message, help);
                }
            }
        }
    }
}

/// A value that was reported.
struct Invalid;

/// Reads one rule.
struct RuleReader<'c, 'r> {
    owner: RuleOwner<'c>,
    item: &'c Node,
    report: &'c mut Report<'r>,
}

impl RuleReader<'_, '_> {
    fn rule(&mut self) -> Option<Rule> {
        let Some(fields) = self.item.as_mapping().filter(|fields| !fields.is_empty()) else {
            let help = "write `key: value` pairs, such as `{program: git, subcommand: push}`";
            self.report.add(&RULE, &self.item.at, "a rule must be a mapping", help);
            return None;
        };
        self.report_unknown(fields);
        // Rules that are switched off were removed before.
        if let Some(field) = find(fields, "enabled") {
            boolean(field, self.report)?;
        }
        let rule = Rule {
            name: find(fields, "name").and_then(|field| self.report.text(field, &RULE, "a name")),
            conditions: conditions(fields, self.report)?,
            except: self.except(fields)?,
            decision: self.decision(fields).ok()?,
            uncertain: self.uncertain(fields)?,
            examples: self.examples(fields)?,
        };
        if rule.conditions.is_empty() {
            let help = format!("write at least one of {}", or_list(&CONDITION_KEYS));
            self.report.add(&RULE, &self.item.at, "the rule has no condition", help);
            return None;
        }
        contradictions::report(&rule, self.item, self.report);
        Some(rule)
    }

    fn report_unknown(&mut self, fields: &[Field]) {
        let keys: Vec<&str> = CONDITION_KEYS.into_iter().chain(RULE_KEYS).collect();
        for field in fields.iter().filter(|field| !keys.contains(&field.key.as_str())) {
            let help = did_you_mean(&field.key, &keys, || format!("keys are {}", or_list(&keys)));
            self.report.unknown_field(field, &RULE, "a rule", help);
        }
    }

    fn except(&mut self, fields: &[Field]) -> Option<Vec<Conditions>> {
        let Some(field) = find(fields, "except") else { return Some(Vec::new()) };
        let expected = "a list of conditions, such as `[{flags: {any: [--dry-run]}}]`";
        let items = self.report.list(field, &RULE, expected)?;
        if items.is_empty() {
            self.report.invalid(field, &RULE, "is empty", expected);
        }
        let mut except = Vec::new();
        for item in items {
            let Some(fields) = item.as_mapping().filter(|fields| !fields.is_empty()) else {
                let message = "an exception needs a condition";
                self.report.add(&RULE, &item.at, message, format!("write {expected}"));
                return None;
            };
            for field in fields.iter().filter(|field| !CONDITION_KEYS.contains(&field.key.as_str()))
            {
                let help = did_you_mean(&field.key, &CONDITION_KEYS, || {
                    format!("keys are {}", or_list(&CONDITION_KEYS))
                });
                self.report.unknown_field(field, &RULE, "an exception", help);
            }
            except.push(conditions(fields, self.report)?);
        }
        Some(except)
    }

    /// Returns the decision and its reason. `Err` if they are invalid.
    fn decision(&mut self, fields: &[Field]) -> Result<Option<RuleDecision>, Invalid> {
        let reason = find(fields, "reason");
        let Some(field) = find(fields, "decision") else {
            if let Some(reason) = reason {
                let message = "`reason` has no effect without a `decision`";
                self.report.add(&RULE, &reason.key_at, message, "write `decision: deny`");
            }
            return Ok(None);
        };
        let verdict = *one_of(field, &RuleVerdict::WORDS, self.report).ok_or(Invalid)?;
        let lacks = |event: &&EventName| !verdict.is_possible_at(**event);
        if let Some(event) = self.owner.events.iter().find(lacks) {
            let message = format!("`decision: {}` is not possible at `{event}`", verdict.as_str());
            self.report.add(&RULE, &field.value.at, message, "use `trigger: before_tool`");
            return Err(Invalid);
        }
        let Some(reason) = reason else {
            let help = "write `reason: …` next to it: why, and what to do instead";
            self.report.add(&RULE, &field.key_at, "a `decision` needs a `reason`", help);
            return Err(Invalid);
        };
        let text = self.report.text(reason, &RULE, "why, and what to do instead").ok_or(Invalid)?;
        let confine = self.confinement(fields, verdict)?;
        Ok(Some(RuleDecision { verdict, reason: text.trim().to_owned(), confine }))
    }

    /// Returns the confinement of the decision confine; the profile `standard` if there is none. Other decisions have none: a
    /// setting may have chosen them.
    fn confinement(
        &mut self,
        fields: &[Field],
        verdict: RuleVerdict,
    ) -> Result<Option<Confinement>, Invalid> {
        if verdict != RuleVerdict::Confine {
            return Ok(None);
        }
        let Some(field) = find(fields, "confine") else {
            return Ok(Some(Confinement::default()));
        };
        serde_json::from_value(field.value.to_json()).map(Some).map_err(|error| {
            let help = "write, for example, `{write: [project, temp], network: none}`";
            self.report.add(&RULE, &field.value.at, format!("`confine`: {error}"), help);
            Invalid
        })
    }

    /// Returns the decision about a call that may or may not fit. By default, a hook that can ask the user does so.
    fn uncertain(&mut self, fields: &[Field]) -> Option<UncertainPolicy> {
        let RuleOwner { events, asynchronous, .. } = self.owner;
        let Some(field) = find(fields, "uncertain") else {
            let asks = !asynchronous && events.iter().all(|event| *event == EventName::BeforeTool);
            let decision = find(fields, "decision").and_then(|field| field.value.as_text());
            return Some(match decision {
                Some("confine") if asks => UncertainPolicy::Confine,
                _ if asks => UncertainPolicy::Ask,
                _ => UncertainPolicy::Ignore,
            });
        };
        let policy = *one_of(field, &UncertainPolicy::WORDS, self.report)?;
        if let Some(verdict) = policy.verdict()
            && let Some(event) = events.iter().find(|event| !verdict.is_possible_at(**event))
        {
            let message = format!("`uncertain: {}` is not possible at `{event}`", verdict.as_str());
            self.report.add(&RULE, &field.value.at, message, "write `uncertain: ignore`");
            return None;
        }
        Some(policy)
    }

    fn examples(&mut self, fields: &[Field]) -> Option<Examples> {
        let Some(field) = find(fields, "examples") else { return Some(Examples::default()) };
        let mut examples = Examples::default();
        for list in self.report.mapping(field, &RULE)? {
            match list.key.as_str() {
                "stopped" => examples.stopped = texts(list, self.report)?,
                "passed" => examples.passed = texts(list, self.report)?,
                key => {
                    let help = did_you_mean(key, &["stopped", "passed"], || {
                        "keys are `stopped` and `passed`".to_owned()
                    });
                    self.report.unknown_field(list, &RULE, "`examples`", help);
                }
            }
        }
        Some(examples)
    }
}
