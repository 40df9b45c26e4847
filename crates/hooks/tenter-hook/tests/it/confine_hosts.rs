//! Commands that may reach some hosts only: through the launcher's proxy, and not beside it.

#![expect(
    clippy::disallowed_methods,
    reason = "the launcher is started as any program starts another"
)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::{fs, thread};

use crate::confine::{Lab, is_supported, launcher};

/// Returns a server of files on this machine, which answers until the tests end.
fn serve(directory: PathBuf) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let directory = directory.clone();
            thread::spawn(move || answer(&client, &directory));
        }
    });
    port
}

fn answer(mut client: &TcpStream, directory: &Path) {
    let mut lines = BufReader::new(client).lines().map_while(Result::ok);
    let Some(first) = lines.next() else { return };
    let _ = lines.take_while(|line| !line.is_empty()).count();
    let path = first.split(' ').nth(1).unwrap_or_default().split('?').next().unwrap_or_default();
    let (status, body) = match fs::read(directory.join(path.trim_start_matches('/'))) {
        Ok(body) => ("200 OK", body),
        Err(_) => ("404 Not Found", Vec::new()),
    };
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    let _ = client.write_all(&[head.as_bytes(), &body].concat());
}

/// A lab with a server, whose port scripts have in `$SERVER`, and a confinement that allows it.
struct HostLab {
    lab: Lab,
    server: u16,
}

impl HostLab {
    fn new() -> Self {
        let lab = Lab::new();
        let server = serve(lab.path("outside"));
        Self { lab, server }
    }

    fn spec(&self) -> String {
        format!(r#"{{"network": {{"allow": ["localhost:{}"]}}}}"#, self.server)
    }

    fn run(&self, spec: &str, script: &str) -> Output {
        self.command(spec, script).output().unwrap()
    }

    fn command(&self, spec: &str, script: &str) -> Command {
        let mut command = self.lab.command(&launcher().to_string_lossy());
        command.env("SERVER", self.server.to_string()).env("SPEC", self.spec());
        for name in
            ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
        {
            command.env_remove(name);
        }
        command.args(["confine", "--spec", spec, "--", "bash", "-c", script]);
        command
    }
}

fn has(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

#[test]
fn an_allowed_host_is_reached_by_ordinary_programs() {
    tenter_testkit::skip_unless!(is_supported());
    let lab = HostLab::new();
    for (program, script) in [
        ("curl", "curl -sSf http://localhost:$SERVER/file"),
        ("curl", "curl -sSf --proxytunnel http://localhost:$SERVER/file"),
        (
            "python3",
            "python3 -c 'import os, urllib.request as r; print(r.urlopen(\"http://localhost:\" + os.environ[\"SERVER\"] + \"/file\").read().decode(), end=\"\")'",
        ),
    ] {
        if !has(program) {
            continue;
        }
        let output = lab.run(&lab.spec(), script);
        assert_eq!(String::from_utf8_lossy(&output.stdout), "original\n", "{script}: {output:?}");
    }
}

#[test]
fn git_clones_from_an_allowed_host() {
    tenter_testkit::skip_unless!(is_supported() && has("git"));
    let lab = HostLab::new();
    let repository = lab.lab.path("outside/repository");
    let prepare = "git init -q $0 && cd $0 && git -c user.name=a -c user.email=b commit -q --allow-empty -m first && git update-server-info";
    let mut command = lab.lab.command("bash");
    assert!(command.args(["-c", prepare]).arg(&repository).status().unwrap().success());
    let clone = "git clone -q http://localhost:$SERVER/repository/.git cloned && git -C cloned log --format=%s";
    let output = lab.run(&lab.spec(), clone);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "first\n", "{output:?}");
}

/// The proxy refuses, says why, and stderr has it once.
#[test]
fn other_hosts_ports_and_addresses_are_refused() {
    tenter_testkit::skip_unless!(is_supported() && has("curl"));
    let lab = HostLab::new();
    let any = r#"{"network": {"allow": ["*"]}}"#;
    for (spec, url, why) in [
        (lab.spec().as_str(), "http://example.com/", "example.com:80 is not in network.allow"),
        (&lab.spec(), "https://example.com/", "example.com:443 is not in network.allow"),
        (&lab.spec(), "http://localhost:1/", "localhost:1 is not in network.allow"),
        (any, "http://localhost:$SERVER/file", "is an address of this machine"),
        (any, "http://127.0.0.1:$SERVER/file", "is an address of this machine"),
        (any, "http://2130706433:$SERVER/file", "is an address of this machine"),
        (any, "http://169.254.169.254/latest/meta-data/", "169.254.169.254 is an address of"),
    ] {
        let output = lab.run(spec, &format!("for i in 1 2; do curl -sf --noproxy '' {url}; done"));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && output.stdout.is_empty(), "{url}: {output:?}");
        assert!(stderr.contains(why) && stderr.lines().count() == 1, "{url}: {stderr}");
    }
}

