//! Kilo, a relative of OpenCode.

use tenter_model_server::Format;

use super::{Client, opencode};

pub(super) const CLIENT: Client = Client {
    host: "kilo",
    format: Format::Chat,
    arguments: |launch| opencode::arguments(launch, &["run", "--auto"]),
    environment: |launch| {
        // It reads switches of both names.
        let mut environment = opencode::environment(launch, &opencode::SWITCHES);
        environment.extend(SWITCHES.map(|name| (name, "1".to_owned())));
        environment.push(("KILO_TELEMETRY_LEVEL", "off".to_owned()));
        environment
    },
    files: |launch| opencode::files(launch, "kilo"),
    setup: None,
    shell: opencode::shell,
    write: opencode::write,
    failing_call: |reply, word| opencode::shell(reply, &format!("echo {word} >&2; exit 3")),
    subagent: opencode::SUBAGENT,
    compaction: opencode::COMPACTION,
    resumes: true,
    unpacks_itself: false,
    deny_ends_run: false,
    takes_answers_back: false,
    limits: &[],
};

const SWITCHES: [&str; 5] = [
    "KILO_DISABLE_AUTOUPDATE",
    "KILO_DISABLE_MODELS_FETCH",
    "KILO_DISABLE_LSP_DOWNLOAD",
    "KILO_DISABLE_SHARE",
    "DO_NOT_TRACK",
];
