//! Kilo, a fork of OpenCode with the same plugins.

use super::opencode;
use crate::Host;
use crate::host::{ANYWHERE, Registration, SYSTEM, SettingsPaths, within};
use crate::user_rules::RuleCheck;

/// Kilo, measured with version 7.7.7.
pub(super) const HOST: Host = Host {
    id: "kilo",
    name: "Kilo",
    measured_version: Some("7.7.7"),
    registration: Registration {
        shared_file: Some(".kilo/plugin"),
        directory_variable: Some(("XDG_CONFIG_HOME", ".config")),
        ..Registration::new(".config/kilo/plugin", &["kilo"], opencode::FORMAT)
    },
    user_rules: RuleCheck::KILO,
    settings: SETTINGS,
    notes: &[opencode::PASSES],
    withheld: &["KILO_SERVER_PASSWORD"],
    ..opencode::HOST
};

/// The settings that decide what the host loads, runs and allows: OpenCode's settings in directories of its own, and its predecessor's.
const SETTINGS: &[SettingsPaths] = &[
    within(&[".kilo", ".kilocode", "~/.config/kilo"], opencode::RESOURCES),
    within(
        &[".kilo", ".kilocode", "~/.config/kilo", ANYWHERE],
        &["kilo.json", "kilo.jsonc", "opencode.json", "opencode.jsonc", "tui.json", "tui.jsonc"],
    ),
    within(
        &[".kilo", ".kilocode"],
        tenter_base::words!(
            "mcp.json agent-manager.json workflows run-script run-script.sh run-script.ps1
             run-script.cmd run-script.bat setup-script setup-script.sh setup-script.ps1
             setup-script.cmd setup-script.bat"
        ),
    ),
    within(&[ANYWHERE], &[".kilocodemodes"]),
    within(
        &["~"],
        &[
            ".config/kilo/config.json",
            ".local/share/kilo/auth.json",
            ".cache/kilo",
            ".config/Code/User/globalStorage/kilocode.kilo-code/settings",
        ],
    ),
    within(&[SYSTEM], &["etc/kilo", "Library/Application Support/kilo"]),
];
