//! Hooks behind HTTP in other agents: `tenter-hook` starts the `tenter` beside it.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use tenter_testkit::{Output, Sandbox};

use crate::host_session::HostSession;

const MANIFEST: &str = "---\nname: remote\ndescription: A test.\ntrigger: before_tool\nmetadata:\n  \
    url: https://hooks.example.com/tenter\n  headers: {Authorization: \"env:TEAM_HOOK_TOKEN\"}\n  fail: closed\n---\n";

/// Copies a program in another process: a process that another test starts meanwhile cannot keep the copy open for writing.
#[expect(clippy::disallowed_methods, reason = "it needs no limits")]
pub(crate) fn copy(program: impl AsRef<OsStr>, to: &Path) {
    let status = std::process::Command::new("cp").arg(program).arg(to).status().unwrap();
    assert!(status.success());
}

/// Fires an event in a host that runs a copy of `tenter-hook`, with this script as the `tenter` beside it.
fn fire(tenter: Option<&str>) -> (Output, Option<String>) {
    let bin = Sandbox::new("/bin/sh");
    let program = bin.root().join("tenter-hook");
    copy(env!("CARGO_BIN_EXE_tenter-hook"), &program);
    let session = HostSession::new("claude-code").with_program(&program);
    if let Some(script) = tenter {
        let path = bin.root().join("tenter");
        fs::write(&path, script).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let directory = session.sandbox.home().join(".config/agents/hooks/remote");
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("HOOK.md"), MANIFEST).unwrap();
    let output = session.fire("PreToolUse.Bash");
    let input = fs::read_to_string(bin.root().join("input")).ok();
    (output, input)
}

#[test]
fn the_tenter_beside_it_sends_the_payload() {
    let (output, input) = fire(Some(
        "#!/bin/sh\n{ echo \"$@\"; cat; } > \"$(dirname \"$0\")/input\"\necho '{\"decision\": \"deny\", \"reason\": \"not today\"}'\n",
    ));
    assert!(output.stdout.contains("not today"), "{output}");
    let input = input.unwrap();
    let (arguments, payload) = input.split_once('\n').unwrap();
    let expected =
        "hooks post --header Authorization=env:TEAM_HOOK_TOKEN -- https://hooks.example.com/tenter";
    assert_eq!(arguments, expected);
    assert!(payload.contains("\"tool_input\""), "{payload}");
}

#[test]
fn its_failure_is_explained() {
    let (output, _) = fire(Some("#!/bin/sh\necho it is down >&2\nexit 2\n"));
    assert!(output.stdout.contains("it is down"), "{output}");
}

#[test]
fn without_a_tenter_the_hook_fails() {
    let (output, _) = fire(None);
    let expected =
        "it is behind HTTP, and the program `tenter`, which sends its payloads, was not found";
    assert!(output.stdout.contains(expected), "{output}");
}
