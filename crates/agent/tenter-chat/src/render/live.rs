//! Shows the running work of an agent on the screen: from the updates of the agent, and the runs of hooks.

use std::sync::Arc;

use tenter_agent::SessionUpdate;
use tenter_base::{one_line, visible};
use tenter_engine::HookRun;
use tenter_protocol::{Scope, ToolCall, call_summary};
use tenter_terminal::screen::{Activity, ActivityKey, screen};

/// Maximum number of characters of what runs.
const LABEL: usize = 80;
/// Maximum number of characters of what runs if it is not alone.
const SHORT: usize = 24;
/// Maximum number of lines shown of a tool's output.
const OUTPUT_LINES: usize = 5;
/// The tool whose calls contain other calls.
const SUBAGENT: &str = "subagent";

/// Shows what begins or ends with an update.
pub(super) fn on_update(scope: &Scope, update: &SessionUpdate) {
    let conversation = scope.conversation_id.as_str();
    let key = |kind: &str| ActivityKey(format!("{kind} {conversation}"));
    let screen = screen();
    match update {
        SessionUpdate::ModelStarted { model } => {
            screen.end(&key("retry"));
            screen.begin(key("model"), Activity::new(format!("model {}", one_line(model, LABEL))));
        }
        SessionUpdate::ModelEnded => screen.end(&key("model")),
        SessionUpdate::TextDelta(piece) | SessionUpdate::ReasoningDelta(piece) => {
            screen.count_streamed(conversation, piece.len());
        }
        SessionUpdate::Retry { .. } => {
            screen.forget_streamed(conversation);
            screen.begin(key("retry"), Activity::new("waiting to retry"));
        }
        SessionUpdate::Usage(usage) => {
            screen.count_response(conversation, usage.turn.input_tokens, usage.turn.output_tokens);
        }
        SessionUpdate::ToolStarted { call, output } => {
            let output = (*output).clone();
            let activity = Activity {
                output: Some(Arc::new(move || output.lines(OUTPUT_LINES))),
                is_behind: call.name == SUBAGENT,
                ..Activity::new(title(call, LABEL))
            };
            let short = title(call, SHORT);
            screen.begin(tool_key(conversation, &call.id), activity.or_short(short));
        }
        SessionUpdate::ToolEnded { call_id } => screen.end(&tool_key(conversation, call_id)),
        SessionUpdate::Recipe { recipe, .. } => {
            let activity = Activity::new(format!("recipe {}", one_line(recipe, LABEL)));
            // One that an asynchronous hook called back is not waited for.
            screen.begin(key(recipe), Activity { is_behind: true, ..activity });
        }
        SessionUpdate::RecipeEnded { recipe } => screen.end(&key(recipe)),
        _ => {}
    }
}

pub(super) fn hook_started(run: &HookRun) {
    let activity = Activity::new(format!("hook {} at {}", visible(&run.hook), run.event));
    screen().begin(hook_key(run), Activity { is_behind: run.asynchronous, ..activity });
}

pub(super) fn hook_stopped(run: &HookRun) {
    screen().end(&hook_key(run));
}

/// Returns a call in at most `length` characters: its tool, and its most important input.
pub(super) fn title(call: &ToolCall, length: usize) -> String {
    let summary = call_summary(&call.name, &call.input);
    one_line(&format!("{} {summary}", call.name), length)
}

fn tool_key(conversation: &str, call: &str) -> ActivityKey {
    ActivityKey(format!("tool {conversation} {call}"))
}

fn hook_key(run: &HookRun) -> ActivityKey {
    let call = run.call_id().unwrap_or_default();
    ActivityKey(format!("hook {} {} {} {call}", run.scope.conversation_id, run.event, run.hook))
}
