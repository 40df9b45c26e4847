//! Warns about settings for hooks in Kodelet's configuration, which Tenter does not read.

use tenter_base::untrusted_file;
use tenter_protocol::{Diagnostic, Severity};
use tenter_terminal::Env;

/// Returns a warning if Kodelet's configuration disables hooks, which has no effect in Tenter.
pub(super) fn disabled_hooks(env: &Env) -> Option<Diagnostic> {
    let file = env.home.join(".kodelet/config.yaml");
    let text = untrusted_file::read_to_string(&file).ok()?;
    text.lines().any(disables_hooks).then(|| {
        let message = "`no_hooks: true` has no effect: Tenter does not read this file";
        let config = env.config_file();
        Diagnostic::new("kodelet-config", Severity::Warning, message).at(file).help(format!(
            "write `hooks.enabled = false` in {}, or pass --no-hooks",
            config.display()
        ))
    })
}

/// Checks whether a line of YAML is the top-level key with the value `true`.
fn disables_hooks(line: &str) -> bool {
    let Some((key, value)) = line.split_once(':') else { return false };
    let value = value.split('#').next().unwrap_or_default().trim();
    ["no_hooks", "no-hooks"].contains(&key.trim_end()) && value.eq_ignore_ascii_case("true")
}
