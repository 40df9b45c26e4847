//! The demo as text: an introduction, the agent's work as `tenter run` shows it, and what is true afterwards.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tenter_agent::session::Status;
use tenter_agent::{SessionUpdate, Watcher};
use tenter_base::{one_line, visible};
use tenter_engine::{DecisionKind, HookRun, Observer};
use tenter_protocol::{EventName, Scope};
use tenter_terminal::{BAD, FAINT, GOOD, HEADING, NAME, NOTICE, styled, ui};

use super::outcome::DemoOutcome;
use super::scratch::{Scratch, quote};
use super::{DemoView, QUERY};
use crate::render::{Show, Terminal};

const INTRODUCTION: &str = "
Hooks are programs that watch an agent. Tenter runs them at every step and passes them what happens:
they can block it, change it, or make the agent continue. This scratch project has these hooks:
";
const WHAT_IS_SCRIPTED: &str = "
Only the model is scripted. The agent, the tools, the files and the hooks are real.";
/// Maximum number of characters shown of a line of the audit log.
const SAMPLE_LENGTH: usize = 83;

/// Shows the demo on a terminal.
pub(super) struct TextView {
    /// The name of this program from the working directory.
    tenter: String,
    terminal: Terminal,
    turns: AtomicUsize,
    is_in_turn: AtomicBool,
}

impl TextView {
    /// Creates a view that suggests commands of the program `tenter`.
    pub(super) fn new(tenter: String) -> Self {
        let (turns, is_in_turn) = (AtomicUsize::new(0), AtomicBool::new(false));
        Self { tenter, terminal: Terminal::raw(false), turns, is_in_turn }
    }

    /// Shows the heading of a turn before the first word of its text.
    fn begin_turn(&self) {
        if !self.is_in_turn.swap(true, Ordering::Relaxed) {
            let turn = self.turns.fetch_add(1, Ordering::Relaxed) + 1;
            self.terminal.lines([String::new(), styled(HEADING, format!("Turn {turn}"))]);
        }
    }
}

impl Watcher for TextView {
    fn on_update(&self, scope: &Scope, update: &SessionUpdate) {
        match update {
            SessionUpdate::TextDelta(_) => self.begin_turn(),
            SessionUpdate::Text(_) => self.is_in_turn.store(false, Ordering::Relaxed),
            // The demo says itself how it ended.
            SessionUpdate::SessionEnded { .. } => return,
            _ => {}
        }
        self.terminal.on_update(scope, update);
    }
}

impl Observer for TextView {
    /// Shows also a hook that changes nothing, which `tenter run` does not mention: here the user learns which hooks run, and
    /// when.
    fn hook_ran(&self, run: &HookRun) {
        if matches!(run.decision, DecisionKind::None | DecisionKind::Allow) {
            let (hook, event) = (styled(NAME, visible(&run.hook)), run.event);
            let line = format!(
                "  {} hook {hook} {} at {event}",
                styled(GOOD, "·"),
                nothing_changed(event)
            );
            self.terminal.lines([line]);
        }
        self.terminal.hook_ran(run);
    }
}

/// Describes a run that changed nothing.
fn nothing_changed(event: EventName) -> &'static str {
    match event {
        EventName::BeforeTool => "allowed the call",
        EventName::BeforeStop => "let the agent stop",
        _ => "changed nothing",
    }
}

impl Show for TextView {}

impl DemoView for TextView {
    fn introduce(&self, scratch: &Scratch) {
        ui::out(styled(HEADING, "A coding agent under five hooks"));
        ui::out(INTRODUCTION);
        for (hook, _) in &scratch.hooks {
            ui::out(format!(
                "  {}  {:<11}  {}",
                styled(NAME, format!("{:<10}", hook.name)),
                hook.event,
                hook.does
            ));
        }
        ui::out(WHAT_IS_SCRIPTED);
        ui::out(format!("The task: {}", styled(HEADING, QUERY)));
    }

    fn conclude(&self, scratch: &Scratch, outcome: &DemoOutcome) {
        if outcome.status == Status::Interrupted {
            ui::out(styled(NOTICE, "Interrupted."));
            return files(scratch, outcome);
        }
        ui::out("");
        ui::out(styled(HEADING, "What is true now"));
        for check in &outcome.checks {
            let mark = if check.holds { styled(GOOD, "✓") } else { styled(BAD, "✗") };
            ui::out(format!("  {mark} {:<10} {}", check.name, check.text));
        }
        files(scratch, outcome);
        next_steps(&self.tenter, scratch.root(), outcome.is_kept);
    }
}

fn files(scratch: &Scratch, outcome: &DemoOutcome) {
    let root = scratch.root();
    let inside = |path: &Path| path.strip_prefix(root).unwrap_or(path).display().to_string();
    let state = if outcome.is_kept { "kept" } else { "removed; pass --keep to keep them" };
    ui::out("");
    ui::out(format!(
        "{} {}",
        styled(HEADING, format!("Files: {}", root.display())),
        styled(FAINT, format!("({state})"))
    ));
    let file = |what: &str, path: &Path| ui::out(format!("  {what:<14} {}", inside(path)));
    file("hooks", &scratch.project().join(".agents/hooks"));
    file("model's script", &scratch.script());
    file("journal", &outcome.journal);
    file("conversation", &outcome.conversations);
    file("audit log", &scratch.audit_log());
    if let Some(line) = outcome.audit_sample() {
        let from = line.find("\"tool_name\"").unwrap_or(0);
        let sample = one_line(&format!("…{}", &line[from..]), SAMPLE_LENGTH);
        ui::out(format!("{:17}{}", "", styled(FAINT, sample)));
    }
}

/// Shows commands that work when they are copied; `tenter` is how this program is called from here.
fn next_steps(tenter: &str, root: &Path, is_kept: bool) {
    ui::out("");
    ui::out(styled(HEADING, "What to try next"));
    let command =
        |line: &str, does: &str| ui::out(format!("  {line:<48}  {}", styled(FAINT, does)));
    if is_kept {
        ui::out(format!("  cd {}", quote(root)));
        command("./tenter log", "what every hook decided, and why");
        command("./tenter hooks list", "the hooks, and where they are");
        command(
            "./tenter run -m scripted:script.yaml \"Deploy.\"",
            "run it again, after you edit a hook or the script",
        );
        command("./tenter hooks new my-guard", "create a hook of your own");
    } else {
        command(&format!("{tenter} demo --keep"), "run it again and keep the project");
        command(
            &format!("{tenter} hooks new my-guard"),
            "create your first hook, in this directory",
        );
        command(&format!("{tenter} hooks list"), "list the hooks that run in this directory");
        command(&format!("{tenter} run --help"), "run an agent under your hooks");
    }
}
