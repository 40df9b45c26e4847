//! The environment of a started program, and the errors when it cannot start.

use std::io::{self, ErrorKind};
use std::path::Path;

use tenter_proc::{Invocation, ProcessEnd};

use crate::harness::{PATH, program, run_to_end, sh, whole_text, write_script, write_with_mode};

fn start_error(invocation: &Invocation) -> io::Error {
    match run_to_end(invocation).end {
        ProcessEnd::NotStarted(error) => error,
        end => panic!("{end:?}"),
    }
}

/// Returns the kind and the text of the error for a file that cannot be started, without the name of its directory.
fn error_of_file(name: &str, text: &str, mode: u32) -> (ErrorKind, String) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join(name);
    write_with_mode(&file, text, mode);
    let error = start_error(&program(file.to_str().unwrap(), &[]));
    (error.kind(), error.to_string().replace(&format!("{}/", directory.path().display()), ""))
}

#[test]
fn the_environment_is_exactly_what_was_given() {
    let mut invocation = program("env", &[]);
    invocation.env.push(("A".into(), "one two".into()));
    invocation.env.push(("EMPTY".into(), "".into()));
    let completion = run_to_end(&invocation);
    let mut lines: Vec<_> = whole_text(&completion).lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["A=one two", "EMPTY=", &format!("PATH={PATH}")]);
}

#[test]
fn it_starts_in_its_working_directory() {
    let directory = tempfile::tempdir().unwrap();
    let mut invocation = program("pwd", &["-P"]);
    invocation.cwd = directory.path().into();
    let expected = directory.path().canonicalize().unwrap();
    assert_eq!(Path::new(whole_text(&run_to_end(&invocation)).trim_end()), expected);
}

#[test]
fn it_leads_its_own_process_group() {
    let script = "ps -o pgid= -p $$ 2>/dev/null || cut -d' ' -f5 /proc/$$/stat; echo $$";
    let completion = run_to_end(&sh(script));
    let lines: Vec<_> = whole_text(&completion).lines().map(str::trim).collect();
    assert_eq!(lines[0], lines[1]);
}

#[test]
#[cfg(target_os = "linux")]
fn it_inherits_only_its_three_streams() {
    let mut invocation = program("ls", &["-l", "/proc/self/fd"]);
    invocation.stdin = b"x".to_vec();
    let completion = run_to_end(&invocation);
    let links = whole_text(&completion).lines().filter_map(|line| line.split_once(" -> "));
    let variables: Vec<_> =
        links.map(|(_, target)| target).filter(|target| !is_foreign(target)).collect();
    assert_eq!(variables.len(), 3, "{variables:#?}");
    assert!(variables.iter().all(|target| target.starts_with("pipe:")), "{variables:#?}");
}

/// Returns true if a descriptor does not come from this crate: the one with which `ls` reads the directory, or one that was
/// inherited from the parent of the test process.
#[cfg(target_os = "linux")]
fn is_foreign(target: &str) -> bool {
    let parent = format!("/proc/{}/fd", std::os::unix::process::parent_id());
    let open_in_parent = || std::fs::read_dir(parent).unwrap().flatten();
    target.ends_with("/fd")
        || open_in_parent().any(|entry| {
            std::fs::read_link(entry.path()).is_ok_and(|link| link == Path::new(target))
        })
}

#[test]
fn a_bare_name_is_looked_up_in_the_path_of_the_invocation() {
    let directory = tempfile::tempdir().unwrap();
    write_with_mode(&directory.path().join("tool"), "not this one", 0o644);
    std::fs::create_dir_all(directory.path().join("dir/tool")).unwrap();
    std::fs::create_dir(directory.path().join("bin")).unwrap();
    write_script(&directory.path().join("bin/tool"), "#!/bin/sh\necho found\n");
    let mut invocation = program("tool", &[]);
    let at = directory.path().display();
    invocation.env = vec![("PATH".into(), format!("/nowhere:{at}:{at}/dir:{at}/bin").into())];
    assert_eq!(whole_text(&run_to_end(&invocation)), "found\n");
}

