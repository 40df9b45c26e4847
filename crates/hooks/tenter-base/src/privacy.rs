//! Checks whether only the user and root can change a file. Only then does an unchanged stamp mean unchanged content: others who can
//! write a file or replace it can restore its stamp (R74).

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

/// Maximum number of symlinks in one path, as in the kernel.
const MAX_LINKS: usize = 40;
const STICKY: u32 = 0o1000;
const GROUP_WRITES: u32 = 0o020;
const EVERYONE_WRITES: u32 = 0o002;

/// Checks whether files are private; caches the result for every directory.
pub struct Privacy {
    user: u32,
    /// True if a group may write where the user is its only member.
    accepts_groups: bool,
    /// The directories that were checked, with true for a path whose directories are all private.
    directories: HashMap<PathBuf, bool>,
    /// Directories that others cannot remove or replace, nor any directory above them, by path without symlinks.
    safe_directories: HashMap<PathBuf, Metadata>,
    /// The groups that were checked, with true for a group whose only member is the user.
    groups: HashMap<u32, bool>,
}

impl Default for Privacy {
    fn default() -> Self {
        let accepts_groups = true;
        Self { accepts_groups, ..Self::for_owner(rustix::process::geteuid().as_raw()) }
    }
}

impl Privacy {
    /// Checks whether files belong to `owner` or root, and no group may write them.
    pub fn for_owner(owner: u32) -> Self {
        Self {
            user: owner,
            accepts_groups: false,
            directories: HashMap::new(),
            safe_directories: HashMap::new(),
            groups: HashMap::new(),
        }
    }

    /// Returns true if only the user and root can write the file at `path`, an absolute path, or replace it or one of its
    /// directories. A file that cannot be inspected is not private.
    pub fn is_private(&mut self, path: &Path) -> bool {
        let Some(directory) = path.parent() else { return false };
        if !self.is_private_directory(directory) {
            return false;
        }
        match fs::symlink_metadata(path) {
            Ok(metadata) if metadata.is_symlink() => self.is_private_path(path).unwrap_or(false),
            Ok(metadata) => self.is_private_entry(path, &metadata),
            Err(_) => false,
        }
    }

    fn is_private_directory(&mut self, path: &Path) -> bool {
        if let Some(is_private) = self.directories.get(path) {
            return *is_private;
        }
        let is_private = self.is_private_path(path).unwrap_or(false);
        self.directories.insert(path.to_owned(), is_private);
        is_private
    }

    /// Follows `path` as the kernel does, and checks every directory and symlink on the way.
    fn is_private_path(&mut self, path: &Path) -> io::Result<bool> {
        let result =
            path.ancestors().find_map(|above| Some((above, self.safe_directories.get(above)?)));
        let (mut here, mut above) = match result {
            Some((checked, metadata)) => (checked.to_owned(), metadata.clone()),
            None => (PathBuf::from("/"), fs::metadata("/")?),
        };
        let mut names: Vec<OsString> = reverse(path.strip_prefix(&here).unwrap_or(path));
        let mut links = 0;
        while let Some(name) = names.pop() {
            if name == ".." {
                here.pop();
                above = fs::metadata(&here)?;
                continue;
            }
            let next = here.join(&name);
            let metadata = fs::symlink_metadata(&next)?;
            if !self.is_kept(&here, &above, &metadata) {
                return Ok(false);
            }
            if !metadata.is_symlink() {
                if metadata.is_dir() {
                    self.safe_directories.insert(next.clone(), metadata.clone());
                }
                (here, above) = (next, metadata);
                continue;
            }
            links += 1;
            if links > MAX_LINKS {
                return Ok(false);
            }
            let target = fs::read_link(&next)?;
            if target.is_absolute() {
                here = PathBuf::from("/");
                above = fs::metadata(&here)?;
            }
            names.extend(reverse(&target));
        }
        // In a sticky directory only the owner of an entry replaces it.
        let is_sticky = above.is_dir() && above.mode() & STICKY != 0 && self.is_ours(&above);
        Ok(is_sticky || self.is_private_entry(&here, &above))
    }

    /// Returns true if others cannot remove or replace `entry` in `directory`.
    fn is_kept(&mut self, path: &Path, directory: &Metadata, entry: &Metadata) -> bool {
        let is_sticky = directory.mode() & STICKY != 0;
        self.is_private_entry(path, directory)
            || (is_sticky && self.is_ours(directory) && self.is_ours(entry))
    }

    /// Returns true if others cannot write the file or directory itself.
    fn is_private_entry(&mut self, path: &Path, metadata: &Metadata) -> bool {
        let mode = metadata.mode();
        self.is_ours(metadata)
            && mode & EVERYONE_WRITES == 0
            && (mode & GROUP_WRITES == 0 || (self.is_own_group(metadata.gid()) && !has_acl(path)))
    }

