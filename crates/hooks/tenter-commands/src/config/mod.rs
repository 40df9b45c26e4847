//! `tenter config`: shows and changes settings.

mod document;
mod edit;
mod file;
mod get;
mod list;
mod list_addition;
mod servers;
mod set;
mod values;

use std::path::Path;

use tenter_base::visible;
use tenter_settings::SettingsOwner;
use tenter_terminal::{CommandResult, Env, Exit, ui};

use crate::{Deferred, project, user_only};
use file::{ConfigFile, FileChoice};

pub(crate) use list_addition::ListAddition;
pub use servers::{add_server, remove_server};

/// List, get, set and edit settings.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// List settings with their values, and where these come from.
    List(Deferred<list::Args>),
    /// Print the value of a setting.
    Get(Deferred<get::Args>),
    /// Set a setting in your file, or in the project's.
    Set(set::Args),
    /// Remove a setting from your file, or from the project's.
    Unset(set::UnsetArgs),
    /// Edit the file in your editor; it is checked before it is used.
    Edit(edit::Args),
    /// Print the path of your file, or of the project's.
    Path(FileChoice),
}

/// Runs the command.
pub fn run(env: &Env, project: Option<&Path>, command: &Command) -> CommandResult {
    let choice = match command {
        Command::List(_) | Command::Get(_) => None,
        Command::Set(args) => Some(&args.file),
        Command::Unset(args) => Some(&args.file),
        Command::Edit(args) => Some(&args.file),
        Command::Path(choice) => Some(choice),
    };
    let project = project.filter(|directory| *directory != Path::new("."));
    let project = choice.and_then(FileChoice::named).or(project);
    // Without the settings, so that an invalid file can be repaired.
    let root = project::root(env, project)?;
    let file = ConfigFile::new(env, &root, choice.map_or(SettingsOwner::User, FileChoice::owner));
    let user = |name| user_only::check(env, &root, name);
    match command {
        Command::List(args) => list::run(env, &root, args),
        Command::Get(args) => get::run(env, &root, args),
        Command::Set(args) => {
            user("config set")?;
            set::run(env, &file, args)
        }
        Command::Unset(args) => {
            user("config unset")?;
            set::unset(env, &file, args)
        }
        Command::Edit(_) => {
            user("config edit")?;
            edit::run(env, &file)
        }
        Command::Path(_) => {
            ui::out(visible(&file.path.to_string_lossy()));
            Ok(Exit::Done)
        }
    }
}
