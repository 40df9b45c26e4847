//! The registrations of a user: plans and makes changes, one process at a time.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use tenter_base::{FileLock, hex, private_dir, replace_file};
use tenter_protocol::{Diagnostic, Severity};

use super::command::RegisteredCommand;
use super::handlers::{self, EventHandler, Options, Owner};
use super::json;
use super::plan::{self, Plan};
use super::program;
use super::record::{Records, RegistrationRecord};
use super::settings_file::SettingsFile;
use super::target::{Scope, Target};
use crate::Host;
use crate::host::RegistrationFormat;

/// A handler of ours in a host's file.
#[derive(Debug, Clone)]
pub struct RegisteredHandler {
    /// The native event for which it is registered.
    pub event: String,
    /// The command.
    pub command: RegisteredCommand,
    /// Whether it is as an installation writes it.
    pub is_intact: bool,
}

/// A setting in a host's file that switches hooks off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SilencingSetting {
    /// The key.
    pub key: &'static str,
    /// The line in the file, from 1.
    pub line: usize,
}

/// The registrations of a user.
#[derive(Debug)]
pub struct Registry {
    home: PathBuf,
    /// Directory of the record and the copies of files.
    directory: PathBuf,
}

impl Registry {
    /// The registrations of the user with this home directory. They do not depend on environment variables, which the program
    /// that hosts run does not read either (B43).
    pub fn in_home(home: impl Into<PathBuf>) -> Self {
        let home = home.into();
        let directory = home.join(".local/state/tenter/bridge");
        Self { home, directory }
    }

    /// The recorded registrations. The files may have been edited since.
    pub fn records(&self) -> Vec<RegistrationRecord> {
        self.read_records().into_registrations()
    }

    /// The files in which `host` may be registered: those of the user and of the project, and those that are recorded.
    pub fn targets(&self, host: &'static Host, project: &Path) -> Vec<Target> {
        let own = Scope::ALL.into_iter();
        let own = own.filter_map(|scope| Target::new(host, scope, &self.home, project));
        let mut targets: Vec<Target> = own.collect();
        for RegistrationRecord { scope, file, .. } in self.records_of(host) {
            if targets.iter().all(|target| target.file != file) {
                targets.push(Target { host, scope, file });
            }
        }
        targets
    }

    /// The recorded registrations with a host.
    pub fn records_of(&self, host: &Host) -> Vec<RegistrationRecord> {
        let mut records = self.read_records().into_registrations();
        records.retain(|record| record.host == host.id);
        records
    }

    /// The handlers of ours in the file of `target`.
    ///
    /// # Errors
    /// The file cannot be read or is not valid.
    pub fn registered(&self, target: &Target) -> Result<Vec<RegisteredHandler>, Diagnostic> {
        let file = SettingsFile::read(&target.file)?;
        let text = file.text().unwrap_or_default();
        let id = plan::id_in(target, text)?.unwrap_or_default();
        let owner = Owner { home: &self.home, id: &id };
        let forms = Options::all().map(|options| handlers::of_target(target, owner, options));
        let intact: Vec<EventHandler> = forms.flatten().flatten().collect();
        let found = plan::find(target, text)?;
        let handlers = found.into_iter().filter_map(|found| {
            let command = RegisteredCommand::of_handler(target.host.id, &found.value)?;
            let is_this =
                |(event, value): &EventHandler| *event == found.event && *value == found.value;
            let is_intact = found.is_unconditional && intact.iter().any(is_this);
            Some(RegisteredHandler { event: found.event, command, is_intact })
        });
        Ok(handlers.collect())
    }

    /// The settings in the file of `target` that switch hooks off.
    ///
    /// # Errors
    /// The file cannot be read or is not valid.
    pub fn silencing_settings(&self, target: &Target) -> Result<Vec<SilencingSetting>, Diagnostic> {
        let file = SettingsFile::read(&target.file)?;
        let RegistrationFormat::JsonGroups { silencers, .. } = &target.host.registration.format;
        let found = json::silencers(file.text().unwrap_or_default(), silencers)
            .map_err(|error| error.at(&target.file))?;
        Ok(found.into_iter().map(|one| SilencingSetting { key: one.key, line: one.line }).collect())
    }

