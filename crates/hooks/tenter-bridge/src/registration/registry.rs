//! The registrations of a user: plans and makes changes, one process at a time.

use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest, Sha256};
use tenter_base::{FileLock, hex, private_dir, replace_file};
use tenter_protocol::{Diagnostic, Severity};

use super::change::Target;
use super::command::RegisteredCommand;
use super::entry::EventHandler;
use super::handlers::{self, Form, Options, RegistrationContent};
use super::plan::{self, Plan};
use super::record::{self, Records, RegistrationRecord};
use super::settings_file::SettingsFile;
use super::{own_files, program};
use crate::Host;
use crate::host::{EntryFormat, HostVersion, OwnFile, RegistrationScope, UserDirectories};

/// A handler of ours in a host's file, or a file of ours.
#[derive(Debug, Clone)]
pub struct RegisteredHandler {
    /// The native event for which it is registered; the name of the file if the host has files of ours.
    pub event: String,
    /// The command.
    pub command: RegisteredCommand,
    /// True if it is equal to the handler that an installation writes.
    pub is_intact: bool,
    /// True if its timeout is shorter than the bridge assumes; the host lets the call pass then (B24).
    pub is_cut_short: bool,
}

/// Returns the file that a path leads to, by which the files of several scopes are compared.
fn destination(path: &Path) -> PathBuf {
    tenter_base::destination(path).unwrap_or_else(|_| path.to_owned())
}

/// The registrations of a user.
#[derive(Debug)]
pub struct Registry {
    home: PathBuf,
    /// The variables with which the user chooses other directories for hosts.
    variables: Vec<(OsString, OsString)>,
    /// Directory of the record and the copies of files.
    directory: PathBuf,
}

impl Registry {
    /// Returns the registrations of the user with this home directory. They do not depend on environment variables, which the program
    /// that hosts run does not read either (B43).
    pub fn in_home(home: impl Into<PathBuf>) -> Self {
        let home = home.into();
        let directory = home.join(".local/state/tenter/bridge");
        Self { home, variables: Vec::new(), directory }
    }

    /// Sets the environment variables of the user, which choose other directories for some hosts.
    #[must_use]
    pub fn with_variables(self, variables: &[(OsString, OsString)]) -> Self {
        Self { variables: variables.to_vec(), ..self }
    }

    /// Returns the file of `host` in this scope; `None` if the host has none.
    pub fn target(
        &self,
        host: &'static Host,
        scope: RegistrationScope,
        project: &Path,
    ) -> Option<Target> {
        let registration = &host.registration;
        let file = match scope {
            RegistrationScope::User => self.in_host_directory(host, registration.user_file),
            RegistrationScope::Personal => project.join(registration.personal_file?),
            RegistrationScope::Shared => project.join(registration.shared_file?),
        };
        Some(self.target_at(host, scope, file))
    }

    fn target_at(&self, host: &'static Host, scope: RegistrationScope, file: PathBuf) -> Target {
        let trust_file = host.registration.trust_file;
        let trust_file = trust_file.map(|file| self.in_host_directory(host, file));
        Target { host, scope, file, trust_file }
    }

    /// Returns a path of a host in the home directory, or in the directory that the user chose.
    pub(super) fn in_host_directory(&self, host: &Host, path: &str) -> PathBuf {
        let user = UserDirectories { home: &self.home, vars: &self.variables };
        let variable = host.registration.directory_variable;
        let choice = variable.and_then(|variable| user.chosen(path, variable));
        choice.unwrap_or_else(|| self.home.join(path))
    }

    /// Returns the recorded registrations. The files may have been edited since.
    pub fn records(&self) -> Vec<RegistrationRecord> {
        self.read_records().into_registrations()
    }

    /// Returns the files in which `host` may be registered, each once: the user's, the project's and the recorded ones. In the home
    /// directory, a file of the project may be the user's.
    pub fn targets(&self, host: &'static Host, project: &Path) -> Vec<Target> {
        let own = RegistrationScope::ALL
            .into_iter()
            .filter_map(|scope| self.target(host, scope, project));
        let others = self.records_of(host).into_iter();
        let others = others.map(|record| self.target_at(host, record.scope, record.file));
        let mut targets: Vec<Target> = Vec::new();
        for target in own.chain(others) {
            let file = destination(&target.file);
            if targets.iter().all(|other| destination(&other.file) != file) {
                targets.push(target);
            }
        }
        targets
    }

    /// Returns the recorded registrations with a host.
    pub fn records_of(&self, host: &Host) -> Vec<RegistrationRecord> {
        let mut records = self.read_records().into_registrations();
        records.retain(|record| record.host == host.id);
        records
    }