#[test]
fn the_command_ends_as_it_does_without_a_proxy() {
    tenter_testkit::skip_unless!(is_supported());
    let lab = HostLab::new();
    assert_eq!(lab.run(&lab.spec(), "exit 7").status.code(), Some(7));
    let killed = lab.run(&lab.spec(), "kill -KILL $$");
    assert_eq!(format!("{}", killed.status), "signal: 9 (SIGKILL)");
    // A signal to the launcher is one to the command.
    let script = "trap 'echo stopped; exit 3' TERM; echo ready; while :; do sleep 0.05; done";
    let mut child = lab.command(&lab.spec(), script).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "ready");
    rustix::process::kill_process(
        rustix::process::Pid::from_child(&child),
        rustix::process::Signal::TERM,
    )
    .unwrap();
    assert_eq!(lines.next().unwrap().unwrap(), "stopped");
    assert_eq!(child.wait().unwrap().code(), Some(3));
}

#[test]
fn the_command_ignores_the_signals_that_the_launcher_ignores_as_below_nohup() {
    tenter_testkit::skip_unless!(is_supported());
    let lab = HostLab::new();
    let mut command = lab.lab.command("sh");
    command.args(["-c", "trap '' HUP INT; exec \"$0\" \"$@\""]).arg(launcher());
    command.args(["confine", "--spec", &lab.spec(), "--"]);
    let output = command.args(["sh", "-c", "kill -HUP $$; kill -INT $$; echo on"]).output();
    assert_eq!(String::from_utf8_lossy(&output.unwrap().stdout), "on\n");
}

/// The proxy ends with the command: what the command leaves behind keeps running, without a network.
#[test]
fn a_process_that_outlives_the_command_has_no_network() {
    tenter_testkit::skip_unless!(is_supported() && has("curl"));
    let lab = HostLab::new();
    let script = "mkfifo go done; get() { curl -sf http://localhost:$SERVER/file || echo none; }
        get; (setsid bash -c \"$(declare -f get); read < go; get > done\" > /dev/null 2>&1 &)";
    let output = lab.run(&lab.spec(), script);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "original\n", "{output:?}");
    fs::write(lab.lab.path("project/go"), "\n").unwrap();
    assert_eq!(lab.lab.read("project/done"), "none\n");
}

#[test]
fn an_inner_proxy_uses_the_outer_one_and_can_only_narrow() {
    tenter_testkit::skip_unless!(is_supported() && has("curl"));
    let lab = HostLab::new();
    let inner = |spec: &str| {
        format!("$LAUNCHER confine --spec '{spec}' -- curl -sf http://localhost:$SERVER/file; true")
    };
    let other = r#"{"network": {"allow": ["example.com"]}}"#;
    let reached = |outer: &str, inner_spec: &str| {
        let output = lab.run(outer, &inner(inner_spec));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert_eq!(reached(&lab.spec(), &lab.spec()), "original\n");
    assert_eq!(reached(&lab.spec(), other), "");
    assert_eq!(reached(other, &lab.spec()), "");
    let none = lab.run(r#"{"network": "none"}"#, &inner(&lab.spec()));
    assert!(none.stdout.is_empty(), "{none:?}");
}

#[test]
fn the_confinement_of_two_lists_allows_what_both_do() {
    tenter_testkit::skip_unless!(is_supported() && has("curl"));
    let lab = HostLab::new();
    let own = lab.spec();
    let port = lab.server;
    for (other, expected) in [
        (r#"{"network": {"allow": ["example.com"]}}"#.to_owned(), ""),
        (
            format!(r#"{{"network": {{"allow": ["example.com", "localhost:{port}"]}}}}"#),
            "original\n",
        ),
        (r#"{"network": "local"}"#.to_owned(), ""),
    ] {
        let output =
            lab.run(&format!("[{own}, {other}]"), "curl -sf http://localhost:$SERVER/file");
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{other}: {output:?}");
    }
}
