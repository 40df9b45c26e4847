//! `tenter demo`: the first thing that a new user runs. In a scratch project it puts a scripted model under real hooks and
//! shows, turn by turn, what the model wanted, what each hook saw and decided, and what came of it.
//!
//! Only the model is played: agent, tools, hooks, trust, journal and store are those of `tenter run`. Nothing outside the
//! scratch folder is read or written, and what is claimed at the end is looked up, not assumed.

mod cast;
mod ending;
mod narrator;
mod proof;
mod scratch;
mod story;
mod stream;

use std::path::Path;
use std::sync::Arc;

use tenter_agent::session::{Finish, Status};
use tenter_agent::store::StoredConversation;
use tenter_base::search_path;
use tenter_proc::Cancel;

use self::ending::Ending;
use self::narrator::Narrator;
use self::scratch::{Scratch, quoted};
use self::stream::Stream;
use super::Done;
use crate::agent::{self, AgentArgs};
use crate::env::Env;
use crate::failure::{Exit, Failure};
use crate::project::Project;
use crate::render::Show;
use crate::trust;
use crate::ui;

/// What the agent is asked to do.
const QUERY: &str = "Remove the old build, then deploy the shop.";

/// See hooks at work in a scratch project: no key, no network.
///
/// Nothing of yours is read or changed. The project is removed at the end, unless you keep it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Keep the scratch project, to look around and to play on.
    #[arg(long)]
    keep: bool,
    /// Print one JSON object a line: the stream of `tenter run --headless`, with the hooks before and a summary after it.
    #[arg(long)]
    json: bool,
}

/// One way to tell the demo: what happens in between is shown as any agent's work is.
trait Telling: Show {
    /// What is about to be seen.
    fn opening(&self, scratch: &Scratch);

    /// What came of it.
    fn closing(&self, scratch: &Scratch, ending: &Ending);
}

/// Does it.
pub(crate) fn run(env: &Env, args: &Args) -> Done {
    let cancel = Cancel::new();
    crate::signals::forward(&cancel)?;
    let scratch = Scratch::make(env)?;
    let telling: Arc<dyn Telling> =
        if args.json { Arc::new(Stream::new()) } else { Arc::new(Narrator::new(called(env))) };
    telling.opening(&scratch);
    let show: Arc<dyn Show> = Arc::clone(&telling) as Arc<dyn Show>;
    let (finish, conversation) = play(&scratch, &show, &cancel)?;
    let ending = Ending::new(&scratch, &finish, conversation.as_ref(), args.keep);
    telling.closing(&scratch, &ending);
    scratch.leave(args.keep)?;
    match ending.status {
        Status::Failed => Err(broken(&ending)),
        status => Ok(Exit::Agent(status)),
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
    let built = agent::build(&project, &args, catalog, Arc::clone(show), cancel)?;
    project.findings().for_each(|finding| show.finding(finding));
    let finish = agent::work(&built, &QUERY.into(), cancel);
    show.finished(&finish);
    if let Some(trouble) = built.journal.take_trouble() {
        ui::diagnostic(&trouble);
    }
    let id = built.agent.store.newest(None)?;
    let conversation = id.map(|id| built.agent.store.load(&id)).transpose()?;
    Ok((finish, conversation))
}

/// How this program is called from the working folder: by its name where the search path leads to it.
fn called(env: &Env) -> String {
    let program = Env::program();
    let path = env.var("PATH").unwrap_or_default();
    if search_path::files("tenter", path)
        .filter_map(|file| file.canonicalize().ok())
        .any(|file| file == program)
    {
        return "tenter".to_owned();
    }
    let from_here = program.strip_prefix(&env.cwd).map(|path| Path::new(".").join(path));
    quoted(&from_here.unwrap_or(program))
}

fn broken(ending: &Ending) -> Failure {
    let claims: Vec<&str> =
        ending.proofs.iter().filter(|proof| !proof.holds).map(|proof| proof.name).collect();
    Failure::new(format!("the demo did not go as it should; not shown: {}", claims.join(", "))).help(
        "`tenter demo --keep` keeps everything to look at; where temporary files may not be run, name another folder with TMPDIR",
    )
}
