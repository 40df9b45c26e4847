//! `tenter log`: prints the journal, as lines for the user or as JSON.

mod csv;
mod filter;
mod find;
mod journals;
mod lines;
mod selection;
pub(crate) mod transcripts;

use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Duration;

use tenter_base::{format_count, nearest, sanitize, visible};
use tenter_proc::Cancel;
use tenter_protocol::{Diagnostic, Severity};
use tenter_terminal::{CommandResult, Env, Exit, Failure, now, pager, signals, ui};

use crate::project::{self, Project};
use crate::session_titles::SessionTitles;
use crate::{OwnAgent, backtest};
use filter::{FilterArgs, RecordFilter};
use journals::{Journals, NewLines, Newest};
use lines::{LogFormat, LogLayout, RecordView};
use selection::{JournalSelection, SessionLine};
use transcripts::TranscriptQuery;

/// The name of this agent in records.
const TENTER: &str = "tenter";
/// The interval at which a followed journal is read.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// The number of records that `--follow` starts with.
const BEFORE_FOLLOWING: NonZeroUsize = NonZeroUsize::new(10).unwrap();

/// Show what hooks did: every run, its decision and reason, and what it changed.
///
/// Shows the sessions of this project, the newest last; on a terminal in your pager.
#[derive(Debug, Default, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct Args {
    /// Show only this session: the start of its id, or `last`.
    #[arg(long, value_name = "ID", alias = "conversation")]
    session: Option<String>,
    /// Show the sessions of all projects.
    #[arg(long, conflicts_with = "session")]
    all: bool,
    /// Show only the newest N records.
    #[arg(short = 'n', long = "lines", value_name = "N", value_parser = count)]
    lines: Option<NonZeroUsize>,
    /// Show the calls in the transcripts of these agents, and what hooks decided about them.
    #[arg(long, value_name = "AGENT", value_delimiter = ',', value_parser = backtest::host)]
    from: Vec<String>,
    #[command(flatten)]
    filter: FilterArgs,
    /// Print new records as they come, until Ctrl-C.
    #[arg(long, short, alias = "watch")]
    follow: bool,
    /// Print the records as JSON, one object per line.
    #[arg(long)]
    json: bool,
    /// Print runs of hooks, answers and permissions as comma-separated values.
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Do not use a pager.
    #[arg(long)]
    no_pager: bool,
}

impl Args {
    fn transcript_query(&self) -> TranscriptQuery<'_> {
        TranscriptQuery {
            hosts: &self.from,
            session: self.session.as_deref(),
            since: self.filter.since(now()),
            is_everywhere: self.all || self.session.is_some(),
            lines: self.lines,
            json: self.json,
        }
    }
}

/// Reads a number of records, at least 1.
pub fn count(text: &str) -> Result<NonZeroUsize, String> {
    let count = text.parse().map_err(|_| format!("{} is not a number", visible(text)))?;
    NonZeroUsize::new(count).ok_or_else(|| "at least 1 record must be shown".to_owned())
}

/// Runs the command.
pub fn run(
    env: &Env,
    project: Option<&Path>,
    args: &Args,
    agent: &'static dyn OwnAgent,
) -> CommandResult {
    if !args.from.is_empty() {
        return transcripts::run(env, project, &args.transcript_query());
    }
    let root = project::root(env, project)?;
    let Some(selection) = find::find(env, &root, args, agent)? else {
        ui::note("No session of this project is recorded yet: `tenter run` starts one.");
        return Ok(Exit::Done);
    };
    let mut journals = Journals::new(env.journals(), selection);
    let filter = RecordFilter::new(&args.filter, now());
    let limit = args.lines.or(args.follow.then_some(BEFORE_FOLLOWING));
    let format = args.format();
    let shows = |it: &SessionLine| {
        let view = || lines::view(it, format).map(|view| view.is_record());
        filter.keeps(&it.line).then(view).flatten()
    };
    let newest_records =
        Newest { limit, since: filter.since(), continues: args.follow, shows: &shows };
    let news = journals.read_newest(&newest_records)?;
    if let Some(hook) = args.filter.hook.as_ref().filter(|_| news.lines.is_empty()) {
        check_hook(env, project, hook)?;
    }
    let secrets = || Project::open(env, project).map(|it| it.secrets()).unwrap_or_default();
    let titles = (format == LogFormat::Text).then(|| SessionTitles::read(env, agent, secrets()));
    let mut layout =
        LogLayout::new(format, titles, matches!(journals.selection(), JournalSelection::All));
    ui::diagnostics(&news.findings);
    // Half a line at the end is lost, unless the rest of it is waited for.
    let count = if args.follow { 0 } else { news.unfinished_journals };
    report_unreadable(&journals, news.unreadable + count);
    let records = newest(limit, wanted(&news, &filter, format));
    if records.is_empty() {
        let is_since = filter.since().is_some() && (news.has_older || news.selected_lines > 0);
        ui::note(if is_since {
            "No record since then matches.".to_owned()
        } else {
            nothing(&journals, news.selected_lines)
        });
    }
    let text = layout.lines(&records);
    if args.follow {
        follow(&mut journals, &filter, (&mut layout, format), &text)?;
    } else {
        show(env, project, args, &text)?;
    }
    Ok(Exit::Done)
}

