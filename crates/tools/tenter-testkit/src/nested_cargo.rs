//! Cargo, started by a test or a bench that cargo itself started.

use std::env;
use std::process::Command;

/// Returns a command that starts cargo as a user would, without the variables of the package whose test or bench runs.
///
/// Build scripts depend on these variables: with them, they would run again, and everything above them would be compiled again.
#[expect(
    clippy::disallowed_methods,
    reason = "cargo is no hook, and its variables are in the environment"
)]
pub fn nested_cargo() -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            cargo.env_remove(name);
        }
    }
    cargo
}
