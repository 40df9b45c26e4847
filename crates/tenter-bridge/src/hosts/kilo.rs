//! Kilo, which descends from OpenCode and has the same plugins.

use super::opencode;
use crate::Host;
use crate::host::Registration;
use crate::user_rules::RuleCheck;

/// Kilo, measured with version 7.7.7.
pub(super) const HOST: Host = Host {
    id: "kilo",
    name: "Kilo",
    measured_version: Some("7.7.7"),
    registration: Registration {
        shared_file: Some(".kilo/plugin"),
        directory_variable: Some("XDG_CONFIG_HOME"),
        ..Registration::new(".config/kilo/plugin", &["kilo"], opencode::FORMAT)
    },
    user_rules: RuleCheck::KILO,
    notes: &[opencode::PASSES],
    withheld: &["KILO_SERVER_PASSWORD"],
    ..opencode::HOST
};
