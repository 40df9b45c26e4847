//! `tenter help`: the pages of the manual, which are built into the program, and the help of commands.

mod page;
mod paragraphs;
mod topics;

use std::fmt::Write as _;
use std::path::Path;

use clap::Command;
use tenter_base::nearest;
use tenter_terminal::text::Markdown;
use tenter_terminal::{CommandResult, Env, Exit, Failure, pager, ui};

use crate::project::Project;
use topics::{TOPICS, Topic};

pub use topics::listing;

/// Options for `less` unless the user sets `LESS`: quit if the text fits on one screen, show colors, keep the screen.
const LESS: &str = "FRX";

/// Print a page of the manual, or the help of a command.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A topic or a command; none lists both.
    #[arg(value_name = "TOPIC")]
    words: Vec<String>,
}

/// Prints the page of a topic; else the help of the command that the words name, in `app`.
pub fn run(env: &Env, project: Option<&Path>, app: Command, args: &Args) -> CommandResult {
    if let [word] = &args.words[..]
        && let Some(topic) = TOPICS.iter().find(|topic| topic.is_called(word))
    {
        return show(env, project, &app, topic);
    }
    command_help(app, &args.words)
}

/// Returns the names and descriptions of the topics.
pub fn topics() -> impl Iterator<Item = (&'static str, &'static str)> {
    TOPICS.iter().map(|topic| (topic.name, topic.about))
}

fn show(env: &Env, project: Option<&Path>, app: &Command, topic: &Topic) -> CommandResult {
    let mut text = page::render_for_terminal(topic.page, TOPICS);
    if app.find_subcommand(topic.name).is_some() {
        let _ = write!(text, "\nOptions of the command: `tenter {} --help`\n", topic.name);
    }
    let columns = ui::columns();
    let mut markdown = Markdown::default();
    let text = markdown.push(&text, columns) + &markdown.finish(columns);
    if let Some(pager) = pager::wanted(env)
        // Without the configuration it is not known which variables hold keys.
        && let Ok(project) = Project::open(env, project)
    {
        let mut vars = project.program_environment();
        if vars.iter().all(|(name, _)| name != "LESS") {
            vars.push(("LESS".into(), LESS.into()));
        }
        if pager::show(env, pager, vars, &ui::for_stdout(&text))? {
            return Ok(Exit::Done);
        }
    }
    ui::out_piece(text);
    Ok(Exit::Done)
}

fn command_help(mut app: Command, words: &[String]) -> CommandResult {
    app.build();
    let mut command = &app;
    for (depth, word) in words.iter().enumerate() {
        command = command.find_subcommand(word).ok_or_else(|| unknown(command, depth, words))?;
    }
    ui::out_piece(command.clone().render_long_help().ansi());
    if words.is_empty() {
        ui::out_piece(format!("\n{}\n", listing()));
    }
    Ok(Exit::Done)
}

/// Returns the error for the word at `depth`, which `command` does not have.
fn unknown(command: &Command, depth: usize, words: &[String]) -> Failure {
    let (before, word) = (&words[..depth], words[depth].as_str());
    let topics = TOPICS.iter().filter(|_| depth == 0).map(|topic| topic.name);
    let names = command.get_subcommands().map(Command::get_name).chain(topics);
    let help = match nearest(word, names) {
        Some(name) => {
            let path: Vec<&str> = before.iter().map(String::as_str).chain([name]).collect();
            format!("did you mean `tenter help {}`?", path.join(" "))
        }
        None => "`tenter help` lists commands and topics".to_owned(),
    };
    Failure::usage(format!("there is no topic or command {:?}", words[..=depth].join(" ")))
        .help(help)
}
