//! Confined calls in other agents: the command is replaced by one that starts the launcher, where the agent accepts that, and the launcher
//! checks in (F12, F13).

use std::path::{Path, PathBuf};

use serde_json::Value;
use tenter_base::private_dir;
use tenter_confine::CheckIn;
use tenter_engine::{ApprovedCall, DecisionKind};
use tenter_protocol::confinement::{ConfinedFact, Confinement};
use tenter_protocol::{EventName, Object, ToolCall};

use super::Visit;
use crate::digest::digest;
use crate::host::InputRewrite;
use crate::occurrence::{NativeCall, ToolEnd, ToolOutcome};
use crate::reply::HostVerdict;
use crate::shell_prefix::{self, PendingCommand};
use crate::tool_call;

/// The host that has a program of its own to run commands with.
const CLAUDE_CODE: &str = "claude-code";
/// The option by which a command names the note of its launcher.
const CHECK_IN: &str = " --check-in ";
/// The word between the options of the launcher and the command.
const SHELL: &str = " -- bash -c ";

/// Maximum number of calls without an end whose notes are remembered.
const MAX_CONFINED: usize = 200;

/// A call that is to run confined.
pub(super) struct ConfinedCall {
    /// The input that starts the launcher.
    pub(super) input: Object,
    /// True if the model has to make this call: the agent cannot run it instead, or its own rules would not apply to it.
    pub(super) is_demanded: bool,
}

impl Visit<'_> {
    /// Returns the call that runs this one confined; `None` if it is not confined, if it is the confined call already, or if the agent
    /// confines it without a change of the command. The engine confines shell commands only.
    pub(super) fn confined_call(&mut self, approved: &ApprovedCall) -> Option<ConfinedCall> {
        if approved.confinements.is_empty() {
            return None;
        }
        let command = approved.call.input.get("command")?.as_str()?;
        let Some(launcher) = &self.visitor.launcher else {
            let why = "the call must be confined, and the launcher is missing".to_owned();
            self.reply.verdict = Some(HostVerdict::Deny(why));
            return None;
        };
        let project = self.engine.project();
        let start = start_of_command(launcher, &approved.confinements, project)?;
        if let Some(script) = script_in(command, &start) {
            self.keep_rules_for_script(&approved.call, script);
            return None;
        }
        if self.leave_for_prefix(approved, command) {
            return None;
        }
        // The command that a model is asked for must be the same each time.
        let host = self.visitor.host;
        let is_demanded =
            matches!(host.input_rewrite, InputRewrite::Demanded) || host.id == CLAUDE_CODE;
        let note = if is_demanded { None } else { self.note(&approved.call) };
        let note = note.and_then(|note| Some(format!("{CHECK_IN}{}", quote(note.to_str()?)?)));
        let script = quote(command)?;
        let confined = format!("{start}{}{SHELL}{script}", note.unwrap_or_default());
        let mut input = approved.call.input.clone();
        input.insert("command".to_owned(), Value::String(confined));
        Some(ConfinedCall { input, is_demanded })
    }

    /// Keeps the user's rules for the script of a confined call: the model knows how to make such calls, and the agent compares the whole
    /// command with its rules.
    fn keep_rules_for_script(&mut self, call: &ToolCall, script: String) {
        let mut original = call.clone();
        original.input.insert("command".to_owned(), Value::String(script));
        self.keep_user_rules(&original, &call.input);
    }

    /// Leaves a command for the program that Claude Code runs commands with. Returns true if that program is ours.
    fn leave_for_prefix(&mut self, approved: &ApprovedCall, command: &str) -> bool {
        let visitor = self.visitor;
        let prefix = visitor.vars.iter().find(|(name, _)| name == shell_prefix::VARIABLE);
        let is_ours =
            prefix.and_then(|(_, value)| value.to_str()).is_some_and(shell_prefix::is_ours);
        if visitor.host.id != CLAUDE_CODE || !is_ours {
            return false;
        }
        let pending = PendingCommand {
            command: command.to_owned(),
            confinements: approved.confinements.clone(),
            project: self.engine.project().to_owned(),
            note: self.note(&approved.call),
        };
        let session = &self.occurrence.session;
        pending.leave(&visitor.directories.state, session, &approved.call.id).is_ok()
    }

    /// Denies a call that must run confined, and asks the model to make the confined call. `after` is in Tenter's names.
    pub(super) fn demand_confined(
        &mut self,
        native: &NativeCall,
        before: &ToolCall,
        after: &Object,
    ) {
        // A question is asked about the confined call.
        self.keep_user_rules(before, after);
        if self.reply.denial().is_some() {
            return;
        }
        let hooks = self.runs.all_with(EventName::BeforeTool, DecisionKind::Confine);
        let names = hooks.into_iter().collect::<Vec<_>>().join(", ");
        let input = tool_call::native_input(self.visitor.host, native, &before.input, after);
        let input = Value::Object(input).to_string();
        self.reply.verdict = Some(HostVerdict::Deny(format!(
            "hook {}: this command must run confined. Make this call of {} instead: {}",
            super::plain(&names),
            native.tool,
            super::plain(&input)
        )));
    }

    /// Returns the path of the note for a call, which no call has used.
    fn note(&mut self, call: &ToolCall) -> Option<PathBuf> {
        let directory = self.visitor.directories.state.join("confined");
        private_dir::create(&directory).ok()?;
        let time = (self.visitor.clock)().as_nanosecond().to_string();
        let name = digest(&[&self.occurrence.session, &call.id, &time]);
        let note = directory.join(format!("{name}.json"));
        self.session.update(|state| {
            if state.confined_calls.len() >= MAX_CONFINED {
                state.confined_calls.pop_first();
            }
            state.confined_calls.insert(call.id.clone(), note.clone());
        });
        Some(note)
    }

    /// Returns how a call was confined that has ended. One that was to be confined and ran without is a breach.
    pub(super) fn check_in(&mut self, call: &ToolCall, end: &ToolEnd) -> Option<ConfinedFact> {
        let confinement = self.session.get().confined_calls.get(&call.id).cloned();
        let command = call.input.get("command").and_then(Value::as_str).unwrap_or_default();
        let note = confinement.or_else(|| note_in(command))?;
        self.session.update(|state| state.confined_calls.retain(|_, other| *other != note));
        let is_own = note.parent() == Some(&self.visitor.directories.state.join("confined"));
        let fact = if is_own { CheckIn::take(&note) } else { None };
        if fact.is_none() && end.outcome == ToolOutcome::Success {
            self.report_breach(&call.name, &call.id);
        }
        fact
    }
}

