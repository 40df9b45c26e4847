//! Agents that are no hosts yet.

use crate::host::{ANYWHERE, SettingsPaths, within};

/// What decides what they load, run and allow.
pub(super) const SETTINGS: &[SettingsPaths] = &[
    // Amp.
    within(&[".amp", "~/.config/amp"], &["settings.json", "plugins", "toolboxes", "tools"]),
    // Antigravity and other agents that share these directories.
    within(&[ANYWHERE], &[".agents/hooks.json", ".agents/mcp.json"]),
    // Augment.
    within(&[".augment"], &["settings.json", "agents", "commands", "plugins"]),
    // Continue.
    within(
        &[".continue"],
        &["config.yaml", "config.json", "config.ts", "mcpServers", "permissions.yaml"],
    ),
    // Cupcake.
    within(&[ANYWHERE], &[".cupcake"]),
    // Devin.
    within(
        &[".devin", "~/.config/devin"],
        &["config.json", "config.local.json", "hooks.v1.json", "mcp.json"],
    ),
    // Grok CLI.
    within(&[".grok"], &["settings.json", "user-settings.json", "hooks", "plugins", "config.toml"]),
    // Junie.
    within(&[".junie"], &["config.json", "mcp"]),
    // Kiro and Amazon Q.
    within(&[".kiro"], &["hooks", "settings", "agents"]),
    within(&[".amazonq", "~/.aws/amazonq"], &["mcp.json", "cli-agents", "agents"]),
    // Roo Code.
    within(&[ANYWHERE], &[".roo/mcp.json", ".roomodes"]),
    // Windsurf.
    within(&[".windsurf", "~/.codeium/windsurf"], &["hooks.json", "mcp_config.json"]),
    // Zed.
    within(&[".zed", "~/.config/zed"], &["settings.json"]),
];
