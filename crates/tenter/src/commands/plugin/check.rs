//! `tenter plugin check`: what is wrong with a plugin, before it is published. Nothing of it is run.

use std::fs;
use std::path::{Path, PathBuf};

use tenter_agent::recipe::Recipes;
use tenter_agent::skill::Skills;
use tenter_agent::tools::{Leaving, walk};
use tenter_plugins::check::check;
use tenter_proc::Cancel;
use tenter_protocol::front_matter::Rules;
use tenter_protocol::{Diagnostic, Severity};

use crate::commands::{Done, hooks};
use crate::env::Env;
use crate::failure::{Exit, Failure};
use crate::sanitize::visible;
use crate::ui;

/// Check a plugin before it is published: names, manifests, recipes, skills, programs that cannot be started, links that
/// lead out, large files, secrets, the licence.
///
/// What .gitignore names is not looked at. The exit code is 1 where anything is found.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The plugin's folder.
    #[arg(value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// Print the findings as JSON.
    #[arg(long)]
    json: bool,
}

/// Does it.
pub(super) fn run(env: &Env, args: &Args) -> Done {
    let folder = folder(&env.cwd.join(&args.dir))?;
    let findings = findings(&folder)?;
    let is_fine = findings.iter().all(|finding| finding.severity == Severity::Info);
    if args.json {
        ui::out(serde_json::to_string_pretty(&findings).unwrap_or_default());
    } else {
        ui::diagnostics(&findings);
        if is_fine {
            ui::out(format!("Fit to be published: {}", visible(&folder.to_string_lossy())));
        }
    }
    Ok(if is_fine { Exit::Done } else { Exit::Failed })
}

fn folder(named: &Path) -> Result<PathBuf, Failure> {
    let failed = |why: String| Failure::usage(format!("{}: {why}", named.display()));
    let folder = fs::canonicalize(named).map_err(|error| failed(error.to_string()))?;
    if folder.is_dir() { Ok(folder) } else { Err(failed("it is not a folder".to_owned())) }
}

/// Everything that is found, in the order of the files.
fn findings(folder: &Path) -> Result<Vec<Diagnostic>, Failure> {
    let mut published = Vec::new();
    let mut findings = Vec::new();
    for entry in walk(folder, Leaving::IgnoredWithin(folder), &Cancel::new()) {
        match entry {
            Ok(entry) if entry.kind.is_dir() => {}
            Ok(entry) => published.push(entry.path),
            Err(error) => findings.push(unreadable(&error.to_string())),
        }
    }
    findings.extend(check(folder, &published));
    findings.extend(hooks::findings_in(&folder.join("hooks"))?);
    findings.extend(Recipes::of_folder(&folder.join("recipes")).list().1);
    findings.extend(Skills::of_folder(&folder.join("skills")).list(Rules::Strict).1);
    let line = |finding: &Diagnostic| finding.span.as_ref().map(|place| place.line);
    findings.sort_by_key(|finding| (finding.path.clone(), line(finding)));
    Ok(findings)
}

fn unreadable(why: &str) -> Diagnostic {
    Diagnostic::new("plugin-unreadable", Severity::Error, why)
        .help("make it readable, or name it in .gitignore")
}
