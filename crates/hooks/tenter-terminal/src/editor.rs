//! Opens the user's editor: `$VISUAL`, `$EDITOR`, or `vi`.

use std::path::Path;

use tenter_engine::inspect::Environment;
use tenter_proc::{Invocation, ProcessEnd};

use crate::env::Env;
use crate::signals::Interrupts;

/// Edits `file` in `directory`, with the environment `vars`, and waits until the editor ends.
pub fn open(
    env: &Env,
    interrupts: &Interrupts,
    directory: &Path,
    vars: &Environment,
    file: &Path,
) -> ProcessEnd {
    // The variable may contain arguments: `code --wait`.
    let line = format!("{} \"$@\"", env.editor());
    let invocation = Invocation {
        program: "sh".into(),
        args: vec!["-c".into(), line.into(), "editor".into(), file.into()],
        cwd: directory.to_owned(),
        env: vars.clone(),
        ..Invocation::default()
    };
    // Ctrl-C is meant for the editor.
    interrupts.while_away(|| tenter_proc::interactive(&invocation))
}
