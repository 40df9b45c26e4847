//! The agent's own sandbox is on: a call writes the project, and cannot write outside of it.

use tenter_model_server::ModelReply;

use super::{Plan, touch};
use crate::client::Client;
use crate::observed::{Fact, Run};

/// The file that the call writes in the project.
const INSIDE: &str = "sandbox-inside.txt";
/// The file that it tries to write outside of the project.
const OUTSIDE: &str = "sandbox-outside.txt";

pub(super) fn plan(client: &Client) -> Plan {
    let command = format!("{}; touch \"${{PWD%/*}}/{OUTSIDE}\"", touch(INSIDE));
    let call = (client.shell)(ModelReply::new(), &command);
    Plan::new(Vec::new(), vec![call, ModelReply::text("All finished.")])
}

/// Returns the facts that show whether the sandbox held.
pub(crate) fn facts(run: &Run, client: &Client) -> Vec<Fact> {
    let setting = client.own_sandbox.as_ref().map_or("", |sandbox| sandbox.setting);
    let outside = run.not_made_outside(OUTSIDE);
    let outside = Fact::new(outside.holds, format!("with {setting}, {}", outside.text));
    let mut inside = run.made(INSIDE);
    if !inside.holds
        && let Some(result) = run.last_text()
    {
        inside = Fact::new(false, format!("{}; the model read {result}", inside.text));
    }
    vec![outside, inside]
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::{fs, io};

    use tenter_bridge::hosts;

    use super::*;
    use crate::plan::impossible;
    use crate::scenario::Scenario;

    #[test]
    fn a_sandbox_is_proved_only_where_its_programs_are_installed() -> io::Result<()> {
        let directory = tempfile::tempdir()?;
        let host = hosts::find("claude-code").ok_or(io::ErrorKind::NotFound)?;
        let client = Client::find(host).ok_or(io::ErrorKind::NotFound)?;
        let why = || impossible(Scenario::OwnSandbox, (host, client), directory.path().as_os_str());
        assert!(why().is_some_and(|why| why.contains("socat must be installed")));
        for program in ["bwrap", "socat"] {
            let file = directory.path().join(program);
            fs::write(&file, "")?;
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755))?;
        }
        assert_eq!(why(), None);
        Ok(())
    }
}
