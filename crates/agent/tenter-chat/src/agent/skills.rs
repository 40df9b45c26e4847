//! The skills that an agent offers to the model.

use tenter_agent::skill::{SkillTool, Skills};
use tenter_commands::project::Project;
use tenter_protocol::{Diagnostic, Severity};

use super::AgentArgs;

/// Returns the tool that loads skills, unless there are none, and the errors of broken skills. `tenter skill list` shows warnings
/// too.
pub(super) fn offered(project: &Project, args: &AgentArgs) -> (Option<SkillTool>, Vec<Diagnostic>) {
    if args.no_skills {
        return (None, Vec::new());
    }
    let (tool, findings) = SkillTool::new(Skills::new(&project.layout));
    let is_reported = |finding: &Diagnostic| {
        finding.severity == Severity::Error || finding.id == "skills-not-offered"
    };
    let reports = findings.into_iter().filter(is_reported).collect();
    (Some(tool).filter(|tool| !tool.is_empty()), reports)
}