/// Returns the records of one conversation as lines, or the newest `limit` of them. Diagnostics are shown.
pub fn list_conversation(
    env: &Env,
    id: &str,
    limit: Option<NonZeroUsize>,
) -> Result<Vec<String>, Failure> {
    let selection = JournalSelection::Conversation(id.to_owned());
    let mut journals = Journals::new(env.journals(), selection);
    let news = journals.read()?;
    ui::diagnostics(&news.findings);
    report_unreadable(&journals, news.unreadable);
    let filter = FilterArgs::default();
    let records = wanted(&news, &RecordFilter::new(&filter, now()), LogFormat::Text);
    Ok(LogLayout::new(LogFormat::Text, None, false).lines(&newest(limit, records)))
}

/// Fails if there is no such hook, neither in a journal nor among those that exist now.
fn check_hook(env: &Env, project: Option<&Path>, hook: &str) -> Result<(), Failure> {
    let journal_names = Journals::new(env.journals(), JournalSelection::All).hooks()?;
    if journal_names.contains(hook) {
        return Ok(());
    }
    let mut project = Project::open(env, project)?;
    let catalog = project.load(&Cancel::new());
    let names = catalog.listing().iter().map(|hook| hook.name.as_str());
    let names: Vec<&str> = names.chain(journal_names.iter().map(String::as_str)).collect();
    if names.contains(&hook) {
        return Ok(());
    }
    let help = match nearest(hook, names.iter().copied()) {
        Some(name) => format!("did you mean {name:?}?"),
        None => "`tenter hooks list` shows the hooks of this project".to_owned(),
    };
    Err(Failure::new(format!("there is no hook {hook:?}, neither now nor in the journal"))
        .help(help))
}

/// Returns the wanted records, laid out.
fn wanted(news: &NewLines, filter: &RecordFilter, format: LogFormat) -> Vec<RecordView> {
    let lines = news.lines.iter().filter(|it| filter.keeps(&it.line));
    lines.filter_map(|it| lines::view(it, format)).collect()
}

impl Args {
    /// Selects the records of all projects, for other programs.
    pub(crate) fn everything(csv: bool) -> Self {
        Self { all: true, csv, json: !csv, no_pager: true, ..Self::default() }
    }

    fn format(&self) -> LogFormat {
        match (self.json, self.csv) {
            (true, _) => LogFormat::Json,
            (false, true) => LogFormat::Csv,
            (false, false) => LogFormat::Text,
        }
    }
}

/// Returns the newest records, up to `limit`, with the lines that belong to them.
fn newest(limit: Option<NonZeroUsize>, mut views: Vec<RecordView>) -> Vec<RecordView> {
    let records = views.iter().enumerate().filter(|(_, it)| it.is_record());
    let first =
        limit.and_then(|limit| records.rev().nth(limit.get() - 1)).map_or(0, |(index, _)| index);
    views.drain(..first);
    views
}

/// Prints the lines, on a terminal in the user's pager.
fn show(env: &Env, project: Option<&Path>, args: &Args, lines: &[String]) -> Result<(), Failure> {
    if lines.is_empty() {
        return Ok(());
    }
    let plain = args.json || args.csv || args.no_pager;
    if let Some(pager) = pager::wanted(env).filter(|_| !plain)
        // Without the configuration it is not known which variables hold keys.
        && let Ok(project) = Project::open(env, project)
    {
        let text = lines.join("\n") + "\n";
        let vars = project.program_environment();
        if pager::show(env, pager, vars, &ui::for_stdout(&text))? {
            return Ok(());
        }
    }
    // If stdout is closed, the reader has read enough.
    let _ = lines.iter().try_for_each(ui::try_out);
    Ok(())
}

/// Prints the lines, then new ones, until Ctrl-C or until stdout is closed.
fn follow(
    journals: &mut Journals,
    filter: &RecordFilter,
    (layout, format): (&mut LogLayout, LogFormat),
    lines: &[String],
) -> Result<(), Failure> {
    let cancel = signals::cancel()?;
    let mut result = lines.iter().try_for_each(ui::try_out);
    while result.is_ok() && !cancel.wait(POLL_INTERVAL) {
        let news = journals.read()?;
        ui::diagnostics(&news.findings);
        report_unreadable(journals, news.unreadable);
        result = layout.lines(&wanted(&news, filter, format)).iter().try_for_each(ui::try_out);
    }
    Ok(())
}

fn report_unreadable(journals: &Journals, count: usize) {
    if count > 0 {
        let message =
            format!("cannot read {} of the journal", format_count(count, "line", "lines"));
        let finding = Diagnostic::new("journal-lines-unreadable", Severity::Warning, message)
            .at(journals.directory())
            .help("a process that is killed while it writes leaves half a line; the other lines are complete");
        ui::diagnostic(&finding);
    }
}

/// Explains why none of `records` records is shown.
fn nothing(journals: &Journals, records: usize) -> String {
    match (journals.selection(), records) {
        (JournalSelection::All, 0) => format!(
            "No hook has run yet: there is no journal in {}. `tenter hooks list` lists the hooks.",
            visible(&journals.directory().to_string_lossy())
        ),
        (JournalSelection::Project(project), 0) => format!(
            "No hook has run in {} yet. `tenter hooks list` lists the hooks; --all shows other projects.",
            visible(&project.root)
        ),
        (JournalSelection::Conversation(id) | JournalSelection::Subagent { id, .. }, 0) => {
            format!("No hook ran in the session {}.", sanitize(id))
        }
        (_, 1) => "The only record does not match.".to_owned(),
        (_, records) => format!("None of the {records} records matches."),
    }
}
