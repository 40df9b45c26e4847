//! What is registered with a host: a handler for each of its events, without a matcher (B2, B45), or files.

use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tenter_protocol::{Diagnostic, Severity};

use super::command::{CommandForm, OnFailure, exits_2};
use super::entry::{EventHandler, Handler};
use super::program;
use super::target::Target;
use crate::host::Scope;
use crate::host::{
    EntryFormat, FailClosed, FileContext, OwnFile, RegistrationFormat, SwitchValue, TimeoutUnit,
};
use crate::host::{Moment, NativeEvent};

/// How to register.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// The host blocks prompts and tool calls if the program fails (B25). A registration that does so already keeps it.
    pub fail_closed: bool,
    /// Whether the host's version starts commands without a shell; `None` if the version is unknown: the registered form is kept.
    pub exec_form: Option<bool>,
    /// A shorter timeout than the usual ones, by which it can be proved that answers come before it.
    pub timeout: Option<Duration>,
}

impl Options {
    /// The options with which to repair or change handlers that are registered: nothing becomes weaker unnoticed.
    pub(super) fn for_registered(self, format: &EntryFormat, registered: &[Handler]) -> Self {
        let has = |key: &str| registered.iter().any(|handler| handler.value.get(key).is_some());
        let blocks = match format.fail_closed {
            FailClosed::Switch(key, _) => has(key),
            FailClosed::ExitCode | FailClosed::ExitCodeOrAnswer(_) => {
                registered.iter().any(|handler| exits_2(&handler.value))
            }
            FailClosed::Impossible => false,
        };
        Self {
            fail_closed: self.fail_closed || blocks,
            exec_form: self.exec_form.or_else(|| Some(has("args"))),
            ..self
        }
    }

    /// Every combination.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        [false, true].into_iter().flat_map(|fail_closed| {
            [false, true].map(|exec_form| Self {
                fail_closed,
                exec_form: Some(exec_form),
                timeout: None,
            })
        })
    }
}

/// What is to be registered.
#[derive(Debug)]
pub(super) enum Wanted {
    /// These handlers in a file of this format.
    Entries(&'static EntryFormat, Vec<EventHandler>),
    /// These files, which may have to be programs.
    Files(Vec<OwnFile>, bool),
}

/// Whose program is registered.
#[derive(Debug, Clone, Copy)]
pub(super) struct Owner<'o> {
    /// The home directory.
    pub(super) home: &'o Path,
    /// The id of the registration.
    pub(super) id: &'o str,
}

/// Returns what is registered at a target.
///
/// # Errors
/// The host cannot block as requested, or the home directory is not UTF-8.
pub(super) fn of_target(
    target: &Target,
    Owner { home, id }: Owner,
    options: Options,
) -> Result<Wanted, Diagnostic> {
    let link = program::link(home);
    let (Some(program), Some(home)) = (link.to_str(), home.to_str()) else {
        return Err(error(format!("the home directory {} is not UTF-8", home.display())));
    };
    let Target { host, scope, .. } = *target;
    let Options { fail_closed, exec_form, timeout } = options;
    match &host.registration.format {
        RegistrationFormat::Files(format) => {
            let context = FileContext { host, scope, program, home, id, fail_closed };
            Ok(Wanted::Files((format.files)(&context), format.executable))
        }
        RegistrationFormat::Entries(format) => {
            if fail_closed && format.fail_closed == FailClosed::Impossible {
                return Err(error(format!("{} cannot block when a hook fails", host.name))
                    .help("install without --fail-closed"));
            }
            let entry = |event: &NativeEvent| {
                let event = event.within(timeout.unwrap_or(Duration::MAX));
                let blocks = fail_closed && is_guarded(event.moment);
                let on_failure = format.on_failure(blocks, event.moment);
                let is_blocking = format.blocks_if_missing.contains(&event.moment);
                let needs_program = blocks || !is_blocking;
                let form = match scope {
                    Scope::Shared => CommandForm::Portable { needs_program: blocks },
                    // Copilot also runs the hooks in a project's settings of Claude Code, without their `args`, and denies every
                    // call then.
                    Scope::User
                        if exec_form == Some(true)
                            && on_failure == OnFailure::Nothing
                            && needs_program =>
                    {
                        CommandForm::Exec { key: format.exec, program, home, id }
                    }
                    _ => CommandForm::Shell { program, home, id, needs_program },
                };
                let mut command = form.members(host.id, event.name, on_failure);
                if timeout.is_some() {
                    add_timeout(&mut command, event.timeout);
                }
                let unique = if scope == Scope::Shared { "shared" } else { id };
                (event.name, handler(format, &event, command, (unique, blocks)))
            };
            Ok(Wanted::Entries(format, host.events.iter().map(entry).collect()))
        }
    }
}

/// A handler: its members in the order in which the hosts' documentation has them.
fn handler(
    format: &EntryFormat,
    event: &NativeEvent,
    command: Vec<(String, Value)>,
    (unique, blocks): (&str, bool),
) -> Value {
    let mut members: Map<String, Value> =
        format.fields.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect();
    if let Some(key) = format.name {
        members.insert(key.to_owned(), json!(format!("tenter-{}-{unique}", event.name)));
    }
    members.extend(command);
    members.insert(format.timeout.to_owned(), json!(format.timeout_of(event)));
    if let FailClosed::Switch(key, value) = format.fail_closed
        && blocks
    {
        let value = match value {
            SwitchValue::Text(text) => json!(text),
            SwitchValue::True => json!(true),
        };
        members.insert(key.to_owned(), value);
    }
    Value::Object(members)
}

/// Tells the program that the host waits for a shorter time than usual.
fn add_timeout(command: &mut [(String, Value)], timeout: Duration) {
    let words = ["--timeout".to_owned(), timeout.as_secs().to_string()];
    match command.last_mut() {
        Some((_, Value::Array(args))) => args.extend(words.map(Value::from)),
        Some((_, Value::String(command))) => {
            command.push(' ');
            command.push_str(&words.join(" "));
        }
        _ => {}
    }
}

/// Whether a failure may block at this moment: elsewhere blocking means something else, such as to continue.
fn is_guarded(moment: Moment) -> bool {
    matches!(moment, Moment::BeforeTool | Moment::Prompt)
}

impl EntryFormat {
    /// What the registered shell command does if the program fails, where that `blocks`.
    fn on_failure(&self, blocks: bool, moment: Moment) -> OnFailure {
        match self.fail_closed {
            FailClosed::ExitCodeOrAnswer(answer) if blocks && moment == Moment::Prompt => {
                OnFailure::Answer(answer)
            }
            FailClosed::ExitCode | FailClosed::ExitCodeOrAnswer(_) if blocks => OnFailure::ExitCode,
            _ => OnFailure::Nothing,
        }
    }

    /// The timeout that is registered for an event.
    pub(super) fn timeout_of(&self, event: &NativeEvent) -> u64 {
        match self.unit {
            TimeoutUnit::Seconds => event.timeout.as_secs(),
            TimeoutUnit::Milliseconds => {
                u64::try_from(event.timeout.as_millis()).unwrap_or(u64::MAX)
            }
        }
    }
}

fn error(message: String) -> Diagnostic {
    Diagnostic::new("registration-impossible", Severity::Error, message)
}
