//! `tenter conversation list`.

use std::path::Path;

use serde_json::Value;
use tenter_agent::store::{ListQuery, SearchQuery, Summary};
use tenter_base::{one_line, sanitize, visible};
use tenter_commands::project;
use tenter_terminal::text::columns;
use tenter_terminal::{CommandResult, Env, Exit, FAINT, Failure, NAME, numbers, styled, ui};

use super::{counted_messages, open_store, status_word, summary_json};

/// Maximum number of characters of a model's name or a directory.
const MAX_NAME_LENGTH: usize = 80;
/// Maximum number of characters of a title.
const TITLE_WIDTH: usize = 48;
/// Maximum number of characters of a snippet.
const MAX_SNIPPET_LENGTH: usize = 200;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// List conversations with a message that contains all these words, best match first. The last word may be a prefix.
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// List the conversations of all projects.
    #[arg(long)]
    all: bool,
    /// Include the conversations of subagents.
    #[arg(long)]
    subagents: bool,
    /// Maximum number of conversations; 0 for no limit.
    #[arg(long, value_name = "N", value_parser = numbers::whole::<usize>, default_value_t = 20)]
    limit: usize,
    /// Print a JSON array: id, created_at, updated_at, project, model, parent_id, forked_from, message_count, preview, status,
    /// usage; with --search also snippet.
    #[arg(long)]
    json: bool,
}

/// A conversation in the list.
struct ListedConversation {
    summary: Summary,
    /// The match with its surrounding text.
    snippet: Option<String>,
}

pub(super) fn run(env: &Env, project: Option<&Path>, args: &Args) -> CommandResult {
    let root = project::root(env, project)?;
    let mut list = conversations(env, &root, args)?;
    let more = args.limit > 0 && list.len() > args.limit;
    if more {
        list.truncate(args.limit);
    }
    if args.json {
        let objects: Vec<Value> = list.iter().map(ListedConversation::json).collect();
        ui::json(&objects);
    } else {
        list.iter().flat_map(|entry| entry.lines(args.all)).for_each(ui::out);
    }
    if list.is_empty() {
        ui::note(none_found(&root, args));
    } else if more {
        ui::note(styled(FAINT, "More conversations exist; --limit 0 lists all."));
    }
    Ok(Exit::Done)
}

/// Returns the conversations to list, and one more if the limit is exceeded.
fn conversations(env: &Env, root: &Path, args: &Args) -> Result<Vec<ListedConversation>, Failure> {
    if args.search.as_deref().is_some_and(|words| words.trim().is_empty()) {
        return Err(Failure::usage("the search text is empty")
            .help("pass one or more words: --search \"parser lexer\""));
    }
    let Some(store) = open_store(env)? else { return Ok(Vec::new()) };
    let limit = if args.limit == 0 { usize::MAX } else { args.limit.saturating_add(1) };
    let project = Some(root).filter(|_| !args.all);
    let query = ListQuery { project, limit, include_subagents: args.subagents };
    let Some(words) = &args.search else {
        let all = store.list(&query).map_err(Failure::caused_by)?.into_iter();
        return Ok(all.map(|summary| ListedConversation { summary, snippet: None }).collect());
    };
    let summaries =
        store.search(&SearchQuery { words, among: query }).map_err(Failure::caused_by)?.into_iter();
    Ok(summaries
        .map(|summaries| ListedConversation {
            summary: summaries.summary,
            snippet: Some(summaries.snippet),
        })
        .collect())
}

fn none_found(root: &Path, args: &Args) -> String {
    let root = visible(&root.to_string_lossy()).into_owned();
    match (&args.search, args.all) {
        (Some(_), true) => "No message matches.".to_owned(),
        (Some(_), false) => format!("No message of {root} matches. --all searches other projects."),
        (None, true) => "No conversation is stored. `tenter run` starts one.".to_owned(),
        (None, false) => format!(
            "No conversation of {root} is stored. `tenter run` starts one; --all lists other projects."
        ),
    }
}

impl ListedConversation {
    fn json(&self) -> Value {
        let mut object = summary_json(&self.summary);
        if let Some(snippet) = &self.snippet {
            object["snippet"] = snippet.as_str().into();
        }
        object
    }

    fn lines(&self, with_project: bool) -> Vec<String> {
        let snippet = self.snippet.as_ref();
        let snippet = snippet.map(|text| format!("    {}", one_line(text, MAX_SNIPPET_LENGTH)));
        [line(&self.summary, with_project)].into_iter().chain(snippet).collect()
    }
}

/// Returns the line of a conversation: its title first, and its id at the end, for other commands.
pub(super) fn line(summary: &Summary, with_project: bool) -> String {
    let title = title(summary);
    let padding = " ".repeat(TITLE_WIDTH.saturating_sub(columns(&title)));
    let mut parts = vec![
        format!("{}{padding}", styled(NAME, title)),
        ui::short_time(&summary.updated_at),
        format!("{:>12}", counted_messages(summary.message_count)),
        format!("{:<11}", status_word(summary)),
        styled(FAINT, one_line(&summary.model, MAX_NAME_LENGTH)),
        sanitize(&summary.id).into_owned(),
    ];
    if let Some(parent) = &summary.parent {
        parts.push(styled(FAINT, format!("subagent of {}", sanitize(parent))));
    }
    if with_project {
        parts.push(styled(FAINT, one_line(&summary.project.to_string_lossy(), MAX_NAME_LENGTH)));
    }
    parts.join("  ")
}

/// Returns the title of a conversation: the first words of its first message.
pub(super) fn title(summary: &Summary) -> String {
    match summary.preview.trim() {
        "" => "(no message)".to_owned(),
        preview => one_line(preview, TITLE_WIDTH),
    }
}

/// Returns the name of the directory of a project.
pub(super) fn directory_name(project: &Path) -> String {
    let name = project.file_name().unwrap_or(project.as_os_str());
    one_line(&name.to_string_lossy(), MAX_NAME_LENGTH)
}
