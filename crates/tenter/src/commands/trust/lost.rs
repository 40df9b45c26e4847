//! Asks about hooks that were trusted and do not run any more (R73): somebody may have removed a guard.

use tenter_engine::catalog::{Catalog, LostHook};
use tenter_proc::Cancel;

use super::accept;
use crate::failure::{Exit, Failure};
use crate::hooks::Project;
use crate::sanitize::visible;
use crate::ui::{self, NAME, NOTICE, styled};

/// What to do about lost hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    /// The project is fine without them, in this state.
    Accept,
    /// They are not to be missed in any state.
    Forget,
    /// Continue without them this time.
    Skip,
    /// Do not continue.
    Refuse,
}

/// Asks about the lost hooks of a catalog, if there are any, and does what the user says. `read` shows a prompt and returns the
/// answer. Returns the catalog as it is then.
///
/// # Errors
/// The user refuses to continue without them, or cannot be asked.
pub(crate) fn settle(
    project: &mut Project,
    catalog: Catalog,
    read: &mut dyn FnMut(&str) -> Option<String>,
    cancel: &Cancel,
) -> Result<Catalog, Failure> {
    let lost = catalog.lost();
    if lost.is_empty() {
        return Ok(catalog);
    }
    match ask(project, lost, read) {
        Choice::Accept => {
            accept(project, &catalog)?;
            ui::note("Accepted: this state of the project is not asked about again.");
        }
        Choice::Forget => forget(project, lost)?,
        Choice::Skip => return Ok(catalog),
        Choice::Refuse => return Err(refusal(lost)),
    }
    Ok(project.load(cancel))
}

fn ask(
    project: &Project,
    lost: &[LostHook],
    read: &mut dyn FnMut(&str) -> Option<String>,
) -> Choice {
    let (hooks, them) = if lost.len() == 1 { ("hook", "it") } else { ("hooks", "them") };
    let root = project.root().to_string_lossy();
    ui::note(format!(
        "{} {} {hooks} of {} that you trusted no longer run:",
        styled(NOTICE, "?"),
        lost.len(),
        visible(&root)
    ));
    lost.iter().for_each(describe);
    let prompt = format!(
        "Continue without {them}? [a] accept this state of the project  [f] forget the {hooks}  [s] this time only  [q] quit: "
    );
    loop {
        let Some(line) = read(&prompt) else { return Choice::Refuse };
        match line.trim().to_lowercase().as_str() {
            "a" | "accept" => return Choice::Accept,
            "f" | "forget" => return Choice::Forget,
            "s" | "skip" => return Choice::Skip,
            "q" | "quit" | "n" | "no" => return Choice::Refuse,
            _ => {}
        }
    }
}

fn describe(lost: &LostHook) {
    let name = styled(NAME, visible(&lost.name));
    let why = lost.why();
    let closed = if lost.fail_closed { "; you set it to fail closed" } else { "" };
    ui::note(format!("  {name}  {}{closed}", visible(&why)));
}

/// Removes the trust in hooks, so that they are not missed any more.
fn forget(project: &mut Project, lost: &[LostHook]) -> Result<(), Failure> {
    let root = project.root().to_owned();
    for LostHook { name, .. } in lost {
        let forgotten = project.trust.revoke(&root, Some(name));
        forgotten.map_err(|error| Failure::new(error.to_string()))?;
    }
    let names: Vec<&str> = lost.iter().map(|lost| lost.name.as_str()).collect();
    ui::note(format!("Forgotten: {}.", visible(&names.join(", "))));
    Ok(())
}

/// That nothing runs without these hooks, and what to do.
fn refusal(lost: &[LostHook]) -> Failure {
    let hooks: Vec<String> = lost
        .iter()
        .map(|lost| visible(&format!("{} {}", lost.name, lost.why())).into_owned())
        .collect();
    let message = format!("hooks that you trusted no longer run: {}", hooks.join("; "));
    Failure { exit: Exit::Untrusted, ..Failure::new(message) }.help(
        "restore them; or run `tenter trust` to accept this state of the project or to forget them; or do without hooks with \
         --no-hooks",
    )
}
