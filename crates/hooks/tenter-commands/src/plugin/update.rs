//! `tenter plugin update`: fetches installed plugins again, shows what changes, and installs it.

use std::path::Path;

use tenter_base::{one_line, visible};
use tenter_engine::layout::plugin_name;
use tenter_plugins::{
    Content, FileDifference, LockedPlugin, PluginChange, PluginName, Spec, TreeEntry, changes,
    verify,
};
use tenter_proc::Cancel;
use tenter_terminal::text::diff;
use tenter_terminal::{
    BAD, CommandResult, Env, Exit, Failure, GOOD, NAME, NOTICE, signals, styled, ui,
};

use super::obtain::{self, ObtainError};
use super::places::{PluginDir, PluginLocation, not_here};
use super::{consent, local_source};
use crate::project::Project;

/// Number of characters shown of a commit.
const SHORT: usize = 10;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// ORG/REPO or ORG@REPO; by default all plugins of the project.
    names: Vec<String>,
    /// Show what would change without changing it.
    #[arg(long)]
    dry_run: bool,
    /// Update your own plugins instead of the project's.
    #[arg(short, long)]
    global: bool,
    /// Trust the new hooks without asking.
    #[arg(long, visible_alias = "yes")]
    trust: bool,
}

/// Updates every plugin; one that cannot be updated does not stop the others.
pub(super) fn run(env: &Env, project: Option<&Path>, args: &Args) -> CommandResult {
    let mut project = Project::open(env, project)?;
    let place = PluginDir::to_change(env, project.root(), args.global)?;
    let records = chosen(&project, &place, &args.names)?;
    let cancel = signals::cancel()?;
    let mut updates = Vec::new();
    let mut exit = Exit::Done;
    for plugin in &records {
        match update(&mut project, &place, plugin, args.dry_run, &cancel) {
            Ok(true) => updates.push(plugin.name.clone()),
            Ok(false) => {}
            Err(error) => exit = error.print(&plugin.name),
        }
        if cancel.is_cancelled() {
            return Ok(exit);
        }
    }
    if place.location == PluginLocation::Local {
        consent::settle(&mut project, &updates, args.trust, &cancel)?;
    }
    Ok(exit)
}

/// Returns the records of the named plugins.
fn chosen(
    project: &Project,
    place: &PluginDir,
    names: &[String],
) -> Result<Vec<LockedPlugin>, Failure> {
    let lock = place.plugins.lock()?;
    if names.is_empty() {
        return Ok(lock.plugins().to_vec());
    }
    let plugins = place.plugins.installed()?;
    let find_record = |name: &String| {
        let name = plugin_name(name);
        if let Some(record) = lock.get(&name) {
            return Ok(record.clone());
        }
        if plugins.iter().all(|plugin| plugin.name != name) {
            return Err(not_here(project.env, project.root(), place, &name));
        }
        Err(Failure::new(format!("plugin.lock has no source for {name}"))
            .help("`tenter plugin add SPEC --force` records it"))
    };
    names.iter().map(find_record).collect()
}

/// Updates one plugin; returns whether it changed.
fn update(
    project: &mut Project,
    place: &PluginDir,
    record: &LockedPlugin,
    dry_run: bool,
    cancel: &Cancel,
) -> Result<bool, ObtainError> {
    let name = PluginName::parse(&record.name).map_err(Failure::new)?;
    let spec =
        Spec::recorded(name, &record.source, record.reference.as_deref()).map_err(Failure::new)?;
    let directory = place.plugins.place(&spec.name);
    // A pinned plugin is fetched only if it is missing.
    if record.is_pinned() && directory.symlink_metadata().is_ok() {
        ui::out(format!("{} is pinned to its commit.", record.name));
        return Ok(false);
    }
    unchanged_here(&directory, record)?;
    local_source::check(project, place, &spec)?;
    let obtained = obtain::fetch(project, place, &spec, cancel)?;
    let (before, _) = Content::read_installed(&directory);
    let fetched = &obtained.1;
    let changes = changes(&before, &fetched.content);
    if changes.is_empty() {
        ui::out(format!("{} is up to date.", record.name));
        return Ok(false);
    }
    print(record, fetched.commit.as_deref(), &changes);
    if dry_run {
        return Ok(false);
    }
    let concerns_hooks = changes.iter().any(|change| change.path.starts_with("hooks/"));
    if place.location == PluginLocation::Local && concerns_hooks {
        consent::withdraw(project, &record.name)?;
    }
    obtain::install(place, &spec, &obtained, true).map(|_| true)
}

/// Rejects an update that would lose local changes.
fn unchanged_here(directory: &Path, record: &LockedPlugin) -> Result<(), Failure> {
    let is_gone = directory.symlink_metadata().is_err();
    if is_gone || verify(directory, record).0.is_empty() {
        return Ok(());
    }
    let name = &record.name;
    Err(Failure::new(format!("{name} has local changes that an update would lose")).help(format!(
        "`tenter plugin verify {name}` shows them; `tenter plugin add SPEC --force` discards them"
    )))
}

fn print(record: &LockedPlugin, commit: Option<&str>, changes: &[PluginChange]) {
    let short = |commit: Option<&str>| {
        one_line(commit.unwrap_or("-"), 40).chars().take(SHORT).collect::<String>()
    };
    let (old, new) = (short(record.commit.as_deref()), short(commit));
    ui::out(format!("{}: {old} → {new}", styled(NAME, &record.name)));
    for change in changes {
        let style = match change.kind {
            FileDifference::Added(_) => GOOD,
            FileDifference::Removed(_) => BAD,
            FileDifference::Changed(..) => NOTICE,
        };
        let what = styled(style, format!("{:7}", change.kind.as_str()));
        ui::out(format!("  {what}  {}{}", visible(change.path), mode(&change.kind)));
        if change.path.starts_with("hooks/") {
            lines(&change.kind).iter().for_each(ui::out);
        }
    }
}

/// Returns the change of the executable bit, which no line shows.
fn mode(kind: &FileDifference) -> &'static str {
    match kind {
        FileDifference::Changed(
            TreeEntry::File { executable: false, .. },
            TreeEntry::File { executable: true, .. },
        ) => " (may be executed now)",
        FileDifference::Changed(
            TreeEntry::File { executable: true, .. },
            TreeEntry::File { executable: false, .. },
        ) => " (may not be executed any more)",
        FileDifference::Changed(TreeEntry::Link { .. }, _)
        | FileDifference::Changed(_, TreeEntry::Link { .. })
        | FileDifference::Added(TreeEntry::Link { .. })
        | FileDifference::Removed(TreeEntry::Link { .. }) => " (a link)",
        _ => "",
    }
}

/// Returns the lines that differ; none for files that are not text.
fn lines(kind: &FileDifference) -> Vec<String> {
    let texts = match kind {
        FileDifference::Added(new) => Some(("", new.text())),
        FileDifference::Removed(_) => None,
        FileDifference::Changed(old, new) => old.text().map(|old| (old, new.text())),
    };
    match texts {
        Some((old, Some(new))) => diff::render_files(old, new, None, ui::columns()),
        _ => Vec::new(),
    }
}
