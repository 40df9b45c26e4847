//! `/hooks` and `/trust`.

use tenter_base::visible;
use tenter_commands::hooks::{self as commands, show_catalog};
use tenter_commands::trust::{self, PendingTrust, TrustChoice};
use tenter_engine::FailMode;
use tenter_engine::inspect::Catalog;
use tenter_terminal::question::confirm;
use tenter_terminal::{Failure, ui};

use super::{CommandContext, SlashResult};
use crate::agent::{mcp, recipes};
use crate::chat::{ChatEnd, SessionChange};

/// The actions of `/hooks` on a hook.
pub(in crate::chat) const ACTIONS: [&str; 3] = ["on", "off", "test"];

/// Lists the hooks of this session; or enables, disables or tests one.
pub(super) fn hooks(context: &mut CommandContext, argument: &str) -> SlashResult {
    check_that_hooks_run(context)?;
    let words: Vec<&str> = argument.split_whitespace().collect();
    match words[..] {
        [] => {
            show_catalog(&context.chat.project, &context.agent.engine.catalog());
            Ok(None)
        }
        ["on", name] => {
            commands::enable(&mut context.chat.project, name)?;
            Ok(Some(reloaded(context)))
        }
        ["off", name] => disable(context, name),
        ["test", name] => test(context, name, None),
        ["test", name, event] => test(context, name, Some(event)),
        _ => Err(Failure::usage(format!("/hooks cannot {argument:?}"))
            .help("use /hooks, /hooks on NAME, /hooks off NAME or /hooks test NAME [EVENT]")),
    }
}

/// Disables a hook as `tenter hooks disable` does. One that fails closed is a guard, so the user confirms.
fn disable(context: &mut CommandContext, name: &str) -> SlashResult {
    let catalog = context.agent.engine.catalog();
    let is_guard = catalog
        .hooks()
        .iter()
        .any(|hook| hook.name == name && hook.policy.fail == FailMode::Closed);
    if is_guard {
        let question =
            format!("The hook {} fails closed: it is a guard. Disable it?", visible(name));
        let dialogue = &context.chat.dialogue;
        if !confirm(&question, &mut |prompt| dialogue.question(prompt)) {
            ui::note("The hook stays enabled.");
            return Ok(None);
        }
    }
    commands::disable(&mut context.chat.project, name)?;
    Ok(Some(reloaded(context)))
}

/// Continues in a session with the hooks as they are now.
fn reloaded(context: &mut CommandContext) -> ChatEnd {
    let cancel = context.chat.new_cancel();
    let catalog = context.chat.project.load(&cancel);
    ui::diagnostics(context.chat.project.findings());
    ChatEnd::Change(SessionChange::Trust(Box::new(catalog)))
}

/// Tests a hook as `tenter hooks test` does. The chat continues, however it ends.
fn test(context: &mut CommandContext, name: &str, event: Option<&str>) -> SlashResult {
    let cancel = context.chat.new_cancel();
    let catalog = context.agent.engine.catalog();
    commands::test_once_or_all(&context.chat.project, &catalog, (name, event), &cancel)?;
    Ok(None)
}

/// Asks about everything in the project that is not trusted yet. Newly trusted hooks, recipes and servers are used in a new
/// session on the same conversation.
pub(super) fn trust(context: &mut CommandContext, _argument: &str) -> SlashResult {
    let cancel = context.chat.new_cancel();
    let before = pending_servers(context).len();
    ui::diagnostics(&context.chat.project.read_trust_again());
    let servers = pending_servers(context);
    let mut has_servers = servers.len() < before;
    let catalog =
        if hooks_run(context) { context.chat.project.load(&cancel) } else { Catalog::default() };
    let chat = &mut *context.chat;
    ui::diagnostics(chat.project.findings());
    let recipes = recipes::untrusted(&recipes::book(&chat.project, &chat.args.fragment_dirs));
    let pending = PendingTrust { hooks: catalog.untrusted(), recipes: &recipes };
    if pending.is_empty() && servers.is_empty() && catalog.lost().is_empty() {
        return trusted_elsewhere(context, catalog, has_servers);
    }
    let mut read = |prompt: &str| chat.dialogue.question(prompt);
    if !servers.is_empty()
        && mcp::ask_through(&chat.project, &servers, &mut read) == TrustChoice::Trust
    {
        // One that cannot be trusted does not affect the others.
        mcp::trust(&mut chat.project, &servers).unwrap_or_else(|failure| ui::failure(&failure));
        has_servers |= mcp::pending(&chat.project).len() < servers.len();
    }
    let choice = match pending {
        pending if pending.is_empty() => TrustChoice::Skip,
        pending => trust::ask_through(chat.project.trust_context(), pending, &mut read),
    };
    let (hooks, trusted_recipes) = choice.trusted(pending);
    let is_trusted = !hooks.is_empty() || !trusted_recipes.is_empty() || has_servers;
    if !is_trusted && catalog.lost().is_empty() {
        ui::note("Nothing was trusted.");
        return Ok(None);
    }
    let contents = (hooks.as_slice(), trusted_recipes.as_slice());
    let catalog = trust::trust_pending(&mut chat.project, catalog, contents, &cancel)?;
    let settled = trust::settle_lost(&mut chat.project, catalog, &mut read, &cancel)?;
    Ok(is_trusted.then(|| changed(settled, has_servers)))
}

/// Returns the servers of the project that are not trusted; none if the chat runs without servers.
fn pending_servers(context: &CommandContext) -> Vec<mcp::PendingServer> {
    if context.chat.args.no_mcp { Vec::new() } else { mcp::pending(&context.chat.project) }
}

fn changed(catalog: Catalog, has_servers: bool) -> ChatEnd {
    let catalog = Box::new(catalog);
    ChatEnd::Change(if has_servers {
        SessionChange::Servers(catalog)
    } else {
        SessionChange::Trust(catalog)
    })
}

/// Uses what was trusted in another terminal in the meantime.
fn trusted_elsewhere(context: &CommandContext, catalog: Catalog, has_servers: bool) -> SlashResult {
    let running = context.agent;
    let was_pending = has_servers
        || !running.engine.catalog().untrusted().is_empty()
        || !recipes::untrusted(&running.settings.recipes).is_empty();
    if was_pending {
        ui::note("Using what you trusted in the meantime.");
        return Ok(Some(changed(catalog, has_servers)));
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
