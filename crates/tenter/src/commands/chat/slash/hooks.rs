//! `/hooks` and `/trust`.

use tenter_engine::catalog::Catalog;

use super::CommandContext;
use crate::agent::recipes;
use crate::commands::chat::{Change, SessionEnd};
use crate::commands::hooks::show_catalog;
use crate::failure::Failure;
use crate::trust::{self, Pending, TrustChoice};
use crate::ui;

/// Lists the hooks of this session.
pub(super) fn list(
    context: &mut CommandContext,
    _argument: &str,
) -> Result<Option<SessionEnd>, Failure> {
    check_that_hooks_run(context)?;
    show_catalog(&context.chat.project, &context.agent.engine.catalog());
    Ok(None)
}

/// Asks about everything in the project that is not trusted yet. Newly trusted hooks and recipes are used in a new session on
/// the same conversation.
pub(super) fn trust(
    context: &mut CommandContext,
    _argument: &str,
) -> Result<Option<SessionEnd>, Failure> {
    let cancel = context.chat.new_cancel();
    ui::diagnostics(&context.chat.project.read_trust_again());
    let found =
        if hooks_run(context) { context.chat.project.load(&cancel) } else { Catalog::default() };
    let chat = &mut *context.chat;
    ui::diagnostics(chat.project.findings());
    let recipes = recipes::untrusted(&recipes::book(&chat.project, &chat.args.fragment_dirs));
    let pending = Pending { hooks: found.untrusted(), recipes: &recipes };
    if pending.is_empty() && found.lost().is_empty() {
        return trusted_elsewhere(context, found);
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
    Ok(is_trusted.then(|| SessionEnd::Change(Change::Trust(Box::new(settled)))))
}

/// Uses what was trusted in another terminal in the meantime.
fn trusted_elsewhere(
    context: &CommandContext,
    found: Catalog,
) -> Result<Option<SessionEnd>, Failure> {
    let running = context.agent;
    let was_pending = !running.engine.catalog().untrusted().is_empty()
        || !recipes::untrusted(&running.settings.recipes).is_empty();
    if was_pending {
        ui::note("Using what you trusted in the meantime.");
        return Ok(Some(SessionEnd::Change(Change::Trust(Box::new(found)))));
    }
    check_that_hooks_run(context)?;
    ui::note("Nothing to trust: everything is already trusted.");
    Ok(None)
}

fn hooks_run(context: &CommandContext) -> bool {
    !context.chat.args.no_hooks && context.chat.project.settings.hooks.enabled
}

fn check_that_hooks_run(context: &CommandContext) -> Result<(), Failure> {
    if !hooks_run(context) {
        return Err(Failure::usage("this chat runs without hooks")
            .help("start it without --no-hooks and without `enabled = false` in config.toml"));
    }
    Ok(())
}
