//! Kilo, a relative of OpenCode.

use super::{Client, opencode};

pub(super) const CLIENT: Client = Client {
    host: "kilo",
    arguments: "run --auto --format json --print-logs {resume} {prompt}",
    // It reads switches of both names.
    switches: "\
        OPENCODE_DISABLE_AUTOUPDATE OPENCODE_DISABLE_MODELS_FETCH \
        OPENCODE_DISABLE_LSP_DOWNLOAD OPENCODE_DISABLE_SHARE KILO_DISABLE_AUTOUPDATE \
        KILO_DISABLE_MODELS_FETCH KILO_DISABLE_LSP_DOWNLOAD KILO_DISABLE_SHARE DO_NOT_TRACK",
    environment: |launch| {
        let mut environment = opencode::directories(launch);
        environment.push(("KILO_TELEMETRY_LEVEL", "off".to_owned()));
        environment
    },
    files: |launch| opencode::files(launch, "kilo"),
    limits: &[],
    ..opencode::CLIENT
};