    /// Where the file of `target` is not plain JSON, if the host ignores such files: line and column.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn ignored_because(&self, target: &Target) -> Result<Option<(usize, usize)>, Diagnostic> {
        let file = SettingsFile::read(&target.file)?;
        let RegistrationFormat::JsonGroups { reads_comments, .. } = target.host.registration.format;
        Ok(file.text().filter(|_| !reads_comments).and_then(json::not_plain))
    }

    /// Plans a registration. Nothing changes if it is complete already.
    ///
    /// # Errors
    /// The file cannot be read or is not valid, or the host cannot block as requested.
    pub fn plan_install(&self, target: &Target, options: Options) -> Result<Plan, Diagnostic> {
        let text = SettingsFile::read(&target.file)?.text().unwrap_or_default().to_owned();
        let id = plan::id_in(target, &text)?.map_or_else(random_id, Ok)?;
        let owner = Owner { home: &self.home, id: &id };
        let options = options.for_registered(target, &plan::find(target, &text)?);
        let handlers = handlers::of_target(target, owner, options)?;
        let records = self.read_records();
        Plan::install(target, &handlers, options, records.get(target.host.id, &target.file))
    }

    /// Plans the removal of a registration. Nothing changes if there is none.
    ///
    /// # Errors
    /// The file cannot be read or is not valid.
    pub fn plan_remove(&self, target: &Target) -> Result<Plan, Diagnostic> {
        Plan::remove(target, self.read_records().get(target.host.id, &target.file))
    }

    /// Where a copy of the file of `target` is kept before its first change.
    pub fn copy_of(&self, target: &Target) -> PathBuf {
        let path = Sha256::digest(target.file.as_os_str().as_encoded_bytes());
        let name = target.file.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("{}-{}-{name}", target.host.id, &hex(&path)[..12]);
        self.directory.join("before").join(name)
    }

    /// Lets the link lead to `program`, makes a planned registration, and records it. `now` is in RFC 3339.
    ///
    /// # Errors
    /// A file cannot be written, or it changed since the plan was made.
    pub fn install(&self, plan: &Plan, program: &Path, now: &str) -> Result<(), Diagnostic> {
        let _lock = self.lock()?;
        program::repoint(&self.home, program)
            .map_err(|error| unwritable(&program::link(&self.home), &error))?;
        if plan.is_change() {
            self.keep_copy(plan)?;
            plan.file.replace(plan.after())?;
        }
        let mut records = self.read_records();
        if let Some(record) = plan.record.clone() {
            let (program, installed_at) = (program.to_owned(), now.to_owned());
            records.add(RegistrationRecord { program, installed_at, ..record });
        }
        self.write_records(&records)
    }

    /// Makes a planned removal, and forgets the registration.
    ///
    /// # Errors
    /// A file cannot be written, or it changed since the plan was made.
    pub fn remove(&self, plan: &Plan) -> Result<(), Diagnostic> {
        let _lock = self.lock()?;
        if plan.is_change() {
            plan.file.replace(plan.after())?;
        }
        let target = plan.target();
        if plan.created_directory
            && plan.after().is_none()
            && let Some(directory) = target.file.parent()
        {
            // It stays if the user has put files into it.
            let _ = fs::remove_dir(directory);
        }
        let mut records = self.read_records();
        if records.get(target.host.id, &target.file).is_none() {
            return Ok(());
        }
        records.remove(target.host.id, &target.file);
        self.write_records(&records)
    }

    /// Keeps a copy of the file as it was before its first change. A later change does not replace it.
    fn keep_copy(&self, plan: &Plan) -> Result<(), Diagnostic> {
        let copy = self.copy_of(plan.target());
        let Some(text) = plan.before().filter(|_| copy.symlink_metadata().is_err()) else {
            return Ok(());
        };
        replace_file::replace(&copy, text.as_bytes()).map_err(|error| unwritable(&copy, &error))
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
        records.write(&file).map_err(|error| unwritable(&file, &error))
    }
}

/// An id that others cannot guess.
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
