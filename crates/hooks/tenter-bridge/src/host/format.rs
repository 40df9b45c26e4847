//! The places and formats of registrations with a host: data.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Host, HostVersion, Moment};

/// The text before the id of the registration in every file of the bridge's own.
pub(crate) const OWN_FILE_MARK: &str = "Written by `tenter bridge install`, registration";

/// The places and the format of registrations with a host.
#[derive(Debug)]
pub struct Registration {
    /// The user's file, from the home directory. For [`RegistrationFormat::Files`], the directory of the files.
    pub user_file: &'static str,
    /// The file of a project that only its user has, from the project's root; `None` if the host has none.
    pub personal_file: Option<&'static str>,
    /// The file of a project that is shared with others, from the project's root; `None` if the host has none.
    pub shared_file: Option<&'static str>,
    /// The variable with which users choose another directory, and the one in the home directory that it replaces; that is empty for
    /// the home directory itself.
    pub directory_variable: Option<(&'static str, &'static str)>,
    /// The programs by which the host is found in `PATH`.
    pub programs: &'static [&'static str],
    /// The first version known to start a command without a shell.
    pub exec_since: Option<HostVersion>,
    /// The first version known to obey [`FailClosed::Switch`]. For earlier ones a shell blocks if the program fails.
    pub switch_since: HostVersion,
    /// The version for which hooks are registered if the installed one is unknown, and in files that are shared: others may have an
    /// older one.
    pub oldest: HostVersion,
    /// The format of these files.
    pub format: RegistrationFormat,
    /// The user's file in which the host looks for the hash of each handler that the user trusts, from the home directory; `None` if
    /// it runs handlers without that (B41).
    pub trust_file: Option<&'static str>,
    /// Settings that switch hooks off.
    pub silencers: &'static [Silencer],
    /// The hosts whose registrations this host reads, too.
    pub also_reads: &'static [&'static str],
    /// A file beside the settings that replaces their hooks.
    pub replaced_by: Option<&'static str>,
    /// The user's directory in which the host keeps installed plugins with hooks, from the home directory; `None` if it has no such
    /// plugins, or the directory is unknown.
    pub plugins: Option<&'static str>,
    /// The user's directory in which the host keeps its sessions, from the home directory; `None` if it is unknown.
    pub sessions: Option<&'static str>,
    /// The variable in the host's settings with the program that runs its shell commands, if it has one (F12).
    pub shell_prefix: Option<&'static str>,
    /// The step that users take in the host before hooks run there, as a sentence.
    pub next_step: Option<&'static str>,
}

impl Registration {
    /// Creates a registration in one file of the user, with no other properties.
    pub const fn new(
        user_file: &'static str,
        programs: &'static [&'static str],
        format: RegistrationFormat,
    ) -> Self {
        Self {
            user_file,
            personal_file: None,
            shared_file: None,
            directory_variable: None,
            programs,
            exec_since: None,
            switch_since: HostVersion::EARLIEST,
            oldest: HostVersion::EARLIEST,
            format,
            trust_file: None,
            silencers: &[],
            also_reads: &[],
            replaced_by: None,
            plugins: None,
            sessions: None,
            shell_prefix: None,
            next_step: None,
        }
    }

    /// Returns what happens if the program fails, as sentences (B25).
    pub fn on_failure(&self) -> String {
        let sentences = self.on_failure_of_newest();
        if self.switch_since == HostVersion::EARLIEST {
            return sentences.to_owned();
        }
        format!(
            "{sentences} Before version {}, calls pass if it takes too long.",
            self.switch_since
        )
    }

    /// Returns what happens if the program fails under the newest version.
    fn on_failure_of_newest(&self) -> &'static str {
        match self.entries().map(|entries| entries.fail_closed) {
            Some(FailClosed::Switch(..)) => {
                "If `tenter-hook` fails, is missing, is killed or takes too long, calls pass; with `--fail-closed` prompts and calls are blocked."
            }
            Some(FailClosed::ExitCode | FailClosed::ExitCodeOrAnswer(_)) => {
                "If `tenter-hook` fails, is missing or is killed, calls pass; with `--fail-closed` prompts and calls are blocked. If it takes too long, they pass."
            }
            Some(FailClosed::Impossible) => {
                "If `tenter-hook` fails, is missing, is killed or takes too long, calls pass; `--fail-closed` is not possible."
            }
            None => {
                "If `tenter-hook` fails, is missing or takes too long, calls pass; with `--fail-closed` prompts and calls are blocked."
            }
        }
    }

    /// Returns the format of the entries; `None` if the host has files that are the bridge's own.
    pub fn entries(&self) -> Option<&EntryFormat> {
        match &self.format {
            RegistrationFormat::Entries(entries) => Some(entries),
            RegistrationFormat::Files(_) => None,
        }
    }
}

/// The way in which hooks are registered with a host.
#[derive(Debug)]
pub enum RegistrationFormat {
    /// By entries in a file that users edit.
    Entries(EntryFormat),
    /// By files that have nothing else.
    Files(FileFormat),
}

/// The entries in a file that users edit: one handler for each event.
#[derive(Debug)]
pub struct EntryFormat {
    /// The position of handlers in the file.
    pub layout: EntryLayout,
    /// Members of the outermost object that the host demands.
    pub root: &'static [(&'static str, u64)],
    /// Members that every handler has.
    pub fields: &'static [(&'static str, &'static str)],
    /// The key of a name that no other handler may have, if handlers have names.
    pub name: Option<&'static str>,
    /// The key of the program if it is started without a shell; its arguments are `args`.
    pub exec: &'static str,
    /// The key of the timeout.
    pub timeout: &'static str,
    /// The unit of the timeout.
    pub unit: TimeoutUnit,
    /// The means by which the host blocks if the command fails (B25).
    pub fail_closed: FailClosed,
    /// The moments at which the host blocks if the program is missing, even without `--fail-closed`: a shell looks for it first (B40).
    pub blocks_if_missing: &'static [Moment],
    /// The files that the host reads; it ignores others.
    pub reads: Reads,
}

