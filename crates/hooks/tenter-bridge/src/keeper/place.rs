//! The socket of a keeper, in a directory that only the user can enter.

use std::ffi::OsString;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::{fs, io};

use sha2::{Digest as _, Sha256};
use tenter_base::{hex, private_dir};
use tenter_protocol::runtime::PROTOCOL;

/// Maximum length of a socket's path, in bytes: systems allow at least 103.
const MAX_PATH: usize = 100;
/// Prefix of the names of sockets.
const PREFIX: &str = "k-";

/// Returns the directories in which keepers listen, the preferred one first.
pub fn directories(vars: &[(OsString, OsString)], state: &Path) -> Vec<PathBuf> {
    let runtime = vars.iter().find(|(name, _)| name == "XDG_RUNTIME_DIR").map(|(_, value)| value);
    let runtime = runtime.map(PathBuf::from).filter(|path| path.is_absolute());
    runtime.map(|path| path.join("tenter")).into_iter().chain([state.join("keeper")]).collect()
}

/// The socket of the keeper of one project and build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeeperPlace {
    directory: PathBuf,
    /// The part of the name that all builds share.
    project: String,
    build: String,
}

impl KeeperPlace {
    /// Returns the place in the first of these directories that can be used, which is created if it is missing.
    ///
    /// # Errors
    /// None can be used.
    pub fn find(
        directories: &[PathBuf],
        (project, state): (&Path, &Path),
        build: &str,
    ) -> io::Result<Self> {
        let mut last = io::Error::other("there is no directory for its socket");
        for directory in directories {
            // The parent is not ours to create.
            let is_usable =
                directory.parent().is_some_and(Path::is_dir) || directory.starts_with(state);
            let place = Self::new(directory, (project, state), build);
            let fits = place.socket().as_os_str().len() < MAX_PATH;
            match private_dir::enforce(directory) {
                Ok(()) if fits && is_usable => return Ok(place),
                Ok(()) => last = io::Error::other("the path of its socket would be too long"),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn new(directory: &Path, (project, state): (&Path, &Path), build: &str) -> Self {
        let mut hasher = Sha256::new();
        for part in [project, state] {
            hasher.update(part.as_os_str().as_encoded_bytes());
            hasher.update([0]);
        }
        let project = hex(&hasher.finalize())[..12].to_owned();
        let build = format!("{PROTOCOL} {build}");
        let build = hex(&Sha256::digest(build))[..8].to_owned();
        Self { directory: directory.to_owned(), project, build }
    }

    /// Returns the place with this socket; `None` if no socket of a keeper has this name.
    pub fn from_socket(socket: &Path) -> Option<Self> {
        let name = socket.file_name()?.to_str()?.strip_prefix(PREFIX)?;
        let (project, build) = name.split_once('-')?;
        let directory = socket.parent()?.to_owned();
        Some(Self { directory, project: project.to_owned(), build: build.to_owned() })
    }

    /// Returns the socket.
    pub fn socket(&self) -> PathBuf {
        self.directory.join(format!("{PREFIX}{}-{}", self.project, self.build))
    }

    /// Returns the file that is locked while a keeper is started.
    pub fn starting_lock(&self) -> PathBuf {
        self.socket().with_extension("starting")
    }

    /// Returns the file that a keeper locks as long as it lives.
    pub fn lock(&self) -> PathBuf {
        self.socket().with_extension("lock")
    }

    /// Returns the sockets of other builds for the same project.
    pub fn others(&self) -> Vec<PathBuf> {
        let own = self.socket();
        let is_other = |socket: &PathBuf| {
            let place = Self::from_socket(socket);
            *socket != own && place.is_some_and(|place| place.project == self.project)
        };
        sockets(&self.directory).into_iter().filter(is_other).collect()
    }

    /// Connects to the keeper.
    ///
    /// # Errors
    /// There is none, or it is not this user's.
    pub fn connect(&self) -> io::Result<UnixStream> {
        connect(&self.socket())
    }
}

/// Returns the sockets of keepers in a directory.
pub(super) fn sockets(directory: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(directory).into_iter().flatten().flatten().map(|file| file.path());
    let is_keeper = |path: &PathBuf| {
        let is_socket = fs::symlink_metadata(path).is_ok_and(|file| file.file_type().is_socket());
        is_socket && KeeperPlace::from_socket(path).is_some()
    };
    let mut sockets: Vec<PathBuf> = files.filter(is_keeper).collect();
    sockets.sort();
    sockets
}

/// Connects to a socket, if it and the process behind it are this user's.
pub(super) fn connect(socket: &Path) -> io::Result<UnixStream> {
    let user = rustix::process::geteuid();
    let file = fs::symlink_metadata(socket)?;
    if !file.file_type().is_socket() || file.uid() != user.as_raw() {
        return Err(io::Error::other("it is not a socket of yours"));
    }
    let stream = UnixStream::connect(socket)?;
    check_peer(&stream)?;
    Ok(stream)
}

/// Checks that the process at the other end is this user's. On systems that do not report that, the directory is the only guard.
///
/// # Errors
/// It is another user's.
pub fn check_peer(stream: &UnixStream) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        let peer = rustix::net::sockopt::socket_peercred(stream)?;
        if peer.uid != rustix::process::geteuid() {
            return Err(io::Error::other("the process at the other end belongs to another user"));
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = stream;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::net::UnixListener;

    use super::*;

    fn find(directories: &[PathBuf], project: &str, build: &str) -> io::Result<KeeperPlace> {
        let state = directories.last().unwrap().parent().unwrap();
        KeeperPlace::find(directories, (Path::new(project), state), build)
    }

    #[test]
    fn every_project_and_build_has_its_own_socket_in_a_private_directory() {
        let scratch = tempfile::tempdir().unwrap();
        let directories = [scratch.path().join("keeper")];
        let socket = |project, build| find(&directories, project, build).unwrap().socket();
        let first = socket("/a", "1");
        assert!(first != socket("/b", "1") && first != socket("/a", "2"));
        assert_eq!(first, socket("/a", "1"));
        assert_eq!(KeeperPlace::from_socket(&first).unwrap().socket(), first);
        assert_eq!(fs::metadata(&directories[0]).unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn the_state_directory_is_used_where_the_runtime_directory_cannot_be() {
        let scratch = tempfile::tempdir().unwrap();
        let state = scratch.path().join("state");
        fs::create_dir(&state).unwrap();
        let with = |runtime: &str| {
            let vars = [("XDG_RUNTIME_DIR".into(), runtime.into())];
            let directories = directories(&vars, &state);
            KeeperPlace::find(&directories, (Path::new("/p"), &state), "1").unwrap().directory
        };
        let runtime = scratch.path().join("run");
        fs::create_dir(&runtime).unwrap();
        assert_eq!(with(runtime.to_str().unwrap()), runtime.join("tenter"));
        for other in ["", "relative", "/dev/null", &format!("/tmp/{}", "x".repeat(90))] {
            assert_eq!(with(other), state.join("keeper"), "{other}");
        }
        fs::remove_dir(runtime.join("tenter")).unwrap();
        std::os::unix::fs::symlink(&state, runtime.join("tenter")).unwrap();
        assert_eq!(with(runtime.to_str().unwrap()), state.join("keeper"), "a symlink");
    }

    #[test]
    fn other_builds_of_the_same_project_are_listed() {
        let scratch = tempfile::tempdir().unwrap();
        let directories = [scratch.path().join("keeper")];
        let place = |project, build| find(&directories, project, build).unwrap();
        let (own, older, other) = (place("/a", "2"), place("/a", "1"), place("/b", "1"));
        let _listening = [&own, &older, &other].map(|place| UnixListener::bind(place.socket()));
        assert_eq!(own.others(), [older.socket()]);
    }

    #[test]
    fn only_a_socket_is_connected_to() {
        let scratch = tempfile::tempdir().unwrap();
        let directories = [scratch.path().join("keeper")];
        let place = find(&directories, "/a", "1").unwrap();
        assert!(place.connect().is_err());
        fs::write(place.socket(), "").unwrap();
        fs::set_permissions(place.socket(), fs::Permissions::from_mode(0o600)).unwrap();
        assert!(place.connect().is_err());
        fs::remove_file(place.socket()).unwrap();
        let _listener = UnixListener::bind(place.socket()).unwrap();
        assert!(place.connect().is_ok());
    }
}
