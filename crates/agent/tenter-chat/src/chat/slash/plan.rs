//! `/plan` and `/go`: plan mode, in which nothing changes until the user approves a plan.

use tenter_terminal::{Failure, ui};

use super::{CommandContext, SlashResult};

/// The message that approves a plan.
const APPROVAL: &str = "I approve the plan. Carry it out.";

/// Begins or ends plan mode; with a message, begins it and sends the message.
#[expect(clippy::unnecessary_wraps, reason = "commands are alike")]
pub(super) fn plan(context: &mut CommandContext, message: &str) -> SlashResult {
    let permissions = &context.agent.permissions;
    let is_on = !permissions.is_planning() || !message.is_empty();
    permissions.set_planning(is_on);
    ui::note(if is_on {
        "Plan mode is on: nothing is changed until /go approves a plan."
    } else {
        "Plan mode is off."
    });
    if !message.is_empty() {
        context.chat.queue.push_front(message.to_owned());
    }
    Ok(None)
}

/// Approves the plan.
pub(super) fn go(context: &mut CommandContext, _: &str) -> SlashResult {
    if !context.agent.permissions.is_planning() {
        return Err(Failure::usage("there is no plan to approve: plan mode is off")
            .help("/plan MESSAGE asks for a plan"));
    }
    context.agent.permissions.set_planning(false);
    context.chat.queue.push_front(APPROVAL.to_owned());
    Ok(None)
}
