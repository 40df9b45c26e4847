//! Asks whether the hooks of the projects around a project may be left out, because its settings say `root = true` (R89).

use std::path::Path;

use tenter_base::visible;
use tenter_engine::inspect::OuterProjects;
use tenter_terminal::question::{Choice, choose, read_at_terminal};
use tenter_terminal::{Env, Failure, NOTICE, styled, ui};

use super::store::record;
use crate::project::Project;

const ANSWERS: [Choice<bool>; 2] = [
    Choice { letter: "y", label: "yes", words: &["yes"], value: true },
    Choice { letter: "n", label: "no", words: &["no"], value: false },
];

/// Asks about `root = true` of the project, if it is not trusted, and records a yes. Returns whether there was a question.
pub fn settle_root(project: &mut Project, yes: bool) -> Result<bool, Failure> {
    let root = project.root().to_owned();
    let outer = project.outer();
    if !outer.pending_roots.contains(&root) {
        return Ok(false);
    }
    if yes || (Env::can_ask() && ask(&root, &outer)) {
        record(project, &[OuterProjects::trust_entry(&root)])?;
        ui::note("Trusted: root:project.");
    } else {
        ui::note("Not trusted: the hooks of the projects around this one run, too.");
    }
    Ok(true)
}

fn ask(root: &Path, outer: &OuterProjects) -> bool {
    ui::note(format!(
        "{} The tenter.toml of {} sets `root = true`: hooks of these projects would not run in it:",
        styled(NOTICE, "?"),
        visible(&root.to_string_lossy())
    ));
    for project in &outer.roots {
        ui::note(format!("  {}", visible(&project.to_string_lossy())));
    }
    choose("Leave them out?", &ANSWERS, &mut read_at_terminal) == Some(true)
}
