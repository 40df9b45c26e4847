//! The user's account, regardless of the environment.

use std::fs;
use std::path::PathBuf;

/// The home directory in the account database of the system; `None` if the user has none there.
pub fn home() -> Option<PathBuf> {
    let id = rustix::process::getuid().as_raw().to_string();
    let accounts = fs::read_to_string("/etc/passwd").ok()?;
    let is_user = |line: &&str| line.split(':').nth(2) == Some(id.as_str());
    let home = accounts.lines().find(is_user)?.split(':').nth(5)?;
    Some(PathBuf::from(home)).filter(|home| home.is_absolute())
}
