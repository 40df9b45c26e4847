//! `tenter bridge import`.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use tenter_base::{did_you_mean, replace_file, untrusted_file, visible};
use tenter_bridge::Host;
use tenter_bridge::import::{
    self, HookChange, ImportPlan, ImportedFiles, MANIFEST, PlannedHook, SCRIPT, Source,
};
use tenter_terminal::question::{self, read_at_terminal};
use tenter_terminal::{CommandResult, Env, Exit, FAINT, Failure, GOOD, NAME, NOTICE, styled, ui};

use super::located;
use crate::hooks::lint;
use crate::new_files::{NewFile, hooks_dir, write_dir};
use crate::project::Project;
use crate::user_only;

/// The mode of scripts that only the user may read.
const PRIVATE: u32 = 0o700;
/// The settings of an organization, which apply in Claude Code whatever the user does.
const MANAGED: [&str; 2] = [
    "/etc/claude-code/managed-settings.json",
    "/Library/Application Support/ClaudeCode/managed-settings.json",
];

/// Make an agent's hooks and permission rules hooks of yours.
///
/// They then also run under `tenter run` and in every agent with the bridge. The settings stay as they are; in the agent itself,
/// no hook runs twice. Importing again updates what was imported before, unless you have edited it.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The agent, such as claude-code, codex or cursor.
    #[arg(value_name = "AGENT")]
    agent: String,
    /// The settings, or the hooks.json of a plugin [default: the project's settings of the agent, with --user yours].
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Import for all your projects.
    #[arg(long)]
    user: bool,
    /// Show what would be imported, and change nothing.
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// Import without asking.
    #[arg(long)]
    yes: bool,
}

pub(super) fn run(env: &Env, project: &Project, args: &Args) -> CommandResult {
    if !args.dry_run {
        user_only::check(env, project.root(), "bridge import")?;
    }
    let host = host(&args.agent)?;
    // In the home directory, the project's settings are the user's.
    let is_for_user = args.user || project.root() == env.home;
    let hooks = hooks_dir(project, is_for_user)?;
    let mut plans = Vec::new();
    for file in files(env, project, args, (host, is_for_user))? {
        let source = source(env, project, (host, is_for_user), &file)?;
        let import = import::read(&source).map_err(|finding| located(finding.at(&file)))?;
        plans.push(import::plan(import, &source, &hooks, &plans));
        ui::diagnostics(
            lint::findings_in(project, host, (file, source.text), args.file.is_some()).iter(),
        );
    }
    let mut plan = merge(plans);
    plan.left_out.extend(managed(host));
    show(&plan, &hooks);
    if args.dry_run || !plan.is_change() {
        ui::note("Nothing was changed.");
        return Ok(Exit::Done);
    }
    if !args.yes && !confirmed()? {
        ui::note("Nothing was changed.");
        return Ok(Exit::Failed);
    }
    for hook in plan.hooks.iter().filter(|hook| hook.change.is_change()) {
        let path = hooks.join(&hook.name);
        write(&path, hook).map_err(|failure| failure.help("the hooks before it are imported"))?;
    }
    ui::note(format!("{} to {}.", styled(GOOD, "Imported"), visible(&hooks.to_string_lossy())));
    if !is_for_user {
        ui::note(
            "They run when you trust them: `tenter trust`. That covers the commands, not the files that they name.",
        );
    }
    Ok(Exit::Done)
}

/// Returns the agent whose hooks are imported.
fn host(id: &str) -> Result<&'static Host, Failure> {
    let mut hosts = import::sources();
    hosts.find(|host| host.id == id).ok_or_else(|| {
        let ids: Vec<&str> = import::sources().map(|host| host.id).collect();
        let help = did_you_mean(id, &ids, || format!("write one of {}", ids.join(", ")));
        Failure::usage(format!("hooks of {id:?} cannot be imported")).help(help)
    })
}

/// Joins the plans for several files of one agent.
fn merge(plans: Vec<ImportPlan>) -> ImportPlan {
    let mut all = ImportPlan { hooks: Vec::new(), notes: Vec::new(), left_out: Vec::new() };
    for plan in plans {
        all.hooks.extend(plan.hooks);
        all.notes.extend(plan.notes);
        all.left_out.extend(plan.left_out);
    }
    all
}

