//! What the configuration of another agent says of hooks, and what Tenter does not read.

use tenter_base::untrusted_file;
use tenter_protocol::{Diagnostic, Severity};

use crate::env::Env;

/// The finding that Kodelet's configuration switches hooks off, which has no effect here.
pub(super) fn switched_off(env: &Env) -> Option<Diagnostic> {
    let file = env.home.join(".kodelet/config.yaml");
    let text = untrusted_file::read_to_string(&file).ok()?;
    text.lines().any(says_so).then(|| {
        let message = "this file is not read: its `no_hooks: true` has no effect here";
        let config = env.config_file();
        Diagnostic::new("kodelet-config", Severity::Warning, message).at(file).help(format!(
            "write `hooks.enabled = false` in {}, or pass --no-hooks",
            config.display()
        ))
    })
}

/// Whether a line of YAML is the key, at the top, with the value `true`.
fn says_so(line: &str) -> bool {
    let Some((key, value)) = line.split_once(':') else { return false };
    let value = value.split('#').next().unwrap_or_default().trim();
    ["no_hooks", "no-hooks"].contains(&key.trim_end()) && value.eq_ignore_ascii_case("true")
}
