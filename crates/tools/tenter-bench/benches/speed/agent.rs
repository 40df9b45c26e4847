//! Sessions of many turns with the scripted model: time and memory per turn, and whether late turns take longer than early ones.
//! Each session is a separate process, so that its memory can be measured.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tenter_agent::model::scripted::ScriptedModel;
use tenter_agent::permission::{FixedAnswer, PermissionAnswer, Permissions};
use tenter_agent::recipe::{RecipeBook, Recipes};
use tenter_agent::store::Store;
use tenter_agent::tools::{ProtectedPaths, Registry, Workspace, WorkspaceSettings};
use tenter_agent::{
    Agent, AgentSettings, Conversation, RetrySettings, Session, SessionUpdate, UserMessage, Watcher,
};
use tenter_engine::Engine;
use tenter_engine::inspect::KeyMask;
use tenter_proc::Cancel;
use tenter_protocol::Scope;
use tenter_protocol::event::ExitReason;

use crate::measure::{Times, ratio};
use crate::report::Report;
use crate::scene::{Scene, clock, environment};
use crate::{Measured, Plan, memory};

/// The argument with which this program plays a session and prints its measurements.
pub(crate) const SESSION: &str = "--session";
/// Number of turns of a session.
const TURNS: usize = 500;
/// The first and the last of so many parts are the beginning and the end of a session.
const ENDS: usize = 5;

/// The name of the session whose model reports no token counts.
const NO_USAGE: &str = "no-usage";
/// The hooks of a session: a name, a description, and the events they subscribe to.
const HOOKS: [(&str, &str, &[&str]); 4] = [
    ("none", "no hooks", &[]),
    (NO_USAGE, "no hooks, a model without token counts", &[]),
    (
        "five",
        "5 hooks, each run once",
        &[
            "before_tool_call",
            "before_tool_call",
            "before_tool_call",
            "after_tool_call",
            "after_tool_call",
        ],
    ),
    ("history", "1 hook that reads the whole history", &["after_turn"]),
];

pub(crate) fn run(plan: Plan, report: &mut Report) -> Measured<()> {
    let turns = plan.size(TURNS).to_string();
    report.section("A turn of an agent with the scripted model");
    let mut answers = HOOKS.map(|_| Vec::new());
    for _ in 0..plan.rounds(5) {
        for ((word, _, _), answers) in HOOKS.iter().zip(&mut answers) {
            answers.push(memory::ask_self(&[SESSION, &turns, word])?);
        }
    }
    for ((_, what, _), answers) in HOOKS.iter().zip(&answers) {
        show(report, &format!("a turn of {turns}, {what}"), answers)?;
    }
    Ok(())
}

/// Reports the measurements of the sessions of one kind.
fn show(report: &mut Report, what: &str, answers: &[Vec<u64>]) -> Measured<()> {
    let figure = |index: usize| -> Measured<Vec<u64>> {
        let figures = answers.iter().map(|answer| answer.get(index).copied());
        figures.collect::<Option<_>>().ok_or_else(|| "a session printed too few figures".into())
    };
    let times = |index| {
        figure(index)
            .map(|figures| Times::new(figures.into_iter().map(Duration::from_nanos).collect()))
    };
    let growth = ratio(times(2)?.median(), times(1)?.median());
    report.growth(what, &times(0)?, "last fifth of the turns compared with the first", growth);
    let bytes = figure(3)?.into_iter().min().unwrap_or_default();
    report.memory(format!("{what}: memory"), bytes, "resident, of the whole session");
    Ok(())
}

/// Plays a session and prints the median time of all, of the first and of the last turns in nanoseconds, and the memory of the
/// session in KiB.
pub(crate) fn report_session(turns: &str, hooks: &str) -> Measured<()> {
    use std::io::Write as _;
    let turns: usize = turns.parse()?;
    let scene = Scene::new()?;
    let (_, _, events) = HOOKS.iter().find(|(word, ..)| *word == hooks).ok_or("no such hooks")?;
    for (index, event) in events.iter().enumerate() {
        scene.compile(event, &scene.hook(&format!("hook-{index}")))?;
    }
    scene.trust_all()?;
    let ticks = Arc::new(Ticks::default());
    let agent = agent(
        &scene,
        &script(turns, hooks != NO_USAGE),
        &scene.at("conversations.db"),
        Arc::clone(&ticks),
    )?;
    let before = memory::resident_kib()?;
    play(&agent, conversation(&agent))?;
    let grown = memory::resident_kib()?.saturating_sub(before);
    let ticks = ticks.0.lock().unwrap_or_else(PoisonError::into_inner);
    let turns: Vec<Duration> = ticks.windows(2).map(|two| two[1].duration_since(two[0])).collect();
    let end = (turns.len() / ENDS).max(1).min(turns.len());
    let median = |turns: &[Duration]| Times::new(turns.to_vec()).median().as_nanos();
    let (all, first) = (median(&turns), median(&turns[..end]));
    let last = median(&turns[turns.len() - end..]);
    Ok(writeln!(std::io::stdout(), "{all} {first} {last} {grown}")?)
}

