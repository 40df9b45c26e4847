//! Trust in a project's MCP server: a change of what its command can run asks again. `covered/tests.rs` in `tenter-chat` has the
//! forms of commands.

use std::fs;

use tenter_testkit::{Sandbox, assert_contains, needs};

use crate::sandbox;

/// Returns a project with a server.
fn project(command: &str, arguments: &[&str]) -> Sandbox {
    let sandbox = sandbox();
    for (name, content) in [
        ("tools/s.sh", "echo 1\n"),
        ("Makefile", "mcp:\n\tsh tools/s.sh\n"),
        ("src/main.rs", "1\n"),
    ] {
        sandbox.write(name, content);
    }
    let text = format!("[mcp.servers.ours]\ncommand = {command:?}\nargs = {arguments:?}\n");
    sandbox.write("tenter.toml", text);
    sandbox
}

fn state(sandbox: &Sandbox) -> String {
    let list = sandbox.run("mcp list --json").expect_code(0).json();
    let state = list[0]["state"].as_str().unwrap();
    // Few of these programs exist here; they are not started.
    state.replace("program not found", "ready")
}

fn change(sandbox: &Sandbox, name: &str) {
    let before = fs::read_to_string(sandbox.project().join(name)).unwrap_or_default();
    sandbox.write(name, format!("{before}# changed\n"));
}

#[test]
fn files_that_git_ignores_do_not_count_where_every_file_does() {
    tenter_testkit::skip_unless!(needs::has("git"));
    let sandbox = project("make", &["mcp"]);
    fs::remove_dir_all(sandbox.project().join(".git")).unwrap();
    sandbox.write(".gitignore", "target\nlocal.mk\n");
    let _ = sandbox.shell("git init -q && git add -f Makefile tools .gitignore").expect_code(0);
    sandbox.write("target/out", "1\n");
    let _ = sandbox.run("trust --yes").expect_code(0);
    change(&sandbox, "target/out");
    assert_eq!(state(&sandbox), "ready");
    change(&sandbox, "src/main.rs");
    assert_eq!(state(&sandbox), "untrusted");
}

#[test]
fn a_server_with_a_file_that_is_too_large_is_reported_and_cannot_be_trusted() {
    let sandbox = project("sh", &["tools/s.sh", "tools/large"]);
    fs::File::create(sandbox.project().join("tools/large"))
        .unwrap()
        .set_len((10 << 20) + 1)
        .unwrap();
    assert_eq!(state(&sandbox), "untrusted");
    let model = sandbox.script("turns: [{text: ok}]");
    for arguments in [
        &["run", "--model", &model, "hello"][..],
        &["run", "--model", &model, "--trust-project", "hello"],
        &["trust"],
        &["trust", "--yes"],
    ] {
        let output = sandbox.run(arguments).expect_code(4);
        assert_contains(
            &output.stderr,
            &[
                "mcp:ours",
                "cannot be trusted",
                "tools/large is larger than 10 MiB",
                "fewer or smaller",
            ],
        );
    }
    let _ = sandbox.run(["run", "--model", &model, "--no-mcp", "hello"]).expect_code(0);
}
