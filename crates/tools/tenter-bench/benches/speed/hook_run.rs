//! One executable hook, from the event to the outcome, compared with a bare spawn, pipe and wait of the same program.

use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use tenter_engine::inspect::CallSurroundings;
use tenter_engine::{Attributed, Engine};
use tenter_proc::Cancel;
use tenter_protocol::{Event, executable};

use crate::measure::{Pair, paired};
use crate::report::Report;
use crate::scene::{Scene, environment};
use crate::{Measured, Plan};

/// Maximum ratio of the engine's time to the time of the bare calls.
const BUDGET: f64 = 1.10;

const SHELL: &str = "#!/usr/bin/env bash\nif [ \"$1\" = hook ]; then echo before_tool_call; else cat > /dev/null; fi\n";
/// The hook in Python.
pub(crate) const PYTHON: &str = "#!/usr/bin/env python3\nimport sys\nif sys.argv[1] == 'hook':\n    print('before_tool_call')\nelse:\n    sys.stdin.read()\n";

pub(crate) fn run(plan: Plan, report: &mut Report) -> Measured<()> {
    report.section("One executable hook");
    measure(plan, report, "a static binary", 1000, |scene| {
        scene.compile("before_tool_call", &scene.hook("hook"))
    })?;
    measure(plan, report, "a bash script", 300, |scene| scene.script("hook", SHELL).map(drop))?;
    if has_python() {
        measure(plan, report, "a Python script", 100, |scene| {
            scene.script("hook", PYTHON).map(drop)
        })?;
    } else {
        report.skip("python3");
    }
    Ok(())
}

fn measure(
    plan: Plan,
    report: &mut Report,
    what: &str,
    rounds: usize,
    write: impl FnOnce(&Scene) -> Measured<()>,
) -> Measured<()> {
    let scene = Scene::new()?;
    write(&scene)?;
    scene.trust_all()?;
    plan.let_hooks_age();
    let engine = scene.engine(scene.load(None)?);
    let (event, hook) = (scene.tool_call(), scene.hook("hook"));
    let pair = with_bare_calls(plan.rounds(rounds), &engine, &event, &hook)?;
    report.pair(what, "bare spawn, pipe, wait", &pair);
    let figure = format!("{:+.1} %", (pair.ratio - 1.0) * 100.0);
    let row = format!("one executable hook, overhead over the bare system calls: {what}");
    report.budget(&row, "≤ 10 %", figure, pair.ratio <= BUDGET);
    Ok(())
}

fn with_bare_calls(rounds: usize, engine: &Engine, event: &Event, hook: &Path) -> Measured<Pair> {
    let payload = executable::payload(
        event,
        "before_tool_call",
        &CallSurroundings::new(&event.scope.cwd).facts(&event.body, None, &event.scope.cwd).facts,
    );
    let payload = payload.ok_or("no payload")?;
    let cancel = Cancel::new();
    let dispatch = || {
        let outcome = engine.dispatch(event.clone(), &cancel);
        match outcome.verdict {
            None => Ok(()),
            Some(Attributed { value, .. }) => Err(format!("the hook decided {value:?}").into()),
        }
    };
    let bare = || Ok(bare(hook, payload.as_bytes(), &event.scope.cwd)?);
    paired(rounds, dispatch, bare)
}

/// Runs the hook with the bare calls that any program needs.
#[expect(clippy::disallowed_methods, reason = "this is the bare call that Tenter is compared with")]
fn bare(hook: &Path, payload: &[u8], cwd: &Path) -> io::Result<()> {
    let mut child = Command::new(hook)
        .arg("run")
        .current_dir(cwd)
        .env_clear()
        .envs(environment())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(payload)?;
    }
    let output = child.wait_with_output()?;
    if output.status.success() { Ok(()) } else { Err(io::Error::other("the hook failed")) }
}

#[expect(clippy::disallowed_methods, reason = "whether this machine has it is what is asked")]
pub(crate) fn has_python() -> bool {
    Command::new("python3")
        .arg("--version")
        .stdout(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