impl EntryFormat {
    /// `{"hooks": {EVENT: [{"hooks": [{"type": "command", "command": COMMAND, "timeout": SECONDS}]}]}}`.
    pub const JSON_GROUPS: Self = Self {
        layout: EntryLayout::JsonGroups,
        root: &[],
        fields: &[("type", "command")],
        name: None,
        exec: "command",
        timeout: "timeout",
        unit: TimeoutUnit::Seconds,
        fail_closed: FailClosed::ExitCode,
        blocks_if_missing: &[],
        reads: Reads::Comments,
    };

    /// `{"hooks": {EVENT: [{"command": COMMAND, "timeout": SECONDS}]}}`.
    pub const JSON_HANDLERS: Self =
        Self { layout: EntryLayout::JsonHandlers, fields: &[], ..Self::JSON_GROUPS };

    /// `[[hooks]]` tables with `event`, `command` and `timeout` in seconds.
    pub const TOML_TABLES: Self = Self {
        layout: EntryLayout::TomlTables { event: "event" },
        fields: &[],
        ..Self::JSON_GROUPS
    };
}

/// The position of handlers in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryLayout {
    /// JSON: `{"hooks": {EVENT: [{"hooks": [HANDLER]}]}}`.
    JsonGroups,
    /// JSON: `{"hooks": {EVENT: [HANDLER]}}`.
    JsonHandlers,
    /// TOML: each handler is a table `[[hooks]]`.
    TomlTables {
        /// The key of the event.
        event: &'static str,
    },
}

/// The means by which a host blocks prompts and tool calls if the command fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailClosed {
    /// By a member of the handler.
    Switch(&'static str, SwitchValue),
    /// By exit code 2 and a text on stderr, which a shell provides.
    ExitCode,
    /// The same at tool calls. At prompts, where the host ignores exit codes, the shell writes this answer.
    ExitCodeOrAnswer(&'static str),
    /// Not at all.
    Impossible,
}

/// The value of a member that makes a host block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SwitchValue {
    /// This text.
    Text(&'static str),
    /// `true`.
    True,
}

/// The files that a host reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// JSON, also with comments and trailing commas.
    Comments,
    /// JSON without comments and trailing commas.
    PlainJson,
    /// JSON without comments, trailing commas, a byte order mark, and other keys in the outermost object than these.
    StrictJson(&'static [&'static str]),
}

/// The unit of a registered timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeoutUnit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Milliseconds from 1000 on, seconds below.
    MillisecondsFrom1000,
}

impl TimeoutUnit {
    /// Returns a registered timeout in seconds.
    pub fn seconds(self, timeout: f64) -> f64 {
        match self {
            Self::MillisecondsFrom1000 if timeout < 1000.0 => timeout,
            Self::Seconds => timeout,
            Self::Milliseconds | Self::MillisecondsFrom1000 => timeout / 1000.0,
        }
    }
}

/// Files that have nothing but the registration.
#[derive(Debug)]
pub struct FileFormat {
    /// Writes the files.
    pub files: fn(&FileContext) -> Vec<OwnFile>,
    /// True if the files are programs.
    pub executable: bool,
}

/// The users for whom a registration is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RegistrationScope {
    /// For the user, in every project.
    #[default]
    User,
    /// For the user, in one project.
    Personal,
    /// For everybody who works on one project.
    Shared,
}

impl RegistrationScope {
    /// Every scope.
    pub const ALL: [Self; 3] = [Self::User, Self::Personal, Self::Shared];

    /// Returns the name in listings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Personal => "personal",
            Self::Shared => "shared",
        }
    }
}

/// The parameters of the files of a registration.
#[derive(Debug, Clone, Copy)]
pub struct FileContext<'c> {
    /// The host.
    pub host: &'static Host,
    /// The users for whom the files are. Shared files must have no path of this machine.
    pub scope: RegistrationScope,
    /// The program to run: a stable link.
    pub program: &'c str,
    /// The home directory, for `--home`.
    pub home: &'c str,
    /// The random id of the registration, for `--id`.
    pub id: &'c str,
    /// True if prompts and tool calls are blocked when the program fails (B25).
    pub fail_closed: bool,
}

impl FileContext<'_> {
    /// Returns the text by which the bridge recognises its own files.
    pub fn mark(&self) -> String {
        format!("{OWN_FILE_MARK} {}", self.id)
    }
}

/// A file that has nothing but the registration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnFile {
    /// The path, from the directory of the files.
    pub path: PathBuf,
    /// The text, which contains [`FileContext::mark`] in a comment: other files are never replaced or removed.
    pub text: String,
}

/// A setting that switches hooks off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Silencer {
    /// The user's file that may have it, from the directory of `user_file`; `None`: each file in which the bridge may be registered.
    pub file: Option<&'static str>,
    /// The keys that lead to it, joined by dots.
    pub key: &'static str,
    /// The value that switches hooks off.
    pub value: bool,
}

impl Silencer {
    /// Creates a key that switches hooks off if it is true, in each file in which the bridge may be registered.
    pub const fn key(key: &'static str) -> Self {
        Self { file: None, key, value: true }
    }
}