    fn is_ours(&self, metadata: &Metadata) -> bool {
        metadata.uid() == self.user || metadata.uid() == 0
    }

    fn is_own_group(&mut self, group: u32) -> bool {
        if !self.accepts_groups {
            return false;
        }
        let user = self.user;
        *self.groups.entry(group).or_insert_with(|| {
            let read = |path| fs::read_to_string(path).unwrap_or_default();
            is_only_member(&read("/etc/passwd"), &read("/etc/group"), user, group)
        })
    }
}

/// Returns the components of a path, last first.
fn reverse(path: &Path) -> Vec<OsString> {
    let names = path.components().rev().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    });
    names.collect()
}

/// Returns true if `/etc/passwd` and `/etc/group` list `user` as the only member of `group`. An unknown group, for instance
/// of a directory service, may have any members.
fn is_only_member(passwd: &str, groups: &str, user: u32, group: u32) -> bool {
    let number = |field: Option<&&str>| field.and_then(|field| field.parse::<u32>().ok());
    let fields = |line: &'_ str| line.split(':').map(str::to_owned).collect::<Vec<_>>();
    let mut user_name = None;
    for line in passwd.lines().map(fields) {
        let line: Vec<&str> = line.iter().map(String::as_str).collect();
        let is_user = number(line.get(2)) == Some(user);
        if is_user {
            user_name = user_name.or(line.first().map(|name| (*name).to_owned()));
        } else if number(line.get(3)) == Some(group) {
            return false;
        }
    }
    let mut is_known = false;
    for line in groups.lines().map(fields) {
        let line: Vec<&str> = line.iter().map(String::as_str).collect();
        if number(line.get(2)) != Some(group) {
            continue;
        }
        is_known = true;
        let mut members = line.get(3).unwrap_or(&"").split(',').filter(|name| !name.is_empty());
        if members.any(|member| user_name.as_deref() != Some(member)) {
            return false;
        }
    }
    is_known && user_name.is_some()
}

/// Returns true if the file has an access control list, whose entries may give others the rights of the group bits.
fn has_acl(path: &Path) -> bool {
    let mut nothing: [u8; 0] = [];
    rustix::fs::getxattr(path, "system.posix_acl_access", &mut nothing[..])
        .is_ok_and(|size| size > 0)
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_file_is_private_if_only_the_user_can_write_it_and_its_directories() {
        let scratch = tempfile::tempdir().unwrap();
        let base = scratch.path().canonicalize().unwrap();
        let (above, below) = (base.join("above"), base.join("above/below"));
        fs::create_dir_all(&below).unwrap();
        let file = below.join("hook");
        fs::write(&file, "").unwrap();
        for path in [&above, &below, &file] {
            mode(path, 0o755);
        }
        let is_private = || Privacy::default().is_private(&file);
        assert!(is_private());
        for path in [&above, &below, &file] {
            mode(path, 0o757);
            assert!(!is_private(), "everyone can write {}", path.display());
            mode(path, 0o755);
        }
        // In a sticky directory everyone can create files, and only the owner replaces one.
        mode(&below, 0o1777);
        assert!(is_private());
        mode(&file, 0o777);
        assert!(!is_private());
    }

    #[test]
    fn checks_every_directory_that_symlinks_lead_through() {
        let scratch = tempfile::tempdir().unwrap();
        let base = scratch.path().canonicalize().unwrap();
        for directory in ["private", "shared"] {
            fs::create_dir(base.join(directory)).unwrap();
            mode(&base.join(directory), 0o755);
            fs::write(base.join(directory).join("file"), "").unwrap();
            mode(&base.join(directory).join("file"), 0o644);
        }
        symlink("../shared/file", base.join("private/out")).unwrap();
        symlink("../private/file", base.join("shared/in")).unwrap();
        symlink("loop", base.join("private/loop")).unwrap();
        let is_private = |path: &str| Privacy::default().is_private(&base.join(path));
        assert!(is_private("private/out") && is_private("shared/in"));
        mode(&base.join("shared"), 0o777);
        assert!(!is_private("private/out") && !is_private("shared/in"));
        assert!(is_private("private/file"));
        assert!(!is_private("private/loop") && !is_private("private/none"));
    }

    #[test]
    fn a_group_is_private_if_the_user_is_its_only_member() {
        let passwd = "root:x:0:0::/root:/bin/sh\nada:x:1000:1000::/home/ada:/bin/sh\nbob:x:1001:100::/home/bob:/bin/sh\n";
        let groups = "root:x:0:\nada:x:1000:\nown:x:1002:ada\nboth:x:1003:ada,bob\nusers:x:100:\n";
        for (group, expected) in
            [(1000, true), (1002, true), (1003, false), (100, false), (0, false), (7777, false)]
        {
            assert_eq!(is_only_member(passwd, groups, 1000, group), expected, "{group}");
        }
        assert!(!is_only_member("", groups, 1000, 1000), "the user is not known");
    }
}
