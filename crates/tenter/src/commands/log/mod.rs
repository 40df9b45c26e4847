//! `tenter log`: the journal, as lines for a person or as it stands. It reads, and writes nothing but what it shows.

mod journals;
mod lines;
mod whose;

use std::path::Path;
use std::time::Duration;

use tenter_engine::journal::{Line, RecordKind};
use tenter_proc::Cancel;
use tenter_protocol::lifecycle::{self, TABLE};
use tenter_protocol::{Diagnostic, EventName, Severity};

use super::Done;
use crate::env::Env;
use crate::failure::{Exit, Failure};
use crate::sanitize::sanitize;
use crate::{signals, ui};

use journals::{Journals, News};
use lines::Show;
use whose::Whose;

/// How often a watched journal is looked at.
const LOOK: Duration = Duration::from_millis(200);

/// Show what hooks did: every run of a hook, what it decided and why, and what it changed.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only of this conversation; the beginning of its id is enough.
    #[arg(long, value_name = "ID", conflicts_with = "follow")]
    conversation: Option<String>,
    /// Only of the newest conversation of this project.
    #[arg(long)]
    follow: bool,
    /// Only of this hook, by its full name.
    #[arg(long, value_name = "NAME")]
    hook: Option<String>,
    /// Only at this event, in any of its spellings.
    #[arg(long, value_name = "EVENT", value_parser = events)]
    event: Option<Events>,
    /// Print the records as they stand in the journal, one JSON object a line.
    #[arg(long)]
    json: bool,
    /// Go on with new records as they come, until Ctrl-C.
    #[arg(long)]
    watch: bool,
}

/// The events that a spelling means.
#[derive(Debug, Clone)]
struct Events(Vec<EventName>);

fn events(spelling: &str) -> Result<Events, String> {
    let events = lifecycle::by_any_spelling(spelling);
    if events.is_empty() {
        let names: Vec<&str> = TABLE.iter().map(|row| row.name).collect();
        return Err(format!("the events are {}", names.join(", ")));
    }
    Ok(Events(events))
}

/// Does it.
pub(crate) fn run(env: &Env, project: Option<&Path>, args: &Args) -> Done {
    let Some(whose) = whose::find(env, project, args)? else {
        ui::note("No conversation of this project is stored yet: `tenter run` begins one.");
        return Ok(Exit::Done);
    };
    let cancel = Cancel::new();
    if args.watch {
        signals::forward(&cancel)?;
    }
    let mut journals = Journals::new(env.journal_dir(), whose);
    let mut show = Show::new(args.json);
    let news = journals.read()?;
    let shown = print(&news, args, &mut show);
    // Half a line at the end is lost, unless somebody waits for the rest of it.
    let lost = if args.watch { 0 } else { news.unfinished };
    tell_unreadable(&journals, news.unreadable + lost);
    if shown == Some(0) {
        ui::note(nothing(&journals, news.lines.len()));
    }
    if args.watch && shown.is_some() {
        watch(&mut journals, args, &mut show, &cancel)?;
    }
    Ok(Exit::Done)
}

/// Shows what comes, until Ctrl-C or until nobody reads it any more.
fn watch(
    journals: &mut Journals,
    args: &Args,
    show: &mut Show,
    cancel: &Cancel,
) -> Result<(), Failure> {
    while !cancel.wait(LOOK) {
        let news = journals.read()?;
        if print(&news, args, show).is_none() {
            break;
        }
        tell_unreadable(journals, news.unreadable);
    }
    Ok(())
}

/// Shows the lines that are wanted, and says how many they were; nothing when nobody reads them any more.
fn print(news: &News, args: &Args, show: &mut Show) -> Option<usize> {
    ui::diagnostics(&news.findings);
    let mut count = 0;
    for line in news.lines.iter().filter(|line| is_wanted(line, args)) {
        show.line(line).ok()?;
        count += 1;
    }
    Some(count)
}

fn is_wanted(line: &Line, args: &Args) -> bool {
    let at = args.event.as_ref().is_none_or(|Events(events)| {
        events.iter().any(|event| event.as_str() == line.record.event)
    });
    at && args.hook.as_ref().is_none_or(|hook| is_of(&line.record.kind, hook))
}

fn is_of(kind: &RecordKind, hook: &String) -> bool {
    match kind {
        RecordKind::Run(run) => run.hook == *hook,
        RecordKind::Decision(decision) => {
            decision.by.as_ref() == Some(hook) || decision.overruled.contains(hook)
        }
        RecordKind::Answer(answer) => answer.hook == *hook,
        RecordKind::Other(fields) => {
            fields.get("hook").and_then(|name| name.as_str()) == Some(hook)
        }
    }
}

fn tell_unreadable(journals: &Journals, count: usize) {
    if count > 0 {
        let lines = if count == 1 { "1 line" } else { &format!("{count} lines") };
        let message = format!("{lines} of the journal cannot be read and are left out");
        let finding = Diagnostic::new("journal-lines-unreadable", Severity::Warning, message)
            .at(journals.folder())
            .help("a process that is killed while it writes leaves half a line; the other lines are whole");
        ui::diagnostic(&finding);
    }
}

/// Why nothing is shown, of so many records.
fn nothing(journals: &Journals, records: usize) -> String {
    match (journals.whose(), records) {
        (Whose::All, 0) => format!(
            "No hook has run yet: there is no journal in {}. `tenter hooks list` shows which hooks there are.",
            sanitize(&journals.folder().to_string_lossy())
        ),
        (Whose::Conversation(id) | Whose::Subagent { id, .. }, 0) => {
            format!("No hook ran in the conversation {}.", sanitize(id))
        }
        (_, 1) => "The only record is of another hook or event.".to_owned(),
        (_, records) => format!("All {records} records are of other hooks or events."),
    }
}
