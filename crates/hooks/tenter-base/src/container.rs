//! Tells whether the effects of a process stay in its container (R90).
//!
//! A file such as `/.dockerenv` says that there is a container, not that it keeps anything in: most containers for development mount the
//! project from outside, and some the home directory.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use crate::real_path;

/// Files that container engines put into every container, and Kubernetes into its own.
const MARKS: [&str; 3] =
    ["/.dockerenv", "/run/.containerenv", "/var/run/secrets/kubernetes.io/serviceaccount"];

/// File systems that consist of an image's layers.
const LAYERS: [&str; 4] = ["overlay", "fuse.fuse-overlayfs", "fuse-overlayfs", "aufs"];

/// Variables of known development containers.
const VARIABLES: [&str; 6] =
    ["REMOTE_CONTAINERS", "CODESPACES", "DEVCONTAINER", "GITPOD_WORKSPACE_ID", "DEVPOD", "CODER"];

/// Files of known development containers.
const FILES: [&str; 4] = [
    "/var/devcontainer",
    "/usr/local/etc/dev-containers",
    "/usr/local/etc/vscode-dev-containers",
    "/workspaces/.codespaces",
];

/// File systems of the kernel, which contain no file of a user.
const KERNEL: [&str; 19] = *crate::words!(
    "autofs binfmt_misc bpf cgroup cgroup2 configfs debugfs devpts devtmpfs fuse.lxcfs fusectl
     hugetlbfs mqueue nsfs proc pstore securityfs sysfs tracefs"
);

/// The facts from which a process knows that it is contained.
#[derive(Debug, Clone, Copy)]
pub struct Containment<'a> {
    /// The user's setting, which overrides everything else.
    pub setting: Option<bool>,
    /// The environment variables.
    pub variables: &'a [(OsString, OsString)],
    /// The directories whose content must not come from outside: the home directory and the project.
    pub own: &'a [&'a Path],
}

impl Containment<'_> {
    /// Returns whether this process is in a known development container, and its own directories are the container's own.
    pub fn holds(&self) -> bool {
        let mounts = || std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        self.setting.unwrap_or_else(|| self.is_known(&|file| Path::new(file).exists(), mounts))
    }

    /// As [`holds`](Self::holds), with the existing files and the text of `/proc/self/mountinfo`, which takes longest to read.
    fn is_known(&self, exists: &dyn Fn(&str) -> bool, mountinfo: impl FnOnce() -> String) -> bool {
        let is_set = |name: &str| {
            let mut variables = self.variables.iter();
            variables.any(|(key, value)| key == name && !matches!(value.to_str(), Some("" | "0")))
        };
        if !VARIABLES.into_iter().any(is_set) && !FILES.into_iter().any(exists) {
            return false;
        }
        let mountinfo = mountinfo();
        let mounts: Vec<Mount> = mountinfo.lines().filter_map(Mount::read).collect();
        let root = mounts.iter().rfind(|mount| mount.point == Path::new("/"));
        let Some(root) = root else { return false };
        let is_container = LAYERS.contains(&root.kind) || MARKS.into_iter().any(exists);
        is_container && !mounts.iter().any(|mount| self.is_reached(mount))
    }

    /// Returns whether a mount contains one of the directories, or something in it.
    fn is_reached(&self, mount: &Mount<'_>) -> bool {
        let is_root = mount.point == Path::new("/");
        let is_near = |own: &&Path| {
            let own = real_path(own).unwrap_or_else(|_| (*own).to_owned());
            own.starts_with(&mount.point) || mount.point.starts_with(&own)
        };
        !is_root && !KERNEL.contains(&mount.kind) && self.own.iter().any(is_near)
    }
}

/// A line of `/proc/self/mountinfo`.
struct Mount<'l> {
    /// The mount point.
    point: PathBuf,
    /// The kind of file system.
    kind: &'l str,
}

impl<'l> Mount<'l> {
    fn read(line: &'l str) -> Option<Self> {
        let (before, after) = line.split_once(" - ")?;
        let point = before.split(' ').nth(4)?;
        Some(Self { point: unescape(point), kind: after.split(' ').next()? })
    }
}

/// Returns the mount points in the text of `/proc/self/mountinfo`.
pub fn mount_points(mountinfo: &str) -> Vec<PathBuf> {
    mountinfo.lines().filter_map(Mount::read).map(|mount| mount.point).collect()
}

