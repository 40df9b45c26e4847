//! `tenter-hook`, as another agent runs it for a tool call, compared with an empty program and with the bare spawn of the hook.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use std::{fs, thread};

use serde_json::{Value, json};

use crate::hook_run::has_python;
use crate::measure::{Pair, alone, paired};
use crate::processes::{EMPTY, program};
use crate::report::{Report, shown};
use crate::scene::{Scene, environment};
use crate::{Measured, Plan, hook_run, keeper, runtime, shell};

/// Numbers of hooks whose matchers rule the call out, and the maximum ratio to an empty program with them (B29).
const BUDGETS: [(usize, f64); 3] = [(0, 1.35), (10, 1.5), (100, 1.8)];
/// Events with all guards: what, the event, the command of its call, and the maximum ratio to an empty program.
const GUARDED: [(&str, &str, &str, Option<f64>); 4] = [
    ("an event that none applies to", "PostToolUse", ORDINARY, Some(2.0)),
    ("a command that no rule may fit", "PreToolUse", ORDINARY, Some(2.5)),
    ("`rm -rf target`", "PreToolUse", "rm -rf target", Some(2.5)),
    ("`git push --force`", "PreToolUse", "git push --force", None),
];
/// The length of a long command, in bytes, and the maximum time of its call with all guards.
const LONG: (usize, Duration) = (64 << 10, Duration::from_millis(50));
/// An ordinary command.
const ORDINARY: &str = "cargo test --workspace -- --nocapture";
/// The time for which files must have been unchanged before `tenter-hook` relies on their times.
const SETTLED: Duration = Duration::from_millis(2100);
/// Maximum ratio to the bare spawn of a hook that runs, in addition to one millisecond (B29).
const HOOK_BUDGET: f64 = 1.10;
const HOOK_ALLOWANCE_MS: f64 = 1.0;
/// Maximum time of a request to the program that stays up, in milliseconds (B29).
const REQUEST_BUDGET_MS: f64 = 0.3;

pub(crate) fn run(plan: Plan, report: &mut Report) -> Measured<()> {
    let hook = program("tenter-hook")?;
    report.section("The bridge: a tool call of another agent");
    for (count, budget) in BUDGETS {
        let scene = with_hooks(count)?;
        let pair = against(plan, &scene, &program_itself(&scene, &hook), Path::new(EMPTY))?;
        let what = format!("`tenter-hook`, {count} hooks that do not match");
        report.pair(&what, "an empty Rust program", &pair);
        let limit = format!("≤ {budget} × an empty Rust program");
        report.budget(&what, &limit, format!("{:.2} ×", pair.ratio), pair.ratio <= budget);
    }
    shell(plan, report, &hook)?;
    guarded(plan, report, &hook)?;
    long_commands(plan, report, &hook)?;
    if has_python() {
        python(plan, report, &hook)?;
    } else {
        report.skip("python3");
    }
    one_hook(plan, report, &hook)?;
    requests(plan, report, &hook)?;
    keeper::run(plan, report, &hook)
}

/// Returns the ready-made guards, on events that none of them applies to and on calls that they check.
fn guarded(plan: Plan, report: &mut Report, program: &Path) -> Measured<()> {
    let scene = with_guards()?;
    for (what, event, command, budget) in GUARDED {
        let mut words = program_itself(&scene, program);
        words[2] = event.into();
        let payload = payload(&scene, event, command);
        let pair = on_payload(plan, &scene, (&words, &payload), Path::new(EMPTY))?;
        let row = format!("`tenter-hook`, all guards, {what}");
        report.pair(row.clone(), "an empty Rust program", &pair);
        let Some(budget) = budget else { continue };
        let limit = format!("≤ {budget} × an empty Rust program");
        report.budget(&row, &limit, format!("{:.2} ×", pair.ratio), pair.ratio <= budget);
    }
    Ok(())
}

