//! The programs of packages: how `packaging/rustc.sh` links them.
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

/// Builds [`PROGRAM`] as a package builds the program of this name.
#[expect(clippy::disallowed_methods, reason = "the compiler runs as in a build")]
fn build(directory: &Path, name: &str) {
    let file = |name: &str| directory.join(name);
    fs::write(file("main.rs"), PROGRAM).unwrap();
    let wrapper = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/rustc.sh");
    let build = Command::new("sh")
        .arg(wrapper)
        .args(["rustc", "--crate-name", name, "--edition=2024", "--crate-type", "bin"])
        .args(["-C", "panic=abort", "-o"])
        .args([file("program"), file("main.rs")])
        .status();
    assert!(build.unwrap().success());
}

#[test]
fn only_a_c_library_of_glibc_2_34_is_needed_for_tenter() {
    let directory = tempfile::tempdir().unwrap();
    build(directory.path(), "tenter");
    let program = fs::read(directory.path().join("program")).unwrap();
    let has = |name: &str| program.windows(name.len()).any(|part| part == name.as_bytes());
    assert!(has("libc.so.6") && !has("libgcc_s.so") && !has("GLIBC_2.35"));
}

#[expect(clippy::disallowed_methods, reason = "the program runs as in a package")]
#[test]
fn a_file_that_is_no_program_is_not_read_by_a_shell() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| directory.path().join(name);
    build(directory.path(), "tenter_launch");
    // A script without its first line, and a program for another architecture.
    for content in ["exit 2\n", "\x7fELF\x02\x01\x01\n(\n"] {
        fs::write(file("script"), content).unwrap();
        fs::set_permissions(file("script"), fs::Permissions::from_mode(0o755)).unwrap();
        let output = Command::new(file("program")).arg(file("script")).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "Err(Some(8))\n", "ENOEXEC");
    }
}
