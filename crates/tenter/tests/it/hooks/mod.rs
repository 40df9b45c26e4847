//! `tenter hooks`: sessions of somebody who lists, writes and tries hooks.

mod list;
mod new;
mod test;

use std::process::Stdio;

use tenter_testkit::{Output, Sandbox};

/// A hook that is told of `before_tool_call` and says nothing.
const SILENT: &str = "#!/bin/sh\n[ \"$1\" = hook ] && echo before_tool_call\ncat >/dev/null\n";

/// Runs a command with further variables.
fn run_with_env(sandbox: &Sandbox, args: &[&str], vars: &[(&str, &str)]) -> Output {
    let mut command = sandbox.command();
    command.args(args).envs(vars.iter().copied()).stdout(Stdio::piped()).stderr(Stdio::piped());
    sandbox.finish(command.spawn().unwrap())
}