/// Returns commands with as many words as a host passes on, with all guards.
fn long_commands(plan: Plan, report: &mut Report, program: &Path) -> Measured<()> {
    let (length, budget) = LONG;
    let scene = with_guards()?;
    let different = (0..).map(|index| format!(" src/f{index}.rs"));
    let patterns = std::iter::repeat_n(" a*".to_owned(), length);
    let cut = |start: &str, words: &mut dyn Iterator<Item = String>, end: &str| {
        let mut text = start.to_owned();
        while text.len() + end.len() < length {
            text.extend(words.next());
        }
        text + end
    };
    for (what, command) in [
        ("`rm` of different files", cut("rm", &mut different.into_iter(), "")),
        ("`mv a* … /x`", cut("mv", &mut patterns.into_iter(), " /x")),
    ] {
        let payload = payload(&scene, "PreToolUse", &command);
        let words = program_itself(&scene, program);
        let pair = on_payload(plan, &scene, (&words, &payload), Path::new(EMPTY))?;
        let row = format!("`tenter-hook`, all guards, {} KiB of {what}", length >> 10);
        report.pair(row.clone(), "an empty Rust program", &pair);
        let minimum = pair.work.minimum();
        report.budget(&row, &format!("≤ {}", shown(budget)), shown(minimum), minimum <= budget);
    }
    Ok(())
}

/// Returns hooks in Python: kept between events, and started for each, also where a variable says that Python keeps no compiled
/// files.
fn python(plan: Plan, report: &mut Report, program: &Path) -> Measured<()> {
    for (what, text, variable) in [
        ("a Python hook that the keeper keeps", runtime::PYTHON, None),
        ("a Python hook that is started", hook_run::PYTHON, None),
        (
            "the same under `env PYTHONDONTWRITEBYTECODE=1`",
            hook_run::PYTHON,
            Some("PYTHONDONTWRITEBYTECODE=1"),
        ),
    ] {
        let scene = Scene::new()?;
        scene.script("hook", text)?;
        scene.trust_all()?;
        let start = variable.map(|variable| ["/usr/bin/env".into(), PathBuf::from(variable)]);
        let mut words: Vec<PathBuf> = start.into_iter().flatten().collect();
        words.extend(program_itself(&scene, program));
        let pair = against(plan, &scene, &words, Path::new(EMPTY))?;
        report.pair(format!("`tenter-hook`, {what}"), "an empty Rust program", &pair);
    }
    Ok(())
}

/// Returns a project of a user with all guards.
fn with_guards() -> Measured<Scene> {
    let scene = Scene::new()?;
    let hooks = scene.layout.config_home.join("agents/hooks");
    for file in fs::read_dir(shell::shipped_guards())? {
        let file = file?.path();
        // The other hooks that Tenter contains.
        if fs::read_to_string(&file)?.contains("ready_made:") {
            continue;
        }
        let directory = hooks.join(file.file_stem().ok_or("a guard has a name")?);
        fs::create_dir_all(&directory)?;
        fs::copy(file, directory.join("HOOK.md"))?;
    }
    Ok(scene)
}

/// Returns a project with manifest hooks that do not apply to the call.
fn with_hooks(count: usize) -> Measured<Scene> {
    let scene = Scene::new()?;
    for index in 0..count {
        scene.manifest(&format!("hook-{index:05}"))?;
    }
    scene.trust_all()?;
    Ok(scene)
}

/// Returns the shell that most hosts start for the program.
fn shell(plan: Plan, report: &mut Report, program: &Path) -> Measured<()> {
    let scene = with_hooks(10)?;
    let words = program_itself(&scene, program);
    let line = words.iter().map(|word| format!("'{}'", word.display())).collect::<Vec<_>>();
    let shell = ["/bin/sh".into(), "-c".into(), line.join(" ").into()];
    let pair = against(plan, &scene, &shell, Path::new(EMPTY))?;
    report.pair("the same with 10 hooks, started by `sh -c`", "an empty Rust program", &pair);
    Ok(())
}

/// Returns one executable hook that runs.
fn one_hook(plan: Plan, report: &mut Report, program: &Path) -> Measured<()> {
    let scene = Scene::new()?;
    scene.compile("before_tool_call", &scene.hook("hook"))?;
    scene.trust_all()?;
    plan.let_hooks_age();
    let pair = against(plan, &scene, &program_itself(&scene, program), &scene.hook("hook"))?;
    report.pair("`tenter-hook`, a static binary as its hook", "bare spawn of the hook", &pair);
    let bare = pair.baseline.median().as_secs_f64() * 1e3;
    let duration = pair.work.median().as_secs_f64() * 1e3;
    let limit = bare * HOOK_BUDGET + HOOK_ALLOWANCE_MS;
    let row = "`tenter-hook`, one executable hook that runs";
    let figure = format!("{:.2} ms more", duration - bare);
    report.budget(row, "≤ the bare spawn + 10 % + 1 ms", figure, duration <= limit);
    Ok(())
}

