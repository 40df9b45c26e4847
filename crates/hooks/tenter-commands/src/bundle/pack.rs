//! `tenter bundle pack`: one file with the hooks of a plugin.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tenter_base::replace_file;
use tenter_engine::inspect::CHECKS;
use tenter_plugins::bundle::{BundleManifest, BundleVersion, Package};
use tenter_plugins::{Content, FetchError, Fetcher, Source, TreeEntry};
use tenter_protocol::front_matter::Strictness;
use tenter_protocol::manifest::format;
use tenter_terminal::{CommandResult, Env, Exit, Failure, now, signals, ui};

use super::report;

/// Maximum duration of one git command.
const TIMEOUT: Duration = Duration::from_mins(10);

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The plugin: a directory with `hooks`. If it is a repository, the last commit is packed.
    directory: PathBuf,
    /// The name of the bundle, which machines pin a key for.
    #[arg(long)]
    name: String,
    /// The version: numbers, such as 4 or 2026.11.3.
    #[arg(long, value_parser = BundleVersion::parse)]
    version: BundleVersion,
    /// Days until the bundle expires.
    #[arg(long, value_name = "DAYS", default_value = "90", value_parser = days)]
    expires: u32,
    /// Days after that in which it can still be installed.
    #[arg(long, value_name = "DAYS", default_value = "14", value_parser = days)]
    grace: u32,
    /// Pack hooks with errors, too, for machines with a newer version.
    #[arg(long)]
    force: bool,
    /// The file to write; by default NAME.bundle.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Parses a number of days.
fn days(text: &str) -> Result<u32, String> {
    const MAX_DAYS: u32 = 36_500;
    let days = text.parse().ok().filter(|days| *days <= MAX_DAYS);
    days.ok_or_else(|| format!("days are a number up to {MAX_DAYS}"))
}

/// Runs the command.
pub(super) fn run(env: &Env, args: &Args) -> CommandResult {
    let directory = env.cwd.join(&args.directory);
    let (content, commit) = read(env, &directory)?;
    if !args.force {
        check_hooks(&directory, &content)?;
    }
    let creation = now();
    let expires =
        end(creation, args.expires).ok_or_else(|| Failure::usage("it expires too late"))?;
    let version = args.version.clone();
    let mut manifest = BundleManifest::new(&args.name, version, &content, creation, expires)
        .map_err(|why| Failure::usage(format!("the bundle {why}")))?;
    manifest.grace_days = args.grace;
    manifest.commit = commit;
    let package = Package::pack(&manifest, &content);
    package.check_files()?;
    let output = args.output.clone().unwrap_or_else(|| format!("{}.bundle", args.name).into());
    let output = env.cwd.join(output);
    let result = replace_file::replace_with_mode(&output, &package.bytes(), Some(0o644));
    result.map_err(|error| Failure::new(format!("cannot write {}: {error}", output.display())))?;
    ui::note(format!(
        "Packed {} {} with {}. Sign it: `tenter bundle sign {} --key KEY`",
        manifest.name,
        manifest.version,
        report::files(&manifest),
        args.output.as_deref().unwrap_or(Path::new(&format!("{}.bundle", args.name))).display(),
    ));
    Ok(Exit::Done)
}

/// Reads the plugin as an installation would.
fn read(env: &Env, directory: &Path) -> Result<(Content, Option<String>), Failure> {
    let unusable =
        |why: String| Failure::new(format!("cannot pack {}: {why}", directory.display()));
    let real = directory.canonicalize().map_err(|error| unusable(error.to_string()))?;
    let scratch = tempfile::tempdir().map_err(Failure::caused_by)?;
    let cancel = signals::cancel()?;
    let fetcher = Fetcher { env: &env.vars, cancel: &cancel, timeout: TIMEOUT };
    let fetched = match fetcher.fetch(&Source::Path(real), None, scratch.path()) {
        Ok(fetched) => fetched,
        Err(FetchError::Cancelled) => {
            return Err(Failure { exit: Exit::Interrupted, ..Failure::new("interrupted") });
        }
        Err(FetchError::Refused(findings)) => {
            findings.iter().for_each(ui::diagnostic);
            return Err(unusable("it has files that a bundle cannot have".to_owned()));
        }
    };
    if !fetched.content.0.keys().any(|path| path.starts_with("hooks/")) {
        let why = "it has no hooks; uncommitted files of a repository are not packed";
        return Err(unusable(why.to_owned()));
    }
    Ok((fetched.content, fetched.commit))
}

/// Fails if a machine could not run a hook, or not all of its rules.
fn check_hooks(directory: &Path, content: &Content) -> Result<(), Failure> {
    let mut is_valid = true;
    for (path, entry) in &content.0 {
        let TreeEntry::File { bytes, .. } = entry else { continue };
        let parts: Vec<&str> = path.split('/').collect();
        if !matches!(parts[..], ["hooks", _, file] if file.eq_ignore_ascii_case("HOOK.md")) {
            continue;
        }
        let file = directory.join(path);
        let (manifest, findings) = format::read(&file, bytes, Strictness::Tolerant, CHECKS);
        ui::diagnostics(&findings);
        is_valid &= manifest.is_some();
    }
    let failure = || {
        let why = format!("cannot pack {}: hooks have errors", directory.display());
        Failure::new(why).help("correct them; --force packs them as they are")
    };
    is_valid.then_some(()).ok_or_else(failure)
}

fn end(creation: Timestamp, days: u32) -> Option<Timestamp> {
    creation.checked_add(SignedDuration::from_hours(i64::from(days) * 24)).ok()
}
