//! The content of a registration: a handler for each event of the host, without a matcher (B2, B45), or files.

use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tenter_protocol::{Diagnostic, Severity};

use super::change::Target;
use super::command::{CommandForm, OnFailure, exits_2};
use super::entry::{EventHandler, Handler};
use super::program;
use crate::host::{
    EntryFormat, FailClosed, FileContext, Host, HostVersion, Moment, NativeEvent, OwnFile,
    RegistrationFormat, RegistrationScope, SwitchValue, TimeoutUnit,
};
use crate::shell_prefix;

/// The options of a registration.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// The host blocks prompts and tool calls if the program fails (B25). A registration that does so already keeps it.
    pub fail_closed: bool,
    /// The host runs shell commands with our program, which confines those that hooks confine (F12). A registration that does so
    /// already keeps it, and it means nothing for hosts that accept the confined command instead.
    pub confine: bool,
    /// The installed version of the host; `None` if it is unknown: then only the events of the oldest supported version are
    /// registered, and the registered form of the command is kept.
    pub version: Option<HostVersion>,
    /// A timeout that is shorter than the usual ones, for tests that answers come before it.
    pub timeout: Option<Duration>,
}

impl Options {
    /// Returns the form in which to register at a target that has these handlers. A registration that fails closed stays so.
    pub(super) fn form(self, target: &Target, registered: &[Handler]) -> Form {
        let has = |key: &str| registered.iter().any(|handler| handler.value.get(key).is_some());
        let exits_2 = || registered.iter().any(|handler| exits_2(&handler.value));
        let registration = &target.host.registration;
        let blocks = match registration.entries().map(|format| format.fail_closed) {
            Some(FailClosed::Switch(key, _)) => has(key) || exits_2(),
            Some(FailClosed::ExitCode | FailClosed::ExitCodeOrAnswer(_)) => exits_2(),
            Some(FailClosed::Impossible) | None => false,
        };
        let has_exec = |version| registration.exec_since.is_some_and(|since| version >= since);
        let version = match (target.scope, self.version) {
            (RegistrationScope::User | RegistrationScope::Personal, Some(version)) => version,
            (RegistrationScope::Shared, _) => registration.oldest,
            (_, None) => registered_for(target.host, registered).max(registration.oldest),
        };
        Form {
            fail_closed: self.fail_closed || blocks,
            confine: self.confine && registration.shell_prefix.is_some(),
            exec: self.version.map_or_else(|| has("args"), has_exec),
            version,
            timeout: self.timeout,
        }
    }
}

/// Returns the first version that knows the events of registered handlers.
fn registered_for(host: &Host, registered: &[Handler]) -> HostVersion {
    let events = registered.iter().filter_map(|handler| host.event(&handler.event));
    events.map(|event| event.since).max().unwrap_or(HostVersion::EARLIEST)
}

/// The form of a registration.
#[derive(Debug, Clone, Copy)]
pub(super) struct Form {
    /// True if the host blocks prompts and tool calls when the program fails.
    pub(super) fail_closed: bool,
    /// True if the host runs shell commands with our program.
    pub(super) confine: bool,
    /// True if the host starts commands without a shell.
    pub(super) exec: bool,
    /// The version for which hooks are registered.
    pub(super) version: HostVersion,
    /// A shorter timeout than the usual ones.
    pub(super) timeout: Option<Duration>,
}

impl Form {
    /// Returns every form that an installation may have written.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let choices = [false, true].into_iter().flat_map(|one| [(one, false), (one, true)]);
        choices.flat_map(|(fail_closed, exec)| {
            [HostVersion::EARLIEST, HostVersion::LATEST].map(|version| Self {
                fail_closed,
                confine: false,
                exec,
                version,
                timeout: None,
            })
        })
    }
}

/// The content of a registration.
#[derive(Debug)]
pub(super) enum RegistrationContent {
    /// These handlers in a file of this format, and the program that runs shell commands.
    Entries(&'static EntryFormat, Vec<EventHandler>, Option<String>),
    /// These files, which may have to be programs.
    Files(Vec<OwnFile>, bool),
}

impl RegistrationContent {
    /// Returns the number of handlers or files.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Entries(_, handlers, _) => handlers.len(),
            Self::Files(files, _) => files.len(),
        }
    }
}

