//! `tenter inspect`: the command. The pages are tested where they are made.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};

use tenter_testkit::{Sandbox, assert_contains, wait_until};

use crate::{sandbox, send_signal, transcripts};

/// A running `tenter inspect`.
struct Inspect {
    process: Child,
    address: String,
}

impl Inspect {
    fn start(sandbox: &Sandbox, args: &[&str], vars: &[(&str, &str)]) -> Self {
        let mut command = sandbox.command();
        command.arg("inspect").args(args).envs(vars.iter().copied());
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut address = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut address).unwrap();
        Self { process, address: address.trim().to_owned() }
    }

    /// Requests a path with the token of the printed address.
    fn get(&self, path: &str) -> String {
        let rest = self.address.strip_prefix("http://").unwrap();
        let (server, token) = rest.split_once("/?").unwrap();
        let separator = if path.contains('?') { '&' } else { '?' };
        let mut stream = TcpStream::connect(server).unwrap();
        write!(stream, "GET {path}{separator}{token} HTTP/1.1\r\nHost: {server}\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    /// Ends it as Ctrl-C does, and returns its exit code.
    fn interrupt(mut self) -> Option<i32> {
        send_signal("INT", self.process.id());
        self.process.wait().unwrap().code()
    }
}

#[test]
fn the_pages_show_this_projects_hooks_sessions_and_sources() {
    let sandbox = sandbox();
    let guard = "#!/bin/sh\n[ \"$1\" = hook ] && echo before_tool_call && exit\ncat >/dev/null\necho '{\"blocked\": true, \"reason\": \"not <now>\"}'\n";
    sandbox.user_hook("guard", guard);
    sandbox.write(
        "turns.yaml",
        "turns:\n  - tool_calls: [{name: bash, input: {command: ls}}]\n  - text: ok\n",
    );
    let _ = sandbox.run("run --model scripted:turns.yaml hi").expect_code(0);
    let inspect = Inspect::start(&sandbox, &["--no-open"], &[]);
    let list = inspect.get("/");
    let session = list.split("/session/").nth(1).expect(&list).split('?').next().unwrap();
    let page = inspect.get(&format!("/session/{session}"));
    assert!(page.contains("not &lt;now&gt;") && page.contains("item blocked"), "{page}");
    let source = page.split("/source/").nth(1).unwrap().split('?').next().unwrap();
    let source = inspect.get(&format!("/source/{source}?name=guard"));
    assert!(source.contains("[ &quot;$1&quot; = hook ]"), "{source}");
    assert!(inspect.get("/hooks").contains("data-label=\"Denied\">1<"));
    assert!(inspect.get("/hosts").contains("Claude Code"));
    assert_eq!(inspect.interrupt(), Some(0));
}

#[test]
fn a_port_that_is_in_use_is_a_clear_error() {
    let sandbox = sandbox();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let output = sandbox.run(["inspect", "--no-open", "--port", &port]).expect_code(1);
    let expected = format!("cannot serve on port {port}: another program uses it");
    assert!(output.stderr.contains(&expected), "{output}");
    sandbox.fails(2, "inspect --port 99999", "99999");
}

#[test]
fn the_browser_opens_a_private_page_that_leads_to_the_address() {
    let sandbox = sandbox();
    let script = "#!/bin/sh\nls -l \"$1\" >\"$HOME/mode\"\ncp \"$1\" \"$HOME/opening\"\nmv \"$HOME/opening\" \"$HOME/opened\"\n";
    let opener = sandbox.write_program("../bin/xdg-open", script);
    let path = format!("{}:/usr/bin:/bin", opener.parent().unwrap().display());
    let inspect = Inspect::start(&sandbox, &[], &[("DISPLAY", ":9"), ("PATH", &path)]);
    let marker = sandbox.home().join("opened");
    wait_until("the browser opens", || marker.exists());
    let page = fs::read_to_string(marker).unwrap();
    assert!(page.contains(&format!("url={}\"", inspect.address)), "{page}");
    let mode = fs::read_to_string(sandbox.home().join("mode")).unwrap();
    assert!(mode.starts_with("-rw-------"), "{mode}");
    assert_eq!(inspect.interrupt(), Some(0));
    let remainder = fs::read_dir(sandbox.state()).unwrap();
    let remainder = remainder
        .filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|it| it == "html"));
    assert_eq!(remainder.count(), 0, "the page is removed");
}

#[test]
fn the_calls_of_transcripts_have_pages_with_exceptions_for_wrong_stops() {
    let sandbox = sandbox();
    transcripts::add_recent(&sandbox, "claude-code", "day");
    let _ = sandbox.run("guard add git-safety").expect_code(0);
    let inspect = Inspect::start(&sandbox, &["--no-open"], &[]);
    let mut page = String::new();
    wait_until("the transcripts are read", || {
        page = inspect.get("/backtest");
        !page.contains("The transcripts are read.")
    });
    assert_contains(&page, &["would be stopped", "<code>git push --force origin main</code>"]);
    assert!(!inspect.get("/backtest?host=codex").contains("<code>git push --force"));
    assert!(!inspect.get("/backtest?project=/elsewhere").contains("<code>git push --force"));
    let wrong = inspect.get(
        "/backtest?hook=git-safety&rule=force-push&command=1&wrong=git+push+--force+origin+main",
    );
    assert!(wrong.contains("except: [{&quot;program&quot;"), "{wrong}");
    let calls = inspect.get("/calls");
    assert!(calls.contains("unguarded") && calls.contains("git push --force"), "{calls}");
    assert_eq!(inspect.interrupt(), Some(0));
}
