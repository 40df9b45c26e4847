//! Registers the bridge with hosts: edits their settings files, and keeps a record of it (B39, B40, B45).
//!
//! A registration is planned first: the plan has the texts before and after, so that a user can look at the difference. Applying it
//! checks that the file is still as it was.
//!
//! ```
//! use tenter_bridge::host::HostVersion;
//! use tenter_bridge::hosts;
//! use tenter_bridge::registration::{Options, RegistrationScope, Registry};
//!
//! # let home = tempfile::tempdir()?;
//! # std::fs::create_dir(home.path().join("bin"))?;
//! # let program = home.path().join("bin/tenter-hook");
//! # std::fs::write(&program, "")?;
//! let registry = Registry::in_home(home.path());
//! let host = hosts::find("claude-code").unwrap();
//! let target = registry.target(host, RegistrationScope::User, home.path()).unwrap();
//! let options = Options { version: HostVersion::parse("2.1.332"), ..Options::default() };
//! let plan = registry.plan_install(&target, options).unwrap();
//! assert_eq!(plan.changes()[0].before(), None);
//! registry.install(&plan, &program, "2026-11-22T18:00:00Z").unwrap();
//! assert_eq!(registry.registered(&target).unwrap().len(), host.events.len());
//! # Ok::<(), std::io::Error>(())
//! ```

mod change;
mod command;
mod diagnosis;
mod entry;
mod handlers;
mod json;
mod managed;
mod own_files;
mod plan;
mod program;
mod record;
mod registry;
mod settings_file;
mod toml;
mod trust;
mod validate;
mod variable;

pub use change::{SettingsChange, Target};
pub use command::{PROGRAM, RegisteredCommand};
pub use diagnosis::{IgnoredFile, SilencingSetting};
pub use handlers::Options;
pub use managed::{install_managed, managed_file, managed_registration, write_managed};
pub use plan::Plan;
pub use program::{
    ProgramState, launcher_path, own_version, program_path, program_state, unsafe_location,
};
pub use record::RegistrationRecord;
pub use registry::{RegisteredHandler, Registry};

pub use crate::host::{
    EntryFormat, EntryLayout, FailClosed, FileContext, FileFormat, OwnFile, Reads, Registration,
    RegistrationFormat, RegistrationScope, Silencer, SwitchValue, TimeoutUnit,
};

pub(crate) use diagnosis::ignored;
pub(crate) use json::{check_events, problem as json_problem, value as read_json};
pub(crate) use validate::rejected;
