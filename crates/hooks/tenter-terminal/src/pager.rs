//! Shows a long text in the user's pager: `$PAGER`, by default `less`.

use std::ffi::OsStr;

use tenter_engine::inspect::Environment;
use tenter_proc::{Cancel, Invocation, ProcessEnd};

use crate::env::Env;
use crate::failure::Failure;
use crate::signals::Interrupts;

/// The options of `less` unless the user sets `LESS`: exit if the text fits on one screen, show colours, keep the text on the
/// screen, start at the end.
const LESS: &str = "FRX+G";

/// Returns the user's pager; `None` if there is no terminal or the user disabled it.
pub fn wanted(env: &Env) -> Option<&OsStr> {
    if env.is_dumb() || !Env::has_terminal() {
        return None;
    }
    // An empty variable means no pager, as for git.
    let set = env.vars.iter().find(|(name, _)| name == "PAGER").map(|(_, value)| value.as_os_str());
    Some(set.unwrap_or(OsStr::new("less"))).filter(|pager| !pager.is_empty() && *pager != "cat")
}

/// Shows `text` in `pager` with the environment `vars`. Returns whether the pager could be run.
pub fn show(env: &Env, pager: &OsStr, vars: Environment, text: &str) -> Result<bool, Failure> {
    let interrupts = Interrupts::catch(&Cancel::new())?;
    Ok(show_under(&interrupts, env, pager, vars, text))
}

/// Shows as [`show`], where the signals of this process are caught already: `interrupts` leaves Ctrl-C to the pager meanwhile.
pub fn show_under(
    interrupts: &Interrupts,
    env: &Env,
    pager: &OsStr,
    mut vars: Environment,
    text: &str,
) -> bool {
    if vars.iter().all(|(name, _)| name != "LESS") {
        vars.push(("LESS".into(), LESS.into()));
    }
    let invocation = Invocation {
        program: "sh".into(),
        // The variable may hold arguments: `less -S`.
        args: vec!["-c".into(), pager.to_owned()],
        cwd: env.cwd.clone(),
        env: vars,
        stdin: text.as_bytes().to_vec(),
        ..Invocation::default()
    };
    let end = interrupts.while_away(|| tenter_proc::interactive(&invocation));
    // The shell exits with 126 or 127 if it cannot run the program.
    !matches!(end, ProcessEnd::NotStarted(_) | ProcessEnd::Exited(126 | 127))
}
