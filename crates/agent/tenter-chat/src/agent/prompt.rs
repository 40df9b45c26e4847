//! The sources of the system prompt.

use jiff::tz::TimeZone;
use tenter_agent::prompt::{PromptSources, SystemPrompt, system_prompt};
use tenter_commands::project::Project;
use tenter_protocol::Diagnostic;
use tenter_terminal::now;

use super::AgentArgs;

/// The name of the user's context files, which go into every system prompt.
const CONTEXT_FILE: &str = "AGENTS.md";

/// Returns the system prompt for work in `project`, and diagnostics.
pub(super) fn build(project: &Project, args: &AgentArgs) -> (SystemPrompt, Vec<Diagnostic>) {
    let flag_file = args.system_prompt_file.as_ref().map(|file| project.env.cwd.join(file));
    let user_directories = project.layout.user_directories().into_iter();
    system_prompt(&PromptSources {
        project: project.root(),
        cwd: &project.env.cwd,
        user_files: user_directories.map(|directory| directory.join(CONTEXT_FILE)).collect(),
        override_file: flag_file.or_else(|| project.settings.system_prompt_file.clone()),
        today: now().to_zoned(TimeZone::UTC).date(),
        os: std::env::consts::OS,
        shell: project.env.text("SHELL"),
    })
}
