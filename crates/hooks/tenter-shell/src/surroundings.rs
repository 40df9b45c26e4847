//! The directories and variables around a text, as the caller knows them.

use std::collections::BTreeMap;

/// The directories and variables of the shell that would run a text. All paths are absolute, and none is looked up.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// The working directory.
    pub cwd: Option<String>,
    /// The project root, the other worktrees of its repository, and directories that the agent's user added.
    pub project: Vec<String>,
    /// The home directory.
    pub home: Option<String>,
    /// Directories for temporary files besides `/tmp` and `/var/tmp`.
    pub temp: Vec<String>,
    /// Environment variables that may be used in commands, such as `TMPDIR` and `USER`. No secrets: values become part of the facts.
    pub variables: BTreeMap<String, String>,
    /// Input that is not seen may reach a command while it runs: a shell that waits for its commands is not read to its end.
    pub unseen_input: bool,
}