/// Returns the content of the registration with this id at a target.
///
/// # Errors
/// The host cannot block as requested, or the home directory is not UTF-8.
pub(super) fn content(
    target: &Target,
    home: &Path,
    id: &str,
    form: Form,
) -> Result<RegistrationContent, Diagnostic> {
    let program = program::program_path(home);
    let (Some(program), Some(home)) = (program.to_str(), home.to_str()) else {
        return Err(error(format!("the home directory {} is not UTF-8", home.display())));
    };
    let Target { host, scope, .. } = *target;
    let Form { fail_closed, confine, exec, version, timeout } = form;
    if confine && scope == RegistrationScope::Shared {
        return Err(error("a shared file cannot name a program of one user".to_owned())
            .help("install without --shared, or without --confine"));
    }
    match &host.registration.format {
        RegistrationFormat::Files(format) => {
            let context = FileContext { host, scope, program, home, id, fail_closed };
            Ok(RegistrationContent::Files((format.files)(&context), format.executable))
        }
        RegistrationFormat::Entries(format) => {
            if fail_closed && format.fail_closed == FailClosed::Impossible {
                return Err(error(format!("{} cannot block when a hook fails", host.name))
                    .help("install without --fail-closed"));
            }
            let entry = |event: &NativeEvent| {
                let event = event.within(timeout.unwrap_or(Duration::MAX));
                let blocks = fail_closed && is_guarded(event.moment);
                let has_switch = version >= host.registration.switch_since;
                let on_failure = format.on_failure(blocks, event.moment, has_switch);
                let is_blocking = format.blocks_if_missing.contains(&event.moment);
                let needs_program = blocks || !is_blocking;
                let form = match scope {
                    RegistrationScope::Shared => CommandForm::Portable { needs_program: blocks },
                    // Copilot also runs the hooks in a project's settings of Claude Code, without their `args`, and denies every
                    // call then.
                    RegistrationScope::User
                        if exec && on_failure == OnFailure::Nothing && needs_program =>
                    {
                        CommandForm::Exec { key: format.exec, program, home, id }
                    }
                    _ => CommandForm::Shell { program, home, id, needs_program },
                };
                let mut command = form.members(host.id, event.name, on_failure);
                if timeout.is_some() {
                    add_timeout(&mut command, event.timeout);
                }
                let unique = if scope == RegistrationScope::Shared { "shared" } else { id };
                (event.name, handler(format, &event, command, (unique, blocks && has_switch)))
            };
            let handlers = host.events_of(version).map(entry).collect();
            let prefix = confine.then(|| format!("{program} {}", shell_prefix::ARGUMENT));
            Ok(RegistrationContent::Entries(format, handlers, prefix))
        }
    }
}

/// Returns the content of a registration of these events for all users of a machine; `None` if the host's hooks are files.
pub(super) fn managed(
    host: &'static Host,
    program: &str,
    events: impl Iterator<Item = &'static NativeEvent>,
) -> Option<RegistrationContent> {
    let RegistrationFormat::Entries(format) = &host.registration.format else { return None };
    let entry = |event: &NativeEvent| {
        let form = CommandForm::Managed { program };
        let command = form.members(host.id, event.name, OnFailure::Nothing);
        (event.name, handler(format, event, command, ("managed", false)))
    };
    Some(RegistrationContent::Entries(format, events.map(entry).collect(), None))
}

/// Returns a handler, with its members in the order of the hosts' documentation.
fn handler(
    format: &EntryFormat,
    event: &NativeEvent,
    command: Vec<(String, Value)>,
    (unique, switches): (&str, bool),
) -> Value {
    let mut members: Map<String, Value> =
        format.fields.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect();
    if let Some(key) = format.name {
        members.insert(key.to_owned(), json!(format!("tenter-{}-{unique}", event.name)));
    }
    members.extend(command);
    members.insert(format.timeout.to_owned(), json!(format.timeout_of(event)));
    if let FailClosed::Switch(key, value) = format.fail_closed
        && switches
    {
        let value = match value {
            SwitchValue::Text(text) => json!(text),
            SwitchValue::True => json!(true),
        };
        members.insert(key.to_owned(), value);
    }
    Value::Object(members)
}

/// Adds the option for a host that waits for a shorter time than usual.
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

/// Returns whether a failure may block at this moment. At other moments, blocking means something else, such as to continue.
fn is_guarded(moment: Moment) -> bool {
    matches!(moment, Moment::BeforeTool | Moment::Prompt)
}

impl EntryFormat {
    /// Returns what the shell command does if the program fails. `blocks` says whether the host must block then.
    fn on_failure(&self, blocks: bool, moment: Moment, has_switch: bool) -> OnFailure {
        match self.fail_closed {
            FailClosed::ExitCodeOrAnswer(answer) if blocks && moment == Moment::Prompt => {
                OnFailure::Answer(answer)
            }
            FailClosed::ExitCode | FailClosed::ExitCodeOrAnswer(_) if blocks => OnFailure::ExitCode,
            FailClosed::Switch(..) if blocks && !has_switch => OnFailure::ExitCode,
            _ => OnFailure::Nothing,
        }
    }

    /// Returns the timeout that is registered for an event.
    pub(super) fn timeout_of(&self, event: &NativeEvent) -> u64 {
        match self.unit {
            TimeoutUnit::Seconds => event.timeout.as_secs(),
            TimeoutUnit::Milliseconds | TimeoutUnit::MillisecondsFrom1000 => {
                u64::try_from(event.timeout.as_millis()).unwrap_or(u64::MAX)
            }
        }
    }
}

fn error(message: String) -> Diagnostic {
    Diagnostic::new("registration-impossible", Severity::Error, message)
}
