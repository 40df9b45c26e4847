//! The launcher, as an ordinary user. Each promise is tested with its layer, where it holds, and without, where it does not: so a test
//! cannot pass for another reason.

#![expect(
    clippy::disallowed_methods,
    reason = "the launcher is started as any program starts another"
)]

use std::fs;
use std::io::Read as _;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use tenter_testkit::{assert_contains, skip_unless};

use tempfile::TempDir;

/// The user as whom the commands run if the tests run as root.
const ORDINARY_USER: u32 = 65534;

/// A project with hooks, a directory outside of it with a file, and a secret.
pub(crate) struct Lab {
    root: TempDir,
    port: TcpListener,
    _abstract_socket: UnixListener,
    _service: UnixListener,
    bystander: Child,
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = self.bystander.kill();
        let _ = self.bystander.wait();
    }
}

impl Lab {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let path = root.path();
        for directory in ["project/.git/hooks", "outside", "secrets", "runtime", "temp", ".ssh"] {
            fs::create_dir_all(path.join(directory)).unwrap();
        }
        for file in ["project/.git/config", "project/.git/hooks/pre-push", "outside/file"] {
            fs::write(path.join(file), "original\n").unwrap();
        }
        for secret in ["secrets/key", "project/.env", "project/id_rsa", ".ssh/id_rsa"] {
            fs::write(path.join(secret), "SECRET=1\n").unwrap();
        }
        let service = UnixListener::bind(path.join("runtime/bus")).unwrap();
        let name = format!("tenter-{}-{}", std::process::id(), path.display());
        let address = SocketAddr::from_abstract_name(name).unwrap();
        own_by_ordinary_user(path);
        let mut bystander = as_ordinary_user("sh");
        bystander.args(["-c", "echo; read -r _"]).env("BYSTANDER", "SECRET");
        let mut bystander = bystander.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        // It is the ordinary user's from now on.
        bystander.stdout.take().unwrap().read_exact(&mut [0]).unwrap();
        Self {
            port: TcpListener::bind("127.0.0.1:0").unwrap(),
            _abstract_socket: UnixListener::bind_addr(&address).unwrap(),
            _service: service,
            bystander,
            root,
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// Returns a command with the variables that scripts use.
    pub(crate) fn command(&self, program: &str) -> Command {
        let name = format!("tenter-{}-{}", std::process::id(), self.root.path().display());
        let mut command = as_ordinary_user(program);
        command
            .current_dir(self.path("project"))
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("OUT", self.path("outside"))
            .env("SECRETS", self.path("secrets"))
            .env("HOME", self.root.path())
            .env("TMPDIR", self.path("temp"))
            .env("XDG_RUNTIME_DIR", self.path("runtime"))
            .env("PORT", self.port.local_addr().unwrap().port().to_string())
            .env("BYSTANDER_PID", self.bystander.id().to_string())
            .env("ABSTRACT", name)
            .env("LAUNCHER", launcher());
        command
    }

    /// Runs a script of bash under the launcher.
    pub(crate) fn confined(&self, options: &[&str], script: &str) -> Output {
        let mut command = self.command(&launcher().to_string_lossy());
        command.arg("confine").args(options).args(["--", "bash", "-c", script]);
        command.output().unwrap()
    }

    pub(crate) fn stdout(&self, options: &[&str], script: &str) -> String {
        let output = self.confined(options, script);
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

/// Returns the launcher, with `tenter-hook` beside it. Ordinary users cannot enter every directory, so they are copied to one
/// that they can.
pub(crate) fn launcher() -> PathBuf {
    static COPY: std::sync::OnceLock<(TempDir, PathBuf)> = std::sync::OnceLock::new();
    let (_, path) = COPY.get_or_init(|| {
        let directory = tempfile::tempdir().unwrap();
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let path = directory.path().join("tenter-launch");
        fs::copy(env!("CARGO_BIN_EXE_tenter-launch"), &path).unwrap();
        fs::copy(env!("CARGO_BIN_EXE_tenter-hook"), path.with_file_name("tenter-hook")).unwrap();
        (directory, path)
    });
    path.clone()
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn as_ordinary_user(program: &str) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    let user = ORDINARY_USER.to_string();
    command.args(["--reuid", &user, "--regid", &user, "--clear-groups", program]);
    command
}

pub(crate) fn own_by_ordinary_user(path: &Path) {
    if is_root() {
        let owner = format!("{ORDINARY_USER}:{ORDINARY_USER}");
        assert!(Command::new("chown").arg("-R").arg(owner).arg(path).status().unwrap().success());
    }
}

/// Returns true if the kernel has what these tests need. Elsewhere they test nothing.
pub(crate) fn is_supported() -> bool {
    static IS_SUPPORTED: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *IS_SUPPORTED.get_or_init(|| {
        let mut command = as_ordinary_user(&launcher().to_string_lossy());
        command.args(["confine", "--check"]).stdout(Stdio::null()).status().unwrap().success()
    })
}

pub(crate) const WRITE: &str = r#"{"write": ["project"], "otherwise": "run"}"#;
const NO_NETWORK: &str = r#"{"network": "none", "otherwise": "run"}"#;
const LOCAL: &str = r#"{"network": "local", "otherwise": "run"}"#;
const HOSTS: &str = r#"{"network": {"allow": ["*"]}, "otherwise": "run"}"#;
const NO_SECRETS: &str = r#"{"read_not": ["secrets"], "otherwise": "run"}"#;

/// Attempts: a confinement, the layer that keeps it, and a script that succeeds without that layer.
const ATTEMPTS: [(&str, &str, &str, &str); 30] = [
    ("write outside", WRITE, "abi=0", "echo x > $OUT/new"),
    ("append outside", WRITE, "abi=0", "echo x >> $OUT/file"),
    ("delete outside", WRITE, "abi=0", "rm $OUT/file"),
    ("make a directory outside", WRITE, "abi=0", "mkdir $OUT/new"),
    (
        "truncate by path",
        WRITE,
        "abi=2",
        "python3 -c 'import os; os.truncate(os.environ[\"OUT\"] + \"/file\", 0)'",
    ),
    ("move from outside", WRITE, "abi=0", "mv $OUT/file file"),
    ("move to outside", WRITE, "abi=0", "echo x > new; mv new $OUT/new"),
    ("hard link from outside", WRITE, "abi=0", "ln $OUT/file file && echo x >> file"),
    ("symlink to outside", WRITE, "abi=0", "ln -s $OUT/new link; echo x > link"),
    ("symlink that is swapped", WRITE, "abi=0", "mkdir d; rmdir d; ln -s $OUT d; echo x > d/new"),
    ("inherited directory", WRITE, "abi=0", "exec 5< $OUT; echo x > /proc/self/fd/5/new"),
    ("background child", WRITE, "abi=0", "setsid -w bash -c 'echo x > $OUT/new'"),
    ("new namespace", WRITE, "abi=0", "unshare -Urm bash -c 'echo x > $OUT/new'"),
    (
        "root of another process",
        WRITE,
        "abi=0,no-namespaces",
        "echo x > /proc/$BYSTANDER_PID/root$OUT/new",
    ),
    ("write into hooks", WRITE, "no-namespaces", "echo x > .git/hooks/pre-commit"),
    ("move into hooks", WRITE, "no-namespaces", "echo x > h; mv h .git/hooks/pre-push"),
    ("hard link into hooks", WRITE, "no-namespaces", "echo x > h; ln h .git/hooks/pre-commit"),
    ("move hooks away", WRITE, "no-namespaces", "mv .git git && mkdir -p .git/hooks"),
    ("secret", NO_SECRETS, "no-namespaces", "grep SECRET id_rsa"),
    ("secret at home", NO_SECRETS, "no-namespaces", "grep SECRET ~/.ssh/id_rsa"),
    (
        "unmounted secret",
        NO_SECRETS,
        "no-namespaces",
        "unshare -Urm umount id_rsa 2> /dev/null; grep SECRET id_rsa",
    ),
    ("settings with a secret", NO_SECRETS, "no-namespaces", "grep SECRET .env"),
    ("TCP", NO_NETWORK, "no-seccomp", "exec 3<>/dev/tcp/127.0.0.1/$PORT"),
    ("UDP", NO_NETWORK, "no-seccomp", "echo x > /dev/udp/127.0.0.1/$PORT"),
    ("TCP beside the proxy", HOSTS, "no-namespaces", "exec 3<>/dev/tcp/127.0.0.1/$PORT"),
    (
        "sockets between machines",
        LOCAL,
        "no-seccomp",
        "python3 -c 'import socket; socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 15)'",
    ),
    ("TCP to another namespace", LOCAL, "no-namespaces", "exec 3<>/dev/tcp/127.0.0.1/$PORT"),
    (
        "abstract socket",
        WRITE,
        "abi=5",
        "python3 -c 'import os, socket; socket.socket(socket.AF_UNIX).connect(chr(0) + os.environ[\"ABSTRACT\"])'",
    ),
    ("signal", WRITE, "abi=5", "kill -0 $BYSTANDER_PID"),
    (
        "memory of a process",
        WRITE,
        "abi=0,no-namespaces",
        "grep -q SECRET /proc/$BYSTANDER_PID/environ",
    ),
];

#[test]
fn no_attempt_succeeds_and_each_would_without_its_layer() {
    skip_unless!(is_supported());
    for (name, spec, layer, script) in ATTEMPTS {
        let script = format!("{{ {script} ; }} && echo DONE");
        let confined = Lab::new().confined(&["--spec", spec], &script);
        let stdout = String::from_utf8_lossy(&confined.stdout);
        assert!(!stdout.contains("DONE"), "{name}: {confined:?}");
        let free = Lab::new().confined(&["--spec", spec, "--limit", layer], &script);
        let stdout = String::from_utf8_lossy(&free.stdout);
        assert!(stdout.contains("DONE"), "{name} without {layer}: {free:?}");
    }
}

/// io_uring opens sockets without the system call that the filter refuses.
#[test]
fn io_uring_is_refused_with_the_network() {
    let setup = "python3 -c 'import ctypes; c = ctypes.CDLL(None, use_errno=True); p = ctypes.create_string_buffer(256); print(c.syscall(425, 4, p) >= 0)'";
    let lab = Lab::new();
    let is_available =
        lab.stdout(&["--spec", NO_NETWORK, "--limit", "no-seccomp"], setup) == "True\n";
    if is_supported() && is_available {
        assert_eq!(lab.stdout(&["--spec", NO_NETWORK], setup), "False\n");
    }
}

#[test]
fn a_socket_of_a_service_cannot_be_connected() {
    skip_unless!(is_supported());
    let script = "python3 -c 'import os, socket; socket.socket(socket.AF_UNIX).connect(os.environ[\"XDG_RUNTIME_DIR\"] + \"/bus\")' && echo DONE";
    // In ABI 9, Landlock keeps it without mounts.
    let lab = Lab::new();
    assert_eq!(lab.stdout(&["--spec", WRITE], script), "");
    assert_eq!(lab.stdout(&["--spec", WRITE, "--limit", "abi=6,no-namespaces"], script), "DONE\n");
}

#[test]
fn what_is_allowed_works() {
    skip_unless!(is_supported());
    for (name, spec, script) in [
        ("the project", WRITE, "mkdir -p a/b && echo x > a/b/c && mv a/b/c d && ln d e && rm -r a"),
        ("reading", WRITE, "cat $OUT/file $SECRETS/key > /dev/null"),
        ("devices", WRITE, "echo x > /dev/null"),
        ("temporary files", r#"{"profile": "standard"}"#, "mktemp"),
        (
            "git",
            WRITE,
            "git init -q sub && cd sub && git -c user.name=a -c user.email=b commit -q --allow-empty -m x",
        ),
        ("Unix sockets", NO_NETWORK, "python3 -c 'import socket; socket.socketpair()'"),
        (
            "loopback of its own",
            LOCAL,
            "python3 -c 'import socket; s = socket.create_server((\"127.0.0.1\", 0)); socket.create_connection(s.getsockname())'",
        ),
        ("its own processes", WRITE, "sleep 60 & kill $! && wait $! ; [ $? = 143 ]"),
        ("public keys", NO_SECRETS, "cp .git/config id_rsa.pub && cat id_rsa.pub"),
    ] {
        let output = Lab::new().confined(&["--spec", spec], script);
        assert!(output.status.success(), "{name}: {output:?}");
    }
}

#[test]
fn the_command_is_the_launchers_process_and_ends_as_it_does() {
    let lab = Lab::new();
    let mut command = lab.command(&launcher().to_string_lossy());
    command.args(["confine", "--spec", WRITE, "--", "bash", "-c", "echo $$ $OUT; exec cat"]);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let pid = child.id();
    let output = child.wait_with_output().unwrap();
    let expected = format!("{pid} {}\n", lab.path("outside").display());
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    assert_eq!(lab.confined(&["--spec", WRITE], "exit 7").status.code(), Some(7));
    // Without mounts the launcher waits, and ends as the command did.
    for limit in ["abi=9", "no-namespaces"] {
        let end = lab.confined(&["--spec", WRITE, "--limit", limit], "kill -TERM $$");
        assert_eq!(format!("{}", end.status), "signal: 15 (SIGTERM)", "{limit}");
    }
    let missing =
        lab.command(&launcher().to_string_lossy()).args(["confine", "--", "no-such"]).output();
    assert_eq!(missing.unwrap().status.code(), Some(127));
}

#[test]
fn a_profile_of_the_users_is_read_by_the_program_that_knows_the_configuration() {
    skip_unless!(is_supported());
    let lab = Lab::new();
    fs::create_dir_all(lab.path(".config/tenter")).unwrap();
    let profile = "[confine.profiles.own]\nwrite = [\"~/outside\"]\n";
    fs::write(lab.path(".config/tenter/config.toml"), profile).unwrap();
    own_by_ordinary_user(&lab.path(".config"));
    let output = lab.confined(&["--profile", "own"], "echo x > inside; echo x > $OUT/new");
    assert!(output.status.success(), "{output:?}");
    assert!(!lab.path("project/inside").exists(), "{output:?}");
    let unknown = lab.confined(&["--profile", "missing"], "true");
    assert_eq!(unknown.status.code(), Some(125));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("no profile"), "{unknown:?}");
}

#[test]
fn a_promise_that_cannot_be_kept_refuses_or_is_reported() {
    skip_unless!(is_supported());
    for (spec, limit, promise) in [
        (r#"{"write": ["project"]}"#, "abi=2", "write (Landlock has ABI 2"),
        (r#"{"write": ["project"]}"#, "abi=0", "write (this kernel has no Landlock)"),
        (r#"{"read_not": ["secrets"]}"#, "no-namespaces", "read_not (no namespaces"),
        (r#"{"network": "none"}"#, "no-seccomp", "network none (no seccomp"),
        (
            r#"{"network": "local", "otherwise": "deny"}"#,
            "no-namespaces",
            "network local (no namespaces",
        ),
        (
            r#"{"network": {"allow": ["example.com"]}, "otherwise": "deny"}"#,
            "no-namespaces",
            "network allow (no namespaces",
        ),
    ] {
        let lab = Lab::new();
        let output = lab.confined(&["--spec", spec, "--limit", limit], "touch ran");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(125), "{output:?}");
        assert!(stderr.contains(promise) && stderr.lines().count() == 1, "{stderr}");
        assert!(!lab.path("project/ran").exists(), "{spec}");
        let run = spec.replace(r#", "otherwise": "deny""#, "");
        let run = format!(r#"{}, "otherwise": "run"}}"#, run.strip_suffix('}').unwrap());
        let programs = lab.confined(&["--spec", &run, "--limit", limit], "touch ran");
        assert!(
            String::from_utf8_lossy(&programs.stderr).contains("the command runs without"),
            "{programs:?}"
        );
        assert!(lab.path("project/ran").exists(), "{programs:?}");
    }
}

#[test]
fn confinements_nest_and_the_inner_one_can_only_narrow() {
    skip_unless!(is_supported());
    let lab = Lab::new();
    let inner = |spec: &str, script: &str| {
        format!("$LAUNCHER confine --spec '{spec}' -- bash -c '{script}'")
    };
    let write_all = inner(r#"{"write": ["/"]}"#, "echo x > $OUT/new");
    lab.confined(&["--spec", WRITE], &write_all);
    assert!(!lab.path("outside/new").exists());
    let narrower = inner(r#"{"write": []}"#, "echo x > new");
    assert!(!lab.confined(&["--spec", WRITE], &narrower).status.success());
    assert!(!lab.path("project/new").exists());
    // What is hidden outside is hidden inside, so the same confinement holds again.
    let standard = inner("{}", "echo x > nested");
    let output = lab.confined(&["--spec", "{}"], &standard);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(lab.read("project/nested"), "x\n");
}

#[test]
fn the_check_in_says_what_is_kept() {
    skip_unless!(is_supported());
    let lab = Lab::new();
    let file = lab.path("outside/note").display().to_string();
    let options = ["--profile", "standard", "--check-in", &file];
    let output = lab.confined(&options, "true");
    assert!(output.status.success(), "{output:?}");
    let note: serde_json::Value = serde_json::from_str(&lab.read("outside/note")).unwrap();
    assert_eq!(note["profile"], "standard");
    let promises = note["kept"].to_string();
    assert_contains(&promises, &["write", "read_not", "network none"]);
    // A note belongs to one call.
    assert_eq!(lab.confined(&options, "true").status.code(), Some(125));
}

#[test]
fn the_check_has_a_line_for_each_promise() {
    skip_unless!(is_supported());
    let lab = Lab::new();
    let check = |limit: &str| {
        let mut command = lab.command(&launcher().to_string_lossy());
        let output = command.args(["confine", "--check", "--limit", limit]).output().unwrap();
        let lines = String::from_utf8_lossy(&output.stdout).into_owned();
        let states = lines.lines().map(|line| {
            let (name, rest) = line.split_at(15);
            format!("{}: {}", name.trim(), rest[..9].trim())
        });
        (output.status.code(), states.collect::<Vec<_>>())
    };
    let names = [
        "write",
        "protected",
        "read_not",
        "network allow",
        "network local",
        "network none",
        "signals",
        "sockets",
        "services",
    ];
    for (limit, not_kept, partly) in [
        ("abi=6", &[][..], &["protected", "services"][..]),
        ("abi=2", &["write", "signals", "sockets"], &["protected", "services"]),
        (
            "abi=6,no-namespaces",
            &["read_not", "network allow", "network local", "services"],
            &["protected"],
        ),
        (
            "abi=6,no-seccomp",
            &["network none"],
            &["protected", "network allow", "network local", "services"],
        ),
    ] {
        let (code, states) = check(limit);
        let state = |name: &&str| match name {
            name if not_kept.contains(name) => "not kept",
            name if partly.contains(name) => "partly",
            _ => "kept",
        };
        let lines: Vec<String> =
            names.iter().map(|name| format!("{name}: {}", state(name))).collect();
        assert_eq!(states, lines, "{limit}");
        assert_eq!(code, Some(i32::from(!not_kept.is_empty())), "{limit}");
    }
}

/// A kernel may refuse to attach to other processes in any case.
#[test]
fn other_processes_cannot_be_traced() {
    let attach = "python3 -c 'import ctypes, os; print(ctypes.CDLL(None).ptrace(16, int(os.environ[\"BYSTANDER_PID\"]), 0, 0))'";
    let lab = Lab::new();
    let is_available = lab.stdout(&["--spec", WRITE, "--limit", "abi=0"], attach) == "0\n";
    if is_supported() && is_available {
        assert_eq!(Lab::new().stdout(&["--spec", WRITE], attach), "-1\n");
    }
}

/// A command may open its own output again, although the file is in a place that it may not write.
#[test]
fn the_own_output_can_be_opened_again() {
    let lab = Lab::new();
    let script = r#"exec "$LAUNCHER" confine --spec "$SPEC" -- bash -c 'echo x > /dev/stdout' > "$OUT/file""#;
    let output = lab.command("bash").env("SPEC", WRITE).args(["-c", script]).output().unwrap();
    assert_eq!(lab.read("outside/file"), "x\n", "{output:?}");
}

/// In another sandbox, nested namespaces are refused and the rest holds.
#[test]
fn it_works_in_bubblewrap() {
    let has_bubblewrap = Command::new("bwrap").arg("--version").output().is_ok();
    skip_unless!(is_supported() && has_bubblewrap);
    let lab = Lab::new();
    let mut command = lab.command("bwrap");
    command.args(["--dev-bind", "/", "/", "--unshare-user", "--disable-userns", "--"]);
    command.arg(launcher()).args(["confine", "--spec", WRITE, "--", "bash", "-c"]);
    let output = command.arg("echo x > inside; echo x > $OUT/new").output().unwrap();
    assert_eq!(lab.read("project/inside"), "x\n", "{output:?}");
    assert!(!lab.path("outside/new").exists());
}
