//! `tenter plugin new`: creates a complete plugin that can be published.

use std::fs;
use std::path::PathBuf;

use jiff::tz::TimeZone;
use tenter_base::visible;
use tenter_plugins::PluginName;
use tenter_protocol::resource_name;
use tenter_terminal::{CommandResult, Env, Exit, Failure, now, ui};

use crate::hooks::examples;
use crate::new_files::{NewFile, write_dir};

/// The placeholder for the plugin's name in templates.
const NAME: &str = "NAME";

/// The files besides the manifest hooks, which are templates of `tenter hooks new`.
const TEMPLATES: [(&str, &str); 6] = [
    ("recipes/NAME.md", include_str!("templates/recipe.md")),
    ("skills/NAME/SKILL.md", include_str!("templates/SKILL.md")),
    ("skills/NAME/checklist.md", include_str!("templates/checklist.md")),
    ("README.md", include_str!("templates/README.md")),
    (".gitignore", include_str!("templates/gitignore")),
    ("LICENSE", include_str!("templates/LICENSE")),
];
const EXECUTABLES: [(&str, &str); 2] = [
    ("hooks/reminder", include_str!("templates/reminder.sh")),
    ("tests/run.sh", include_str!("templates/run.sh")),
];

/// Create a plugin with working hooks of each kind, a recipe, a skill and tests.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Name of the plugin and its repository: lower-case letters, digits and single hyphens.
    name: String,
    /// Directory in which to create the plugin [default: the working directory].
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Copyright holder in the license.
    #[arg(long, value_name = "WHO")]
    author: Option<String>,
}

/// Runs `tenter plugin new`.
pub(super) fn run(env: &Env, args: &Args) -> CommandResult {
    check_name(&args.name)?;
    let above = args.dir.as_ref().map_or_else(|| env.cwd.clone(), |dir| env.cwd.join(dir));
    let path = above.join(&args.name);
    if fs::symlink_metadata(&path).is_ok() {
        return Err(Failure::new(format!("{} already exists", path.display()))
            .help("choose another name, or another directory with --dir"));
    }
    write_dir(&path, &files(args)?, false)?;
    ui::out(path.display());
    let path_text = visible(&path.to_string_lossy()).into_owned();
    ui::note(format!("Try its tests:       sh {path_text}/tests/run.sh"));
    ui::note(format!("Before you publish:  tenter plugin check {path_text}"));
    Ok(Exit::Done)
}

fn check_name(name: &str) -> Result<(), Failure> {
    let refusal = |why: &str| {
        Failure::usage(format!("a plugin cannot have the name {name:?}: it {why}"))
            .help("use lower-case letters, digits and single hyphens")
    };
    if let Some(fault) = resource_name::faults(name).first() {
        return Err(refusal(fault));
    }
    // The name of a repository has stricter rules than the name of a skill.
    PluginName::new("org", name).map(|_| ()).map_err(|_| refusal("holds more than plain letters"))
}

fn files(args: &Args) -> Result<Vec<NewFile>, Failure> {
    let year = now().to_zoned(TimeZone::UTC).year().to_string();
    let author = match &args.author {
        Some(author) => author.lines().collect::<Vec<_>>().join(" "),
        None => format!("the authors of {}", args.name),
    };
    let filled = |text: &str| {
        let text = text.replace(NAME, &args.name);
        text.replace("<YEAR>", &year).replace("<AUTHOR>", &author)
    };
    let mut files = examples()?;
    files.extend(TEMPLATES.iter().map(|(name, text)| NewFile {
        name: name.replace(NAME, &args.name),
        text: filled(text),
        is_executable: false,
    }));
    files.extend(EXECUTABLES.map(|(name, text)| NewFile {
        name: name.to_owned(),
        text: filled(text),
        is_executable: true,
    }));
    Ok(files)
}
