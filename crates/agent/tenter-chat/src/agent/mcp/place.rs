//! The variables and the working directory of a server.

use std::path::PathBuf;

use tenter_commands::project::Project;
use tenter_engine::inspect::Environment;
use tenter_settings::ConfiguredServer;

use super::expansion::expand;
use super::outside::Outside;

/// The variable with the project's root.
pub(super) const PROJECT: &str = "TENTER_PROJECT_DIR";

/// Returns the variables with which the settings of a server are expanded.
pub(super) fn inherited(project: &Project, server: &ConfiguredServer) -> Environment {
    let root = project.root().as_os_str().to_owned();
    project.hook_environment().for_hook(&server.table.pass_env, &[(PROJECT, root)])
}

/// Returns the working directory of a server.
///
/// # Errors
/// Its setting has a variable that is not set.
pub(super) fn directory(
    project: &Project,
    server: &ConfiguredServer,
    base: &Environment,
) -> Result<PathBuf, String> {
    let cwd = server.table.cwd.as_deref().map(|cwd| expand(cwd, base)).transpose()?;
    if server.is_project {
        return Ok(project.root().join(cwd.as_deref().unwrap_or(".")));
    }
    Ok(outside(project).directory(cwd.as_deref()))
}

/// Returns the environment outside the project, for a server of the user.
pub(super) fn outside<'p>(project: &'p Project) -> Outside<'p> {
    Outside { project: project.root(), home: &project.env.home }
}
