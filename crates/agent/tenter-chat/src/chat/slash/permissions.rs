//! `/permissions`: the mode, and the rules with their sources.

use tenter_agent::permission::{PermissionMode, Rule};
use tenter_base::visible;
use tenter_terminal::{FAINT, Failure, NAME, styled, ui};

use super::{CommandContext, SlashResult};

/// Shows the mode and the rules; with an argument, switches the mode, or adds or removes a rule.
pub(super) fn permissions(context: &mut CommandContext, argument: &str) -> SlashResult {
    let permissions = &context.agent.permissions;
    let (word, rest) = argument.split_once(char::is_whitespace).unwrap_or((argument, ""));
    match (word, rest.trim()) {
        ("", _) => show(context),
        ("add", rule) => {
            let rule = parse(rule)?;
            permissions.rules().add(std::slice::from_ref(&rule)).map_err(|why| {
                Failure::new(format!("the rule applies in this session only: {}", visible(&why)))
            })?;
            ui::note(format!("Allowed in this project: {}", visible(&rule.to_string())));
        }
        ("remove", rule) => {
            let rule = parse(rule)?;
            let is_known = permissions.rules().remove(&rule);
            is_known.map_err(|why| {
                Failure::usage(visible(&why).into_owned())
                    .help("/permissions lists the rules; those of flags and of config.toml are changed there")
            })?;
            ui::note(format!("Removed: {}", visible(&rule.to_string())));
        }
        (mode, "") => {
            let mode: PermissionMode = mode.parse().map_err(|_| unknown(argument))?;
            permissions.set_mode(mode);
            ui::note(format!("The mode is {mode} now, until this chat ends."));
        }
        _ => return Err(unknown(argument)),
    }
    Ok(None)
}

fn show(context: &CommandContext) {
    let permissions = &context.agent.permissions;
    let mode = permissions.mode();
    let about = match mode {
        PermissionMode::Ask => "asks before a tool changes a file or runs a command",
        PermissionMode::Edits => "asks before a tool runs a command; file tools change files",
        PermissionMode::All => "never asks",
    };
    ui::out(format!("  {}  {about}", styled(NAME, mode)));
    if permissions.is_planning() {
        ui::out("  plan mode is on: nothing is changed until you approve the plan with /go");
    }
    let restrictions = permissions.restrictions();
    for (effect, rules) in [
        ("deny", restrictions.deny.as_slice()),
        ("ask", restrictions.ask.as_slice()),
        ("allow", &permissions.rules().list()),
    ] {
        for (rule, source) in rules {
            let source = styled(FAINT, format!("({source})"));
            ui::out(format!("  {effect:5}  {} {source}", visible(&rule.to_string())));
        }
    }
}

fn parse(rule: &str) -> Result<Rule, Failure> {
    rule.parse().map_err(|error: tenter_agent::permission::RuleError| {
        Failure::usage(visible(&error.to_string()).into_owned())
            .help("for example: /permissions add bash(git status *)")
    })
}

fn unknown(argument: &str) -> Failure {
    Failure::usage(format!(
        "{:?} is neither a mode nor `add RULE` nor `remove RULE`",
        visible(argument)
    ))
    .help("the modes are ask, edits and all")
}
