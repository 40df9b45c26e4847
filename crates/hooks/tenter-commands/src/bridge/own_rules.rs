//! The user's own rules, for `tenter bridge prove`: every rule of an active hook that decides without a program and has an example.

use std::path::Path;

use tenter_base::{excerpt, visible};
use tenter_bridge::import::MANIFEST;
use tenter_engine::inspect::CHECKS;
use tenter_protocol::EventName;
use tenter_protocol::front_matter::Strictness;
use tenter_protocol::manifest::format;
use tenter_protocol::manifest::rule::{Rule, RuleVerdict};
use tenter_prove::{OwnRule, ProvedRule, RuleOutcome};
use tenter_terminal::{BAD, FAINT, GOOD, HEADING, styled, ui};

use crate::project::Project;

/// Minimum width of the evidence of a rule.
const MIN_EVIDENCE: usize = 40;

/// Returns the rules of the hooks that run in the project, with their examples. Hooks in monitor mode stop nothing.
pub(super) fn find(project: &Project) -> Vec<OwnRule> {
    let (catalog, _) = project.engine_builder().load_without_queries(&project.trust);
    let hooks = catalog.hooks().iter().filter(|hook| hook.kind.is_static());
    let hooks = hooks.filter_map(|hook| Some((&hook.name, hook.path()?)));
    hooks.flat_map(|(name, path)| rules(name, path)).collect()
}

fn rules(hook: &str, directory: &Path) -> Vec<OwnRule> {
    let file = directory.join(MANIFEST);
    let Ok(text) = std::fs::read(&file) else { return Vec::new() };
    let Some(manifest) = format::read(&file, &text, Strictness::Tolerant, CHECKS).0 else {
        return Vec::new();
    };
    let extensions = &manifest.extensions;
    if extensions.monitors == Some(true) || manifest.trigger.event != EventName::BeforeTool {
        return Vec::new();
    }
    let check = (CHECKS.examples)(&extensions.rules);
    let rule = |(index, rule): (usize, &Rule)| {
        let own = OwnRule {
            hook: hook.to_owned(),
            rule: rule.label(index),
            example: rule.examples.stopped.first()?.clone(),
            directory: directory.to_owned(),
        };
        // Some examples fit only as they are.
        let command = own.harmless(index);
        let fits = check(index, &command, true).is_none();
        (stops(rule) && fits).then_some(own)
    };
    extensions.rules.iter().enumerate().filter_map(rule).collect()
}

fn stops(rule: &Rule) -> bool {
    let verdict = rule.decision.as_ref().map(|decision| decision.verdict);
    matches!(verdict, Some(RuleVerdict::Deny | RuleVerdict::Ask))
}

/// Prints how many rules of each hook stopped their example, and each rule whose example no hook saw.
pub(super) fn print(rules: &[ProvedRule]) {
    if rules.is_empty() {
        return;
    }
    ui::out(format!(
        "\n{}",
        styled(HEADING, "Your rules: the model called the first example of each")
    ));
    for rules in rules.chunk_by(|one, other| one.hook == other.hook) {
        print_hook(rules);
    }
}

fn print_hook(rules: &[ProvedRule]) {
    let count = |outcome| rules.iter().filter(|rule| rule.outcome == outcome).count();
    let missed = count(RuleOutcome::NotSeen);
    let word = if missed == 0 { styled(GOOD, "yes     ") } else { styled(BAD, "BROKEN  ") };
    let line = format!("{} of {} rules stopped it", count(RuleOutcome::Stopped), rules.len());
    let besides = match count(RuleOutcome::DoesNotApply) {
        0 => String::new(),
        others => format!("; {others} do not apply to this user or place"),
    };
    let hook = rules.first().map(|rule| visible(&rule.hook)).unwrap_or_default();
    ui::out(format!("  {word}  {hook}: {line}{besides}"));
    let width = ui::columns().saturating_sub(12).max(MIN_EVIDENCE);
    for rule in rules.iter().filter(|rule| rule.outcome == RuleOutcome::NotSeen) {
        let line = format!("{}: {}: {}", rule.rule, rule.example, rule.evidence);
        ui::out(format!(
            "            {}",
            styled(FAINT, visible(&excerpt::one_line(&line, width)))
        ));
    }
}