/// Returns the files with the settings that the arguments name: those that exist.
///
/// # Errors
/// There is none.
fn files(
    env: &Env,
    project: &Project,
    args: &Args,
    (host, is_for_user): (&Host, bool),
) -> Result<Vec<PathBuf>, Failure> {
    if let Some(file) = &args.file {
        return Ok(vec![env.cwd.join(file)]);
    }
    let base = if is_for_user { &env.home } else { project.root() };
    let all: Vec<PathBuf> =
        import::files_of(host, is_for_user).iter().map(|name| base.join(name)).collect();
    let mut existing: Vec<PathBuf> = all.iter().filter(|file| file.is_file()).cloned().collect();
    let further = import::files_in_directories(host, base);
    existing.extend(further.into_iter().filter(|file| !all.contains(file)));
    if !existing.is_empty() {
        return Ok(existing);
    }
    let names: Vec<String> = all.iter().map(|file| file.display().to_string()).collect();
    let failure = Failure::new(format!("there is no {}", names.join(" and no ")));
    let help = if is_for_user {
        "name a FILE"
    } else {
        "name a FILE, or pass --user for your own settings"
    };
    Err(failure.help(help))
}

fn source(
    env: &Env,
    project: &Project,
    (host, is_for_user): (&'static Host, bool),
    file: &Path,
) -> Result<Source, Failure> {
    if file.file_name().is_some_and(|name| name == "managed-settings.json") {
        return Err(Failure::usage("managed settings are not imported").help(
            "an organization manages them; name a settings file of yours or of the project",
        ));
    }
    let text = untrusted_file::read_to_string(file).map_err(|error| {
        let failure = Failure::new(format!("{}: {error}", file.display()));
        failure.help(format!("name a settings file of {}, or a plugin's hooks.json", host.name))
    })?;
    let origin = match (file.strip_prefix(project.root()), file.strip_prefix(&env.home)) {
        (Ok(inside), _) if !is_for_user => inside.display().to_string(),
        (_, Ok(inside)) => format!("~/{}", inside.display()),
        _ => file.display().to_string(),
    };
    let plugin_root = plugin_root(file).map(Path::to_owned);
    Ok(Source {
        host,
        file: file.to_owned(),
        text: text.trim_start_matches('\u{feff}').to_owned(),
        origin,
        plugin_root,
        project: project.root().to_owned(),
        home: env.home.clone(),
    })
}

/// Returns the plugin of a file `hooks/hooks.json`.
fn plugin_root(file: &Path) -> Option<&Path> {
    file.ends_with("hooks/hooks.json").then(|| file.parent()?.parent()).flatten()
}

fn managed(host: &Host) -> Option<String> {
    if host.id != "claude-code" {
        return None;
    }
    let file = MANAGED.into_iter().find(|file| Path::new(file).exists())?;
    Some(format!("{file}: managed settings only apply in Claude Code"))
}

fn show(plan: &ImportPlan, hooks: &Path) {
    if plan.hooks.is_empty() {
        ui::out("There is nothing to import.");
    } else {
        ui::out(format!("In {}:", visible(&hooks.to_string_lossy())));
    }
    let common = common_remarks(&plan.hooks);
    let is_common = |remark: &str| common.iter().any(|(other, _)| *other == remark);
    for PlannedHook { name, about, remarks, change, .. } in &plan.hooks {
        let word = match change {
            HookChange::Create => "new",
            HookChange::Update => "update",
            HookChange::Keep => "unchanged",
            HookChange::KeepEdited => "edited, stays",
            HookChange::Remove => "remove",
        };
        ui::out(format!("  {} ({word})", styled(NAME, name)));
        ui::out(format!("    {}", styled(FAINT, visible(about))));
        for remark in remarks.iter().filter(|remark| !is_common(remark)) {
            ui::out(format!("    {}: {}", styled(NOTICE, "note"), visible(remark)));
        }
    }
    for (remark, names) in common {
        let names = names.join(", ");
        ui::out(format!("{} for {names}: {}", styled(NOTICE, "note"), visible(remark)));
    }
    for note in &plan.notes {
        ui::out(format!("{}: {}", styled(NOTICE, "note"), visible(note)));
    }
    if !plan.left_out.is_empty() {
        ui::out("Not imported:");
    }
    for (places, why) in by_reason(&plan.left_out) {
        let colon = if places.is_empty() { "" } else { ": " };
        ui::out(format!("  {}{colon}{}", visible(&places.join(", ")), visible(why)));
    }
}

/// Returns the reasons why parts are not imported, each with its parts. Equal parts are counted.
fn by_reason(left_out: &[String]) -> Vec<(Vec<String>, &str)> {
    let mut reasons: Vec<(Vec<(&str, usize)>, &str)> = Vec::new();
    for text in left_out {
        let (place, why) = text.split_once(": ").unzip();
        let why = why.unwrap_or(text);
        let at = reasons.iter().position(|(_, other)| *other == why).unwrap_or_else(|| {
            reasons.push((Vec::new(), why));
            reasons.len() - 1
        });
        let (Some(place), Some((places, _))) = (place, reasons.get_mut(at)) else { continue };
        match places.iter_mut().find(|(other, _)| *other == place) {
            Some((_, count)) => *count += 1,
            None => places.push((place, 1)),
        }
    }
    let label = |(place, count): (&str, usize)| match count {
        1 => place.to_owned(),
        count => format!("{place} ({count} hooks)"),
    };
    reasons
        .into_iter()
        .map(|(places, why)| (places.into_iter().map(label).collect(), why))
        .collect()
}

/// Returns the remarks about several hooks, each with the names of these hooks.
fn common_remarks(hooks: &[PlannedHook]) -> Vec<(&str, Vec<&str>)> {
    let mut common: Vec<(&str, Vec<&str>)> = Vec::new();
    for hook in hooks {
        for remark in &hook.remarks {
            match common.iter_mut().find(|(other, _)| other == remark) {
                Some((_, names)) => names.push(&hook.name),
                None => common.push((remark, vec![&hook.name])),
            }
        }
    }
    common.retain(|(_, names)| names.len() > 1);
    common
}

fn confirmed() -> Result<bool, Failure> {
    if !Env::can_ask() {
        return Err(Failure::new("cannot ask whether to import: there is no terminal")
            .help("pass --yes to import without asking, or --dry-run to look at it"));
    }
    Ok(question::confirm("Import these hooks?", &mut read_at_terminal))
}

/// Creates, replaces or removes the files of a hook. Other files in its directory stay.
fn write(path: &Path, hook: &PlannedHook) -> Result<(), Failure> {
    let failure =
        |error: io::Error| Failure::new(format!("cannot write {}: {error}", path.display()));
    match hook.change {
        HookChange::Create => {
            write_dir(path, &new_files(&hook.files), false)?;
            protect(path, &hook.files).map_err(failure)
        }
        HookChange::Update => update(path, &hook.files).map_err(failure),
        HookChange::Remove => remove(path, &hook.files).map_err(failure),
        HookChange::Keep | HookChange::KeepEdited => Ok(()),
    }
}

fn new_files(files: &ImportedFiles) -> Vec<NewFile> {
    let file = |name: &str, text: &str, is_executable| NewFile {
        name: name.to_owned(),
        text: text.to_owned(),
        is_executable,
    };
    let script = files.script.iter().map(|script| file(SCRIPT, script, true));
    [file(MANIFEST, &files.manifest, false)].into_iter().chain(script).collect()
}

/// Lets only the user read a script with values of the settings.
fn protect(path: &Path, files: &ImportedFiles) -> io::Result<()> {
    if !files.is_private {
        return Ok(());
    }
    fs::set_permissions(path.join(SCRIPT), fs::Permissions::from_mode(PRIVATE))
}

fn update(path: &Path, files: &ImportedFiles) -> io::Result<()> {
    for NewFile { name, text, is_executable } in new_files(files) {
        let mode = match (is_executable, files.is_private) {
            (true, true) => PRIVATE,
            (true, false) => 0o755,
            (false, _) => 0o644,
        };
        replace_file::replace_with_mode(&path.join(name), text.as_bytes(), Some(mode))?;
    }
    Ok(())
}

fn remove(path: &Path, files: &ImportedFiles) -> io::Result<()> {
    for file in new_files(files) {
        fs::remove_file(path.join(file.name))?;
    }
    // They stay if the user has put something else there.
    let _ = fs::remove_dir(path.join("scripts"));
    let _ = fs::remove_dir(path);
    Ok(())
}
