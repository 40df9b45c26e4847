//! Environment variables that programs read as commands or options.

use crate::field::Field;
use crate::reader::{Context, Reader};
use crate::tables::{self, Run, Style, find, variables};

use super::call::{Call, Emitted};

impl Reader<'_> {
    /// Returns a call with the arguments that variables add: `TAR_OPTIONS=… tar`, `GIT_CONFIG_KEY_0=… git`. `None` if they add none.
    pub(super) fn with_variables(&self, call: &Call) -> Option<Call> {
        let name = call.argv.first()?;
        let program = name.text.rsplit('/').next().unwrap_or_default();
        // `git-push` is `git push`.
        if let Some(subcommand) = program.strip_prefix("git-")
            && (name.text.contains("/git-core/") || tables::subcommand("git", subcommand).is_some())
            && find(program).is_none()
            && self.written(name).is_none()
        {
            let words = [name.with_text("git"), name.with_text(subcommand)];
            let argv = words.into_iter().chain(call.args().iter().cloned()).collect();
            return Some(Call { argv, ..call.clone() });
        }
        let (at, words) = match program {
            "git" => (1, self.git_settings(call)),
            program => (place_of_options(program, call), self.options(program, call)),
        };
        if words.is_empty() {
            return None;
        }
        let mut call = call.clone();
        call.argv.splice(at..at, words);
        Some(call)
    }

    fn options(&self, program: &str, call: &Call) -> Vec<Field> {
        let rows = variables::OPTIONS.iter().filter(|(name, ..)| *name == program);
        let values = rows.filter_map(|(_, variable, option)| {
            Some((self.environment_value(call, variable)?, option))
        });
        let words = values.flat_map(|(value, option)| {
            if !option.is_empty() {
                return vec![value.with_text(format!("{option}={}", value.text))];
            }
            if !value.is_certain {
                return vec![value];
            }
            value.text.split_whitespace().map(|word| value.with_text(word)).collect()
        });
        words.collect()
    }

    /// Reads settings of git in variables as `git -c key=value`: `GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=… GIT_CONFIG_VALUE_0=… git` and
    /// `GIT_CONFIG_PARAMETERS="'key=value'" git`.
    fn git_settings(&self, call: &Call) -> Vec<Field> {
        let mut words = Vec::new();
        for index in 0..variables::MAX_GIT_SETTINGS {
            let key = self.environment_value(call, &format!("GIT_CONFIG_KEY_{index}"));
            let Some(mut setting) = key else { break };
            let value = self.environment_value(call, &format!("GIT_CONFIG_VALUE_{index}"));
            setting.text.push('=');
            setting.push(&value.unwrap_or_default());
            words.extend([Field::known("-c"), setting]);
        }
        // `'core.pager=less' 'core.editor'='vi'`
        if let Some(all) = self.environment_value(call, "GIT_CONFIG_PARAMETERS") {
            let text = all.text.replace("'='", "=");
            let settings = text.split('\'').skip(1).step_by(2).take(variables::MAX_GIT_SETTINGS);
            words.extend(settings.flat_map(|one| [Field::known("-c"), all.with_text(one)]));
        }
        words
    }

    /// Returns the value of a variable in the environment of a command.
    pub(super) fn environment_value(&self, call: &Call, name: &str) -> Option<Field> {
        let own = call.env.iter().find(|(own, _)| own == name).map(|(_, value)| value);
        let value = own.or_else(|| self.scope.exported(name)?.as_ref())?;
        (!value.text.is_empty()).then(|| value.clone())
    }

    /// Reads `GIT_SSH_COMMAND=… git fetch`, `export PAGER=…`: variables whose values other programs run.
    pub(super) fn variables_that_run(&mut self, call: &Call, emitted: &Emitted, context: &Context) {
        let mut scripts: Vec<Field> = call
            .env
            .iter()
            .filter(|(name, _)| variables::is_command(name))
            .map(|(_, value)| value.clone())
            .collect();
        if matches!(emitted.program.as_str(), "export" | "declare" | "typeset") {
            scripts.extend(call.operands(emitted).filter_map(|operand| {
                let (name, value) = operand.text.split_once('=')?;
                variables::is_command(name).then(|| operand.with_text(value))
            }));
        }
        let is_wrapper = emitted.row.is_some_and(|row| {
            row.runs.contains(&Run::Words(0)) || row.runs.contains(&Run::Environment)
        });
        if !is_wrapper {
            self.scripts(&scripts, emitted, context);
        }
    }
}

/// Returns the index at which further options go: after the letters of `tar xf file`.
fn place_of_options(program: &str, call: &Call) -> usize {
    let is_dashless = find(program).is_some_and(|row| row.style == Style::Dashless);
    let dashes = call.argv.iter().position(|arg| arg.text == "--");
    if is_dashless { dashes.unwrap_or(call.argv.len()) } else { 1 }
}
