//! The cost of selecting the hooks of an event, with a growing number of hooks: hooks for other events, hooks for this event and
//! other tools, and one that matches.
//!
//! The matching hook is a static binary whose process costs more than the selection. Therefore the engine with all hooks is
//! compared with an engine that has only that hook: the ratio shows the cost of the others.

use std::path::Path;
use std::time::Duration;

use tenter_engine::inspect::{
    Catalog, EntryPoint, Hook, HookKind, HookOptions, HookPolicy, Matcher,
};
use tenter_engine::{Engine, Fingerprint, Layer};
use tenter_proc::Cancel;
use tenter_protocol::EventName;
use tenter_protocol::executable::Subscription;
use tenter_protocol::manifest::MatcherText;

use crate::measure::{alone, paired};
use crate::report::{Report, shown};
use crate::scene::Scene;
use crate::{Measured, Plan};

/// Numbers of hooks.
const SIZES: [usize; 4] = [10, 100, 1_000, 10_000];
/// Maximum time of a dispatch without a matching hook, with so many hooks.
const BUDGET: (usize, Duration) = (1_000, Duration::from_micros(20));

/// The reason for which the other hooks do not match.
#[derive(Clone, Copy)]
enum Others {
    /// Another event.
    Event,
    /// Another tool.
    Tool,
    /// Another command of the same tool.
    Command,
}

pub(crate) fn run(plan: Plan, report: &mut Report) -> Measured<()> {
    let scene = Scene::new()?;
    let program = scene.hook("hook");
    scene.compile("before_tool_call", &program)?;
    report.section("Dispatch of a tool call");
    let kinds = [
        (Others::Event, "subscribe to another event"),
        (Others::Tool, "match other tools"),
        (Others::Command, "match other commands of the tool"),
    ];
    for (others, name) in kinds {
        for size in plan.sizes(&SIZES) {
            none_matches(plan, report, &scene, &program, (others, name, size))?;
        }
    }
    for size in plan.sizes(&SIZES) {
        one_matches(plan, report, &scene, &program, size)?;
    }
    Ok(())
}

fn none_matches(
    plan: Plan,
    report: &mut Report,
    scene: &Scene,
    program: &Path,
    (others, name, size): (Others, &str, usize),
) -> Measured<()> {
    let hooks = (0..size).map(|index| hook(index, others, program));
    let engine = scene.engine(Catalog::new(hooks.collect()));
    let (event, cancel) = (scene.tool_call(), Cancel::new());
    let dispatch = || Ok(engine.dispatch(event.clone(), &cancel));
    alone(1, 1, dispatch)?;
    let times = alone(plan.rounds(200), plan.repeats(50), dispatch)?;
    report.alone(format!("none of {size} hooks: they {name}"), &times, "");
    let (hook_count, limit) = BUDGET;
    if size == hook_count {
        let what = format!("dispatch, none of {size} hooks matches: they {name}");
        report.budget(&what, "≤ 20 µs", shown(times.median()), times.median() <= limit);
    }
    Ok(())
}

fn one_matches(
    plan: Plan,
    report: &mut Report,
    scene: &Scene,
    program: &Path,
    size: usize,
) -> Measured<()> {
    let one = || Hook { name: "the-one".to_owned(), ..executable(program, EventName::BeforeTool) };
    let hooks = (1..size).map(|index| hook(index, Others::Tool, program)).chain([one()]);
    let among_many = scene.engine(Catalog::new(hooks.collect()));
    let by_itself = scene.engine(Catalog::new(vec![one()]));
    let (event, cancel) = (scene.tool_call(), Cancel::new());
    let dispatch = |engine: &Engine| Ok(engine.dispatch(event.clone(), &cancel));
    let pair = paired(plan.rounds(300), || dispatch(&among_many), || dispatch(&by_itself))?;
    report.pair(format!("one of {size} hooks, which runs"), "only that hook", &pair);
    Ok(())
}

/// Returns a hook that does not match the call.
fn hook(index: usize, others: Others, program: &Path) -> Hook {
    let matcher = match others {
        Others::Event => {
            let hook = executable(program, EventName::AfterAgent);
            return Hook { name: format!("hook-{index}"), ..hook };
        }
        Others::Tool => {
            let tools = ["^(WriteFile|file_edit)$", "grep|glob", "file_write", "^subagent$"];
            MatcherText { tool: Some(tools[index % tools.len()].to_owned()), pattern: None }
        }
        Others::Command => {
            let patterns = [r"rm\s+-rf /", "git push.*--force ", "(?i)drop table ", "sudo "];
            let pattern = Some(format!("{}{index}", patterns[index % patterns.len()]));
            MatcherText { tool: Some("bash".to_owned()), pattern }
        }
    };
    Hook {
        name: format!("hook-{index}"),
        kind: HookKind::Program(EntryPoint { path: program.to_owned(), interpreter: None }),
        options: Box::new(HookOptions {
            matcher: Some(Matcher::new(&matcher)),
            light_payload: true,
            ..HookOptions::default()
        }),
        ..executable(program, EventName::BeforeTool)
    }
}

fn executable(program: &Path, event: EventName) -> Hook {
    let spelling = event.as_str();
    Hook {
        name: String::new(),
        layer: Layer::User,
        outer: None,
        path: Some(program.to_owned()),
        kind: HookKind::Executable,
        options: Box::default(),
        subscriptions: vec![Subscription { event, spelling }],
        fingerprint: Fingerprint(String::new()),
        pin: None,
        runtime: None,
        env: Vec::new(),
        policy: HookPolicy::default(),
    }
}