/// Returns a path whose blanks and backslashes are written as `\040`.
fn unescape(text: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        let code = code.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        let code = code.filter(|_| *first == b'\\');
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &after[3..] } else { after };
    }
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mounts that every container has, with layers at its root.
    const CONTAINER: &str = "\
721 573 0:54 / / rw,relatime master:243 - overlay overlay rw,lowerdir=/var/lib/docker/overlay2/l/A,upperdir=/var/lib/docker/overlay2/b/diff
722 721 0:57 / /proc rw,nosuid,nodev,noexec,relatime - proc proc rw
723 721 0:58 / /dev rw,nosuid - tmpfs tmpfs rw,size=65536k,mode=755
724 723 0:59 / /dev/pts rw,nosuid,noexec,relatime - devpts devpts rw,gid=5,mode=620
725 721 0:60 / /sys ro,nosuid,nodev,noexec,relatime - sysfs sysfs ro
726 725 0:29 / /sys/fs/cgroup ro,nosuid,nodev,noexec,relatime - cgroup2 cgroup rw
729 721 254:1 /docker/containers/3f/resolv.conf /etc/resolv.conf rw,relatime - ext4 /dev/vda1 rw
730 721 254:1 /docker/containers/3f/hostname /etc/hostname rw,relatime - ext4 /dev/vda1 rw
731 721 254:1 /docker/containers/3f/hosts /etc/hosts rw,relatime - ext4 /dev/vda1 rw
";
    /// A plain machine, with a home directory on a file system of its own.
    const MACHINE: &str = "\
22 27 0:21 / /proc rw,nosuid,nodev,noexec,relatime shared:12 - proc proc rw
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda2 rw
91 27 254:3 / /home rw,relatime shared:45 - ext4 /dev/vda3 rw
";
    const DOCKER: [&str; 1] = ["/.dockerenv"];

    struct Case<'a> {
        variables: &'a [&'a str],
        files: &'a [&'a str],
        home: &'a str,
        project: &'a str,
        mounts: &'a str,
    }

    impl Case<'_> {
        fn holds(&self, base: &str) -> bool {
            let variables: Vec<(OsString, OsString)> =
                self.variables.iter().map(|name| (name.into(), "true".into())).collect();
            let own = [Path::new(self.home), Path::new(self.project)];
            let containment = Containment { setting: None, variables: &variables, own: &own };
            let exists = |file: &str| self.files.contains(&file);
            containment.is_known(&exists, || format!("{base}{}", self.mounts))
        }
    }

    /// A development container whose files are all its own.
    const OWN: Case<'static> = Case {
        variables: &["REMOTE_CONTAINERS"],
        files: &DOCKER,
        home: "/home/none-vscode",
        project: "/none-workspaces/app",
        mounts: "",
    };

    #[test]
    fn a_development_container_with_only_its_own_files_holds() {
        assert!(OWN.holds(CONTAINER));
        let by_file = Case { variables: &[], files: &["/.dockerenv", "/var/devcontainer"], ..OWN };
        assert!(by_file.holds(CONTAINER));
        // The engine's own files, a volume elsewhere, and the layers alone as the sign of a container.
        let elsewhere = Case {
            files: &[],
            mounts: "740 721 254:1 /volumes/vscode/_data /vscode rw - ext4 /dev/vda1 rw\n",
            ..OWN
        };
        assert!(elsewhere.holds(CONTAINER));
        let podman = CONTAINER.replace("- overlay overlay", "- fuse.fuse-overlayfs fuse-overlayfs");
        assert!(Case { files: &["/run/.containerenv"], ..OWN }.holds(&podman));
    }

    #[test]
    fn a_container_that_is_none_for_development_does_not_hold() {
        for files in [&DOCKER[..], &["/run/.containerenv"], &MARKS] {
            assert!(!Case { variables: &[], files, ..OWN }.holds(CONTAINER), "{files:?}");
        }
        assert!(!Case { files: &[], ..OWN }.holds(MACHINE), "a variable makes no container");
        assert!(!OWN.holds(""), "without mounts nothing is known");
    }

    #[test]
    fn a_container_with_files_from_outside_does_not_hold() {
        for (name, mounts) in [
            ("VS Code", "741 721 254:1 /home/ann/app /none-workspaces/app rw - ext4 /dev/vda1 rw"),
            ("Codespaces", "741 721 8:17 /workspace /none-workspaces rw - ext4 /dev/sdb1 rw"),
            (
                "Docker Desktop",
                "741 721 0:40 /app /none-workspaces/app rw - fuse.grpcfuse grpcfuse rw",
            ),
            ("virtiofs", "741 721 0:40 / /none-workspaces rw - virtiofs mount0 rw"),
            ("WSL", "741 721 0:71 / /none-workspaces/app rw - 9p drvfs rw"),
            ("NFS", "741 721 0:72 / /home rw - nfs4 server:/home rw"),
            (
                "Kubernetes",
                "741 721 8:1 /pods/1/volumes/pvc /home/none-vscode rw - ext4 /dev/sda rw",
            ),
            (
                "a file",
                "741 721 254:1 /home/ann/.gitconfig /home/none-vscode/.gitconfig ro - ext4 x rw",
            ),
            ("a directory", "741 721 254:1 /home/ann/.ssh /home/none-vscode/.ssh ro - ext4 x rw"),
            ("memory", "741 721 0:30 /app /none-workspaces/app rw - tmpfs tmpfs rw"),
            (
                "layers",
                "741 721 0:99 / /none-workspaces/app rw - overlay overlay rw,lowerdir=/home/ann",
            ),
        ] {
            assert!(!Case { mounts: &format!("{mounts}\n"), ..OWN }.holds(CONTAINER), "{name}");
        }
        let mounts = "741 721 254:1 /a /none\\040x/a rw - ext4 /dev/vda1 rw\n";
        assert!(!Case { project: "/none x/a/b", mounts, ..OWN }.holds(CONTAINER));
        assert!(Case { project: "/none x/b", mounts, ..OWN }.holds(CONTAINER));
    }

    #[test]
    fn mount_points_are_read_with_their_escapes() {
        let mountinfo = r"22 1 8:1 / / rw - ext4 /dev/root rw
30 22 0:5 / /a\040b rw,nosuid shared:3 - tmpfs x rw
31 22 0:6 / /c\134d\0 rw - tmpfs x rw
broken";
        let expected = ["/", "/a b", r"/c\d\0"].map(PathBuf::from);
        assert_eq!(mount_points(mountinfo), expected);
    }

    #[test]
    fn mounts_are_not_read_where_nothing_says_that_it_is_for_development() {
        let containment = Containment { setting: None, variables: &[], own: &[] };
        let exists = |file: &str| MARKS.contains(&file);
        assert!(!containment.is_known(&exists, || panic!("the mounts were read")));
    }

    #[test]
    fn the_users_word_counts() {
        for answer in [true, false] {
            let containment = Containment { setting: Some(answer), variables: &[], own: &[] };
            assert_eq!(containment.holds(), answer);
        }
    }
}
