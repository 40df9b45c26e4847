//! Paths as text: absolute, without `.` and `..`, and where they are.

use crate::facts::PathPlace;
use crate::surroundings::Surroundings;

/// Directories for temporary files on every system.
const TEMP: [&str; 4] = ["/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp"];

/// The absolute path without `.` and `..`. `None` for a relative path in an unknown directory.
pub(crate) fn absolute(path: &str, cwd: Option<&str>) -> Option<String> {
    if path.starts_with('/') || is_windows(path) {
        return Some(normal(path));
    }
    Some(normal(&format!("{}/{path}", cwd?)))
}

fn is_windows(path: &str) -> bool {
    matches!(path.as_bytes(), [drive, b':', b'/' | b'\\', ..] if drive.is_ascii_alphabetic())
}

/// Removes `.`, `..` and double slashes.
fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    if is_windows(path) {
        return parts.join("/");
    }
    format!("/{}", parts.join("/"))
}

/// Whether a path is a directory or in it.
pub(crate) fn is_in(path: &str, directory: &str) -> bool {
    let directory = directory.trim_end_matches('/');
    path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl Surroundings {
    /// The kind of directory that an absolute path is in, and whether it is in the project.
    pub fn place(&self, path: &str) -> (PathPlace, bool) {
        place(path, self)
    }
}

/// The place of an absolute path, and whether it is in the project.
pub(crate) fn place(path: &str, surroundings: &Surroundings) -> (PathPlace, bool) {
    let inside = surroundings.project.iter().any(|root| is_in(path, root));
    let is_temp = || {
        let given = surroundings.temp.iter().map(String::as_str);
        given
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
