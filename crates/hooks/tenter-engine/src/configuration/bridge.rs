//! The settings of the bridge to other agents. Only the user's file sets them (B43).

use serde::Deserialize;

/// The table `[bridge]` of a configuration file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BridgeTable {
    pub(super) allow_skips_prompt: Option<bool>,
    pub(super) ask_fallback: Option<AskFallback>,
    pub(super) unguardable: Option<OnUnguardable>,
    pub(super) untrusted: Option<Reaction>,
    pub(super) on_breach: Option<Reaction>,
    pub(super) gemini: GeminiTable,
}

/// The table `[bridge.gemini]` of a configuration file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct GeminiTable {
    pub(super) ask: Option<GeminiAsk>,
}

/// The settings of the bridge to other agents: nothing is unset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BridgeSettings {
    /// True if the allow of a hook also answers the host's own question to the user (B16).
    pub allow_skips_prompt: bool,
    /// The effect of a hook's `ask` in a host that cannot ask (B17).
    pub ask_fallback: AskFallback,
    /// The treatment of calls whose output a hook that fails closed would rewrite, in a host that cannot rewrite it (B19).
    pub unguardable: OnUnguardable,
    /// The reaction to a project with hooks that were never trusted (B27).
    pub untrusted: Reaction,
    /// The reaction to a denied call that ran (B30).
    pub on_breach: Reaction,
    /// The effect of a hook's `ask` in Gemini CLI.
    pub gemini_ask: GeminiAsk,
}

impl Default for BridgeSettings {
    fn default() -> Self {
        BridgeTable::default().into()
    }
}

impl From<BridgeTable> for BridgeSettings {
    fn from(table: BridgeTable) -> Self {
        Self {
            allow_skips_prompt: table.allow_skips_prompt.unwrap_or(false),
            ask_fallback: table.ask_fallback.unwrap_or(AskFallback::Deny),
            unguardable: table.unguardable.unwrap_or(OnUnguardable::Deny),
            untrusted: table.untrusted.unwrap_or(Reaction::Warn),
            on_breach: table.on_breach.unwrap_or(Reaction::Warn),
            gemini_ask: table.gemini.ask.unwrap_or(GeminiAsk::Fallback),
        }
    }
}

/// The treatment of calls that a hook cannot guard in a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnUnguardable {
    /// They are denied.
    Deny,
    /// They run.
    Pass,
}

/// The effect of a hook's `ask` in Gemini CLI, which can ask, but waits forever if there is no user (B17).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GeminiAsk {
    /// The same as in agents that cannot ask.
    Fallback,
    /// It asks the user.
    Native,
}

/// The reaction of the bridge to a problem of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reaction {
    /// It tells the user.
    Warn,
    /// It also denies every prompt and call of the session.
    Block,
}

/// The answer to `ask` where no user can be asked (R30, B17).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AskFallback {
    /// No.
    Deny,
    /// Yes.
    Allow,
}
