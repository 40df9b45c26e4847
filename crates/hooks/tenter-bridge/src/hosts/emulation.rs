//! Emulated powers, and descriptions of them, that several hosts share.

use tenter_protocol::lifecycle::Power;

/// For a denied session.
pub(super) const DENIES_ALL: &str = "every prompt and tool call of the session is denied";
/// The same in hosts that cannot deny prompts.
pub(super) const DENIES_CALLS: &str = "every tool call of the session is denied";
/// For a rewritten input.
pub(super) const ASKS_FOR_CHANGED: &str =
    "the call is denied, and the model is asked to make the changed one";
/// The same in hosts that take a rewritten input together with an allow.
pub(super) const ASKS_UNLESS_ALLOWED: &str = "the call is denied, and the model is asked to make the changed one; native with `bridge.allow_skips_prompt`";
/// For feedback to the model.
pub(super) const AS_CONTEXT: &str = "added as context";
/// The same in hosts in which hooks can replace a result.
pub(super) const TO_RESULT: &str = "added to the tool's result";
/// For text that a later event carries.
pub(super) const WITH_NEXT_PROMPT: &str = "given to the model with the next prompt";
/// The same in hosts whose results of tools take text.
pub(super) const WITH_NEXT_RESULT: &str = "given to the model with the next tool result";
/// The same in hosts whose calls take text.
pub(super) const WITH_NEXT_CALL: &str = "given to the model with the next prompt or tool call";
/// The same in hosts whose prompts and results take text.
pub(super) const WITH_NEXT_INPUT: &str = "given to the model with the next prompt or tool result";

/// A denied session in a host that can deny prompts.
pub(super) const DENIED_SESSION: &[(Power, &str)] = &[(Power::Block, DENIES_ALL)];
/// Feedback at an event that takes context.
pub(super) const FEEDBACK_AS_CONTEXT: &[(Power, &str)] = &[(Power::FeedBack, AS_CONTEXT)];
/// Feedback that waits for the next prompt.
pub(super) const FEEDBACK_WITH_NEXT_PROMPT: &[(Power, &str)] =
    &[(Power::FeedBack, WITH_NEXT_PROMPT)];
/// Context that waits for the next prompt.
pub(super) const CONTEXT_WITH_NEXT_PROMPT: &[(Power, &str)] =
    &[(Power::AddContext, WITH_NEXT_PROMPT)];
/// Feedback and context that wait for the next prompt.
pub(super) const ALL_WITH_NEXT_PROMPT: &[(Power, &str)] =
    &[(Power::FeedBack, WITH_NEXT_PROMPT), (Power::AddContext, WITH_NEXT_PROMPT)];
