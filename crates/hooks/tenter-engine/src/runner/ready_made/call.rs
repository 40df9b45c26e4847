//! The means of a ready-made hook: the event, its settings, its state, and programs of the user.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tenter_base::search_path;
use tenter_proc::{Cancel, Completion, Invocation, Limits, Streams};
use tenter_protocol::facts::PathOp;
use tenter_protocol::manifest::setting::{HookSetting, SettingValue};
use tenter_protocol::{Body, Scope};

use crate::environment::{Environment, with_git_setting};
use crate::facts::CallFacts;
use crate::hook::Hook;
use crate::hook_state::HookOwner;
use crate::hook_values::ValueScope;
use crate::runner::Job;
use crate::settings::EngineSettings;

/// The key of a hook's state.
const STATE: &str = "state";

/// One run of a ready-made hook.
pub(in crate::runner) struct ReadyMadeCall<'c> {
    job: &'c Job<'c>,
    settings: &'c EngineSettings,
    cancel: &'c Cancel,
    deadline: Instant,
}

/// A program with its arguments.
pub(super) struct Command<'c> {
    pub(super) program: &'c Path,
    pub(super) args: Vec<OsString>,
    pub(super) directory: &'c Path,
    pub(super) stdin: Vec<u8>,
    /// Further environment variables.
    pub(super) variables: Vec<(OsString, OsString)>,
    pub(super) streams: Streams,
}

impl<'c> ReadyMadeCall<'c> {
    pub(in crate::runner) fn new(
        job: &'c Job<'c>,
        settings: &'c EngineSettings,
        cancel: &'c Cancel,
        timeout: Duration,
    ) -> Self {
        Self { job, settings, cancel, deadline: Instant::now() + timeout }
    }

