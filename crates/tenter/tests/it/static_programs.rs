//! The programs that packages link statically start other programs in the same way as dynamic ones.
#![cfg(all(target_os = "linux", target_env = "gnu"))]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

/// Starts its argument as `tenter-proc` does: in another directory and in a process group of its own.
const PROGRAM: &str = r#"
use std::os::unix::process::CommandExt;
fn main() {
    let file = std::env::args().nth(1).unwrap();
    let result = std::process::Command::new(file).current_dir("/").process_group(0).status();
    println!("{:?}", result.map_err(|error| error.raw_os_error()));
}
"#;

#[expect(clippy::disallowed_methods, reason = "the compiler and its program run as in a build")]
#[test]
fn a_file_that_is_no_program_is_not_read_by_a_shell() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| directory.path().join(name);
    fs::write(file("main.rs"), PROGRAM).unwrap();
    let wrapper = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/rustc.sh");
    let build = Command::new("sh")
        .arg(wrapper)
        .args(["rustc", "--edition=2024", "--crate-name", "tenter_launch", "--crate-type", "bin"])
        .arg("-o")
        .args([file("program"), file("main.rs")])
        .status();
    assert!(build.unwrap().success());
    // A script without its first line, and a program for another architecture.
    for content in ["exit 2\n", "\x7fELF\x02\x01\x01\n(\n"] {
        fs::write(file("script"), content).unwrap();
        fs::set_permissions(file("script"), fs::Permissions::from_mode(0o755)).unwrap();
        let output = Command::new(file("program")).arg(file("script")).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "Err(Some(8))\n", "ENOEXEC");
    }
}
