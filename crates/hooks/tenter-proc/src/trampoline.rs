//! A program that makes another one die with the process that started it.

use std::ffi::OsString;
use std::path::PathBuf;

/// A program that continues as another one with [`exec_bound_to_parent`](crate::exec_bound_to_parent), so that the system kills the
/// other one when this process is killed. Only Linux can do that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trampoline {
    /// The program.
    pub program: PathBuf,
    /// Its arguments. The arguments of `exec_bound_to_parent` follow.
    pub args: Vec<OsString>,
}
