//! `tenter config get`.

use std::path::Path;

use tenter_settings::keys::SettingKey;
use tenter_terminal::{CommandResult, Env, Exit, Failure, ui};

use super::list::{json, plain};
use super::values::SettingLayers;
use crate::project::Project;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The key, such as hooks.fail.
    key: String,
    /// Print a JSON object: key, value, source, default, about, variable.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(env: &Env, root: &Path, args: &Args) -> CommandResult {
    let key = SettingKey::parse(&args.key)?;
    let project = Project::open(env, Some(root))?;
    let value = SettingLayers::read(&project)?.value(key);
    ui::diagnostics(project.findings());
    if args.json {
        ui::json(&json(&value));
        return Ok(Exit::Done);
    }
    let Some(value) = &value.value else {
        let failure = Failure::new(format!("{} is not set", value.key));
        return Err(match value.key.setting.plain_default().as_str() {
            "" => failure,
            words => failure.help(format!("the default is {}", words.trim_matches(['(', ')']))),
        });
    };
    ui::out(plain(value));
    Ok(Exit::Done)
}
