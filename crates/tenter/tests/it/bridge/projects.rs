//! Registration in a project.

use std::fs;
use std::os::unix::fs::symlink;
use tenter_testkit::assert_contains;

use super::Installed;

const PERSONAL: &str = ".claude/settings.local.json";
const SHARED: &str = ".claude/settings.json";

#[test]
fn a_personal_file_must_be_ignored_by_git() {
    let sandbox = Installed::new();
    sandbox.git("init --quiet");
    let install = ["bridge", "install", "claude-code", "--project", "--yes"];
    let output = sandbox.run(install).expect_code(1);
    assert_contains(&output.stderr, &["git does not ignore it", "pass --shared"]);

    let _ = sandbox.write(".git/info/exclude", ".claude/settings.local.json\n");
    let _ = sandbox.run(install).expect_code(0);
    let text = sandbox.read(PERSONAL);
    assert!(text.contains(&format!("--home {}", sandbox.home().display())), "{text}");

    sandbox.git("add --force .claude/settings.local.json");
    sandbox.fails(1, install, "git tracks it");
    let remove = ["bridge", "remove", "claude-code", "--project", "--yes"];
    let _ = sandbox.run(remove).expect_code(0);
    assert!(!sandbox.project().join(PERSONAL).exists());
}

#[test]
fn a_directory_without_git_needs_no_ignore_file() {
    let sandbox = Installed::new();
    fs::remove_dir(sandbox.project().join(".git")).unwrap();
    let _ = sandbox.write("src/main.rs", "");
    let install = "cd src && tenter bridge install claude-code --project=.. --yes";
    let _ = sandbox.shell(install).expect_code(0);
    assert!(sandbox.project().join(PERSONAL).exists());
}

#[test]
fn a_shared_file_has_nothing_of_this_machine() {
    let sandbox = Installed::new();
    sandbox.git("init --quiet");
    let _ = sandbox.write(SHARED, "{\n\t\"model\": \"opus\"\n}\n");
    let _ = sandbox.write("src/main.rs", "");
    let install = "cd src && tenter bridge install claude-code --project --shared --yes";
    sandbox.shell(install).prints("for everyone who has Tenter");
    let text = sandbox.read(SHARED);
    assert!(!text.contains(sandbox.root().to_str().unwrap()), "{text}");
    let command = r#"t=\"$HOME/.local/share/tenter/bin/tenter-hook\"; [ -x \"$t\" ] || exit 0; exec \"$t\" claude-code PreToolUse"#;
    assert!(text.contains(command), "{text}");

    sandbox.warns("bridge remove claude-code --yes", "(pass --project)");
    let _ = sandbox.run("bridge remove claude-code --project --yes").expect_code(0);
    assert_eq!(sandbox.read(SHARED), "{\n\t\"model\": \"opus\"\n}\n");
}

#[test]
fn other_places_are_refused() {
    let sandbox = Installed::new();
    let outside = sandbox.home().join("outside.json");
    fs::write(&outside, "{}").unwrap();
    fs::create_dir(sandbox.project().join(".claude")).unwrap();
    symlink(&outside, sandbox.project().join(PERSONAL)).unwrap();
    sandbox.fails(1, "bridge install claude-code --project --yes", "leads out of the project");
    assert_eq!(fs::read_to_string(outside).unwrap(), "{}");

    let output = sandbox.run("bridge install claude-code --yes --project=../home").expect_code(2);
    assert!(output.stderr.contains("the project is your home directory"), "{output}");
}
