//! The scope of trust in a project's MCP server: a change behind any form of command asks again.

use std::fs;

use tenter_testkit::{Sandbox, needs};

use crate::sandbox;

/// A project with files behind which a server can be.
fn project(definition: &str) -> Sandbox {
    let sandbox = sandbox();
    for (name, content) in [
        ("tools/s.sh", "echo 1\n"),
        ("tools/x.js", "1\n"),
        ("tools/__main__.py", "1\n"),
        ("tools/s.py", "1\n"),
        ("tools/lib/a.py", "1\n"),
        ("tools/compose.yml", "services: {}\n"),
        ("tools/package.json", "{}\n"),
        ("tools/list", "tools/s.sh\n"),
        ("pkg/index.js", "1\n"),
        ("node_modules/helper/index.js", "1\n"),
        ("node_modules/.bin/local-mcp", "1\n"),
        ("package.json", r#"{"name": "shop", "scripts": {"mcp": "sh tools/s.sh"}}"#),
        ("Makefile", "mcp:\n\tsh tools/s.sh\n"),
        ("src/main.rs", "1\n"),
        ("README", "1\n"),
    ] {
        sandbox.write(name, content);
    }
    sandbox.write("tenter.toml", format!("[mcp.servers.ours]\n{definition}\n"));
    sandbox
}

fn state(sandbox: &Sandbox) -> String {
    let listed = sandbox.run(&["mcp", "list", "--json"]).expect_code(0).json();
    let state = listed[0]["state"].as_str().unwrap();
    // Few of these programs exist here; they are not started.
    state.replace("program not found", "ready")
}

fn change(sandbox: &Sandbox, name: &str) {
    let before = fs::read_to_string(sandbox.project().join(name)).unwrap_or_default();
    sandbox.write(name, format!("{before}# changed\n"));
}

/// Trusts a server with this definition, and changes a file: it must not be trusted any more. A change of `other` asks nothing.
fn check(definition: &str, changed: &str, other: Option<&str>) {
    let sandbox = project(definition);
    assert_eq!(state(&sandbox), "untrusted", "{definition}");
    let output = sandbox.run(&["trust", "--yes"]).expect_code(0);
    assert_eq!(state(&sandbox), "ready", "{definition} {output}");
    if let Some(other) = other {
        change(&sandbox, other);
        assert_eq!(state(&sandbox), "ready", "{definition}: {other} does not matter");
    }
    change(&sandbox, changed);
    assert_eq!(state(&sandbox), "untrusted", "{definition}: a change of {changed} is not seen");
}

/// The definition of a server from words.
fn words(words: &[&str]) -> String {
    format!("command = {:?}\nargs = {:?}", words[0], &words[1..])
}

#[test]
fn a_change_behind_any_form_of_command_asks_again() {
    let other = Some("src/main.rs");
    for (command, changed) in [
        (&["./tools/s.sh"][..], "tools/s.sh"),
        (&["sh", "-c", "exec sh tools/s.sh"], "tools/s.sh"),
        (&["bash", "-lc", "cd tools && ./s.sh"], "tools/s.sh"),
        (&["sh", "-c", "T=tools; . \"$T/s.sh\""], "tools/s.sh"),
        (&["sh", "-c", "cat tools/*.sh | sh"], "tools/s.sh"),
        (&["sh", "-c", "sh < tools/s.sh"], "tools/s.sh"),
        (&["bash", "--rcfile", "tools/s.sh", "-i"], "tools/s.sh"),
        (&["env", "-C", "tools", "sh", "s.sh"], "tools/s.sh"),
        (&["timeout", "60", "nice", "bash", "tools/s.sh"], "tools/s.sh"),
        (&["find", "tools", "-name", "*.sh", "-exec", "sh", "{}", ";"], "tools/s.sh"),
        (&["node", "--require=./tools/x.js", "pkg/index.js"], "tools/x.js"),
        (&["node", "-r", "./tools/x.js", "pkg/index.js"], "tools/x.js"),
        (
            &["node", "--import", "file://${TENTER_PROJECT_DIR}/tools/x.js", "pkg/index.js"],
            "tools/x.js",
        ),
        (&["node", "--require", "helper", "pkg/index.js"], "node_modules/helper/index.js"),
        (&["node", "pkg"], "pkg/index.js"),
        (&["python3", "tools"], "tools/lib/a.py"),
        (&["python3", "-m", "tools.s"], "tools/s.py"),
        (&["python3", "-Im", "tools.s"], "tools/lib/a.py"),
        (&["python3", "-m", "mcp_server_time"], "json.py"),
        (&["python3", "tools/s.py"], "tools/lib/a.py"),
        (&["ruby", "-Itools", "-rs", "pkg/index.js"], "tools/s.sh"),
        (&["perl", "-Itools", "pkg/index.js"], "tools/s.sh"),
        (&["deno", "run", "-A", "tools/x.js"], "tools/x.js"),
        (&["bun", "run", "tools/x.js"], "tools/x.js"),
        (&["npx", "-y", "tsx", "tools/x.js"], "tools/x.js"),
        (&["npx", "local-mcp"], "node_modules/.bin/local-mcp"),
        (&["npx", "-y", "some-mcp@1.0.0"], ".npmrc"),
        (&["npx", "./pkg"], "pkg/index.js"),
        (&["npm", "exec", "--", "node", "tools/x.js"], "tools/x.js"),
        (&["uvx", "--from", "./tools", "some-mcp"], "tools/s.py"),
        (&["uvx", "some-mcp"], "uv.toml"),
        (&["docker", "run", "-i", "-v", "./tools:/app", "image"], "tools/s.sh"),
        (&["uv", "tool", "run", "--from", "./tools", "some-mcp"], "tools/s.py"),
        (&["npx", "-p", "helper", "some-mcp"], "node_modules/helper/index.js"),
        (&["npx", "-c", "sh tools/s.sh"], "tools/s.sh"),
        (&["npx", "tsx", "watch", "tools/x.js"], "tools/x.js"),
        (&["java", "tools.Main"], "tools/Main.class"),
        (&["java", "@tools/list"], "tools/list"),
        (&["php", "-d", "auto_prepend_file=tools/x.js", "pkg/index.js"], "tools/x.js"),
        (&["sh", "-c", "exec sh \"$PWD/tools/s.sh\""], "tools/s.sh"),
        (&["sh", "-c", "PATH=./tools:$PATH some-mcp"], "tools/some-mcp"),
        (&["env", "-S", "sh tools/s.sh"], "tools/s.sh"),
        (&["some-mcp", "--config", "tools/list"], "tools/list"),
    ] {
        check(&words(command), changed, other);
    }
}

#[test]
fn where_a_program_decides_what_it_runs_every_file_counts() {
    for command in [
        &["make", "mcp"][..],
        &["just", "mcp"],
        &["npm", "run", "mcp"],
        &["npm", "--prefix", "tools", "start"],
        &["yarn", "mcp"],
        &["bun", "run", "mcp"],
        &["deno", "task", "mcp"],
        &["uv", "run", "server"],
        &["cargo", "run"],
        &["./gradlew", "mcp"],
        &["docker", "compose", "-f", "tools/compose.yml", "run", "mcp"],
        &["docker", "run", "-i", "-v", "${TENTER_PROJECT_DIR}:/w", "image", "sh", "/w/tools/s.sh"],
        &["node", "."],
        &["node", "-e", "require('./tools/x.js')"],
        &["python3", "-c", "import tools.s"],
        &["sh", "-c", "exec $0 $1", "sh", "tools/s.sh"],
        &["sh", "-c", "xargs sh < tools/list"],
        &["sh", "-c", "eval \"$(cat tools/s.sh)\""],
        &["sh", "-c", "some-launcher"],
        &["some-launcher", "--verbose"],
        &["python3", "-m", "invoke", "mcp"],
        &["git", "-c", "alias.mcp=!sh tools/s.sh", "mcp"],
        &["npx", "shop"],
        &["npx", "gulp", "mcp"],
    ] {
        check(&words(command), "tools/s.sh", None);
        check(&words(command), "tools/new.sh", None);
    }
}

#[test]
fn variables_and_directories_of_a_server_count() {
    let other = Some("src/main.rs");
    let node = "command = \"node\"\nargs = [\"pkg/index.js\"]\n";
    for (definition, changed) in [
        (format!("{node}env = {{NODE_OPTIONS = \"--require ./tools/x.js\"}}"), "tools/x.js"),
        (format!("{node}env = {{NODE_PATH = \"tools\"}}"), "tools/lib/a.py"),
        (format!("{node}env = {{LD_PRELOAD = \"./tools/x.js\"}}"), "tools/x.js"),
        (format!("{node}env = {{PATH = \"./tools:/bin\"}}"), "tools/s.sh"),
        (format!("{node}env = {{SETTINGS = \"tools/list\"}}"), "tools/list"),
        ("command = \"some-mcp\"\nenv = {PYTHONPATH = \"tools\"}".to_owned(), "tools/lib/a.py"),
        (
            "command = \"sh\"\nargs = [\"-c\", \"$RUN\"]\nenv = {RUN = \"sh tools/s.sh\"}"
                .to_owned(),
            "tools/s.sh",
        ),
        ("command = \"sh\"\nargs = [\"s.sh\"]\ncwd = \"tools\"".to_owned(), "tools/s.sh"),
        ("command = \"env\"\nargs = [\"PYTHONPATH=tools\", \"some-mcp\"]".to_owned(), "tools/s.py"),
        (
            "command = \"sh\"\nargs = [\"-c\", \"export PYTHONPATH=tools; some-mcp\"]".to_owned(),
            "tools/s.py",
        ),
    ] {
        check(&definition, changed, other);
    }
    check("command = \"some-mcp\"\nenv = {PYTHONPATH = \".\"}", "src/main.rs", None);
}

#[test]
fn arguments_of_servers_are_data() {
    for command in [
        &["npx", "-y", "@modelcontextprotocol/server-filesystem", "."][..],
        &["uvx", "mcp-server-git", "--repository", "."],
        &["python3", "-m", "mcp_server_git", "--repository", "."],
        &["some-mcp", "--root", "${TENTER_PROJECT_DIR}"],
        &["docker", "run", "-i", "-v", "${TENTER_PROJECT_DIR}:/w", "mcp/filesystem", "/w"],
        &["sh", "-c", "exec npx -y some-mcp ."],
    ] {
        let sandbox = project(&words(command));
        let _ = sandbox.run(&["trust", "--yes"]).expect_code(0);
        change(&sandbox, "src/main.rs");
        assert_eq!(state(&sandbox), "ready", "{command:?}");
    }
}

#[test]
fn files_that_git_ignores_do_not_count_where_every_file_does() {
    if !needs::has("git") {
        return;
    }
    let sandbox = project(&words(&["make", "mcp"]));
    fs::remove_dir_all(sandbox.project().join(".git")).unwrap();
    sandbox.write(".gitignore", "target\nlocal.mk\n");
    let _ = sandbox.shell("git init -q && git add -f Makefile tools .gitignore").expect_code(0);
    sandbox.write("target/out", "1\n");
    let _ = sandbox.run(&["trust", "--yes"]).expect_code(0);
    change(&sandbox, "target/out");
    assert_eq!(state(&sandbox), "ready");
    change(&sandbox, "src/main.rs");
    assert_eq!(state(&sandbox), "untrusted");
}

#[test]
fn a_server_with_a_file_that_is_too_large_is_reported_and_cannot_be_trusted() {
    let sandbox = project(&words(&["sh", "tools/s.sh", "tools/large"]));
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
        for expected in [
            "mcp:ours",
            "cannot be trusted",
            "tools/large is larger than 10 MiB",
            "fewer or smaller",
        ] {
            assert!(output.stderr.contains(expected), "{arguments:?} {output}");
        }
    }
    let _ = sandbox.run(&["run", "--model", &model, "--no-mcp", "hello"]).expect_code(0);
}
