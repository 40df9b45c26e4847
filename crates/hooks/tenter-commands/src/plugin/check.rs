//! `tenter plugin check`: checks a plugin before it is published. Nothing in it is run.

use std::fs;
use std::path::{Path, PathBuf};

use tenter_base::visible;
use tenter_plugins::check::check;
use tenter_proc::Cancel;
use tenter_protocol::{Diagnostic, Severity};
use tenter_terminal::{CommandResult, Env, Exit, Failure, ui};
use tenter_walk::{SkipRules, walk};

use crate::{OwnAgent, hooks};

/// Check a plugin before you publish it: names, manifests, recipes, skills, programs that cannot start, symlinks that lead
/// outside, large files, secrets, and the license.
///
/// Files that git ignores are skipped. Exits with 1 if there are any problems.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The plugin's directory.
    #[arg(value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// Print the diagnostics as JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(env: &Env, args: &Args, agent: &dyn OwnAgent) -> CommandResult {
    let directory = directory(&env.cwd.join(&args.dir))?;
    let findings = findings(&directory, agent)?;
    let is_fine = findings.iter().all(|finding| finding.severity == Severity::Info);
    if args.json {
        ui::json(&findings);
    } else {
        ui::diagnostics(&findings);
        if is_fine {
            ui::out(format!("No problems found: {}", visible(&directory.to_string_lossy())));
        }
    }
    Ok(if is_fine { Exit::Done } else { Exit::Failed })
}

fn directory(path: &Path) -> Result<PathBuf, Failure> {
    let failure = |why: String| Failure::usage(format!("{}: {why}", path.display()));
    let directory = fs::canonicalize(path).map_err(|error| failure(error.to_string()))?;
    if directory.is_dir() {
        Ok(directory)
    } else {
        Err(failure("it is not a directory".to_owned()))
    }
}

/// Returns all diagnostics, by file.
fn findings(directory: &Path, agent: &dyn OwnAgent) -> Result<Vec<Diagnostic>, Failure> {
    let mut paths = Vec::new();
    let mut findings = Vec::new();
    for entry in walk(directory, SkipRules::IgnoreFiles(directory), &Cancel::new()) {
        match entry {
            Ok(entry) if entry.kind.is_dir() => {}
            Ok(entry) => paths.push(entry.path),
            Err(error) => findings.push(unreadable(&error.to_string())),
        }
    }
    findings.extend(check(directory, &paths));
    findings.extend(hooks::findings_in(&directory.join("hooks"))?);
    findings.extend(agent.check_plugin(directory));
    let line = |finding: &Diagnostic| finding.span.as_ref().map(|place| place.line);
    findings.sort_by_key(|finding| (finding.path.clone(), line(finding)));
    Ok(findings)
}

fn unreadable(why: &str) -> Diagnostic {
    Diagnostic::new("plugin-unreadable", Severity::Error, why)
        .help("make it readable, or add it to .gitignore")
}
