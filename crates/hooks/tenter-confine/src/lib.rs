//! Runs a command with fewer rights (F5). A [`Confinement`] says what the command may do;
//! [`restrict`] makes the kernel keep it for this process, and [`launcher`] then replaces the process by the command.
//!
//! | promise | kept by |
//! | --- | --- |
//! | `write` | Landlock, ABI 3 and later |
//! | `protected` | read-only mounts; without them, the launcher puts back what the command changed |
//! | `read_not` | mounts |
//! | `network` | `none`: seccomp; `local`: a network namespace; a list of hosts: the same, and a proxy |
//! | `signals`, `sockets` | Landlock, ABI 6 and later |
//!
//! ```
//! use tenter_confine::{PromiseState, Surroundings};
//!
//! let home = std::env::temp_dir();
//! let surroundings = Surroundings::new(home.clone(), home.clone(), Vec::new());
//! assert_eq!(surroundings.home, home);
//! assert_ne!(PromiseState::Kept, PromiseState::NotKept);
//! ```
//!
//! It is a boundary against accidents and scripts, not against hostile code with a kernel exploit (F19).
#![cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "nothing is mounted on other systems")
)]

mod check_in;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
mod globs;
#[cfg(target_os = "linux")]
mod landlock_layer;
pub mod launcher;
mod listings;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(target_os = "linux")]
mod namespaces;
#[cfg(target_os = "linux")]
mod network;
mod places;
mod promises;
mod proxy;
mod restored;
mod restrict;
mod secrets;

#[cfg(not(target_os = "linux"))]
use elsewhere::{landlock_layer, mounts, namespaces, network};

pub use check_in::CheckIn;
pub use places::Surroundings;
pub use promises::{PromiseReport, PromiseState};
pub use restrict::{Limits, check, restrict};
pub use tenter_protocol::confinement::Confinement;
