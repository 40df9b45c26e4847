//! `/undo` and `/redo`: files as before the agent's last turn, or as the turn left them.

use tenter_agent::snapshot::{
    Direction, FileState, RestorePlan, RestoreResult, RestoreStep, StepStatus,
};
use tenter_base::{format_count, one_line, visible};
use tenter_terminal::question::{Choice, choose};
use tenter_terminal::{BAD, FAINT, NAME, NOTICE, styled, ui};

use super::{CommandContext, SlashResult};
use crate::chat::snapshots;

/// Maximum number of files listed.
const LISTED: usize = 20;

/// The choice about files that were changed since.
#[derive(Clone, Copy)]
enum ChangedSince {
    Restore,
    Keep,
    Cancel,
}

/// Undoes the last turn that changed files.
pub(super) fn undo(context: &mut CommandContext, _argument: &str) -> SlashResult {
    step(context, Direction::Undo)
}

/// Redoes the turn that was undone last.
pub(super) fn redo(context: &mut CommandContext, _argument: &str) -> SlashResult {
    step(context, Direction::Redo)
}

fn step(context: &mut CommandContext, direction: Direction) -> SlashResult {
    let recorder = context.chat.snapshots.required()?;
    let conversation = context.session.conversation_id();
    let (plan, nothing) = match direction {
        Direction::Undo => (
            recorder.plan_undo(conversation),
            "Nothing to undo: the agent changed no files in this conversation.",
        ),
        Direction::Redo => (recorder.plan_redo(conversation), "Nothing to redo."),
    };
    if let Some(plan) = plan.map_err(|error| snapshots::failed(&error))? {
        return restore(context, plan);
    }
    ui::note(nothing);
    Ok(None)
}

fn restore(context: &mut CommandContext, plan: RestorePlan) -> SlashResult {
    let chat = &*context.chat;
    heading(&plan);
    list(plan.steps.iter().filter_map(|step| will(&chat.snapshots.shown(&step.path), step)));
    let count = plan.changed_since().count();
    let since = if count > 0 { ask(context, count) } else { ChangedSince::Keep };
    let changed_too = match since {
        ChangedSince::Restore => true,
        ChangedSince::Keep => false,
        ChangedSince::Cancel => {
            ui::note("Nothing was changed.");
            return Ok(None);
        }
    };
    let (chat, id) = (&*context.chat, context.session.conversation_id());
    let direction = plan.direction;
    let result = chat.snapshots.required()?.restore(id, plan, changed_too);
    report(context, direction, &result.map_err(|error| snapshots::failed(&error))?);
    Ok(None)
}

fn heading(plan: &RestorePlan) {
    let what = match plan.direction {
        Direction::Undo => "Undoing the changes of",
        Direction::Redo => "Redoing the changes of",
    };
    let message = styled(NAME, one_line(&plan.turn.message, 60));
    ui::note(format!("{what} {message} {}", styled(FAINT, ui::short_time(&plan.turn.at))));
    if plan.turn.was_interrupted {
        let words = "Tenter ended during this turn: changes that were made after it are among them";
        ui::note(styled(NOTICE, format!("  {words}")));
    }
}

/// Returns the line for what will happen to a file; `None` if nothing will.
fn will(path: &str, step: &RestoreStep) -> Option<String> {
    let path = visible(path);
    match &step.status {
        StepStatus::Done => None,
        StepStatus::Impossible(why) => {
            Some(format!("  {} {path}: {}", styled(BAD, "cannot be restored"), visible(why)))
        }
        StepStatus::ChangedSince => Some(format!("  {} {path}", styled(NOTICE, "changed since"))),
        StepStatus::Ready => {
            let verb = match (&step.from, &step.to) {
                (_, FileState::Absent) => "delete",
                (FileState::Absent, _) => "create",
                _ => "restore",
            };
            Some(format!("  {verb} {path}"))
        }
    }
}

fn list(lines: impl Iterator<Item = String>) {
    let lines: Vec<String> = lines.collect();
    lines.iter().take(LISTED).for_each(ui::note);
    let more = lines.len().saturating_sub(LISTED);
    if more > 0 {
        ui::note(styled(FAINT, format!("  … {more} more")));
    }
}

/// Asks about files that were changed since.
fn ask(context: &CommandContext, count: usize) -> ChangedSince {
    let files = format_count(count, "file was", "files were");
    let question = format!("{files} changed since, not by the agent. Overwrite?");
    let choices = [
        Choice { letter: "y", label: "yes", words: &["yes"], value: ChangedSince::Restore },
        Choice {
            letter: "k",
            label: "keep, restore the others",
            words: &["keep"],
            value: ChangedSince::Keep,
        },
        Choice {
            letter: "n",
            label: "change nothing",
            words: &["no", "q"],
            value: ChangedSince::Cancel,
        },
    ];
    let mut read = |prompt: &str| context.chat.dialogue.question(prompt);
    choose(&question, &choices, &mut read).unwrap_or(ChangedSince::Cancel)
}

fn report(context: &CommandContext, direction: Direction, result: &RestoreResult) {
    let display = |path| visible(&context.chat.snapshots.shown(path)).into_owned();
    list(result.failures.iter().map(|(path, why)| {
        format!("  {} {}: {}", styled(BAD, "failed"), display(path), visible(why))
    }));
    list(result.dirs.iter().map(|path| format!("  kept {}: it is not empty", display(path))));
    let count = result.restored_files.len();
    let paths = format_count(count, "path", "paths");
    let (verb, again, back) = match direction {
        Direction::Undo => ("Undone", "/undo", "/redo redoes it, another /undo goes back further."),
        Direction::Redo => ("Redone", "/redo", "/undo undoes it."),
    };
    let rest = if result.failures.is_empty() || count == 0 {
        back.to_owned()
    } else {
        format!("Fix what failed, then {again} tries again.")
    };
    ui::note(format!("{verb}: {paths}. Your next message informs the model."));
    ui::note(styled(FAINT, rest));
}
