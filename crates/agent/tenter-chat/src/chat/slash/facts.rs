//! `/status`, `/context`, `/mcp` and `/skills`.

use tenter_agent::prompt::SectionWriter;
use tenter_agent::{Agent, Session};
use tenter_base::sanitize;
use tenter_protocol::{Block, Message, Role};
use tenter_terminal::{NAME, styled, ui};

use super::{CommandContext, SlashResult};
use crate::{mcp, skill};

/// Shows the state of the chat.
#[expect(clippy::unnecessary_wraps, reason = "commands are alike")]
pub(super) fn status(context: &mut CommandContext, _: &str) -> SlashResult {
    let (chat, agent) = (&*context.chat, context.agent);
    let permissions = &agent.permissions;
    let plan = if permissions.is_planning() { ", plan mode" } else { "" };
    let hooks = agent.engine.catalog().hooks().len();
    let servers = chat.project.settings.mcp.len();
    let usage = context.session.usage();
    let figures = format!("{} in, {} out", usage.input_tokens, usage.output_tokens);
    show(&[
        ("model", sanitize(agent.model.name()).into_owned()),
        ("project", sanitize(&chat.project.root().to_string_lossy()).into_owned()),
        ("conversation", sanitize(context.session.conversation_id()).into_owned()),
        ("permissions", format!("{}{plan}", permissions.mode())),
        ("hooks", format!("{hooks}, /hooks lists them")),
        ("MCP servers", format!("{servers}, /mcp lists them")),
        ("tokens", figures),
        ("context", context_words(context.session, agent.model.context_window())),
    ]);
    Ok(None)
}

/// Shows the context in use, and what fills it.
#[expect(clippy::unnecessary_wraps, reason = "commands are alike")]
pub(super) fn context(context: &mut CommandContext, _: &str) -> SlashResult {
    let messages = context.session.conversation().messages();
    let mut sizes = [("your messages", 0), ("answers", 0), ("tool calls", 0), ("tool results", 0)];
    for message in messages.iter() {
        for (part, size) in sizes_of(message) {
            sizes[part].1 += size;
        }
    }
    let prompt = context.agent.settings.system_prompt.render(&SectionWriter::new("")).len();
    let total = prompt + sizes.iter().map(|(_, size)| size).sum::<usize>();
    let share =
        |size: usize| format!("{} % of the text", (size * 100).checked_div(total).unwrap_or(0));
    let words = context_words(context.session, context.agent.model.context_window());
    let mut lines = vec![("in use", words), ("messages", messages.len().to_string())];
    lines.push(("system prompt", share(prompt)));
    lines.extend(sizes.map(|(part, size)| (part, share(size))));
    show(&lines);
    ui::note("/compact summarizes the conversation; tools and their schemas are not counted here.");
    Ok(None)
}

/// Lists the MCP servers.
#[expect(clippy::unnecessary_wraps, reason = "commands are alike")]
pub(super) fn mcp(context: &mut CommandContext, _: &str) -> SlashResult {
    mcp::list(&context.chat.project);
    Ok(None)
}

/// Lists the skills.
#[expect(clippy::unnecessary_wraps, reason = "commands are alike")]
pub(super) fn skills(context: &mut CommandContext, _: &str) -> SlashResult {
    skill::list(&context.chat.project.layout);
    Ok(None)
}

/// Returns the parts of a message, as indices of what fills the context, with their bytes.
fn sizes_of(message: &Message) -> impl Iterator<Item = (usize, usize)> {
    let is_user = message.role == Role::User;
    message.blocks.iter().map(move |block| match block {
        Block::ToolUse(_) => (2, block.content().len()),
        Block::ToolResult { .. } => (3, block.content().len()),
        _ => (usize::from(!is_user), block.content().len()),
    })
}

/// Returns the tokens in the context, and the share of the window.
pub(super) fn context_words(session: &Session, window: u64) -> String {
    let (tokens, window, share) = context_use(session, window);
    format!("{tokens} of {window} tokens ({share} %)")
}

/// Returns the tokens in the context, the window, and the tokens as percents of the window.
fn context_use(session: &Session, window: u64) -> (u64, u64, u64) {
    let usage = session.usage();
    let window = if usage.max_context_window == 0 { window } else { usage.max_context_window };
    let words = usage.current_context_window;
    (words, window, (words * 100).checked_div(window).unwrap_or(0))
}

/// Returns the status line below the prompt: `model · permissions: ask · context 12 %`.
pub(in crate::chat) fn status_line(session: &Session, agent: &Agent) -> String {
    let (_, _, share) = context_use(session, agent.model.context_window());
    let mode = agent.permissions.mode();
    format!("{} · permissions: {mode} · context {share} %", agent.model.name())
}

fn show(lines: &[(&str, String)]) {
    let width = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, text) in lines {
        ui::out(format!("  {}  {text}", styled(NAME, format!("{name:width$}"))));
    }
}
