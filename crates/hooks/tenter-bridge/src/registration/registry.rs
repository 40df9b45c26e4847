//! The registrations of a user: plans and makes changes, one process at a time.

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::Value;
use sha2::{Digest, Sha256};
use tenter_base::{FileLock, hex, private_dir, replace_file};
use tenter_protocol::{Diagnostic, Severity};

use super::command::RegisteredCommand;
use super::entry::EventHandler;
use super::handlers::{self, Form, Options, Owner, Wanted};
use super::plan::{self, Plan};
use super::record::{Records, RegistrationRecord};
use super::settings_file::SettingsFile;
use super::several;
use super::target::Target;
use super::{json, own_files, program, toml, trust};
use crate::Host;
use crate::host::{EntryFormat, HostVersion, OwnFile, Scope};

/// A handler of ours in a host's file, or a file of ours.
#[derive(Debug, Clone)]
pub struct RegisteredHandler {
    /// The native event for which it is registered; the name of the file if the host has files of ours.
    pub event: String,
    /// The command.
    pub command: RegisteredCommand,
    /// Whether it is as an installation writes it.
    pub is_intact: bool,
    /// Whether the host waits for less time than the bridge takes it to wait, and lets the call pass then (B24).
    pub is_cut_short: bool,
}

/// A setting that switches hooks off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SilencingSetting {
    /// The file.
    pub file: PathBuf,
    /// The keys that lead to it, joined by dots.
    pub key: &'static str,
    /// Its value.
    pub value: bool,
    /// The line in the file, from 1.
    pub line: usize,
}

/// Why a host ignores a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IgnoredFile {
    /// What the host does not read, such as `no comments and no trailing commas`.
    pub reads: &'static str,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
}

