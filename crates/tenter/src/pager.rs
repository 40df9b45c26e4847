//! Shows a long text in the user's pager: `$PAGER`, else `less`.

use std::ffi::OsStr;

use tenter_engine::environment::Environment;
use tenter_proc::{Cancel, End, Invocation, Limits, Streams};

use crate::env::Env;
use crate::failure::Failure;
use crate::signals::Interrupts;

/// What `less` is told where the user tells it nothing: end at once if the text fits on the screen, show colours, leave the text on
/// the screen, begin at the end.
const LESS: &str = "FRX+G";

/// The user's pager; none where there is no terminal, or where the user wants none.
pub(crate) fn wanted(env: &Env) -> Option<&OsStr> {
    let is_dumb = env.var("TERM").is_none_or(|term| term == "dumb");
    if is_dumb || !Env::has_terminal() {
        return None;
    }
    // An empty variable means no pager, as it does to git.
    let set = env.vars.iter().find(|(name, _)| name == "PAGER").map(|(_, value)| value.as_os_str());
    Some(set.unwrap_or(OsStr::new("less"))).filter(|pager| !pager.is_empty() && *pager != "cat")
}

/// Shows `text` in `pager`, which gets `vars` as its environment. Returns whether it was shown.
pub(crate) fn show(
    env: &Env,
    pager: &OsStr,
    mut vars: Environment,
    text: &str,
) -> Result<bool, Failure> {
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
        streams: Streams::Separate,
        limits: Limits::default(),
    };
    // Ctrl-C is meant for the pager.
    let interrupts = Interrupts::catch(&Cancel::new())?;
    let end = interrupts.while_away(|| tenter_proc::interactive(&invocation));
    // 126 and 127 are the shell's words for a program that cannot be run.
    Ok(!matches!(end, End::NotStarted(_) | End::Exited(126 | 127)))
}
