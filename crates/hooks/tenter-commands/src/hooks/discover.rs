//! `tenter hooks discover`: the directories with a `HOOK.md` in every hooks directory. No manifest is opened.

use std::path::PathBuf;

use serde::Serialize;
use tenter_base::visible;
use tenter_engine::layout::{HOOKS, Root};
use tenter_engine::source::{self, CandidateKind};
use tenter_protocol::Diagnostic;
use tenter_terminal::{Exit, HEADING, styled, ui};

use crate::project::Project;

/// List the user's and the project's directories that contain a HOOK.md.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print JSON.
    #[arg(long, short)]
    json: bool,
}

/// Directories, by owner, with the fields of the JSON form.
#[derive(Default, Serialize)]
struct DiscoveredHooks {
    user: Vec<PathBuf>,
    project: Vec<PathBuf>,
}

pub(super) fn run(project: &Project, args: &Args) -> Exit {
    let (roots, mut findings) = project.layout.roots(&HOOKS);
    let mut discovered = DiscoveredHooks::default();
    let (project_roots, user_roots): (Vec<&Root>, Vec<&Root>) =
        roots.iter().partition(|root| root.layer.needs_trust());
    for (whose, roots, paths) in [
        ("User", user_roots, &mut discovered.user),
        ("Project", project_roots, &mut discovered.project),
    ] {
        for root in roots {
            let (directories, problems) = manifests(root);
            findings.extend(problems);
            if !args.json {
                print(whose, root, &directories);
            }
            paths.extend(directories);
        }
    }
    if args.json {
        ui::json(&discovered);
    }
    ui::diagnostics(&findings);
    Exit::Done
}

fn manifests(root: &Root) -> (Vec<PathBuf>, Vec<Diagnostic>) {
    let (candidates, problems) = source::scan(root, 0);
    let manifests =
        candidates.into_iter().filter(|one| matches!(one.kind, CandidateKind::Manifest(_)));
    (manifests.map(|candidate| candidate.path).collect(), problems)
}

fn print(whose: &str, root: &Root, directories: &[PathBuf]) {
    let dir = root.dir.to_string_lossy();
    ui::out(styled(HEADING, format!("{whose}-level hooks ({}):", visible(&dir))));
    if directories.is_empty() {
        ui::out("  (none)");
    }
    for directory in directories {
        let name = directory.file_name().unwrap_or_default().to_string_lossy();
        ui::out(format!("  - {}", visible(&name)));
    }
}
