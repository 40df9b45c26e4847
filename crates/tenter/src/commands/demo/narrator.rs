//! The demo as a text for someone who has read nothing yet, on stdout.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tenter_agent::session::Finish;
use tenter_agent::{Happening, Watcher};
use tenter_engine::catalog::Untrusted;
use tenter_engine::{Decision, HookRun, Observer};
use tenter_protocol::{Diagnostic, Scope, ToolCall, ToolResult};

use super::ending::Ending;
use super::scratch::Scratch;
use super::story::{Story, WIDTH, hook_lines, labelled, under_hook};
use super::{QUERY, Telling};
use crate::render::Show;
use crate::sanitize::{one_line, sanitize};
use crate::ui::{self, BAD, FAINT, GOOD, HEADING, NAME, styled};

/// Tells the demo. The calls of one turn run at the same time; each is told as one story, in the order in which the model
/// made them.
#[derive(Default)]
pub(super) struct Narrator {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    turns: usize,
    stories: Vec<Story>,
}

impl Narrator {
    /// A narrator.
    pub(super) fn new() -> Self {
        Self::default()
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
        let of_call = |story: &&mut Story| run.tool_call_id.as_ref() == Some(&story.call.id);
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
}

impl Show for Narrator {
    fn finding(&self, finding: &Diagnostic) {
        ui::diagnostics([finding]);
    }

    fn untrusted(&self, hooks: &[Untrusted]) {
        crate::commands::trust::refuse(hooks);
    }

    fn finished(&self, _finish: &Finish) {}
}

impl Telling for Narrator {
    fn opening(&self, scratch: &Scratch) {
        ui::out(styled(HEADING, "A coding agent under five hooks"));
        ui::out("");
        ui::out(
            "Hooks are programs of yours. Tenter runs them when your agent is about to do something, and they",
        );
        ui::out(
            "may stop it, change it, or make it go on. These five now lie in a scratch project:",
        );
        ui::out("");
        for hook in &scratch.hooks {
            ui::out(format!(
                "  {}  {:<16}  {:<6}  {}",
                styled(NAME, format!("{:<10}", hook.name)),
                hook.event,
                hook.language,
                hook.does
            ));
        }
        ui::out("");
        ui::out(
            "The model is a script, so you need no key; all else is real: agent, tools, files, hooks.",
        );
        ui::out(format!("It is asked: {}", styled(HEADING, QUERY)));
    }

    fn closing(&self, scratch: &Scratch, ending: &Ending) {
        ui::out("");
        ui::out(styled(HEADING, "What holds now"));
        for proof in &ending.proofs {
            let mark = if proof.holds { styled(GOOD, "✓") } else { styled(BAD, "✗") };
            ui::out(format!("  {mark} {:<10} {}", proof.name, proof.text));
        }
        places(scratch, ending);
        next(scratch.root(), ending.kept);
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
    place("hooks", &scratch.project().join(".kodelet/hooks"));
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

/// Commands that work as they stand.
fn next(root: &Path, kept: bool) {
    ui::out("");
    ui::out(styled(HEADING, "What to try next"));
    let command = |line: &str, does: &str| ui::out(format!("  {line:<52} {}", styled(FAINT, does)));
    if kept {
        command(&format!("cd {}", root.display()), "");
        command("./tenter log", "what every hook decided, and why");
        command("./tenter hooks list", "the hooks, and where they come from");
        command(
            "./tenter run -m scripted:script.yaml \"Deploy again.\"",
            "after editing a hook or the script",
        );
    } else {
        command("tenter demo --keep", "the same, and the project stays to play with");
    }
    command("tenter hooks new my-guard", "a first hook of your own");
    command("tenter run -m scripted:FILE \"…\"", "your own project under its hooks");
}
