//! Registrations where the administrators of a host have theirs (M3): for all users of the machine, with a program that only root changes.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use tenter_base::{replace_file, untrusted_file};
use tenter_engine::ManagedDirectory;
use tenter_protocol::{Diagnostic, Severity};

use super::change::Target;
use super::command::PROGRAM;
use super::entry::EventHandler;
use super::handlers::{self, Options, RegistrationContent};
use super::plan::Plan;
use crate::Host;
use crate::host::{Moment, NativeEvent, RegistrationScope};

/// The files of administrators, from the root of the file system, by the id of the host.
const FILES: [(&str, &str); 5] = [
    ("claude-code", "etc/claude-code/managed-settings.d/50-tenter.json"),
    (CODEX, "etc/codex/requirements.toml"),
    ("copilot", "etc/github-copilot/policy.d/50-tenter.json"),
    ("gemini", "etc/gemini-cli/settings.json"),
    ("cursor", "etc/cursor/hooks.json"),
];
/// The file beside it with the events that guard calls and that the oldest supported version does not know: such a version may ignore a
/// file with them as a whole.
const NEWER: &str = "51-tenter-newer.json";
/// The host in which a user's settings disable all hooks unless the administrators' settings enable them.
const GEMINI: &str = "gemini";
/// The host whose administrators have a file in TOML, and in which a user disables hooks unless that file requires them.
const CODEX: &str = "codex";
/// The lines around the registration in a file of TOML, which a later registration replaces.
const BLOCK: [&str; 2] = ["# Hooks of Tenter: begin", "# Hooks of Tenter: end"];
/// The directory of the program, from the root of the file system.
const PROGRAMS: &str = "usr/local/lib/tenter";
/// The program of hooks behind HTTP, beside the program.
const COMMAND: &str = "tenter";

/// Returns the file of a host's administrators; `None` if it is not known.
pub fn managed_file(host: &Host, managed: &ManagedDirectory) -> Option<PathBuf> {
    let file = FILES.iter().find(|(id, _)| *id == host.id);
    file.map(|(_, path)| managed.root().join(path))
}

/// Registers hooks with a host for all users of the machine: copies `program` to where only root changes it, and writes the file of the
/// host's administrators. Returns that file.
///
/// # Errors
/// The host has no such file, a file cannot be written, or others than root can change the program.
pub fn install_managed(
    host: &'static Host,
    managed: &ManagedDirectory,
    program: &Path,
) -> Result<PathBuf, Diagnostic> {
    let file = managed_file(host, managed).ok_or_else(|| {
        failed(format!(
            "the place where administrators register hooks with {} is not known",
            host.name
        ))
    })?;
    let copy = managed.root().join(PROGRAMS).join(PROGRAM);
    copy_program(program, &copy).map_err(|error| unwritable(&copy, &error))?;
    managed.verify(&copy)?;
    write_managed(host, &file, &copy)?;
    Ok(file)
}

/// Writes a registration of `program` for all users of the machine into `file`, as [`install_managed`] does.
///
/// # Errors
/// The file cannot be written, or the host has no settings of hooks.
pub fn write_managed(host: &'static Host, file: &Path, program: &Path) -> Result<(), Diagnostic> {
    let name =
        program.to_str().ok_or_else(|| failed("the program's path is not UTF-8".to_owned()))?;
    let oldest = host.registration.oldest;
    write_events(host, file, name, host.events_of(oldest))?;
    let is_newer_guard =
        |event: &&NativeEvent| event.since > oldest && event.moment == Moment::BeforeTool;
    let mut newer = host.events.iter().filter(is_newer_guard).peekable();
    if newer.peek().is_some() {
        write_events(host, &file.with_file_name(NEWER), name, newer)?;
    }
    if host.id == GEMINI {
        keep_enabled(file)?;
    }
    Ok(())
}

/// Writes a registration of these events for all users of the machine.
fn write_events(
    host: &'static Host,
    file: &Path,
    program: &str,
    events: impl Iterator<Item = &'static NativeEvent>,
) -> Result<(), Diagnostic> {
    let scope = RegistrationScope::User;
    let target = Target { host, scope, file: file.to_owned(), trust_file: None };
    let form = Options::default().form(&target, &[]);
    let content = handlers::managed(host, program, events)
        .ok_or_else(|| failed(format!("{} has no settings of hooks", host.name)))?;
    let directory = file.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(directory).map_err(|error| unwritable(directory, &error))?;
    match content {
        RegistrationContent::Entries(_, handlers, _) if host.id == CODEX => {
            require_in_toml(file, &handlers)?;
        }
        content => Plan::install(&target, content, form, None)?.apply()?,
    }
    // Every user's agent reads it.
    fs::set_permissions(file, Permissions::from_mode(0o644))
        .map_err(|error| unwritable(file, &error))
}

