//! One event through a runtime hook, engine included, compared with a line written to the same program and a line read back; and the
//! memory that hooks cost the agent which are started and idle.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use tenter_engine::Engine;
use tenter_engine::inspect::CallSurroundings;
use tenter_proc::Cancel;
use tenter_protocol::{Body, Event, executable};

use crate::hook_run::has_python;
use crate::measure::paired;
use crate::memory::{ask_self, resident_kib};
use crate::report::{Report, mib, shown};
use crate::scene::{Scene, environment};
use crate::{Measured, Plan};

/// The argument with which this program measures and prints the memory of idle hooks.
pub(crate) const OF_IDLE_HOOKS: &str = "--memory-of-idle-hooks";
/// Number of idle hooks, and the maximum memory in KiB that they cost the agent.
const IDLE: (usize, u64) = (50, 5 * 1024);
/// Number of files beside a hook's script, each of which is looked at before each request.
const FILES: usize = 60;
/// Length of the payload in bytes.
const PAYLOAD: usize = 1024;

/// A runtime hook in C: it answers every request with an empty object.
const SERVING: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
    char *line = 0;
    size_t size = 0;
    if (argc > 1 && strcmp(argv[1], "hook") == 0)
        return puts("before_tool_call\nserve") < 0;
    while (getline(&line, &size, stdin) > 0) {
        char *id = strstr(line, "\"id\": ");
        if (id && strstr(line, "\"params\"") > id)
            printf("{\"jsonrpc\": \"2.0\", \"id\": %ld, \"result\": {}}\n", atol(id + 6));
        fflush(stdout);
    }
    return 0;
}
"#;

/// The hook in Python.
pub(crate) const PYTHON: &str = r"#!/usr/bin/env python3
import json, sys
if sys.argv[1] == 'hook':
    print('before_tool_call\nserve')
    sys.exit()
for line in sys.stdin:
    message = json.loads(line)
    if 'id' in message:
        print(json.dumps({'jsonrpc': '2.0', 'id': message['id'], 'result': {}}), flush=True)
";

pub(crate) fn run(plan: Plan, report: &mut Report) -> Measured<()> {
    report.section("One event through a runtime hook");
    let program = |scene: &Scene| scene.compile_source(SERVING, "", &scene.hook("hook"));
    let limit = Duration::from_micros(150);
    round_trip(plan, report, ("a static binary", 2000, Some(limit)), |scene| {
        program(scene)?;
        Ok(scene.hook("hook"))
    })?;
    round_trip(plan, report, ("a static binary, with 60 files beside it", 1000, None), |scene| {
        let directory = scene.hook("hook");
        scene.manifest("hook")?;
        let front = "---\nname: hook\ndescription: d\ntrigger: before_tool\nmetadata:\n  runtime: serve\n---\n";
        fs::write(directory.join("HOOK.md"), front)?;
        for file in 0..FILES {
            fs::write(directory.join(format!("file-{file}")), "")?;
        }
        let script = directory.join("scripts/run.sh");
        scene.compile_source(SERVING, "", &script)?;
        Ok(script)
    })?;
    if has_python() {
        let limit = Duration::from_micros(300);
        round_trip(plan, report, ("a Python script", 1000, Some(limit)), |scene| {
            scene.script("hook", PYTHON)
        })?;
    } else {
        report.skip("python3");
    }
    idle_hooks(plan, report)
}

fn round_trip(
    plan: Plan,
    report: &mut Report,
    (what, rounds, limit): (&str, usize, Option<Duration>),
    hook: impl FnOnce(&Scene) -> Measured<std::path::PathBuf>,
) -> Measured<()> {
    let scene = Scene::new()?;
    let program = hook(&scene)?;
    scene.trust_all()?;
    plan.let_hooks_age();
    let engine = scene.engine(scene.load(None)?);
    let event = event(&scene)?;
    let mut bare = Bare::start(&program)?;
    let pair = paired(plan.rounds(rounds), || fire(&engine, &event), || bare.round_trip())?;
    report.pair(what, "a line to the program and back", &pair);
    if let Some(limit) = limit {
        let what = format!("one event through a runtime hook: {what}");
        let met = pair.work.minimum() <= limit;
        report.budget(&what, &format!("≤ {}", shown(limit)), shown(pair.work.minimum()), met);
    }
    Ok(())
}

/// Returns a tool call with a payload of about 1 KiB.
fn event(scene: &Scene) -> Measured<Event> {
    let mut event = scene.tool_call();
    let facts =
        CallSurroundings::new(&event.scope.cwd).facts(&event.body, None, &event.scope.cwd).facts;
    let payload = executable::payload(&event, "before_tool_call", &facts);
    let length = payload.ok_or("no payload")?.len();
    if let Body::BeforeTool(call) = &mut event.body {
        call.input.insert("note".to_owned(), "x".repeat(PAYLOAD.saturating_sub(length)).into());
    }
    Ok(event)
}

fn fire(engine: &Engine, event: &Event) -> Measured<()> {
    let outcome = engine.dispatch(event.clone(), &Cancel::new());
    if outcome.verdict.is_some() { Err("the hook decided something".into()) } else { Ok(()) }
}

/// The same program, driven without an engine.
struct Bare {
    child: std::process::Child,
    stdout: BufReader<std::process::ChildStdout>,
    line: Vec<u8>,
}

impl Bare {
    #[expect(clippy::disallowed_methods, reason = "the baseline has no supervision")]
    fn start(program: &Path) -> Measured<Self> {
        let mut command = Command::new(program);
        command.arg("serve").env_clear().envs(environment());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let stdout = BufReader::new(child.stdout.take().ok_or("no stdout")?);
        let line = format!("{{\"id\": 1, \"params\": \"{}\"}}\n", "x".repeat(PAYLOAD)).into_bytes();
        Ok(Self { child, stdout, line })
    }

    fn round_trip(&mut self) -> Measured<String> {
        let mut answer = String::new();
        self.child.stdin.as_mut().ok_or("no stdin")?.write_all(&self.line)?;
        self.stdout.read_line(&mut answer)?;
        Ok(answer)
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        // It ends at the end of its stdin.
        let _ = self.child.wait();
    }
}

fn idle_hooks(plan: Plan, report: &mut Report) -> Measured<()> {
    let hooks = plan.size(IDLE.0);
    let scene = Scene::new()?;
    let program = scene.at("program");
    scene.compile_source(SERVING, "", &program)?;
    for index in 0..hooks {
        fs::hard_link(&program, scene.hook(&format!("hook-{index:05}")))?;
    }
    scene.trust_all()?;
    scene.load(Some(&scene.cache()))?;
    let kib = ask_self(&[OF_IDLE_HOOKS, &scene.at("").to_string_lossy()])?;
    let [kib] = kib[..] else { return Err("one figure was expected".into()) };
    report.memory(format!("{hooks} idle runtime hooks"), kib, "resident, in the agent");
    let met = kib <= IDLE.1;
    report.budget(
        &format!("memory of the agent for {hooks} idle runtime hooks"),
        "≤ 5 MiB",
        mib(kib),
        met,
    );
    Ok(())
}

/// Calls the hooks of a scene twice. Prints the growth of the memory of this process.
pub(crate) fn report_idle_hooks(base: &str) -> Measured<()> {
    let scene = Scene::there(Path::new(base));
    let engine = scene.engine(scene.load(Some(&scene.cache()))?);
    let before = resident_kib()?;
    for _ in 0..2 {
        fire(&engine, &scene.tool_call())?;
    }
    let kib = resident_kib()?.saturating_sub(before);
    Ok(writeln!(std::io::stdout(), "{kib}")?)
}
