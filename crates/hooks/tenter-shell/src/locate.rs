//! Paths as text: absolute, without `.` and `..`, and where they are.

use crate::facts::PathPlace;
use crate::surroundings::Surroundings;

/// Directories for temporary files on every system.
const TEMP: [&str; 4] = ["/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp"];

/// Returns the absolute path without `.` and `..`. `None` for a relative path in an unknown directory.
pub(crate) fn absolute(path: &str, cwd: Option<&str>) -> Option<String> {
    let is_windows = is_windows(path);
    let mut normal = String::with_capacity(path.len() + cwd.map_or(0, str::len) + 1);
    if !path.starts_with('/') && !is_windows {
        push_parts(&mut normal, cwd?);
    }
    push_parts(&mut normal, path);
    if normal.is_empty() {
        normal.push('/');
    }
    Some(if is_windows { normal.split_off(1) } else { normal })
}

/// Returns the absolute path with its `..`; nothing if it has none.
pub(crate) fn join(path: &str, cwd: Option<&str>) -> Option<String> {
    if !path.split('/').any(|part| part == "..") || is_windows(path) {
        return None;
    }
    Some(if path.starts_with('/') { path.to_owned() } else { format!("{}/{path}", cwd?) })
}

fn is_windows(path: &str) -> bool {
    matches!(path.as_bytes(), [drive, b':', b'/' | b'\\', ..] if drive.is_ascii_alphabetic())
}

/// Appends the parts of a path, each after a slash, without `.`, `..` and double slashes.
fn push_parts(normal: &mut String, path: &str) {
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => normal.truncate(normal.rfind('/').unwrap_or(0)),
            _ => {
                normal.push('/');
                normal.push_str(part);
            }
        }
    }
}

/// Checks whether a path is a directory or in it.
pub(crate) fn is_in(path: &str, directory: &str) -> bool {
    let directory = directory.trim_end_matches('/');
    path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl Surroundings {
    /// Returns the absolute path without `.` and `..`, as if no part of it were a symlink.
    pub fn without_dots(path: &str) -> String {
        absolute(path, None).unwrap_or_else(|| path.to_owned())
    }

    /// Returns the kind of directory that an absolute path is in, and whether it is in the project.
    pub fn place(&self, path: &str) -> (PathPlace, bool) {
        place(path, self)
    }
}

/// Returns the place of an absolute path, and whether it is in the project.
pub(crate) fn place(path: &str, surroundings: &Surroundings) -> (PathPlace, bool) {
    let inside = surroundings.project.iter().any(|root| is_in(path, root));
    let is_temp = || {
        let directories = surroundings.temp.iter().map(String::as_str);
        directories
            .chain(surroundings.variables.get("TMPDIR").map(String::as_str))
            .filter(|directory| directory.len() > 1)
            .chain(TEMP)
            .any(|temp| is_in(path, temp))
    };
    let place = if is_in(path, "/dev") && !is_in(path, "/dev/shm") {
        PathPlace::Device
    } else if inside {
        PathPlace::Project
    } else if is_temp() || is_in(path, "/dev/shm") {
        PathPlace::Temp
    } else if surroundings.home.as_deref().is_some_and(|home| is_in(path, home))
        || path.starts_with('~')
    {
        PathPlace::Home
    } else {
        PathPlace::System
    };
    (place, inside)
}

/// Devices that no program changes anything with.
pub(crate) fn is_harmless_device(path: &str) -> bool {
    const DEVICES: [&str; 9] =
        ["null", "zero", "stdin", "stdout", "stderr", "tty", "full", "random", "urandom"];
    path.strip_prefix("/dev/")
        .is_some_and(|device| DEVICES.contains(&device) || device.starts_with("fd/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_no_dots_and_double_slashes() {
        let absolute = |path| super::absolute(path, Some("/home/ann/app"));
        assert_eq!(absolute("a//b/./c/..").as_deref(), Some("/home/ann/app/a/b"));
        assert_eq!(absolute("../../../../..").as_deref(), Some("/"));
        assert_eq!(absolute("/../x/").as_deref(), Some("/x"));
        assert_eq!(absolute("C:/a/../b").as_deref(), Some("C:/b"));
        assert_eq!(super::absolute("a", None), None);
    }

    #[test]
    fn places_are_directories_and_not_prefixes() {
        let surroundings = Surroundings {
            project: vec!["/home/ann/app".to_owned()],
            home: Some("/home/ann".to_owned()),
            temp: vec!["/scratch".to_owned()],
            ..Surroundings::default()
        };
        for (path, expected, inside) in [
            ("/home/ann/app", PathPlace::Project, true),
            ("/home/ann/app/x", PathPlace::Project, true),
            ("/home/ann/application", PathPlace::Home, false),
            ("/tmp/x", PathPlace::Temp, false),
            ("/tmpx", PathPlace::System, false),
            ("/scratch/x", PathPlace::Temp, false),
            ("/dev/sda", PathPlace::Device, false),
            ("/dev/shm/x", PathPlace::Temp, false),
            ("/", PathPlace::System, false),
        ] {
            assert_eq!(place(path, &surroundings), (expected, inside), "{path}");
        }
    }
}
