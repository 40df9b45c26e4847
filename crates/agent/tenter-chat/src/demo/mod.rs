//! `tenter demo`: the first thing that a new user runs. It runs a scripted model under real hooks in a scratch project, and
//! shows what the model does and what each hook decides.
//!
//! Only the model is scripted: agent, tools, hooks, trust, journal and store are the same as in `tenter run`, and so is the display
//! of the work. Nothing outside the scratch directory is read or written, and what is claimed at the end is checked.

mod checks;
mod hooks;
mod json_view;
mod outcome;
mod scratch;
mod text_view;

use std::path::Path;
use std::sync::Arc;

use tenter_agent::session::{Finish, Status};
use tenter_agent::store::StoredConversation;
use tenter_base::search_path;
use tenter_commands::project::Project;
use tenter_commands::trust;
use tenter_proc::Cancel;
use tenter_terminal::{CommandResult, Env, Failure, ui};

use self::json_view::JsonView;
use self::outcome::DemoOutcome;
use self::scratch::{Scratch, quote};
use self::text_view::TextView;
use crate::agent::{self, AgentArgs};
use crate::render::Show;

/// The task of the agent.
const QUERY: &str = "Remove the old build, then deploy the shop.";

/// Show hooks at work in a scratch project.
///
/// Needs no key and no network, and reads and changes none of your files. The project is removed at the end unless you keep it.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Keep the scratch project.
    #[arg(long)]
    keep: bool,
    /// Print JSON lines: the stream of `tenter run --headless`, with the hooks before it and a summary after it.
    #[arg(long)]
    json: bool,
}

/// One way to show the demo. The work of the agent is shown as by `tenter run`.
trait DemoView: Show {
    /// Shows what the demo is about.
    fn introduce(&self, scratch: &Scratch);

    /// Shows how it ended.
    fn conclude(&self, scratch: &Scratch, outcome: &DemoOutcome);
}

/// Runs the command.
pub fn run(env: &Env, args: &Args) -> CommandResult {
    let cancel = tenter_terminal::signals::cancel()?;
    let scratch = Scratch::create(env)?;
    let view: Arc<dyn DemoView> =
        if args.json { Arc::new(JsonView::new()) } else { Arc::new(TextView::new(program(env))) };
    view.introduce(&scratch);
    let show: Arc<dyn Show> = Arc::clone(&view) as Arc<dyn Show>;
    let (finish, conversation) = play(&scratch, &show, &cancel)?;
    let outcome = DemoOutcome::new(&scratch, &finish, conversation.as_ref(), args.keep);
    view.conclude(&scratch, &outcome);
    scratch.close(args.keep)?;
    match outcome.status {
        Status::Failed => Err(failed(&outcome)),
        status => Ok(agent::exit_after(status)),
    }
}

/// Plays the script under the hooks, as `tenter trust --yes` and `tenter run` would.
fn play(
    scratch: &Scratch,
    show: &Arc<dyn Show>,
    cancel: &Cancel,
) -> Result<(Finish, Option<StoredConversation>), Failure> {
    let mut project = Project::open(&scratch.env, Some(&scratch.project()))?;
    let catalog = project.load(cancel);
    let catalog = trust::trust_hooks(&mut project, catalog.untrusted(), cancel)?;
    let args = AgentArgs {
        model: Some(format!("scripted:{}", scratch.script().display())),
        ..AgentArgs::default()
    };
    let agent = agent::build(&project, &args, catalog, Arc::clone(show), cancel)?;
    project.findings().for_each(|finding| show.finding(finding));
    let finish = agent::work(&agent, &QUERY.into(), cancel);
    show.finished(&finish);
    if let Some(trouble) = agent.journal.take_trouble() {
        ui::diagnostic(&trouble);
    }
    let id = agent.agent.store.newest(None).map_err(Failure::caused_by)?;
    let conversation =
        id.map(|id| agent.agent.store.load(&id)).transpose().map_err(Failure::caused_by)?;
    Ok((finish, conversation))
}

/// Returns the command for this program: its name if it is in PATH.
fn program(env: &Env) -> String {
    let program = Env::program();
    let path = env.var("PATH").unwrap_or_default();
    if search_path::files("tenter", path)
        .filter_map(|file| file.canonicalize().ok())
        .any(|file| file == program)
    {
        return "tenter".to_owned();
    }
    let from_here = program.strip_prefix(&env.cwd).map(|path| Path::new(".").join(path));
    quote(&from_here.unwrap_or(program))
}

fn failed(outcome: &DemoOutcome) -> Failure {
    let names: Vec<&str> =
        outcome.checks.iter().filter(|check| !check.holds).map(|check| check.name).collect();
    Failure::new(format!("the demo failed: these checks do not hold: {}", names.join(", "))).help(
        "run `tenter demo --keep` and look at the files; if programs cannot run in the temporary directory, set TMPDIR to another one",
    )
}