/// How deep in their directory hosts keep sessions: by year, month and day, or by project and session.
const SESSION_DEPTH: usize = 5;

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
    /// The registrations of the user with this home directory. They do not depend on environment variables, which the program
    /// that hosts run does not read either (B43).
    pub fn in_home(home: impl Into<PathBuf>) -> Self {
        let home = home.into();
        let directory = home.join(".local/state/tenter/bridge");
        Self { home, variables: Vec::new(), directory }
    }

    /// The same for a user with these environment variables, which choose other directories for some hosts.
    #[must_use]
    pub fn with_variables(self, variables: &[(OsString, OsString)]) -> Self {
        Self { variables: variables.to_vec(), ..self }
    }

    /// The file of `host` in this scope; `None` if the host has none.
    pub fn target(&self, host: &'static Host, scope: Scope, project: &Path) -> Option<Target> {
        let registration = &host.registration;
        let file = match scope {
            Scope::User => self.in_host_directory(host, registration.user_file),
            Scope::Personal => project.join(registration.personal_file?),
            Scope::Shared => project.join(registration.shared_file?),
        };
        Some(self.target_of(host, scope, file))
    }

    fn target_of(&self, host: &'static Host, scope: Scope, file: PathBuf) -> Target {
        let trust_file = host.registration.trust_file;
        let trust_file = trust_file.map(|file| self.in_host_directory(host, file));
        Target { host, scope, file, trust_file }
    }

    /// A path of a host in the home directory, or in the directory that the user chose instead of its first component.
    fn in_host_directory(&self, host: &Host, path: &str) -> PathBuf {
        let chosen = host.registration.directory_variable.and_then(|variable| {
            let (_, value) = self.variables.iter().find(|(name, _)| name == variable)?;
            Some(PathBuf::from(value)).filter(|directory| directory.is_absolute())
        });
        match (chosen, path.split_once('/')) {
            (Some(directory), Some((_, rest))) => directory.join(rest),
            (Some(directory), None) => directory,
            (None, _) => self.home.join(path),
        }
    }

    /// The recorded registrations. The files may have been edited since.
    pub fn records(&self) -> Vec<RegistrationRecord> {
        self.read_records().into_registrations()
    }

    /// The files in which `host` may be registered, each once: those of the user and of the project, and those that are recorded.
    /// In the home directory, a file of the project may be the user's.
    pub fn targets(&self, host: &'static Host, project: &Path) -> Vec<Target> {
        let own = Scope::ALL.into_iter().filter_map(|scope| self.target(host, scope, project));
        let recorded = self.records_of(host).into_iter();
        let recorded = recorded.map(|record| self.target_of(host, record.scope, record.file));
        let mut targets: Vec<Target> = Vec::new();
        for target in own.chain(recorded) {
            let file = destination(&target.file);
            if targets.iter().all(|known| destination(&known.file) != file) {
                targets.push(target);
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

    /// What is registered at `target`: handlers, or files of ours.
    ///
    /// # Errors
    /// A file cannot be read or is not valid.
    pub fn registered(&self, target: &Target) -> Result<Vec<RegisteredHandler>, Diagnostic> {
        let id = self.id(target)?.unwrap_or_default();
        let wanted = |form| self.wanted(target, &id, form).ok();
        match target.host.registration.entries() {
            Some(format) => {
                let text = read(&target.file)?;
                let intact: Vec<EventHandler> = Form::all()
                    .filter_map(wanted)
                    .flat_map(|wanted| match wanted {
                        Wanted::Entries(_, handlers) => handlers,
                        Wanted::Files(..) => Vec::new(),
                    })
                    .collect();
                registered_entries(target, format, &text, &intact)
            }
            None => Form::all().filter_map(wanted).try_fold(Vec::new(), |found, wanted| {
                let Wanted::Files(files, _) = wanted else { return Ok(found) };
                self.registered_files(target, &files, found)
            }),
        }
    }

    /// The number of handlers or files that a complete registration has.
    pub fn expected(&self, target: &Target) -> usize {
        let records = self.read_records();
        let recorded = records.get(target.host.id, &target.file).and_then(|record| record.handlers);
        recorded.unwrap_or_else(|| self.newest(target).map_or(0, |wanted| wanted.len()))
    }

    /// The settings of the user, and those at `targets`, that switch the hooks of a host off.
    ///
    /// Files that cannot be read have none.
    pub fn silencing_settings(
        &self,
        host: &'static Host,
        targets: &[Target],
    ) -> Vec<SilencingSetting> {
        let mut found = Vec::new();
        for silencer in host.registration.silencers {
            let user = Path::new(host.registration.user_file).parent().unwrap_or(Path::new(""));
            let files: Vec<PathBuf> = match silencer.file {
                None => targets.iter().map(|target| target.file.clone()).collect(),
                Some(file) => {
                    vec![self.in_host_directory(host, &user.join(file).to_string_lossy())]
                }
            };
            let keys: Vec<&str> = silencer.key.split('.').collect();
            for file in files {
                let Ok(text) = read(&file) else { continue };
                let is_toml = file.extension().is_some_and(|extension| extension == "toml");
                let switch = if is_toml { toml::switch } else { json::switch };
                if let Ok(Some((value, line))) = switch(&text, &keys)
                    && value == silencer.value
                {
                    found.push(SilencingSetting { file, key: silencer.key, value, line });
                }
            }
        }
        found
    }

    /// The number of handlers at `target` that the host does not run because their hashes are not among those that the user
    /// trusts (B41).
    ///
    /// # Errors
    /// A file cannot be read or is not valid.
    pub fn untrusted(&self, target: &Target) -> Result<usize, Diagnostic> {
        let (Some(trust_file), Some(format)) =
            (&target.trust_file, target.host.registration.entries())
        else {
            return Ok(0);
        };
        let handlers = plan::find(target, format, &read(&target.file)?)?;
        let entries = trust::entries(&target.file, &handlers);
        toml::missing_trust(&read(trust_file)?, &entries).map_err(|error| error.at(trust_file))
    }

    /// When the newest session of the host changed; `None` if there is none, or if it is unknown where they are.
    pub fn newest_session(&self, host: &Host) -> Option<SystemTime> {
        let directory = self.in_host_directory(host, host.registration.sessions?);
        newest(&directory, SESSION_DEPTH)
    }

    /// Why the host ignores the file of `target`, if it does.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn ignored_because(&self, target: &Target) -> Result<Option<IgnoredFile>, Diagnostic> {
        let Some(format) = target.host.registration.entries() else { return Ok(None) };
        let ignored = json::ignored(&read(&target.file)?, format.reads);
        Ok(ignored.map(|(reads, line, column)| IgnoredFile { reads, line, column }))
    }

    /// Plans a registration. Nothing changes if it is complete already.
    ///
    /// # Errors
    /// A file cannot be read or is not valid, or the host cannot block as requested.
    pub fn plan_install(&self, target: &Target, options: Options) -> Result<Plan, Diagnostic> {
        let id = self.id(target)?.map_or_else(random_id, Ok)?;
        let records = self.read_records();
        let recorded = records.get(target.host.id, &target.file);
        let known = recorded.and_then(|record| HostVersion::parse(record.version.as_ref()?));
        let options = Options { version: options.version.or(known), ..options };
        let mut form = match target.host.registration.entries() {
            Some(format) => {
                options.form(target, &plan::find(target, format, &read(&target.file)?)?)
            }
            None => options.form(target, &[]),
        };
        if target.host.registration.entries().is_none() {
            form.fail_closed |= recorded.is_some_and(|record| record.fail_closed);
        }
        let mut plan = Plan::install(target, self.wanted(target, &id, form)?, form, recorded)?;
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
            self.newest(target)?,
            self.read_records().get(target.host.id, &target.file),
        )
    }

    fn wanted(&self, target: &Target, id: &str, form: Form) -> Result<Wanted, Diagnostic> {
        handlers::of_target(target, Owner { home: &self.home, id }, form)
    }

    /// What is registered with the newest version of the host.
    fn newest(&self, target: &Target) -> Result<Wanted, Diagnostic> {
        let options = Options { version: Some(HostVersion::LATEST), ..Options::default() };
        self.wanted(target, "", options.form(target, &[]))
    }

    /// The id of the registration at a target.
    fn id(&self, target: &Target) -> Result<Option<String>, Diagnostic> {
        if let Some(format) = target.host.registration.entries() {
            let handlers = plan::find(target, format, &read(&target.file)?)?;
            let command = |value| RegisteredCommand::of_handler(target.host.id, value);
            return Ok(handlers.iter().find_map(|handler| command(&handler.value)?.id));
        }
        let Wanted::Files(files, _) = self.newest(target)? else {
            return Ok(None);
        };
        for file in files {
            if let Some(id) = own_files::id(&read(&target.file.join(file.path))?) {
                return Ok(Some(id.to_owned()));
            }
        }
        Ok(None)
    }

    /// Adds the files of ours to those that were found.
    fn registered_files(
        &self,
        target: &Target,
        files: &[OwnFile],
        mut found: Vec<RegisteredHandler>,
    ) -> Result<Vec<RegisteredHandler>, Diagnostic> {
        for file in files {
            let text = read(&target.file.join(&file.path))?;
            if !own_files::is_ours(&text) {
                continue;
            }
            let is_intact = text == file.text;
            let event = file.path.to_string_lossy().into_owned();
            if let Some(known) = found.iter_mut().find(|known| known.event == event) {
                known.is_intact |= is_intact;
                continue;
            }
            let is_shared = target.scope == Scope::Shared;
            let command = RegisteredCommand {
                program: (!is_shared).then(|| program::link(&self.home)),
                event: event.clone(),
                id: own_files::id(&text).map(str::to_owned),
            };
            found.push(RegisteredHandler { event, command, is_intact, is_cut_short: false });
        }
        Ok(found)
    }

    /// Where a copy of a host's file is kept before its first change.
    pub fn copy_of(&self, host: &Host, file: &Path) -> PathBuf {
        let path = Sha256::digest(file.as_os_str().as_encoded_bytes());
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("{}-{}-{name}", host.id, &hex(&path)[..12]);
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

    /// Makes a planned removal, and forgets the registration.
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
        self.write_records(&records)
    }

    /// Keeps copies of the files as they were before their first change. A later change does not replace them.
    fn keep_copies(&self, plan: &Plan) -> Result<(), Diagnostic> {
        for change in plan.changes().iter().filter(|change| change.is_change()) {
            let copy = self.copy_of(plan.target().host, change.path());
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
            .and_then(|()| several::note_all(&self.directory, records.registrations()))
            .map_err(|error| unwritable(&file, &error))
    }

    /// Notes that `host` runs several registrations, so that hooks run once for each of its events (B7).
    ///
    /// # Errors
    /// The note cannot be written.
    pub fn note_several(&self, host: &Host) -> Result<(), Diagnostic> {
        several::note(&self.directory, host).map_err(|error| unwritable(&self.directory, &error))
    }
}

/// When the newest file in a directory changed, to this depth.
fn newest(directory: &Path, depth: usize) -> Option<SystemTime> {
    let entries = fs::read_dir(directory).ok()?.flatten();
    let changed = entries.filter_map(|entry| match entry.metadata().ok()? {
        found if found.is_dir() && depth > 0 => newest(&entry.path(), depth - 1),
        found if found.is_file() => found.modified().ok(),
        _ => None,
    });
    changed.max()
}

/// The text of a file; a missing one is empty.
fn read(path: &Path) -> Result<String, Diagnostic> {
    Ok(SettingsFile::read(path)?.text().unwrap_or_default().to_owned())
}

/// The handlers of ours in a text. Those like one of `intact` are as an installation writes them.
fn registered_entries(
    target: &Target,
    format: &EntryFormat,
    text: &str,
    intact: &[EventHandler],
) -> Result<Vec<RegisteredHandler>, Diagnostic> {
    let found = plan::find(target, format, text)?;
    let handlers = found.into_iter().filter_map(|found| {
        let command = RegisteredCommand::of_handler(target.host.id, &found.value)?;
        let is_this =
            |(event, value): &EventHandler| *event == found.event && *value == found.value;
        let is_intact = found.is_unconditional && intact.iter().any(is_this);
        let timeout = found.value.get(format.timeout).and_then(Value::as_f64);
        let needed = target.host.event(&found.event).map(|event| format.timeout_of(event));
        let is_cut_short =
            timeout.zip(needed).is_some_and(|(timeout, needed)| timeout < needed as f64);
        Some(RegisteredHandler { event: found.event, command, is_intact, is_cut_short })
    });
    Ok(handlers.collect())
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
