//! `tenter guard show`.

use std::path::Path;

use serde::Serialize;
use tenter_engine::inspect::CHECKS;
use tenter_protocol::front_matter::Strictness;
use tenter_protocol::manifest::format;
use tenter_protocol::manifest::rule::Rule;
use tenter_protocol::manifest::setting::HookSetting;
use tenter_terminal::text::prose;
use tenter_terminal::{
    BAD, CommandResult, Exit, FAINT, Failure, GOOD, HEADING, NAME, NOTICE, styled, ui,
};

use super::installed::{GuardState, InstalledGuard, MANIFEST};
use crate::hook_settings;
use crate::new_files::hooks_dir;
use crate::project::Project;
use crate::shipped_guards::Guard;

/// Show the settings and the rules of a guard.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The guard.
    name: String,
    /// Print JSON: name, description, state, false alarms, settings and rules.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct GuardOutput {
    name: &'static str,
    description: &'static str,
    state: GuardState,
    place: &'static str,
    #[serde(skip)]
    note_title: &'static str,
    false_alarms: String,
    settings: Vec<HookSetting>,
    rules: Vec<RuleOutput>,
}

#[derive(Serialize)]
struct RuleOutput {
    name: String,
    decision: &'static str,
    reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    example: Option<String>,
}

pub(super) fn run(project: &Project, args: &Args) -> CommandResult {
    let output = read(Guard::find(&args.name)?, project)?;
    if args.json {
        ui::json(&output);
    } else {
        output.print();
    }
    Ok(Exit::Done)
}

/// Reads the guard in the user's hooks, else in the project's, else the one that would be installed.
fn read(guard: Guard, project: &Project) -> Result<GuardOutput, Failure> {
    let user = Some(("your hooks", hooks_dir(project, true)?));
    // A project whose directory of hooks cannot be used has none.
    let project_hooks = hooks_dir(project, false).ok().map(|hooks| ("the project's hooks", hooks));
    let guard_of_user = user
        .into_iter()
        .chain(project_hooks)
        .map(|(place, hooks)| (place, InstalledGuard::new(guard, &hooks)))
        .find(|(_, guard_of_user)| {
            !matches!(guard_of_user.state, GuardState::Absent | GuardState::Other)
        });
    let (place, state, text, file) = if let Some((place, guard_of_user)) = guard_of_user {
        (place, guard_of_user.state, guard_of_user.text, guard_of_user.path.join(MANIFEST))
    } else {
        let file = Path::new(guard.name).join(MANIFEST);
        ("", GuardState::Absent, guard.installable(), file)
    };
    let manifest = format::read(&file, text.as_bytes(), Strictness::Tolerant, CHECKS).0;
    let extensions = manifest.map(|manifest| manifest.extensions).ok_or_else(|| {
        let failure = Failure::new(format!("{} is not valid", file.display()));
        failure.help("`tenter hooks validate` says why")
    })?;
    Ok(GuardOutput {
        name: guard.name,
        description: guard.description(),
        state,
        place,
        note_title: guard.note_title(),
        false_alarms: guard.false_alarms(),
        settings: extensions.settings,
        rules: extensions.rules.iter().enumerate().map(rule).collect(),
    })
}

fn rule((index, rule): (usize, &Rule)) -> RuleOutput {
    let decision = rule.decision.as_ref();
    RuleOutput {
        name: rule.label(index),
        decision: decision.map_or("run", |decision| decision.verdict.as_str()),
        reason: decision.map(|decision| decision.reason.clone()).unwrap_or_default(),
        example: rule.examples.stopped.first().cloned(),
    }
}

impl GuardOutput {
    fn print(&self) {
        let state = match self.state {
            GuardState::Absent => styled(FAINT, "not installed"),
            GuardState::Current => format!("{} in {}", styled(GOOD, "installed"), self.place),
            state => format!("{} in {}", styled(NOTICE, state.as_str()), self.place),
        };
        ui::out(format!("{}  {state}", styled(NAME, self.name)));
        indent(self.description, 2);
        indent(&format!("{}{}", self.note_title, self.false_alarms), 2);
        if !self.settings.is_empty() {
            ui::out(format!("\n{}", styled(HEADING, "Settings")));
            self.settings.iter().for_each(print_setting);
            ui::out(styled(
                FAINT,
                format!("  Change one: tenter guard set {} NAME=VALUE", self.name),
            ));
        }
        ui::out(format!("\n{}", styled(HEADING, "Rules")));
        self.rules.iter().for_each(RuleOutput::print);
    }
}

fn print_setting(setting: &HookSetting) {
    let line = hook_settings::value_words(setting);
    ui::out(format!("  {} = {line}  [{}]", styled(NAME, &setting.name), setting.kind));
    indent(&setting.description, 4);
}

impl RuleOutput {
    fn print(&self) {
        let style = if self.decision == "deny" { BAD } else { NOTICE };
        ui::out(format!("  {} {}", styled(style, format!("{:4}", self.decision)), self.name));
        indent(&self.reason, 7);
        if let Some(example) = &self.example {
            indent(&format!("Example: {example}"), 7);
        }
    }
}

/// Prints text in lines that are as long as the terminal is wide, at most 100 columns.
fn indent(text: &str, indentation: usize) {
    let width = ui::columns().min(100).saturating_sub(indentation).max(20);
    for line in prose(text, width) {
        ui::out(format!("{:indentation$}{line}", ""));
    }
}