/// Returns the file of a host's administrators if hooks are registered there.
pub fn managed_registration(host: &Host, managed: &ManagedDirectory) -> Option<PathBuf> {
    let file = managed_file(host, managed)?;
    let program = managed.root().join(PROGRAMS).join(PROGRAM);
    let text = untrusted_file::read_to_string(&file).ok()?;
    text.contains(program.to_str()?).then_some(file)
}

/// Enables hooks in the settings of administrators, which take precedence over a user's.
fn keep_enabled(file: &Path) -> Result<(), Diagnostic> {
    let text = fs::read_to_string(file).map_err(|error| unwritable(file, &error))?;
    let unusable = || {
        failed("hooks are registered, but `hooksConfig.enabled` cannot be set in it".to_owned())
            .at(file)
            .help("set it to true, or users can disable all hooks")
    };
    let mut settings: Value = serde_json::from_str(&text).map_err(|_| unusable())?;
    let root = settings.as_object_mut().ok_or_else(unusable)?;
    let table = root.entry("hooksConfig").or_insert_with(|| Value::Object(Map::new()));
    let table = table.as_object_mut().ok_or_else(unusable)?;
    if table.insert("enabled".to_owned(), Value::Bool(true)) == Some(Value::Bool(true)) {
        return Ok(());
    }
    let text = serde_json::to_string_pretty(&settings).unwrap_or(text) + "\n";
    let result = replace_file::replace_with_mode(file, text.as_bytes(), Some(0o644));
    result.map(drop).map_err(|error| unwritable(file, &error))
}

/// Writes handlers into the requirements of Codex, whose other lines stay as they are.
fn require_in_toml(file: &Path, handlers: &[EventHandler]) -> Result<(), Diagnostic> {
    let text = match fs::read_to_string(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        text => text.map_err(|error| unwritable(file, &error))?,
    };
    let rest = without_block(&text);
    let located = |message: String, help: &str| failed(message).at(file).help(help);
    let table: toml::Table = rest.parse().map_err(|error: toml::de::Error| {
        located(format!("it is not valid TOML: {}", error.message()), "fix it, and try again")
    })?;
    let [begin, end] = BLOCK;
    let mut block = format!("{begin}\n");
    let features = table.get("features");
    if features.is_none() {
        block += "[features]\nhooks = true\n\n";
    } else if features.and_then(|table| table.get("hooks")) != Some(&toml::Value::Boolean(true)) {
        let message = "it does not require hooks, so users could disable them".to_owned();
        return Err(located(message, "write `hooks = true` below [features], and try again"));
    }
    block.extend(handlers.iter().map(in_toml));
    let separator = if rest.trim().is_empty() { "" } else { "\n" };
    let new = format!("{rest}{separator}{block}{end}\n");
    new.parse::<toml::Table>().map_err(|error| {
        let message = format!("hooks cannot be added to it: {}", error.message());
        located(message, "write hooks as `[[hooks.EVENT]]`, and try again")
    })?;
    let result = replace_file::replace_with_mode(file, new.as_bytes(), Some(0o644));
    result.map(drop).map_err(|error| unwritable(file, &error))
}

/// Returns the text without the lines of an earlier registration.
fn without_block(text: &str) -> String {
    let [begin, end] = BLOCK;
    let parts =
        text.split_once(begin).and_then(|(before, rest)| Some((before, rest.split_once(end)?.1)));
    match parts {
        Some((before, after)) => {
            let before = before.trim_end_matches('\n');
            let newline = if before.is_empty() { "" } else { "\n" };
            format!("{before}{newline}{}", after.trim_start_matches('\n'))
        }
        None => text.to_owned(),
    }
}

/// Returns a handler as tables of TOML.
fn in_toml((event, handler): &EventHandler) -> String {
    let members = handler.as_object().into_iter().flatten().filter_map(|(key, value)| {
        let value = match value {
            Value::String(text) => toml::Value::from(text.as_str()),
            Value::Number(number) => toml::Value::from(number.as_i64()?),
            Value::Bool(bool) => toml::Value::from(*bool),
            _ => return None,
        };
        Some(format!("{key} = {value}\n"))
    });
    let members: String = members.collect();
    format!("[[hooks.{event}]]\n[[hooks.{event}.hooks]]\n{members}\n")
}

/// Copies the program, and `tenter` if it is beside it.
fn copy_program(program: &Path, copy: &Path) -> io::Result<()> {
    fs::create_dir_all(copy.parent().unwrap_or(Path::new("/")))?;
    for (from, to) in [
        (program.to_owned(), copy.to_owned()),
        (program.with_file_name(COMMAND), copy.with_file_name(COMMAND)),
    ] {
        if from == program || from.is_file() {
            replace_file::replace_with_mode(&to, &fs::read(&from)?, Some(0o755))?;
        }
    }
    Ok(())
}

fn failed(message: String) -> Diagnostic {
    Diagnostic::new("managed-registration", Severity::Error, message)
}

fn unwritable(path: &Path, error: &io::Error) -> Diagnostic {
    failed(format!("cannot write it: {error}")).at(path).help("run this as root")
}
