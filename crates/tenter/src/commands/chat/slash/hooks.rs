//! `/hooks` and `/trust`.

use tenter_engine::catalog::Catalog;

use super::Talk;
use crate::agent::recipes;
use crate::commands::chat::{After, Change};
use crate::commands::hooks::show_catalog;
use crate::failure::Failure;
use crate::trust::{self, Pending, TrustChoice};
use crate::ui;

/// Lists the hooks as this session has them.
pub(super) fn list(talk: &mut Talk, _argument: &str) -> Result<Option<After>, Failure> {
    check_that_hooks_run(talk)?;
    show_catalog(&talk.chat.project, &talk.agent.engine.catalog());
    Ok(None)
}

/// Asks about everything of the project that waits for trust. What is trusted is used from now on: in a new session on the
/// same conversation.
pub(super) fn trust(talk: &mut Talk, _argument: &str) -> Result<Option<After>, Failure> {
    let cancel = talk.chat.new_cancel();
    ui::diagnostics(&talk.chat.project.read_trust_again());
    let found = if hooks_run(talk) { talk.chat.project.load(&cancel) } else { Catalog::default() };
    let chat = &mut *talk.chat;
    ui::diagnostics(chat.project.findings());
    let recipes = recipes::held_back(&recipes::book(&chat.project, &chat.args.fragment_dirs));
    let pending = Pending { hooks: found.untrusted(), recipes: &recipes };
    if pending.is_empty() && found.lost().is_empty() {
        return trusted_elsewhere(talk, found);
    }
    let mut read = |prompt: &str| chat.dialogue.question(prompt);
    let choice = match pending {
        pending if pending.is_empty() => TrustChoice::Skip,
        pending => trust::ask_through(chat.project.trust_context(), pending, &mut read),
    };
    let is_trusted = choice == TrustChoice::Trust;
    if !is_trusted && found.lost().is_empty() {
        ui::note("Nothing was trusted.");
        return Ok(None);
    }
    let found = match choice {
        TrustChoice::Trust => trust::trust_pending(&mut chat.project, found, &recipes, &cancel)?,
        TrustChoice::Skip | TrustChoice::Refuse => found,
    };
    let settled = trust::settle_lost(&mut chat.project, found, &mut read, &cancel)?;
    Ok(is_trusted.then(|| After::Change(Change::Trust(Box::new(settled)))))
}

/// What was trusted since, in another terminal, is used from now on.
fn trusted_elsewhere(talk: &Talk, found: Catalog) -> Result<Option<After>, Failure> {
    let running = talk.agent;
    let waited = !running.engine.catalog().untrusted().is_empty()
        || !recipes::held_back(&running.settings.recipes).is_empty();
    if waited {
        ui::note("What was trusted in the meantime is used from now on.");
        return Ok(Some(After::Change(Change::Trust(Box::new(found)))));
    }
    check_that_hooks_run(talk)?;
    ui::note("Nothing to trust: everything is already trusted.");
    Ok(None)
}

fn hooks_run(talk: &Talk) -> bool {
    !talk.chat.args.no_hooks && talk.chat.project.settings.hooks_enabled
}

fn check_that_hooks_run(talk: &Talk) -> Result<(), Failure> {
    if !hooks_run(talk) {
        return Err(Failure::usage("this chat runs without hooks")
            .help("start it without --no-hooks and without `enabled = false` in config.toml"));
    }
    Ok(())
}
