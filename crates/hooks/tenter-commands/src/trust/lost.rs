//! Asks about hooks that were trusted and no longer run (R73): a guard may have been removed.

use tenter_base::visible;
use tenter_engine::inspect::{Catalog, LostHook};
use tenter_proc::Cancel;
use tenter_terminal::question::{Choice, ReadLine, choose};
use tenter_terminal::{Exit, Failure, NAME, NOTICE, styled, ui};

use super::store::{self, accept};
use crate::project::Project;

/// The user's choice about lost hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LostChoice {
    /// The project may run without them, in this state.
    Accept,
    /// They are not to be missed in any state.
    Forget,
    /// Continue without them this time.
    Skip,
    /// Do not continue.
    Refuse,
}

/// Asks about the lost hooks of a catalog, if there are any, and does what the user says. Returns the catalog as it is then.
///
/// # Errors
/// The user refuses to continue without them, or cannot be asked.
pub fn settle_lost(
    project: &mut Project,
    catalog: Catalog,
    read: &mut ReadLine,
    cancel: &Cancel,
) -> Result<Catalog, Failure> {
    let hooks = catalog.lost();
    if hooks.is_empty() {
        return Ok(catalog);
    }
    match ask(project, hooks, read) {
        LostChoice::Accept => {
            accept(project, &catalog)?;
            ui::note("Accepted: this state of the project is not asked about again.");
        }
        LostChoice::Forget => forget(project, hooks)?,
        LostChoice::Skip => return Ok(catalog),
        LostChoice::Refuse => return Err(refusal(hooks)),
    }
    Ok(project.load(cancel))
}

/// Accepts the state of the project without its lost hooks, and says so. Returns the catalog as it is then.
pub fn accept_lost(
    project: &mut Project,
    catalog: Catalog,
    cancel: &Cancel,
) -> Result<Catalog, Failure> {
    if catalog.lost().is_empty() {
        return Ok(catalog);
    }
    accept(project, &catalog)?;
    let names: Vec<&str> = catalog.lost().iter().map(|hook| hook.name.as_str()).collect();
    ui::note(format!("Accepted the project without {}.", visible(&names.join(", "))));
    Ok(project.load(cancel))
}

fn ask(project: &Project, hooks: &[LostHook], read: &mut ReadLine) -> LostChoice {
    let (word, them) = if hooks.len() == 1 { ("hook", "it") } else { ("hooks", "them") };
    let root = project.root().to_string_lossy();
    ui::note(format!(
        "{} {} {word} of {} that you trusted no longer run:",
        styled(NOTICE, "?"),
        hooks.len(),
        visible(&root)
    ));
    hooks.iter().for_each(describe);
    let forget = format!("forget the {word}");
    let choice = |letter, label, words, value| Choice { letter, label, words, value };
    let choices = [
        choice("a", "accept this state of the project", &["accept"][..], LostChoice::Accept),
        choice("f", &forget, &["forget"], LostChoice::Forget),
        choice("s", "this time only", &["skip"], LostChoice::Skip),
        choice("q", "quit", &["quit", "n", "no"], LostChoice::Refuse),
    ];
    choose(&format!("Continue without {them}?"), &choices, read).unwrap_or(LostChoice::Refuse)
}

fn describe(hook: &LostHook) {
    let name = styled(NAME, visible(&hook.name));
    let why = hook.why();
    let consequence = if hook.fail_closed { "; you set it to fail closed" } else { "" };
    ui::note(format!("  {name}  {}{consequence}", visible(&why)));
}

/// Removes the trust in hooks, so that they are not missed any more.
fn forget(project: &mut Project, hooks: &[LostHook]) -> Result<(), Failure> {
    for hook in hooks {
        store::forget(project, hook)?;
    }
    let names: Vec<&str> = hooks.iter().map(|hook| hook.name.as_str()).collect();
    ui::note(format!("Forgotten: {}.", visible(&names.join(", "))));
    Ok(())
}

fn refusal(hooks: &[LostHook]) -> Failure {
    let hooks: Vec<String> = hooks
        .iter()
        .map(|hook| visible(&format!("{} {}", hook.name, hook.why())).into_owned())
        .collect();
    let message = format!("hooks that you trusted no longer run: {}", hooks.join("; "));
    Failure { exit: Exit::Untrusted, ..Failure::new(message) }.help(
        "restore them; or run `tenter trust` to accept this state of the project or to forget them; or pass --no-hooks to run \
         without hooks",
    )
}