#[test]
fn a_relative_path_starts_at_the_working_directory() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("sub")).unwrap();
    write_script(&directory.path().join("sub/tool"), "#!/bin/sh\necho \"$PWD\"\n");
    for name in ["sub/tool", "./sub/tool"] {
        let mut invocation = program(name, &[]);
        invocation.cwd = directory.path().into();
        assert!(run_to_end(&invocation).end.is_success());
    }
}

#[test]
fn a_missing_program_is_named() {
    let error = start_error(&program("no-such-program", &[]));
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_eq!(
        error.to_string(),
        format!("there is no program `no-such-program` in PATH ({PATH})")
    );
    let error = start_error(&program("/no/such/program", &[]));
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_eq!(error.to_string(), "the program `/no/such/program` does not exist");
}

#[test]
fn a_missing_working_directory_is_not_reported_as_a_missing_program() {
    let mut invocation = sh("exit 0");
    invocation.cwd = "/no/such/directory".into();
    let error = start_error(&invocation);
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(
        error.to_string().starts_with("the working directory `/no/such/directory` cannot be used"),
        "{error}"
    );
}

#[test]
fn a_working_directory_must_be_absolute_and_a_directory() {
    let mut invocation = sh("exit 0");
    invocation.cwd = "/dev/null".into();
    assert_eq!(start_error(&invocation).kind(), ErrorKind::NotADirectory);
    invocation.cwd = "here".into();
    assert_eq!(
        start_error(&invocation).to_string(),
        "the working directory `here` is not an absolute path"
    );
}

#[test]
fn a_file_that_cannot_be_started_is_explained() {
    let (kind, words) = error_of_file("hook", "#!/bin/sh\n", 0o644);
    assert_eq!(kind, ErrorKind::PermissionDenied);
    assert_eq!(words, "`hook` is not executable; run `chmod +x` on it");
    let (kind, words) = error_of_file("hook", "#!/no/such/interpreter\n", 0o755);
    assert_eq!(kind, ErrorKind::NotFound);
    assert_eq!(
        words,
        r##"`hook` has an interpreter that does not exist: "#!/no/such/interpreter""##
    );
    let (_, words) = error_of_file("hook", "#!/bin/sh\r\necho\r\n", 0o755);
    assert_eq!(words, r##"`hook` has an interpreter that does not exist: "#!/bin/sh\r""##);
    let (_, words) = error_of_file("hook", "echo no interpreter\n", 0o755);
    assert_eq!(words, "`hook` is not a program: a script must begin with a `#!` line");
    let error = start_error(&program("/usr", &[]));
    assert_eq!(error.to_string(), "`/usr` is a directory, not a program");
}

#[test]
fn a_program_that_never_ran_has_no_output() {
    let completion = run_to_end(&program("/no/such/program", &[]));
    assert!(completion.stdout.is_empty() && completion.stderr.is_empty() && !completion.pipes_held);
    assert!(!completion.end.is_success());
}

#[test]
fn a_nul_byte_in_the_environment_is_an_error() {
    let mut invocation = sh("exit 0");
    invocation.env.push(("A".into(), "nul \0 byte".into()));
    assert_eq!(start_error(&invocation).kind(), ErrorKind::InvalidInput);
}

#[test]
#[cfg(target_os = "linux")]
fn a_program_file_that_stays_open_for_writing_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let script = directory.path().join("script");
    write_script(&script, "#!/bin/sh\n");
    let _writer = std::fs::OpenOptions::new().append(true).open(&script).unwrap();
    let error = start_error(&program(script.to_str().unwrap(), &[]));
    assert_eq!(error.kind(), ErrorKind::ExecutableFileBusy);
}

#[test]
fn freshly_written_scripts_start_from_many_threads() {
    let directory = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let directory = directory.path();
            scope.spawn(move || {
                for number in 0..25 {
                    let script = directory.join(format!("{thread}-{number}"));
                    write_script(&script, &format!("#!/bin/sh\ncat\necho {number}\n"));
                    let mut invocation = program(script.to_str().unwrap(), &[]);
                    invocation.stdin = b"in\n".to_vec();
                    assert_eq!(whole_text(&run_to_end(&invocation)), format!("in\n{number}\n"));
                }
            });
        }
    });
}
