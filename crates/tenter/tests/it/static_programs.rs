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

/// The kind of the segment that names the loader of a dynamic program.
const PT_INTERP: u32 = 3;

/// Returns the kinds of the segments of a program of 64 bits.
fn segment_kinds(program: &[u8]) -> Vec<u32> {
    let number = |at: usize| usize::from(u16::from_ne_bytes([program[at], program[at + 1]]));
    let (start, size, count) = (number(0x20), number(0x36), number(0x38));
    let headers = program[start..].chunks(size).take(count);
    headers.map(|header| u32::from_ne_bytes(header[..4].try_into().unwrap())).collect()
}

#[test]
fn programs_need_no_library_of_the_system() {
    for name in ["tenter", "tenter_hook", "tenter_launch"] {
        let directory = tempfile::tempdir().unwrap();
        build(directory.path(), name);
        let program = fs::read(directory.path().join("program")).unwrap();
        assert!(!segment_kinds(&program).contains(&PT_INTERP), "{name} needs a loader");
    }
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