/// Returns a scripted model that calls a tool in each of `turns` turns and then stops.
pub(crate) fn script(turns: usize, has_usage: bool) -> String {
    let usage = has_usage.then(|| json!({"input_tokens": 9_000, "output_tokens": 30}));
    let turn = |number: usize| {
        let text = format!("Step {number}: I look at the list to see what is left to be done.");
        json!({"text": text, "tool_calls": [{"name": "todo", "input": {}}], "usage": usage})
    };
    let last = json!({"text": "That was all.", "usage": usage});
    let turns: Vec<Value> = (0..turns).map(turn).chain([last]).collect();
    json!({"turns": turns}).to_string()
}

/// The times at which turns ended.
#[derive(Default)]
pub(crate) struct Ticks(Mutex<Vec<Instant>>);

impl Watcher for Ticks {
    fn on_update(&self, _: &Scope, update: &SessionUpdate) {
        if matches!(update, SessionUpdate::Usage(_)) {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Instant::now());
        }
    }
}

/// Returns an agent as in `tenter run`, without a terminal.
pub(crate) fn agent(
    scene: &Scene,
    script: &str,
    store: &Path,
    watcher: Arc<Ticks>,
) -> Measured<Agent> {
    let project = scene.layout.project.clone();
    let workspace = WorkspaceSettings {
        project: project.clone(),
        cwd: project.clone(),
        protected_paths: ProtectedPaths::new(&project, &scene.layout.names),
        add_dirs: Vec::new(),
        read_dirs: Vec::new(),
        env: environment(),
        state_dir: scene.at("state"),
        launcher: None,
        clock,
    };
    Ok(Agent {
        model: Arc::new(ScriptedModel::parse("scripted:bench", script)?),
        weak_model: None,
        engine: engine(scene)?,
        tools: Registry::standard(),
        workspace: Arc::new(Workspace::new(workspace)?),
        store: Store::open(store)?,
        watcher,
        asker: Arc::new(FixedAnswer(PermissionAnswer::No)),
        permissions: Permissions::default(),
        snapshots: None,
        settings: settings(scene),
    })
}

fn engine(scene: &Scene) -> Measured<Engine> {
    Ok(scene.engine(scene.load(None)?))
}

fn settings(scene: &Scene) -> AgentSettings {
    let project = scene.layout.project.clone();
    AgentSettings {
        system_prompt: "You are an agent that is measured.".into(),
        max_turns: None,
        max_continuations: 8,
        retry: RetrySettings::default(),
        auto_compact: None,
        recipes: RecipeBook {
            recipes: Recipes::new(&scene.layout, &[]),
            project,
            env: environment(),
            launcher: None,
            trust: Arc::new(|_| false),
        },
        recipe: None,
        is_side_recipe: false,
        keys: KeyMask::default(),
        ui: "run",
    }
}

/// Returns a new conversation.
fn conversation(agent: &Agent) -> Conversation {
    let id = tenter_agent::store::new_conversation_id(clock());
    Conversation::new(id, None, agent.engine.project(), agent.model.name())
}

/// Sends one message to the agent.
pub(crate) fn play(agent: &Agent, conversation: Conversation) -> Measured<()> {
    let Ok(mut session) = Session::start(agent, conversation, Cancel::new()) else {
        return Err("a hook denied the session".into());
    };
    let message = UserMessage::from("Do what is on the list.");
    let finish = session.send(&message);
    session.end(finish.status, ExitReason::Done);
    match finish.error {
        Some(error) => Err(error.to_string().into()),
        None => Ok(()),
    }
}
