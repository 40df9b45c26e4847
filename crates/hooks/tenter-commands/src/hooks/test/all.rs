//! `tenter hooks test` without a name: the tests of every hook, of which only those that failed are shown.

use tenter_base::visible;
use tenter_engine::inspect::{Catalog, ListedHook, Status};
use tenter_proc::Cancel;
use tenter_terminal::{BAD, CommandResult, Exit, Failure, HEADING, styled, ui};

use super::junit::{self, JunitCase, JunitSuite};
use super::{Args, entry, table, tests_of};
use crate::project::Project;
use crate::{trust, user_only};

/// Tests every hook that runs in the project. A hook that should run and cannot fails.
pub(super) fn run(
    project: &mut Project,
    catalog: Catalog,
    args: &Args,
    cancel: &Cancel,
) -> CommandResult {
    let catalog = trusted(project, catalog, args, cancel)?;
    let mut suites = Vec::new();
    let mut untested = Vec::new();
    let (mut passes, mut failures) = (0, 0);
    for hook in catalog.hooks().iter().filter(|hook| entry::refuse_built_in(&hook.name).is_ok()) {
        let tests = tests_of(hook)?;
        if tests.is_empty() {
            untested.push(visible(&hook.name).into_owned());
            continue;
        }
        let Some(results) = table::results(project, hook, tests, cancel)? else {
            return Ok(Exit::Interrupted);
        };
        let counts = results.counts();
        let name = styled(HEADING, visible(&hook.name));
        ui::out(format!("{name}  {}", in_words(counts)));
        results.print(hook, args.verbose);
        (passes, failures) = (passes + counts.0, failures + counts.1);
        suites.push(results.suite(hook));
    }
    for hook in catalog.listing() {
        let Some(why) = unusable(project, hook) else { continue };
        ui::out(styled(HEADING, visible(&hook.name)));
        ui::out(format!("{} it {}", styled(BAD, "FAIL"), visible(&why)));
        failures += 1;
        let case = JunitCase { name: "it runs".to_owned(), failure: Some(why) };
        suites.push(JunitSuite { name: hook.name.clone(), cases: vec![case] });
    }
    if let Some(file) = &args.junit {
        junit::write(file, &suites)?;
    }
    if suites.is_empty() && untested.is_empty() {
        ui::note("There are no hooks. To create one, run `tenter hooks new NAME`.");
    }
    if !untested.is_empty() {
        ui::note(format!("without tests: {}", untested.join(", ")));
    }
    ui::out(in_words((passes, failures)));
    Ok(if failures == 0 { Exit::Done } else { Exit::Failed })
}

/// Returns the numbers of tests that passed and failed in words.
fn in_words((passed, failed): (usize, usize)) -> String {
    format!("{passed} passed, {failed} failed")
}

/// Trusts the hooks of the project because of `--trust`. Returns the catalog after that.
fn trusted(
    project: &mut Project,
    catalog: Catalog,
    args: &Args,
    cancel: &Cancel,
) -> Result<Catalog, Failure> {
    if !args.trust || catalog.untrusted().is_empty() {
        return Ok(catalog);
    }
    user_only::check(project.env, project.root(), "hooks test --trust")?;
    let hooks = catalog.untrusted().to_vec();
    trust::trust_pending(project, catalog, (&hooks, &[]), cancel)
}

/// Returns why a hook that should run does not, as the end of a sentence.
fn unusable(project: &Project, hook: &ListedHook) -> Option<String> {
    match &hook.status {
        Status::Active
        | Status::Shadowed { .. }
        | Status::Disabled
        | Status::SwitchedOff { .. } => None,
        Status::NotTrusted { .. } => {
            Some("is not trusted: pass --trust to trust the project's hooks".to_owned())
        }
        status => entry::reason(project, status),
    }
}
