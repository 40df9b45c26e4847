//! The settings of the bridge to other agents. Only the user's file sets them (B43).

use serde::Deserialize;

/// The settings of the bridge to other agents: the table `[bridge]` of a configuration file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
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
    /// The settings for Gemini CLI.
    pub gemini: GeminiSettings,
}

/// The table `[bridge.gemini]` of a configuration file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GeminiSettings {
    /// The effect of a hook's `ask`.
    pub ask: GeminiAsk,
}

/// The treatment of calls that a hook cannot guard in a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnUnguardable {
    /// They are denied.
    #[default]
    Deny,
    /// They run.
    Pass,
}

/// The effect of a hook's `ask` in Gemini CLI, which can ask, but waits forever if there is no user (B17).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GeminiAsk {
    /// The same as in agents that cannot ask.
    #[default]
    Fallback,
    /// It asks the user.
    Native,
}

/// The reaction of the bridge to a problem of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reaction {
    /// It tells the user.
    #[default]
    Warn,
    /// It also denies every prompt and call of the session.
    Block,
}

/// The answer to `ask` where no user can be asked (R30, B17).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AskFallback {
    /// No.
    #[default]
    Deny,
    /// Yes.
    Allow,
}
