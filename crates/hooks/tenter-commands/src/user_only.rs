//! Commands that loosen a guard are for the user (R76, B42): a coding agent must not trust hooks, change plugins or disable
//! hooks that guard it. Every other command may be run by an agent.
//!
//! An agent is concerned if the command uses the agent's state directory, which holds the trust store, or the project that the
//! agent works in. A command with another home on another project, such as a test in a temporary directory, loosens nothing.

use std::fs;
use std::path::{Path, PathBuf};

use tenter_base::{account, visible};
use tenter_terminal::question::read_at_terminal;
use tenter_terminal::{Env, Failure};

use crate::ancestors::{self, AgentAbove};

/// The variable that Tenter sets for commands that its model runs.
pub const TENTER_MARKER: &str = "TENTER_AGENT";
/// Variables that agents set for commands that they run. A terminal multiplexer that an agent started keeps them.
const MARKERS: [&str; 9] = [
    TENTER_MARKER,
    "TENTER_SESSION_ID",
    "CLAUDECODE",
    "CODEX_SANDBOX",
    "GEMINI_CLI",
    "COPILOT_CLI",
    "OPENCODE",
    "QWEN_CODE",
    "CURSOR_AGENT",
];
/// The text that the user types to confirm if only such a variable hints at an agent.
const CONFIRMATION: &str = "I am the user";

/// Makes sure that the user runs `tenter NAME` on the project with this root.
///
/// # Errors
/// A coding agent that is concerned runs it; or an agent may run it, and the user does not confirm at a terminal that none does.
pub fn check(env: &Env, project: &Path, name: &str) -> Result<(), Failure> {
    let agents = ancestors::agents_above();
    if let Some(agent) = agents.iter().find(|agent| concerns(agent, env, project)) {
        return Err(refusal(agent, name));
    }
    let marker = MARKERS.into_iter().find(|marker| env.var(marker).is_some());
    marker.map_or(Ok(()), |marker| confirm(marker, name))
}

/// Checks whether a coding agent runs this process that trust in this project concerns.
pub fn is_below_agent(env: &Env, project: &Path) -> bool {
    ancestors::agents_above().iter().any(|agent| concerns(agent, env, project))
}

fn concerns(agent: &AgentAbove, env: &Env, project: &Path) -> bool {
    let state = agent.environment.as_ref().map_or_else(
        || account_state_dir(env),
        |vars| Some(Env::from_variables(vars.clone(), env.cwd.clone()).state_dir()),
    );
    let works_there = agent.cwd.as_ref().is_some_and(|cwd| {
        let (cwd, project) = (real(cwd), real(project));
        cwd.starts_with(&project) || project.starts_with(&cwd)
    });
    works_there || state.is_none_or(|state| real(&state) == real(&env.state_dir()))
}

/// Returns the state directory of this user's account, regardless of the environment.
fn account_state_dir(env: &Env) -> Option<PathBuf> {
    let vars = vec![("HOME".into(), account::home()?.into())];
    Some(Env::from_variables(vars, env.cwd.clone()).state_dir())
}

fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn refusal(agent: &AgentAbove, name: &str) -> Failure {
    let AgentAbove { name: agent, process, .. } = agent;
    Failure::new(format!(
        "{agent} (process {process}) runs `tenter {name}`, and an agent must not loosen its own guards"
    ))
    .help(format!("run `tenter {name}` yourself, in a terminal that {agent} has not started"))
}

fn confirm(marker: &str, name: &str) -> Result<(), Failure> {
    let prompt = format!(
        "{marker} is set: a coding agent may run `tenter {}`. Type \"{CONFIRMATION}\" to continue: ",
        visible(name)
    );
    match read_at_terminal(&prompt) {
        Some(line) if line.trim().eq_ignore_ascii_case(CONFIRMATION) => Ok(()),
        _ => Err(Failure::new(format!(
            "{marker} is set, so a coding agent may run `tenter {name}`, and an agent must not loosen its own guards"
        ))
        .help(format!(
            "run `tenter {name}` at a terminal and confirm it, or `unset {marker}` in a shell of your own"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(home: &str) -> Env {
        Env::from_variables(vec![("HOME".into(), home.into())], PathBuf::from("/"))
    }

    fn agent(home: Option<&str>, cwd: Option<&str>) -> AgentAbove {
        AgentAbove {
            name: "Claude Code",
            process: 1,
            environment: home.map(|home| vec![("HOME".into(), home.into())]),
            cwd: cwd.map(PathBuf::from),
        }
    }

    #[test]
    fn a_command_concerns_an_agent_with_the_same_home_or_in_the_same_project() {
        let project = Path::new("/no/project");
        let is_concerned = |agent| concerns(&agent, &env("/no/home"), project);
        assert!(is_concerned(agent(Some("/no/home"), Some("/elsewhere"))));
        assert!(is_concerned(agent(Some("/other"), Some("/no/project/src"))));
        assert!(is_concerned(agent(Some("/other"), Some("/no"))));
        assert!(!is_concerned(agent(Some("/other"), Some("/no/project2"))));
        assert!(!is_concerned(agent(Some("/other"), None)));
    }

    #[test]
    fn an_agent_with_an_unreadable_environment_has_the_home_of_the_account() {
        let account = account_state_dir(&env("/x")).unwrap();
        let home = account.ancestors().nth(3).unwrap().to_str().unwrap();
        assert!(concerns(&agent(None, None), &env(home), Path::new("/no/project")));
        assert!(!concerns(&agent(None, None), &env("/no/home"), Path::new("/no/project")));
    }
}
