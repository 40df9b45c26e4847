//! `tenter conversation list`.

use std::path::Path;

use tenter_agent::store::{ListQuery, Summary};

use super::{SummaryJson, counted_messages, open_store, status_word};
use crate::commands::Done;
use crate::env::Env;
use crate::failure::{Exit, Failure};
use crate::hooks;
use crate::sanitize::{one_line, sanitize};
use crate::ui::{self, FAINT, NAME, styled};

/// Characters of a model's name or a folder that are shown.
const LENGTH: usize = 80;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// List those of all projects.
    #[arg(long)]
    all: bool,
    /// List subagents' conversations too.
    #[arg(long)]
    subagents: bool,
    /// How many at most; 0 is without limit.
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Print a JSON array: id, created_at, updated_at, project, model, parent_id, message_count, preview, status, usage.
    #[arg(long)]
    json: bool,
}

/// Does it.
pub(super) fn run(env: &Env, project: Option<&Path>, args: &Args) -> Done {
    let root = hooks::root(env, project)?;
    let mut found = conversations(env, &root, args)?;
    let more = args.limit > 0 && found.len() > args.limit;
    if more {
        found.truncate(args.limit);
    }
    if args.json {
        let objects: Vec<SummaryJson> = found.iter().map(SummaryJson::from).collect();
        ui::out(serde_json::to_string_pretty(&objects).unwrap_or_default());
    } else {
        for summary in &found {
            ui::out(line(summary, args.all));
        }
    }
    if found.is_empty() {
        ui::note(nothing(&root, args.all));
    } else if more {
        ui::note(styled(FAINT, "There are more: --limit 0 lists all."));
    }
    Ok(Exit::Done)
}

/// Those to list, and one more where there are more.
fn conversations(env: &Env, root: &Path, args: &Args) -> Result<Vec<Summary>, Failure> {
    let Some(store) = open_store(env)? else { return Ok(Vec::new()) };
    let limit = if args.limit == 0 { usize::MAX } else { args.limit.saturating_add(1) };
    let project = Some(root).filter(|_| !args.all);
    Ok(store.list(&ListQuery { project, limit, include_subagents: args.subagents })?)
}

fn nothing(root: &Path, all: bool) -> String {
    if all {
        "No conversation is stored yet: `tenter run` begins one.".to_owned()
    } else {
        format!(
            "No conversation of {} is stored yet: `tenter run` begins one; --all lists those of other projects.",
            sanitize(&root.to_string_lossy())
        )
    }
}

fn line(summary: &Summary, with_project: bool) -> String {
    let mut parts = vec![
        styled(NAME, sanitize(&summary.id)),
        ui::short_time(&summary.updated_at),
        format!("{:>12}", counted_messages(summary.message_count)),
        format!("{:<11}", status_word(summary)),
        one_line(&summary.preview, LENGTH),
        styled(FAINT, one_line(&summary.model, LENGTH)),
    ];
    if let Some(parent) = &summary.parent {
        parts.push(styled(FAINT, format!("subagent of {}", sanitize(parent))));
    }
    if with_project {
        parts.push(styled(FAINT, folder(&summary.project)));
    }
    parts.join("  ")
}

fn folder(path: &Path) -> String {
    one_line(&path.to_string_lossy(), LENGTH)
}