    /// Returns our handlers or files at `target`.
    ///
    /// # Errors
    /// A file cannot be read or is not valid.
    pub fn registered(&self, target: &Target) -> Result<Vec<RegisteredHandler>, Diagnostic> {
        let id = self.id(target)?.unwrap_or_default();
        let contents = Form::all().filter_map(|form| self.content(target, &id, form).ok());
        let Some(format) = target.host.registration.entries() else {
            let mut registered = Vec::new();
            for content in contents {
                if let RegistrationContent::Files(files, _) = content {
                    self.add_registered_files(target, &files, &mut registered)?;
                }
            }
            return Ok(registered);
        };
        let handlers = contents.flat_map(|content| match content {
            RegistrationContent::Entries(_, handlers, _) => handlers,
            RegistrationContent::Files(..) => Vec::new(),
        });
        let text = read(&target.file)?;
        registered_entries(target, format, &text, &handlers.collect::<Vec<_>>())
    }

    /// Returns the number of handlers or files of a complete registration.
    pub fn expected(&self, target: &Target) -> usize {
        let records = self.read_records();
        let handler = records.get(target.host.id, &target.file).and_then(|record| record.handlers);
        handler.unwrap_or_else(|| self.newest_content(target).map_or(0, |content| content.len()))
    }

    /// Plans a registration. Nothing changes if it is complete already.
    ///
    /// # Errors
    /// A file cannot be read or is not valid, or the host cannot block as requested.
    pub fn plan_install(&self, target: &Target, options: Options) -> Result<Plan, Diagnostic> {
        let id = self.id(target)?.map_or_else(random_id, Ok)?;
        let records = self.read_records();
        let record = records.get(target.host.id, &target.file);
        let version = record.and_then(|record| HostVersion::parse(record.version.as_ref()?));
        let options = Options { version: options.version.or(version), ..options };
        let form = if let Some(format) = target.host.registration.entries() {
            options.form(target, &plan::find(target, format, &read(&target.file)?)?)
        } else {
            let form = options.form(target, &[]);
            let was_closed = record.is_some_and(|record| record.fail_closed);
            Form { fail_closed: form.fail_closed || was_closed, ..form }
        };
        let mut plan = Plan::install(target, self.content(target, &id, form)?, form, record)?;
        if let Some(record) = &mut plan.record {
            record.version = options.version.map(|version| version.to_string());
        }
        Ok(plan)
    }

    /// Plans the removal of a registration. Nothing changes if there is none.
    ///
    /// # Errors
    /// A file cannot be read or is not valid.
    pub fn plan_remove(&self, target: &Target) -> Result<Plan, Diagnostic> {
        Plan::remove(
            target,
            self.newest_content(target)?,
            self.read_records().get(target.host.id, &target.file),
        )
    }

    fn content(
        &self,
        target: &Target,
        id: &str,
        form: Form,
    ) -> Result<RegistrationContent, Diagnostic> {
        handlers::content(target, &self.home, id, form)
    }

    /// Returns the content of a registration with the newest version of the host.
    fn newest_content(&self, target: &Target) -> Result<RegistrationContent, Diagnostic> {
        let options = Options { version: Some(HostVersion::LATEST), ..Options::default() };
        self.content(target, "", options.form(target, &[]))
    }

    /// Returns the id of the registration at a target.
    fn id(&self, target: &Target) -> Result<Option<String>, Diagnostic> {
        if let Some(format) = target.host.registration.entries() {
            let handlers = plan::find(target, format, &read(&target.file)?)?;
            let command = |value| RegisteredCommand::read(target.host.id, value);
            return Ok(handlers.iter().find_map(|handler| command(&handler.value)?.id));
        }
        let RegistrationContent::Files(files, _) = self.newest_content(target)? else {
            return Ok(None);
        };
        for file in files {
            if let Some(id) = own_files::id(&read(&target.file.join(file.path))?) {
                return Ok(Some(id.to_owned()));
            }
        }
        Ok(None)
    }

    /// Adds the files of the list that exist and are ours.
    fn add_registered_files(
        &self,
        target: &Target,
        files: &[OwnFile],
        registered: &mut Vec<RegisteredHandler>,
    ) -> Result<(), Diagnostic> {
        for file in files {
            let text = read(&target.file.join(&file.path))?;
            if !own_files::is_ours(&text) {
                continue;
            }
            let is_intact = text == file.text;
            let event = file.path.to_string_lossy().into_owned();
            if let Some(other) = registered.iter_mut().find(|other| other.event == event) {
                other.is_intact |= is_intact;
                continue;
            }
            let is_shared = target.scope == RegistrationScope::Shared;
            let command = RegisteredCommand {
                program: (!is_shared).then(|| program::program_path(&self.home)),
                event: event.clone(),
                id: own_files::id(&text).map(str::to_owned),
            };
            registered.push(RegisteredHandler { event, command, is_intact, is_cut_short: false });
        }
        Ok(())
    }

    /// Returns the path of the copy of a host's file that is made before the first change.
    pub fn copy_path(&self, host: &Host, file: &Path) -> PathBuf {
        let path = Sha256::digest(file.as_os_str().as_encoded_bytes());
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("{}-{}-{name}", host.id, &hex(&path)[..12]);
        self.directory.join("before").join(name)
    }

