//! The user's account, regardless of the environment.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Returns whether this process is root's, by `sudo`, with the home directory of the user `caller` who called `sudo`: what it writes there
/// would be root's, and the user's own processes could not change it.
pub fn is_root_at_home_of(caller: u32, home: &Path) -> bool {
    let owner = fs::metadata(home).map(|metadata| metadata.uid());
    rustix::process::geteuid().is_root() && caller != 0 && owner.is_ok_and(|owner| owner == caller)
}

/// Returns the home directory in the account database of the system; `None` if the user has none there.
pub fn home() -> Option<PathBuf> {
    let id = rustix::process::getuid().as_raw().to_string();
    let accounts = fs::read_to_string("/etc/passwd").ok()?;
    let is_user = |line: &&str| line.split(':').nth(2) == Some(id.as_str());
    let home = accounts.lines().find(is_user)?.split(':').nth(5)?;
    Some(PathBuf::from(home)).filter(|home| home.is_absolute())
}