/// Requests to `tenter-hook --serve`.
fn requests(plan: Plan, report: &mut Report, program: &Path) -> Measured<()> {
    for (what, scene) in
        [("10 hooks that do not match", with_hooks(10)?), ("all guards", with_guards()?)]
    {
        let mut serving = Serving::start(&scene, program)?;
        let request = json!({
            "id": "1",
            "event": "PreToolUse",
            "cwd": scene.layout.project,
            "payload": payload(&scene, "PreToolUse", ORDINARY),
        });
        let request = format!("{request}\n");
        warm_up(plan, || serving.ask(&request))?;
        let times = alone(plan.rounds(200), plan.repeats(10), || serving.ask(&request))?;
        let row = format!("a request to `tenter-hook --serve`, {what}");
        report.alone(row.clone(), &times, "");
        let duration = times.minimum().as_secs_f64() * 1e3;
        report.budget(&row, "≤ 0.3 ms", format!("{duration:.2} ms"), duration <= REQUEST_BUDGET_MS);
    }
    Ok(())
}

/// Returns `tenter-hook` for a tool call: the program and its arguments.
pub(crate) fn program_itself(scene: &Scene, program: &Path) -> [PathBuf; 5] {
    let home = scene.layout.home.clone();
    [program.to_owned(), "claude-code".into(), "PreToolUse".into(), "--home".into(), home]
}

/// Returns a program with its arguments, against another program with the same stdin.
fn against(plan: Plan, scene: &Scene, words: &[PathBuf], other: &Path) -> Measured<Pair> {
    let payload = payload(scene, "PreToolUse", ORDINARY);
    on_payload(plan, scene, (words, &payload), other)
}

/// Returns the same with a payload.
fn on_payload(
    plan: Plan,
    scene: &Scene,
    (words, payload): (&[PathBuf], &Value),
    other: &Path,
) -> Measured<Pair> {
    let (program, args) = words.split_first().ok_or("a program")?;
    let payload = payload.to_string();
    let work = || Ok(run_to_end(scene, program, args, &payload)?);
    let baseline = || Ok(run_to_end(scene, other, &[], &payload)?);
    warm_up(plan, work)?;
    paired(plan.rounds(500), work, baseline)
}

/// Opens the session, and lets the program learn which calls hooks apply to.
fn warm_up(plan: Plan, mut work: impl FnMut() -> Measured<()>) -> Measured<()> {
    if !plan.smoke {
        thread::sleep(SETTLED);
    }
    for _ in 0..3 {
        work()?;
    }
    Ok(())
}

pub(crate) fn payload(scene: &Scene, event: &str, command: &str) -> Value {
    json!({
        "session_id": "01a20060-e872-73af-9a25-ba7a128ce65f",
        "cwd": scene.layout.project,
        "permission_mode": "default",
        "hook_event_name": event,
        "tool_name": "Bash",
        "tool_input": {"command": command},
        "tool_response": {"stdout": "", "stderr": ""},
        "tool_use_id": "toolu_1",
    })
}

#[expect(clippy::disallowed_methods, reason = "the process is what is measured")]
pub(crate) fn command(scene: &Scene, program: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(&scene.layout.project).env_clear().envs(environment());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

fn run_to_end(scene: &Scene, program: &Path, args: &[PathBuf], stdin: &str) -> io::Result<()> {
    let mut child = command(scene, program).args(args).spawn()?;
    if let Some(mut pipe) = child.stdin.take() {
        // The empty program may end before it is written.
        let _ = pipe.write_all(stdin.as_bytes());
    }
    let output = child.wait_with_output()?;
    if output.status.success() { Ok(()) } else { Err(io::Error::other(output.status.to_string())) }
}

/// A program that answers requests.
struct Serving {
    child: Child,
    answers: BufReader<std::process::ChildStdout>,
}

impl Serving {
    fn start(scene: &Scene, program: &Path) -> Measured<Self> {
        let home: PathBuf = scene.layout.home.clone();
        let mut child =
            command(scene, program).args(["claude-code", "--serve", "--home"]).arg(home).spawn()?;
        let answers = BufReader::new(child.stdout.take().ok_or("the program has a stdout")?);
        Ok(Self { child, answers })
    }

    fn ask(&mut self, request: &str) -> Measured<()> {
        let stdin = self.child.stdin.as_mut().ok_or("the program has a stdin")?;
        stdin.write_all(request.as_bytes())?;
        let mut answer = String::new();
        if self.answers.read_line(&mut answer)? == 0 {
            return Err("the program ended".into());
        }
        Ok(())
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