    pub(super) fn body(&self) -> &'c Body {
        self.job.event.body
    }

    pub(super) fn scope(&self) -> &'c Scope {
        self.job.event.scope
    }

    pub(super) fn cancel(&self) -> &'c Cancel {
        self.cancel
    }

    fn hook(&self) -> &'c Hook {
        self.job.hook
    }

    /// Returns the root of the project.
    pub(super) fn project(&self) -> &'c Path {
        self.hook().project_in(&self.settings.project)
    }

    /// Returns the present time in milliseconds since 1970.
    pub(super) fn now(&self) -> i64 {
        (self.settings.clock)().as_millisecond()
    }

    /// Returns the time until the hook's timeout.
    pub(super) fn time_left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    fn setting(&self, name: &str) -> Option<&'c SettingValue> {
        let settings = &self.hook().options.settings;
        settings.iter().find(|setting| setting.name == name).map(HookSetting::value)
    }

    /// Returns a setting that is a list; empty without one.
    pub(super) fn list(&self, name: &str) -> &'c [String] {
        match self.setting(name) {
            Some(SettingValue::List(items)) => items,
            _ => &[],
        }
    }

    /// Returns a setting that is a text or a choice; empty without one.
    pub(super) fn text(&self, name: &str) -> &'c str {
        match self.setting(name) {
            Some(SettingValue::Text(text)) => text.trim(),
            _ => "",
        }
    }

    /// Returns a setting that is a number; 0 without one.
    pub(super) fn number(&self, name: &str) -> u32 {
        match self.setting(name) {
            Some(SettingValue::Number(number)) => *number,
            _ => 0,
        }
    }

    /// Returns a setting that is `true` or `false`; `false` without one.
    pub(super) fn is_on(&self, name: &str) -> bool {
        matches!(self.setting(name), Some(SettingValue::Boolean(true)))
    }

    /// Returns the commands and paths of the event's tool call.
    pub(super) fn facts(&self) -> &'c CallFacts {
        self.job.facts.for_hook(self.job.event, self.hook().outer.as_deref())
    }

    /// Returns whether the event's tool call changes files of the project, as far as its text says.
    pub(super) fn changes_project(&self) -> bool {
        let mut paths = self.facts().facts.call.paths.iter();
        paths.any(|path| path.op.changes() && path.inside_project)
    }

    /// Returns the files of the project that the event's tool call wrote.
    pub(super) fn written_files(&self) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = Vec::new();
        for path in &self.facts().facts.call.paths {
            let is_written = matches!(path.op, PathOp::Write | PathOp::Create);
            let file = Path::new(&path.path);
            let is_file = || file.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
            let is_new = || !files.iter().any(|other| other == file);
            if is_written
                && path.inside_project
                && path.certain
                && !path.glob
                && is_file()
                && is_new()
            {
                files.push(file.to_owned());
            }
        }
        files
    }

    /// Returns a path for messages: relative to the project if it is in it.
    pub(super) fn short<'p>(&self, path: &'p Path) -> std::borrow::Cow<'p, str> {
        path.strip_prefix(self.project()).unwrap_or(path).to_string_lossy()
    }

    /// Returns the user's program of this name.
    pub(super) fn program(&self, name: &str) -> Option<PathBuf> {
        search_path::program(name, self.settings.environment.base())
    }

    /// Returns the environment of programs.
    pub(super) fn environment(&self) -> Environment {
        with_git_setting(
            self.settings.environment.base().clone(),
            "safe.bareRepository",
            "explicit",
        )
    }

    /// Runs a program until it ends, or the hook's timeout.
    pub(super) fn run(&self, command: Command<'_>) -> Completion {
        let mut env = self.environment();
        env.retain(|(name, _)| command.variables.iter().all(|(other, _)| name != other));
        env.extend(command.variables);
        let limits = Limits { timeout: self.time_left(), ..Limits::default() };
        let invocation = Invocation {
            program: command.program.to_owned(),
            args: command.args,
            cwd: command.directory.to_owned(),
            env,
            stdin: command.stdin,
            streams: command.streams,
            limits,
        };
        tenter_proc::run(&invocation, self.cancel)
    }

    /// Runs the text of a setting in a shell, in the project.
    pub(super) fn run_shell(&self, text: &str, variables: Vec<(OsString, OsString)>) -> Completion {
        self.run(Command {
            program: Path::new("/bin/sh"),
            args: vec!["-c".into(), text.into()],
            directory: self.project(),
            stdin: Vec::new(),
            variables,
            streams: Streams::Merged,
        })
    }

    /// Runs git in the project, without the programs that the repository names, and returns its output; `None` if it fails.
    pub(super) fn git(&self, args: &[&str]) -> Option<String> {
        let settings = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"];
        let completion = self.run(Command {
            program: Path::new("git"),
            args: settings.iter().chain(args).map(OsString::from).collect(),
            directory: self.project(),
            stdin: Vec::new(),
            variables: Vec::new(),
            streams: Streams::Separate,
        });
        completion.end.is_success().then(|| completion.stdout.text())
    }

    /// Changes the hook's state of the conversation.
    ///
    /// # Errors
    /// The state cannot be read or written.
    pub(super) fn change_state<S, T>(&self, change: impl FnOnce(&mut S) -> T) -> Result<T, String>
    where
        S: Default + Serialize + DeserializeOwned,
    {
        self.change_value(ValueScope::Session(&self.scope().conversation_id), STATE, change)
    }

    /// Changes a value that the hook keeps for the project.
    ///
    /// # Errors
    /// The value cannot be read or written.
    pub(super) fn change_project_state<S, T>(
        &self,
        key: &str,
        change: impl FnOnce(&mut S) -> T,
    ) -> Result<T, String>
    where
        S: Default + Serialize + DeserializeOwned,
    {
        self.change_value(ValueScope::Project, key, change)
    }

    fn change_value<S, T>(
        &self,
        scope: ValueScope<'_>,
        key: &str,
        change: impl FnOnce(&mut S) -> T,
    ) -> Result<T, String>
    where
        S: Default + Serialize + DeserializeOwned,
    {
        let Some(values) = &self.settings.values else {
            return Err("there is no directory for its state".to_owned());
        };
        let hook = self.hook();
        let owner = HookOwner { project: self.project(), layer: hook.layer, name: &hook.name };
        let file = values.file(owner, scope, (self.settings.clock)());
        let result = file.change(|entries| {
            // A state that cannot be read is of another version of the hook: it starts anew.
            let value = entries.get(key).map(|entry| entry.value.clone());
            let mut state: S =
                value.and_then(|value| serde_json::from_value(value).ok()).unwrap_or_default();
            let result = change(&mut state);
            entries.set(key, serde_json::to_value(&state).unwrap_or_default());
            Ok(result)
        });
        result.map_err(|error| error.to_string())
    }
}