/// Returns the beginning of a confined command, up to the options that differ between calls.
fn start_of_command(
    launcher: &Path,
    confinements: &[Confinement],
    project: &Path,
) -> Option<String> {
    let spec = serde_json::to_string(confinements).ok()?;
    let (launcher, project) = (quote(launcher.to_str()?)?, quote(project.to_str()?)?);
    Some(format!("{launcher} confine --spec {} --project {project}", quote(&spec)?))
}

/// Returns the script of a command that is nothing but the launcher with these options and one script.
fn script_in(command: &str, start: &str) -> Option<String> {
    let rest = command.strip_prefix(start).and_then(|rest| rest.strip_prefix(SHELL))?;
    let [script] = <[String; 1]>::try_from(shlex::split(rest)?).ok()?;
    (quote(&script).as_deref() == Some(rest)).then_some(script)
}

/// Returns the note that a confined command names.
fn note_in(command: &str) -> Option<PathBuf> {
    let (_, rest) = command.split_once(CHECK_IN)?;
    let (note, _) = rest.split_once(SHELL)?;
    shlex::split(note)?.first().map(PathBuf::from)
}

fn quote(text: &str) -> Option<String> {
    shlex::try_quote(text).ok().map(std::borrow::Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start() -> String {
        let standard = Confinement::built_in("standard").unwrap();
        start_of_command(Path::new("/opt/tenter-hook"), &[standard], Path::new("/p q")).unwrap()
    }

    #[test]
    fn only_the_whole_confined_command_is_confined() {
        let start = start();
        let confined = |script: &str| format!("{start}{SHELL}{}", quote(script).unwrap());
        let script = "make test && echo 'done'";
        assert_eq!(script_in(&confined(script), &start).as_deref(), Some(script));
        for command in [
            format!("{}; rm -rf x", confined("make")),
            format!("{} && make", confined("make")),
            format!("{start}{SHELL}\"$(make)\""),
            format!("{start} --limit abi=0{SHELL}make"),
            "make".to_owned(),
        ] {
            assert_eq!(script_in(&command, &start), None, "{command}");
        }
    }

    #[test]
    fn a_command_names_its_note() {
        let command = format!("{}{CHECK_IN}'/home/a b/1.json'{SHELL}make", start());
        assert_eq!(note_in(&command), Some("/home/a b/1.json".into()));
        assert_eq!(note_in("make"), None);
    }
}
