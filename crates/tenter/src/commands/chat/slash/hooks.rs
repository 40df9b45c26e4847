//! `/hooks` and `/trust`.

use tenter_engine::catalog::Catalog;

use super::Talk;
use crate::commands::chat::asker::question;
use crate::commands::chat::{After, Change};
use crate::commands::hooks::show_catalog;
use crate::commands::trust::{self, Choice, Waiting};
use crate::failure::Failure;
use crate::ui;

/// Lists the hooks as this session has them.
pub(super) fn list(talk: &mut Talk, _argument: &str) -> Result<Option<After>, Failure> {
    check_that_hooks_run(talk)?;
    show_catalog(&talk.chat.project, talk.agent.engine.catalog());
    Ok(None)
}

/// Asks about untrusted hooks. Those that are trusted run from now on: in a new session on the same conversation.
pub(super) fn trust(talk: &mut Talk, _argument: &str) -> Result<Option<After>, Failure> {
    check_that_hooks_run(talk)?;
    let cancel = talk.chat.new_cancel();
    let chat = &mut *talk.chat;
    let found = chat.project.load(&cancel);
    ui::diagnostics(chat.project.findings());
    if found.untrusted().is_empty() {
        return Ok(trusted_elsewhere(talk.agent.engine.catalog(), found));
    }
    let interrupts = &chat.interrupts;
    let choice = trust::ask_through(&chat.project, Waiting::hooks_of(&found), &mut |prompt| {
        question(prompt, interrupts)
    });
    if choice == Choice::Trust {
        let trusted = trust::trust_and_reload(&mut chat.project, &found, &cancel)?;
        return Ok(Some(After::Change(Change::Hooks(Box::new(trusted)))));
    }
    ui::note("Nothing was trusted.");
    Ok(None)
}

/// Hooks that were trusted since, in another terminal, run from now on.
fn trusted_elsewhere(running: &Catalog, found: Catalog) -> Option<After> {
    if running.untrusted().is_empty() {
        ui::note("Nothing to trust: no hook waits for it.");
        return None;
    }
    ui::note("The hooks that were trusted in the meantime run from now on.");
    Some(After::Change(Change::Hooks(Box::new(found))))
}

fn check_that_hooks_run(talk: &Talk) -> Result<(), Failure> {
    if talk.chat.args.no_hooks || !talk.chat.project.settings.hooks_enabled {
        return Err(Failure::usage("this chat runs without hooks")
            .help("start it without --no-hooks and without `enabled = false` in config.toml"));
    }
    Ok(())
}
