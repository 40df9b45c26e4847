//! The handlers that are registered with a host: one for each of its events, without a matcher (B2, B45).

use std::path::Path;

use serde_json::{Value, json};
use tenter_protocol::{Diagnostic, Severity};

use super::command::CommandForm;
use super::json::Handler;
use super::program;
use super::target::{Scope, Target};
use crate::host::{Moment, NativeEvent, RegistrationFormat, TimeoutUnit};

/// How to register.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// The host blocks prompts and tool calls if the program fails (B25). A registration that does so already keeps it.
    pub fail_closed: bool,
    /// Whether the host's version starts commands without a shell; `None` if the version is unknown: the registered form is kept.
    pub exec_form: Option<bool>,
}

impl Options {
    /// The options with which to repair or change handlers that are registered: nothing becomes weaker unnoticed.
    pub(super) fn for_registered(self, target: &Target, registered: &[Handler]) -> Self {
        let RegistrationFormat::JsonGroups { fail_closed, .. } = &target.host.registration.format;
        let has = |key: &str| registered.iter().any(|handler| handler.value.get(key).is_some());
        Self {
            fail_closed: self.fail_closed || fail_closed.is_some_and(|(key, _)| has(key)),
            exec_form: self.exec_form.or_else(|| Some(has("args"))),
        }
    }

    /// Every combination.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        [false, true].into_iter().flat_map(|fail_closed| {
            [false, true].map(|exec_form| Self { fail_closed, exec_form: Some(exec_form) })
        })
    }
}

/// A native event and its handler.
pub(super) type EventHandler = (&'static str, Value);

/// Whose program the handlers run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Owner<'o> {
    /// The home directory.
    pub(super) home: &'o Path,
    /// The id of the registration.
    pub(super) id: &'o str,
}

/// Returns the handlers of a target.
///
/// # Errors
/// The host cannot block as requested, or the home directory cannot be written in JSON.
pub(super) fn of_target(
    target: &Target,
    Owner { home, id }: Owner,
    options: Options,
) -> Result<Vec<EventHandler>, Diagnostic> {
    let link = program::link(home);
    let (Some(program), Some(home)) = (link.to_str(), home.to_str()) else {
        return Err(error(format!("the home directory {} is not UTF-8", home.display())));
    };
    let RegistrationFormat::JsonGroups { timeout, fail_closed, .. } =
        &target.host.registration.format;
    if options.fail_closed && fail_closed.is_none() {
        return Err(error(format!("{} cannot block when a hook fails", target.host.name))
            .help("install without --fail-closed"));
    }
    let handler = |event: &NativeEvent| {
        let blocks = options.fail_closed && is_guarded(event.moment);
        let form = match (target.scope, options.exec_form) {
            (Scope::Shared, _) => CommandForm::Portable { needs_program: blocks },
            (_, Some(true)) => CommandForm::Exec { program, home, id },
            (_, _) => CommandForm::Shell { program, home, id },
        };
        let mut handler = form.handler(target.host.id, event.name);
        handler["timeout"] = json!(in_unit(event, *timeout));
        if let Some((key, value)) = fail_closed.filter(|_| blocks) {
            handler[key] = json!(value);
        }
        (event.name, handler)
    };
    Ok(target.host.events.iter().map(handler).collect())
}

/// Whether a failure may block at this moment: elsewhere blocking means something else, such as to continue.
fn is_guarded(moment: Moment) -> bool {
    matches!(moment, Moment::BeforeTool | Moment::Prompt)
}

fn in_unit(event: &NativeEvent, unit: TimeoutUnit) -> u64 {
    match unit {
        TimeoutUnit::Seconds => event.timeout.as_secs(),
        TimeoutUnit::Milliseconds => u64::try_from(event.timeout.as_millis()).unwrap_or(u64::MAX),
    }
}

fn error(message: String) -> Diagnostic {
    Diagnostic::new("registration-impossible", Severity::Error, message)
}
