//! `tenter journal`: seals the journals, checks them against their seals, and deletes old ones.

use std::path::Path;

use serde_json::{Value, json};
use tenter_base::{format_count, visible};
use tenter_engine::journal::{Retention, SealFinding, Seals, Verification};
use tenter_terminal::{BAD, CommandResult, Env, Exit, Failure, GOOD, now, styled, ui};

use crate::project::Project;
use crate::{Deferred, user_only};

/// Seal journals, find later changes, and delete old ones.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Seal what was recorded so far: later changes are found.
    Seal(Deferred<SealArgs>),
    /// Find records that were changed or deleted after they were sealed.
    Verify(Deferred<VerifyJournalArgs>),
    /// Delete the journals that `journal.keep_days` and `journal.max_mib` do not keep.
    Prune,
}

/// The arguments of `journal seal`.
#[derive(Debug, clap::Args)]
pub struct SealArgs {
    /// Print only the hash of the last seal, to note it elsewhere.
    #[arg(long)]
    head: bool,
}

/// The arguments of `journal verify`.
#[derive(Debug, clap::Args)]
pub struct VerifyJournalArgs {
    /// The hash of a seal that was noted elsewhere; it must be in the chain.
    #[arg(long, value_name = "SHA256")]
    anchor: Option<String>,
    /// Print a JSON object for each directory of journals.
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(env: &Env, project: Option<&Path>, command: &Command) -> CommandResult {
    match command {
        Command::Seal(args) => seal(env, args),
        Command::Verify(args) => verify(env, args),
        Command::Prune => {
            let project = Project::open(env, project)?;
            user_only::check(env, project.root(), "journal prune")?;
            prune(env, project.settings.hooks.retention)
        }
    }
}

/// Returns the seals of every directory with journals.
pub(crate) fn all_seals(env: &Env) -> Vec<Seals> {
    env.journals().all().map(Seals::from_directory).collect()
}

fn seal(env: &Env, args: &SealArgs) -> CommandResult {
    let mut count = 0;
    for seals in all_seals(env) {
        let new = seals.seal(None, now()).map_err(|error| failed(&seals, "seal", &error))?;
        count += new.len();
        if let Some(head) = check(&seals, None)?.head {
            if args.head {
                ui::out(head);
            } else {
                ui::note(format!("The last seal of {} is {head}.", shown(seals.path())));
            }
        }
    }
    ui::note(format!("Sealed {}.", format_count(count, "journal", "journals")));
    Ok(Exit::Done)
}

fn verify(env: &Env, args: &VerifyJournalArgs) -> CommandResult {
    let mut has_findings = false;
    let all = all_seals(env);
    for seals in &all {
        let verification = check(seals, args.anchor.as_deref().filter(|_| all.len() == 1))?;
        has_findings |= !verification.findings.is_empty();
        if args.json {
            ui::out(json!(as_json(seals, &verification)));
        } else {
            print(seals, &verification);
        }
    }
    if let Some(anchor) = args.anchor.as_deref().filter(|_| all.len() > 1) {
        let mut is_known = false;
        for seals in &all {
            let findings = check(seals, Some(anchor))?.findings;
            is_known |= findings.iter().all(|one| !matches!(one, SealFinding::LostAnchor { .. }));
        }
        if !is_known {
            has_findings = true;
            let finding = SealFinding::LostAnchor { anchor: anchor.to_owned() };
            ui::out(styled(BAD, describe(&finding)));
        }
    }
    Ok(if has_findings { Exit::Failed } else { Exit::Done })
}

fn prune(env: &Env, retention: Retention) -> CommandResult {
    if retention == Retention::default() {
        ui::note("Nothing is deleted: neither journal.keep_days nor journal.max_mib is set.");
        return Ok(Exit::Done);
    }
    let mut count = 0;
    for seals in all_seals(env) {
        let deletion =
            seals.prune(retention, now()).map_err(|error| failed(&seals, "prune", &error))?;
        for seal in &deletion {
            let setting = seal.deleted.as_deref().unwrap_or_default();
            ui::out(format!("{}  {setting}", visible(&seal.file)));
        }
        count += deletion.len();
    }
    ui::note(format!("Deleted {}; the seals say so.", format_count(count, "journal", "journals")));
    Ok(Exit::Done)
}

fn check(seals: &Seals, anchor: Option<&str>) -> Result<Verification, Failure> {
    seals.verify(anchor).map_err(|error| failed(seals, "verify", &error))
}

fn print(seals: &Seals, verification: &Verification) {
    for finding in &verification.findings {
        ui::out(styled(BAD, describe(finding)));
    }
    let Verification { seals: count, files, unsealed, head, findings } = verification;
    let Some(head) = head else {
        ui::note(format!("Nothing is sealed in {}: `tenter journal seal`.", shown(seals.path())));
        return;
    };
    let count = format_count(*count, "seal", "seals");
    let files = format_count(*files, "journal", "journals");
    let result = if findings.is_empty() {
        styled(GOOD, "Unchanged since they were sealed")
    } else {
        styled(BAD, format_count(findings.len(), "difference", "differences"))
    };
    ui::out(format!("{result}: {files}, {count}, {unsealed} bytes not sealed yet"));
    ui::out(format!("last seal: {head}"));
    ui::note(
        "Changes before the first seal are not found, and a rewritten chain only with --anchor.",
    );
}

fn describe(finding: &SealFinding) -> String {
    match finding {
        SealFinding::BrokenChain { line } => {
            format!(
                "the chain of seals is broken at line {line}: it was changed, or a line is gone"
            )
        }
        SealFinding::LostAnchor { anchor } => {
            format!("no seal has the hash {}: the chain was rewritten", visible(anchor))
        }
        SealFinding::Missing { file } => format!("{} was deleted", visible(file)),
        SealFinding::Truncated { file, length, sealed } => {
            format!("{} was truncated: {length} of {sealed} sealed bytes are left", visible(file))
        }
        SealFinding::Changed { file, from, to } => {
            format!("{} was changed between the bytes {from} and {to}", visible(file))
        }
    }
}

/// Returns the result of checking one directory as JSON.
fn as_json(seals: &Seals, verification: &Verification) -> Value {
    json!({
        "chain": seals.path().to_string_lossy(),
        "seals": verification.seals,
        "files": verification.files,
        "unsealed_bytes": verification.unsealed,
        "head": verification.head,
        "findings": verification.findings.iter().map(describe).collect::<Vec<_>>(),
    })
}

fn failed(seals: &Seals, verb: &str, error: &std::io::Error) -> Failure {
    Failure::new(format!("cannot {verb} the journals of {}: {error}", shown(seals.path())))
}

fn shown(path: &Path) -> String {
    visible(&path.to_string_lossy()).into_owned()
}
