//! The demo as a text for someone who has read nothing yet, on stdout.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tenter_agent::session::{Finish, Status};
use tenter_agent::{Happening, Watcher};
use tenter_engine::{AskAnswer, Decision, HookRun, Observer};
use tenter_protocol::{Diagnostic, Scope, ToolCall, ToolResult};

use super::ending::Ending;
use super::scratch::{Scratch, quoted};
use super::story::{Story, WIDTH, hook_lines, labelled, under_hook};
use super::{QUERY, Telling};
use crate::render::Show;
use crate::sanitize::{one_line, sanitize};
use crate::ui::{self, BAD, FAINT, GOOD, HEADING, NAME, NOTICE, styled};

const INTRODUCTION: &str = "
Hooks are programs that watch an agent. Around everything that it does, Tenter hands them the facts;
they may block it, change it, or make the agent go on. In a scratch project, these are installed:
";
const WHAT_IS_PLAYED: &str = "
Only the model is played, from a script. Agent, tools, files and hooks are the real ones.";

/// Tells the demo. The calls of one turn run at the same time; each is told as one story, in the order in which the model
/// made them.
pub(super) struct Narrator {
    /// How this program is called.
    tenter: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    turns: usize,
    stories: Vec<Story>,
}

impl Narrator {
    /// A narrator that calls this program as `tenter` says.
    pub(super) fn new(tenter: String) -> Self {
        Self { tenter, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn turn(&mut self, text: &str) {
        self.turns += 1;
        ui::out("");
        ui::out(styled(HEADING, format!("Turn {}", self.turns)));
        ui::out(labelled("says", &sanitize(text)));
    }

    fn begin(&mut self, call: &ToolCall) {
        self.stories.push(Story::new(call));
    }

    fn end(&mut self, call_id: &str, result: &ToolResult) {
        if let Some(story) = self.stories.iter_mut().find(|story| story.call.id == call_id) {
            story.result = Some(result.clone());
        }
        let told = self.stories.iter().take_while(|story| story.result.is_some()).count();
        for story in self.stories.drain(..told) {
            ui::out("");
            story.lines().iter().for_each(ui::out);
        }
    }

    fn hook_ran(&mut self, run: &HookRun) {
        let of_call = |story: &&mut Story| {
            run.tool_call.as_ref().is_some_and(|call| call.id == story.call.id)
        };
        if let Some(story) = self.stories.iter_mut().find(of_call) {
            story.runs.push(run.clone());
        } else {
            ui::out("");
            hook_lines(run, "the model about to stop").iter().for_each(ui::out);
        }
    }
}

impl Watcher for Narrator {
    fn see(&self, _scope: &Scope, happening: &Happening) {
        match happening {
            Happening::Text(text) => self.state().turn(text),
            Happening::ToolUse(call) => self.state().begin(call),
            Happening::ToolResult { call_id, result } => self.state().end(call_id, result),
            Happening::FollowUp { text, .. } => ui::out(under_hook("with:", text)),
            Happening::Diagnostic(finding) => ui::diagnostics([*finding]),
            _ => {}
        }
    }
}

impl Observer for Narrator {
    fn hook_ran(&self, run: &HookRun) {
        self.state().hook_ran(run);
    }

    fn decided(&self, _decision: &Decision) {}

    fn ask_answered(&self, _answer: &AskAnswer) {}
}

impl Show for Narrator {
    fn finding(&self, finding: &Diagnostic) {
        ui::diagnostics([finding]);
    }

    fn finished(&self, _finish: &Finish) {}
}

impl Telling for Narrator {
    fn opening(&self, scratch: &Scratch) {
        ui::out(styled(HEADING, "A coding agent under five hooks"));
        ui::out(INTRODUCTION);
        for hook in &scratch.hooks {
            ui::out(format!(
                "  {}  {:<16}  {:<6}  {}",
                styled(NAME, format!("{:<10}", hook.name)),
                hook.event,
                hook.language,
                hook.does
            ));
        }
        ui::out(WHAT_IS_PLAYED);
        ui::out(format!("It is asked: {}", styled(HEADING, QUERY)));
    }

    fn closing(&self, scratch: &Scratch, ending: &Ending) {
        if ending.status == Status::Interrupted {
            ui::out(styled(NOTICE, "Interrupted."));
            return places(scratch, ending);
        }
        ui::out("");
        ui::out(styled(HEADING, "What is true now"));
        for proof in &ending.proofs {
            let mark = if proof.holds { styled(GOOD, "✓") } else { styled(BAD, "✗") };
            ui::out(format!("  {mark} {:<10} {}", proof.name, proof.text));
        }
        places(scratch, ending);
        next(&self.tenter, scratch.root(), ending.kept);
    }
}

fn places(scratch: &Scratch, ending: &Ending) {
    let root = scratch.root();
    let inside = |path: &Path| path.strip_prefix(root).unwrap_or(path).display().to_string();
    let kept = if ending.kept { "it stays" } else { "it is removed now; --keep keeps it" };
    ui::out("");
    ui::out(format!(
        "{} {}",
        styled(HEADING, format!("Where it lies: {}", root.display())),
        styled(FAINT, format!("({kept})"))
    ));
    let place = |what: &str, path: &Path| ui::out(format!("  {what:<14} {}", inside(path)));
    place("hooks", &scratch.project().join(".agents/hooks"));
    place("model's script", &scratch.script());
    place("journal", &ending.journal);
    place("conversation", &ending.conversations);
    place("audit log", &scratch.audit_log());
    if let Some(line) = ending.audit_sample() {
        let from = line.find("\"tool_name\"").unwrap_or(0);
        let sample = one_line(&format!("…{}", &line[from..]), WIDTH - 17);
        ui::out(format!("{:17}{}", "", styled(FAINT, sample)));
    }
}

/// Commands that work as they stand; `tenter` is how this program is called from here.
fn next(tenter: &str, root: &Path, kept: bool) {
    ui::out("");
    ui::out(styled(HEADING, "What to try next"));
    let command =
        |line: &str, does: &str| ui::out(format!("  {line:<48}  {}", styled(FAINT, does)));
    if kept {
        ui::out(format!("  cd {}", quoted(root)));
        command("./tenter log", "what every hook decided, and why");
        command("./tenter hooks list", "the hooks, and where they come from");
        command(
            "./tenter run -m scripted:script.yaml \"Deploy.\"",
            "again: edit a hook or the script before",
        );
        command("./tenter hooks new my-guard", "a hook of your own");
    } else {
        command(&format!("{tenter} demo --keep"), "the same, and the project stays to play with");
        command(
            &format!("{tenter} hooks new my-guard"),
            "a first hook of your own, in this folder",
        );
        command(&format!("{tenter} hooks list"), "the hooks that run in this folder");
        command(&format!("{tenter} run --help"), "an agent under your hooks");
    }
}
