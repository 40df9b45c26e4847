//! Runs all tests of a hook in order, and shows the differences of failed ones.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};
use similar::TextDiff;
use tenter_base::{sanitize, visible};
use tenter_engine::inspect::{Hook, HookTest, TestRun};
use tenter_proc::Cancel;
use tenter_protocol::Object;
use tenter_terminal::{BAD, CommandResult, Exit, FAINT, Failure, GOOD, styled, ui};

use super::super::interpretation::UNMATCHED;
use super::super::report::{self, TestReport};
use super::case::{self, TestCase};
use super::example::ExampleResult;
use super::junit::{self, JunitCase, JunitSuite};
use super::once::other_form;
use super::{Args, engine, payload};
use crate::project::Project;

/// The result of one test, as in the JSON output.
#[derive(Default, Serialize)]
struct CaseResult {
    file: PathBuf,
    description: Option<String>,
    passed: bool,
    /// The expected and the actual results under the same keys; `None` if the file is not a valid test.
    expected: Option<Object>,
    got: Option<Object>,
    /// The run that failed the test, and what the hook wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<TestReport>,
    /// The reason why the file is not a valid test.
    error: Option<String>,
}

/// The tests of a hook.
pub(super) struct Tests {
    pub(super) files: Vec<PathBuf>,
    /// The examples of its rules, which were checked.
    pub(super) examples: Vec<ExampleResult>,
}

impl Tests {
    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty() && self.examples.is_empty()
    }
}

