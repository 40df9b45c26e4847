//! `tenter hooks`: sessions of a user who lists, writes and tests hooks.

mod broken_scripts;
mod cases;
mod disclosure;
mod doctor;
mod explain;
mod list;
mod manifests;
mod new;
mod runtime;
mod schema;
mod stats;
mod templates;
mod test;
mod validate;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tenter_testkit::Sandbox;

/// A hook that subscribes to `before_tool_call` and replies nothing.
const SILENT: &str = "#!/bin/sh\n[ \"$1\" = hook ] && echo before_tool_call\ncat >/dev/null\n";

/// Writes a manifest hook into the directory `hooks`: its front matter, without the lines around it, and a script in sh.
fn manifest(hooks: &Path, name: &str, front_matter: &str, script: &str) -> PathBuf {
    let directory = hooks.join(name);
    fs::create_dir_all(directory.join("scripts")).unwrap();
    let text =
        format!("---\nname: {name}\ndescription: Test.\n{front_matter}\n---\n\n# About {name}\n");
    fs::write(directory.join("HOOK.md"), text).unwrap();
    let path = directory.join("scripts/run.sh");
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    directory
}

/// Returns the user's directory for manifest hooks.
fn user_hooks(sandbox: &Sandbox) -> PathBuf {
    sandbox.home().join(".config/agents/hooks")
}

/// Returns the project's directory for manifest hooks.
fn project_hooks(sandbox: &Sandbox) -> PathBuf {
    sandbox.project().join(".agents/hooks")
}
