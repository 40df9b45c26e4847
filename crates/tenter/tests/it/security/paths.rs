//! Paths that lead elsewhere through symlinks.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::Value;
use tenter_testkit::Sandbox;

use crate::sandbox;

/// Runs one call of a file tool.
fn call(sandbox: &Sandbox, tool: &str, input: &str) -> tenter_testkit::Output {
    let script = format!(
        "turns: [{{tool_calls: [{{id: c, name: {tool}, input: {{{input}}}}}]}}, {{text: ok}}]"
    );
    sandbox.play(&script, &["--headless", "go"]).expect_code(0)
}

#[test]
fn a_tool_accesses_the_file_that_realpath_reports() {
    // Each path, and the file that the system resolves it to, if any.
    let paths = [
        ("link/../.env", Some("elsewhere/.env")),
        ("link/../../.env", Some(".env")),
        ("link/./../../.env", Some(".env")),
        ("src/../.env", Some(".env")),
        ("missing/../.env", None),
        ("file/../.env", None),
    ];
    for (given, real) in paths {
        let sandbox = sandbox();
        fs::create_dir_all(sandbox.project().join("elsewhere/deep")).unwrap();
        fs::create_dir_all(sandbox.project().join("src")).unwrap();
        sandbox.write("file", "");
        sandbox.write(".env", "KEY=secret\n");
        symlink("elsewhere/deep", sandbox.project().join("link")).unwrap();
        // A guard that resolves paths with the system, from the project's directory.
        let guard = r#"printf '%s\n' "$payload" > payload.json
            given=$(printf '%s' "$payload" | sed 's/.*"file_path": "\([^"]*\)".*/\1/')
            if [ "$(realpath -- "$given" 2>/dev/null)" = "$(pwd -P)/.env" ]; then
                echo '{"blocked": true, "reason": "no"}'
            fi"#;
        sandbox.sh_hook("no-env", "before_tool_call", guard);
        let output = call(&sandbox, "file_write", &format!("file_path: {given}, text: stolen"));
        assert_eq!(sandbox.read(".env"), "KEY=secret\n", "{given}\n{output}");
        let elsewhere = sandbox.project().join("elsewhere/.env");
        assert_eq!(elsewhere.exists(), real == Some("elsewhere/.env"), "{given}\n{output}");
        let payload: Value = serde_json::from_str(&sandbox.read("payload.json")).unwrap();
        let path = &payload["paths"][0];
        assert_eq!((&path["given"], &path["op"]), (&given.into(), &"write".into()), "{payload}");
        // A path that the system does not resolve is where a program that removes `..` itself would write.
        let destination = sandbox.project().join(real.unwrap_or(".env"));
        assert_eq!(path["path"], destination.to_str().unwrap(), "{payload}");
        assert_eq!(path["certain"], true, "{payload}");
    }
}