/// Both kinds of results, in the order of the JSON output.
#[derive(Serialize)]
#[serde(untagged)]
enum TestResult<'t> {
    File(&'t CaseResult),
    Example(&'t ExampleResult),
}

/// The results of the tests of a hook.
pub(super) struct HookResults {
    files: Vec<CaseResult>,
    examples: Vec<ExampleResult>,
}

impl HookResults {
    /// Returns the number of tests that passed, and of those that failed.
    pub(super) fn counts(&self) -> (usize, usize) {
        let failures = self.files.iter().filter(|result| !result.passed).count()
            + self.examples.iter().filter(|result| !result.passed).count();
        (self.files.len() + self.examples.len() - failures, failures)
    }

    /// Returns the results as a suite of JUnit.
    pub(super) fn suite(&self, hook: &Hook) -> JunitSuite {
        let files = self.files.iter().map(|result| JunitCase {
            name: short_file(hook, result),
            failure: (!result.passed).then(|| failure_of(result)),
        });
        let cases = files.chain(self.examples.iter().map(ExampleResult::junit_case)).collect();
        JunitSuite { name: hook.name.clone(), cases }
    }

    /// Prints the results of all tests, or only of those that failed.
    pub(super) fn print(&self, hook: &Hook, with_passed: bool) {
        let files = self.files.iter().filter(|result| with_passed || !result.passed);
        files.for_each(|result| print(hook, result));
        let examples = self.examples.iter().filter(|result| with_passed || !result.passed);
        examples.for_each(ExampleResult::print);
    }

    fn print_json(&self) {
        let files = self.files.iter().map(TestResult::File);
        let all: Vec<_> = files.chain(self.examples.iter().map(TestResult::Example)).collect();
        ui::json(&all);
    }
}

/// Runs the tests of a hook, and shows the results.
pub(super) fn run(
    project: &Project,
    hook: &Arc<Hook>,
    tests: Tests,
    args: &Args,
    cancel: &Cancel,
) -> CommandResult {
    let Some(results) = results(project, hook, tests, cancel)? else {
        return Ok(Exit::Interrupted);
    };
    if let Some(file) = &args.junit {
        junit::write(file, &[results.suite(hook)])?;
    }
    let (passes, failures) = results.counts();
    if args.json {
        results.print_json();
    } else {
        results.print(hook, true);
        ui::out(format!("{passes} passed, {failures} failed"));
    }
    Ok(if failures == 0 { Exit::Done } else { Exit::Failed })
}

/// Runs the tests in files, and returns their results and the results of the examples; `None` if the user interrupted it.
pub(super) fn results(
    project: &Project,
    hook: &Arc<Hook>,
    tests: Tests,
    cancel: &Cancel,
) -> Result<Option<HookResults>, Failure> {
    let mut files = Vec::new();
    for file in &tests.files {
        let result = test(project, hook, file, cancel)?;
        if cancel.is_cancelled() {
            return Ok(None);
        }
        files.push(result);
    }
    Ok(Some(HookResults { files, examples: tests.examples }))
}

/// Returns the path of a test in its hook's directory.
fn short_file(hook: &Hook, result: &CaseResult) -> String {
    let below = hook.path().and_then(|path| result.file.strip_prefix(path).ok());
    let file = below.unwrap_or(&result.file);
    file.to_string_lossy().into_owned()
}

/// Returns why a test failed, in words.
fn failure_of(result: &CaseResult) -> String {
    if let Some(error) = &result.error {
        return error.clone();
    }
    let json = |object: &Option<Object>| serde_json::to_string(object).unwrap_or_default();
    format!("expected {}, got {}", json(&result.expected), json(&result.got))
}

fn test(
    project: &Project,
    hook: &Arc<Hook>,
    file: &Path,
    cancel: &Cancel,
) -> Result<CaseResult, Failure> {
    let case = match TestCase::read(file) {
        Ok(case) => case,
        Err(error) => return Ok(invalid_test(file, error)),
    };
    let mut runs = run_case(project, hook, &case, cancel)?;
    let failure = runs.iter().position(|run| !case.is_met(&run.results));
    let CaseRun { results, report } = runs.swap_remove(failure.unwrap_or_default());
    Ok(CaseResult {
        file: file.to_owned(),
        passed: failure.is_none(),
        got: Some(case.select_actual(&results)),
        expected: Some(case.select_expected(&results)),
        run: report.filter(|_| failure.is_some()),
        description: case.description,
        error: None,
    })
}

fn invalid_test(file: &Path, error: String) -> CaseResult {
    CaseResult { file: file.to_owned(), error: Some(error), ..CaseResult::default() }
}

/// One run of a hook for a test.
struct CaseRun {
    /// The results that a test can expect.
    results: Object,
    /// Everything about the run; `None` if the matcher does not match, so that the hook is not run.
    report: Option<TestReport>,
}

/// Runs the hook on the test's event, unless its matcher does not match. Returns the run of each of its forms; at least one.
fn run_case(
    project: &Project,
    hook: &Arc<Hook>,
    case: &TestCase,
    cancel: &Cancel,
) -> Result<Vec<CaseRun>, Failure> {
    let trigger = case.event.get("event_type").and_then(Value::as_str);
    let (subscription, payload) = payload::sample_for(project, hook, trigger, case.event.clone())?;
    let event = payload::event(project, subscription, &payload);
    let test = HookTest { event: &event, subscription, payload: &payload };
    let engine = engine(project);
    let Some(result) = engine.test(hook, test, cancel) else {
        let results = Object::from_iter([("decision".to_owned(), json!(UNMATCHED))]);
        return Ok(vec![CaseRun { results, report: None }]);
    };
    let one_shot = other_form(&engine, hook, test, cancel);
    let case_run = |test: TestRun| CaseRun {
        results: case::actual(&test),
        report: Some(TestReport::new(test)),
    };
    Ok([Some(result), one_shot].into_iter().flatten().map(case_run).collect())
}

fn print(hook: &Hook, result: &CaseResult) {
    let (style, word) = if result.passed { (GOOD, "pass") } else { (BAD, "FAIL") };
    let file = short_file(hook, result);
    let description = result.description.as_deref().unwrap_or_default();
    let line = format!("{} {}  {}", styled(style, word), visible(&file), sanitize(description));
    ui::out(line.trim_end());
    if let Some(error) = &result.error {
        ui::out(format!("  {}", sanitize(error)));
    }
    if let (Some(expected), Some(got), false) = (&result.expected, &result.got, result.passed) {
        ui::out(format!("  {} {}", styled(BAD, "- expected"), styled(GOOD, "+ got")));
        diff(expected, got);
    }
    if let Some(run) = &result.run {
        report::print_run(run);
    }
}

fn diff(expected: &Object, got: &Object) {
    let pretty = |object| serde_json::to_string_pretty(object).unwrap_or_default();
    let (expected, got) = (pretty(expected), pretty(got));
    for change in TextDiff::from_lines(&expected, &got).iter_all_changes() {
        let style = match change.tag() {
            similar::ChangeTag::Delete => BAD,
            similar::ChangeTag::Insert => GOOD,
            similar::ChangeTag::Equal => FAINT,
        };
        let line = format!("{} {}", change.tag(), change.value().trim_end_matches('\n'));
        ui::out(format!("    {}", styled(style, sanitize(&line))));
    }
}