    /// Copies `program` to where registrations run it, makes a planned registration, and records it. `now` is in RFC 3339.
    ///
    /// # Errors
    /// A file cannot be written, or it changed since the plan was made.
    pub fn install(&self, plan: &Plan, program: &Path, now: &str) -> Result<(), Diagnostic> {
        let _lock = self.lock()?;
        program::install(&self.home, program)
            .map_err(|error| unwritable(&program::program_path(&self.home), &error))?;
        if plan.is_change() {
            self.keep_copies(plan)?;
            plan.apply()?;
        }
        let mut records = self.read_records();
        if let Some(record) = plan.record.clone() {
            let (program, installed_at) = (program.to_owned(), now.to_owned());
            records.add(RegistrationRecord { program, installed_at, ..record });
        }
        self.write_records(&records)
    }

    /// Makes a planned removal, and deletes the registration from the record.
    ///
    /// # Errors
    /// A file cannot be written, or it changed since the plan was made.
    pub fn remove(&self, plan: &Plan) -> Result<(), Diagnostic> {
        let _lock = self.lock()?;
        plan.apply()?;
        let target = plan.target();
        let mut records = self.read_records();
        if records.get(target.host.id, &target.file).is_none() {
            return Ok(());
        }
        records.remove(target.host.id, &target.file);
        self.write_records(&records)?;
        if records.registrations().is_empty() {
            program::remove(&self.home)
                .map_err(|error| unwritable(&program::program_path(&self.home), &error))?;
        }
        Ok(())
    }

    /// Renews the program that registrations run: copies `program` again.
    ///
    /// # Errors
    /// It cannot be read or written.
    pub fn renew_program(&self, program: &Path) -> Result<(), Diagnostic> {
        let _lock = self.lock()?;
        program::install(&self.home, program)
            .map_err(|error| unwritable(&program::program_path(&self.home), &error))
    }

    /// Keeps copies of the files as they were before their first change. A later change does not replace them.
    fn keep_copies(&self, plan: &Plan) -> Result<(), Diagnostic> {
        for change in plan.changes().iter().filter(|change| change.is_change()) {
            let copy = self.copy_path(plan.target().host, change.path());
            let text = change.before().filter(|_| copy.symlink_metadata().is_err());
            if let Some(text) = text {
                replace_file::replace(&copy, text.as_bytes())
                    .map_err(|error| unwritable(&copy, &error))?;
            }
        }
        Ok(())
    }

    fn lock(&self) -> Result<FileLock, Diagnostic> {
        let path = self.directory.join("lock");
        private_dir::create(&self.directory)
            .and_then(|()| FileLock::acquire(&path))
            .map_err(|error| unwritable(&path, &error))
    }

    fn record_file(&self) -> PathBuf {
        self.directory.join("registrations.json")
    }

    fn read_records(&self) -> Records {
        Records::read(&self.record_file())
    }

    fn write_records(&self, records: &Records) -> Result<(), Diagnostic> {
        let file = self.record_file();
        records
            .write(&file)
            .and_then(|()| record::note_all_several(&self.directory, records.registrations()))
            .map_err(|error| unwritable(&file, &error))
    }

    /// Notes that `host` runs several registrations, so that hooks run once for each of its events (B7).
    ///
    /// # Errors
    /// The note cannot be written.
    pub fn note_several(&self, host: &Host) -> Result<(), Diagnostic> {
        record::note_several(&self.directory, host)
            .map_err(|error| unwritable(&self.directory, &error))
    }
}

/// Reads the text of a file; a missing one is empty.
pub(super) fn read(path: &Path) -> Result<String, Diagnostic> {
    Ok(SettingsFile::read(path)?.text().unwrap_or_default().to_owned())
}

/// Returns our handlers in a text. The handlers that an installation writes are in `intact`.
fn registered_entries(
    target: &Target,
    format: &EntryFormat,
    text: &str,
    intact: &[EventHandler],
) -> Result<Vec<RegisteredHandler>, Diagnostic> {
    let handlers = plan::find(target, format, text)?.into_iter().filter_map(|handler| {
        let command = RegisteredCommand::read(target.host.id, &handler.value)?;
        let is_this =
            |(event, value): &EventHandler| *event == handler.event && *value == handler.value;
        let is_intact = handler.is_unconditional && intact.iter().any(is_this);
        let timeout = handler.value.get(format.timeout).and_then(Value::as_f64);
        let limit = target.host.event(&handler.event).map(|event| format.timeout_of(event));
        let is_cut_short =
            timeout.zip(limit).is_some_and(|(timeout, limit)| timeout < limit as f64);
        Some(RegisteredHandler { event: handler.event, command, is_intact, is_cut_short })
    });
    Ok(handlers.collect())
}

/// Returns an id that others cannot guess.
fn random_id() -> Result<String, Diagnostic> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|error| {
        let message = format!("the system has no random numbers: {error}");
        Diagnostic::new("registration-impossible", Severity::Error, message)
    })?;
    Ok(hex(&bytes))
}

fn unwritable(path: &Path, error: &io::Error) -> Diagnostic {
    let why = match error.kind() {
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    };
    Diagnostic::new("registration-file", Severity::Error, format!("cannot write it: {why}"))
        .at(path)
}
