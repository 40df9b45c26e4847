//! `tenter conversation list`.

use std::path::Path;

use serde::Serialize;
use tenter_agent::store::{ListQuery, SearchQuery, Summary};

use super::{SummaryJson, counted_messages, open_store, status_word};
use crate::commands::Done;
use crate::env::Env;
use crate::failure::{Exit, Failure};
use crate::project;
use crate::sanitize::{one_line, sanitize, visible};
use crate::ui::{self, FAINT, NAME, styled};

/// Characters of a model's name or a folder that are shown.
const LENGTH: usize = 80;
/// Characters of a snippet that are shown.
const SNIPPET: usize = 200;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// List those in which one message says all these words, the best first; the last may be the beginning of one.
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// List those of all projects.
    #[arg(long)]
    all: bool,
    /// List subagents' conversations too.
    #[arg(long)]
    subagents: bool,
    /// How many at most; 0 is without limit.
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Print a JSON array: id, created_at, updated_at, project, model, parent_id, forked_from, message_count, preview, status,
    /// usage; with --search also snippet.
    #[arg(long)]
    json: bool,
}

/// A conversation to list. As JSON it is one object.
#[derive(Serialize)]
struct ListedJson<'l> {
    #[serde(flatten)]
    summary: SummaryJson<'l>,
    #[serde(skip_serializing_if = "Option::is_none")]
    snippet: Option<&'l str>,
}

struct Listed {
    summary: Summary,
    /// What was searched for, in its surroundings.
    snippet: Option<String>,
}

/// Does it.
pub(super) fn run(env: &Env, project: Option<&Path>, args: &Args) -> Done {
    let root = project::root(env, project)?;
    let mut found = conversations(env, &root, args)?;
    let more = args.limit > 0 && found.len() > args.limit;
    if more {
        found.truncate(args.limit);
    }
    if args.json {
        let objects: Vec<ListedJson> = found.iter().map(Listed::json).collect();
        ui::out(serde_json::to_string_pretty(&objects).unwrap_or_default());
    } else {
        found.iter().flat_map(|listed| listed.lines(args.all)).for_each(ui::out);
    }
    if found.is_empty() {
        ui::note(nothing(&root, args));
    } else if more {
        ui::note(styled(FAINT, "There are more: --limit 0 lists all."));
    }
    Ok(Exit::Done)
}

/// Those to list, and one more where there are more.
fn conversations(env: &Env, root: &Path, args: &Args) -> Result<Vec<Listed>, Failure> {
    if args.search.as_deref().is_some_and(|words| words.trim().is_empty()) {
        return Err(Failure::usage("there is nothing to search for")
            .help("give a word or more: --search \"parser lexer\""));
    }
    let Some(store) = open_store(env)? else { return Ok(Vec::new()) };
    let limit = if args.limit == 0 { usize::MAX } else { args.limit.saturating_add(1) };
    let project = Some(root).filter(|_| !args.all);
    let query = ListQuery { project, limit, include_subagents: args.subagents };
    let Some(words) = &args.search else {
        let all = store.list(&query)?.into_iter();
        return Ok(all.map(|summary| Listed { summary, snippet: None }).collect());
    };
    let found = store.search(&SearchQuery { words, among: query })?.into_iter();
    Ok(found.map(|found| Listed { summary: found.summary, snippet: Some(found.snippet) }).collect())
}

fn nothing(root: &Path, args: &Args) -> String {
    let root = visible(&root.to_string_lossy()).into_owned();
    match (&args.search, args.all) {
        (Some(_), true) => "Nothing that is stored says that in one message.".to_owned(),
        (Some(_), false) => format!(
            "No conversation of {root} says that in one message: --all looks in those of other projects."
        ),
        (None, true) => "No conversation is stored yet: `tenter run` begins one.".to_owned(),
        (None, false) => format!(
            "No conversation of {root} is stored yet: `tenter run` begins one; --all lists those of other projects."
        ),
    }
}

impl Listed {
    fn json(&self) -> ListedJson<'_> {
        ListedJson { summary: SummaryJson::from(&self.summary), snippet: self.snippet.as_deref() }
    }

    fn lines(&self, with_project: bool) -> Vec<String> {
        let snippet = self.snippet.as_ref();
        let snippet = snippet.map(|text| format!("    {}", one_line(text, SNIPPET)));
        [line(&self.summary, with_project)].into_iter().chain(snippet).collect()
    }
}

pub(super) fn line(summary: &Summary, with_project: bool) -> String {
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
