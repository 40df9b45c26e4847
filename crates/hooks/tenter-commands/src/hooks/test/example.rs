//! The examples of a hook's rules: commands that a rule stops, and commands that none stops.

use serde::Serialize;
use tenter_base::{one_line, sanitize};
use tenter_engine::inspect::{Hook, check_examples};
use tenter_protocol::front_matter::Strictness;
use tenter_protocol::manifest::format::CheckExample;
use tenter_protocol::manifest::rule::Rule;
use tenter_terminal::{BAD, Failure, GOOD, styled, ui};

use super::super::manifest_file::ManifestFile;
use super::junit::JunitCase;

/// Characters of a command that are shown.
const SHOWN: usize = 200;

/// An example and its result, as in the JSON output.
#[derive(Serialize)]
pub(super) struct ExampleResult {
    /// The rule's name, or its place in the list.
    rule: String,
    example: String,
    expected: &'static str,
    pub(super) passed: bool,
    error: Option<String>,
}

/// Checks the examples of a hook's rules; none if it has none.
pub(super) fn results(hook: &Hook) -> Result<Vec<ExampleResult>, Failure> {
    let directory = hook.path().filter(|_| !hook.is_executable());
    let Some(file) = directory.map(ManifestFile::at).transpose()?.flatten() else {
        return Ok(Vec::new());
    };
    let rules = file.read(Strictness::Tolerant).0.map(|manifest| manifest.extensions.rules);
    let rules = rules.unwrap_or_default();
    let check = check_examples(&rules);
    let results =
        rules.iter().enumerate().flat_map(|(index, rule)| check_rule(rule, index, &check));
    Ok(results.collect())
}

fn check_rule(rule: &Rule, index: usize, check: &CheckExample<'_>) -> Vec<ExampleResult> {
    let examples = &rule.examples;
    let result = |example: &String, is_stopped: bool| {
        let error = check(index, example, is_stopped);
        ExampleResult {
            rule: rule.label(index),
            example: example.clone(),
            expected: if is_stopped { "stopped" } else { "passed" },
            passed: error.is_none(),
            error,
        }
    };
    let denials = examples.stopped.iter().map(|example| result(example, true));
    denials.chain(examples.passed.iter().map(|example| result(example, false))).collect()
}

impl ExampleResult {
    pub(super) fn junit_case(&self) -> JunitCase {
        let name = format!("{} {}: {}", self.rule, self.expected, self.example);
        let failure = (!self.passed).then(|| self.error.clone().unwrap_or_default());
        JunitCase { name, failure }
    }

    pub(super) fn print(&self) {
        let (style, word) = if self.passed { (GOOD, "pass") } else { (BAD, "FAIL") };
        let example = one_line(&self.example, SHOWN);
        let rule = sanitize(&self.rule);
        ui::out(format!("{} {rule}  {}: {example}", styled(style, word), self.expected));
        if let Some(error) = &self.error {
            ui::out(format!("  {}", sanitize(error)));
        }
    }
}
