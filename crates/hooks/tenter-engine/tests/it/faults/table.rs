//! The table of faults and their results.

use std::fs::{self, OpenOptions, Permissions};
use std::os::unix::fs::PermissionsExt;

use rustix::fs::OFlags;
use tenter_protocol::EventName;

use super::Means::{Answers, Denies, Fails, Silent, Unusable};
use super::fault::Fault;
use super::{Means, SAID};

const TIMED_OUT: Means = Fails { exit: "timed out", reason: "timed out after 200 ms" };
const NO_ANSWER: Means = Fails { exit: "exit 0", reason: "its stdout is not one JSON object" };
/// A line on the stdout of a process that is called is a message.
const NO_MESSAGE: Means =
    Fails { exit: "unknown", reason: "its process broke the protocol: a line is not JSON" };
const DIED: Means = Fails { exit: "exit 2", reason: "its process exited with code 2" };
/// Text before a reply is no error under the manifest protocol, but the reply is lost (R27, R61).
const NO_DECISION: Means = Unusable { reason: "so no decision was read" };
const CHANGED: Means = Fails { exit: "not started", reason: "was changed after it was loaded" };
/// A trusted program that was touched while it ran: something else may have replied (R74).
const TOUCHED: Means = Fails { exit: "exit 0", reason: "its files were changed while it ran" };

/// Digits of a number that does not fit into 64 bits, and a nesting depth that overflows a stack.
const HUGE: usize = 400;
const DEEP: usize = 10_000;

/// Returns all faults.
pub(super) fn faults() -> Vec<Fault> {
    kinds().into_iter().flatten().collect()
}

/// Returns the faults of each kind.
pub(super) fn kinds() -> [Vec<Fault>; 7] {
    [streams(), answers(), ends(), processes(), itself(), programs(), pinned()]
}

fn streams() -> Vec<Fault> {
    let too_long = |reason| Fails { exit: "exit 0", reason };
    vec![
        Fault::new("never reads its stdin", "answer", Answers).told_a_megabyte(),
        Fault::new("never reads its stdin and hangs", "sleep 300", TIMED_OUT)
            .told_a_megabyte()
            .hanging(),
        Fault::new(
            "reads slowly",
            "for _ in 1 2 3; do dd bs=999 count=1 >/dev/null 2>&1; sleep 0.02; done
             [ \"$(wc -c)\" -gt 900000 ] && answer",
            Answers,
        )
        .told_a_megabyte()
        .not_when_called(),
        Fault::new("closes its stdout and hangs", "answer; exec >&- 2>&-; sleep 300", TIMED_OUT)
            .hanging()
            .when_called(Answers),
        Fault::new("closes its stdin early", "exec <&-; sleep 0.1; answer", Answers)
            .told_a_megabyte(),
        Fault::new(
            "floods its stdout",
            "yes | head -c 4000000",
            too_long("it wrote 4000000 bytes to stdout"),
        )
        .when_called(NO_MESSAGE),
        Fault::new(
            "floods its stdout with 100 MB",
            "head -c 100000000 /dev/zero",
            too_long("it wrote 100000000 bytes to stdout"),
        )
        .when_called(Fails {
            exit: "unknown",
            reason: "its process wrote a line of more than 1 MiB",
        })
        .only_at(EventName::BeforeTool),
        Fault::new("floods its stdout without end", "exec yes", TIMED_OUT)
            .hanging()
            .when_called(NO_MESSAGE)
            .only_at(EventName::BeforeTool),
        Fault::new("floods its stderr", "yes | head -c 4000000 >&2; answer", Answers),
        Fault::new(
            "floods its stderr with 100 MB",
            "head -c 100000000 /dev/zero >&2; answer",
            Answers,
        )
        .only_at(EventName::BeforeTool),
        Fault::new(
            "floods its stderr, in one line",
            "yes | head -c 4000000 | tr '\\n' x >&2; answer",
            Answers,
        ),
    ]
}

fn answers() -> Vec<Fault> {
    let print = |text: &str| format!("say '{text}'");
    let beside = |value: &str| print(&format!("{{{SAID}, \"other\": {value}}}"));
    let (huge, deep) = ("9".repeat(HUGE), "[".repeat(DEEP) + &"]".repeat(DEEP));
    vec![
        Fault::new("prints half a reply and hangs", "printf '{\"addi'; sleep 300", TIMED_OUT)
            .hanging(),
        Fault::new("replies and hangs", "answer; sleep 300", TIMED_OUT).hanging().when_called(Answers),
        Fault::new("prints a log line before its reply", "echo starting; answer", NO_ANSWER)
            .but_a_manifest(NO_DECISION)
            .when_called(NO_MESSAGE),
        Fault::new("replies twice", "answer; answer", NO_ANSWER).when_called(Answers),
        Fault::new("prints half a reply", "printf '{\"addi'", NO_ANSWER).not_when_called(),
        Fault::new("prints NaN", beside("NaN"), Answers),
        Fault::new("prints 1e999", beside("1e999"), Answers),
        Fault::new("prints a number of 400 digits", beside(&huge), Answers),
        Fault::new("prints half of a surrogate pair", beside(r#""\udcff""#), Answers),
        Fault::new("nests 10000 deep", beside(&deep), NO_ANSWER),
        Fault::new("prints invalid UTF-8", beside(r#""'"$(printf '\377')"'""#), Answers),
        Fault::new(
            "names a field twice",
            print(&format!("{{\"additional_context\": \"first\", {SAID}}}")),
            Fails { exit: "exit 0", reason: "its reply has the field" },
        ),
        Fault::new(
            "replies with a megabyte of the wrong type",
            "long=$(yes | head -c 300000 | tr '\\n' x)
             say \"{\\\"decision\\\": [\\\"$long\\\"], \\\"additional_context\\\": [\\\"$long\\\", \\\"$long\\\"]}\"",
            Unusable { reason: "must be a string" },
        ),
        Fault::new(
            "misspells its decision",
            print("{\"blokced\": true, \"descision\": \"deny\"}"),
            Unusable { reason: "its reply" },
        ),
        Fault::new(
            "rewrites the input with the wrong type",
            print("{\"input\": \"ls\", \"modified_input\": \"ls\"}"),
            Fails { exit: "exit 0", reason: "must be an object" },
        )
        .only_at(EventName::BeforeTool),
        Fault::new(
            "rewrites the output with the wrong type",
            print("{\"output\": \"[gone]\", \"modified_output\": \"[gone]\"}"),
            Fails { exit: "exit 0", reason: "must be an object" },
        )
        .only_at(EventName::AfterTool),
        Fault::new(
            "rewrites the output with a field that no result has",
            r#"[ "$1" = run ] || modified=modified_; say "{\"${modified}output\": {\"text\": \"\"}}""#,
            Fails {
                exit: "exit 0",
                reason: "its rewrite cannot be used: a tool's result has no field",
            },
        )
        .only_at(EventName::AfterTool),
        Fault::new(
            "replaces the history with one that no model can continue",
            print("{\"result\": \"mutate\", \"messages\": []}"),
            Fails { exit: "exit 0", reason: "its history cannot be used" },
        )
        .only_at(EventName::BeforeStop),
        Fault::new(
            "prints a byte order mark before its reply",
            "printf '\\357\\273\\277'; answer",
            Answers,
        )
        .not_when_called(),
        Fault::new("prints null", "say null", Silent { warning: "" }),
        Fault::new("prints nothing", ":", Silent { warning: "" }).not_when_called(),
    ]
}

fn ends() -> Vec<Fault> {
    let exit = |name, script, exit, reason| Fault::new(name, script, Fails { exit, reason });
    vec![
        exit("exits with 1", "answer; exit 1", "exit 1", "it exited with code 1")
            .when_called(Answers),
        exit("exits with 2", "echo no >&2; exit 2", "exit 2", "it exited with code 2")
            .but_a_manifest(Denies { reason: "no" })
            .when_called(DIED),
        exit(
            "exits with 2 after a flood",
            "yes | head -c 4000000 | tr '\\n' x >&2; echo no >&2; exit 2",
            "exit 2",
            "it exited with code 2",
        )
        .but_a_manifest(Denies { reason: "no" })
        .when_called(DIED),
        exit("exits with 3", "answer; exit 3", "exit 3", "it exited with code 3")
            .when_called(Answers),
        exit("exits with 126", "answer; exit 126", "exit 126", "it exited with code 126")
            .when_called(Answers),
        exit("exits with 127", "no-such-command", "exit 127", "it exited with code 127")
            .not_when_called(),
        exit("exits with 255", "answer; exit 255", "exit 255", "it exited with code 255")
            .when_called(Answers),
        exit("is killed", "answer; kill -KILL $$", "signal 9", "it was terminated by signal 9")
            .when_called(Answers),
        exit(
            "crashes",
            "ulimit -c 0; kill -SEGV $$",
            "signal 11",
            "it was terminated by signal 11",
        )
        .when_called(Fails {
            exit: "signal 11",
            reason: "its process was terminated by signal 11",
        }),
    ]
}

fn processes() -> Vec<Fault> {
    vec![
        Fault::new(
            "ignores SIGTERM",
            "trap '' TERM; answer; while :; do sleep 300; done",
            TIMED_OUT,
        )
        .hanging()
        .when_called(Answers),
        Fault::new("stops itself", "answer; kill -STOP $$", TIMED_OUT).hanging().when_called(Answers),
        Fault::new("leaves a child process with its pipes", "sleep 300 & answer", Answers)
            .outlived_by_one(),
        Fault::new("leaves a process in another session with its pipes", "setsid sleep 300 & answer", Answers)
            .outlived_by_one(),
        Fault::new(
            "forks twice out of its group and closes its pipes",
            "(setsid sleep 300 </dev/null >/dev/null 2>&1 &); answer",
            Answers,
        )
        .outlived_by_one(),
        Fault::new(
            "hangs, with its pipes open in another session",
            "setsid sleep 300 & sleep 300",
            TIMED_OUT,
        )
        .hanging(),
        Fault::new(
            "hangs after forking twice out of its group",
            "(setsid sh -c 'trap \"\" TERM; while :; do sleep 300; done' </dev/null >/dev/null 2>&1 &)
             sleep 300",
            TIMED_OUT,
        )
        .hanging(),
        Fault::new("leaves a child and hangs", "sleep 300 & sleep 300", TIMED_OUT).hanging(),
        Fault::new(
            "terminates its own process group",
            "answer; kill -TERM 0; sleep 300",
            Fails { exit: "signal 15", reason: "it was terminated by signal 15" },
        )
        .when_called(Answers),
        Fault::new("looks for inherited file descriptors", looks_for_descriptors(), Answers),
    ]
}

/// Returns a script that replies if it has only three file descriptors, apart from those that this process itself inherited.
fn looks_for_descriptors() -> String {
    let is_handed_on = |descriptor: &u32| {
        let information = fs::read_to_string(format!("/proc/self/fdinfo/{descriptor}"));
        let flags = information
            .as_deref()
            .ok()
            .and_then(|text| text.lines().find_map(|line| line.strip_prefix("flags:")));
        flags.is_some_and(|flags| {
            u32::from_str_radix(flags.trim(), 8).unwrap() & OFlags::CLOEXEC.bits() == 0
        })
    };
    let open = fs::read_dir("/proc/self/fd").unwrap();
    let numbers = open.filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok());
    let mut descriptors: Vec<u32> = numbers.filter(is_handed_on).collect();
    // The listing itself needs one.
    descriptors.extend((3..100).find(|number| !descriptors.contains(number)));
    let descriptors: Vec<String> = descriptors.iter().map(u32::to_string).collect();
    format!(
        "for fd in $(ls /proc/self/fd); do case ' {} ' in *\" $fd \"*) ;; *) exit 9 ;; esac; done; answer",
        descriptors.join(" ")
    )
}

/// Returns hooks that change their own program.
fn itself() -> Vec<Fault> {
    let rewrites = "echo '# more' >> \"$0\"; answer";
    vec![
        Fault::new("deletes itself", "rm \"$0\"; answer", Answers),
        Fault::new("deletes itself (a project's)", "rm \"$0\"; answer", TOUCHED).pinned(),
        Fault::new("rewrites itself", rewrites, Answers),
        Fault::new("rewrites itself, next run", rewrites, Answers).run_twice(),
        Fault::new("rewrites itself (a project's)", rewrites, TOUCHED).pinned(),
        Fault::new("rewrites itself (a project's), next run", rewrites, CHANGED)
            .pinned()
            .run_twice(),
    ]
}

/// Changes to a hook's program after it was loaded.
fn programs() -> Vec<Fault> {
    vec![
        Fault::done_to("does not exist", "does not exist", |program| {
            fs::remove_file(program).unwrap();
            None
        }),
        Fault::done_to("became a directory", "is a directory, not a program", |program| {
            fs::remove_file(program).unwrap();
            fs::create_dir(program).unwrap();
            None
        }),
        Fault::done_to("names a missing interpreter", "\"#!/nowhere/sh\"", |program| {
            fs::write(program, "#!/nowhere/sh\n").unwrap();
            None
        }),
        Fault::done_to("is not executable", "is not executable; run `chmod +x` on it", |program| {
            fs::set_permissions(program, Permissions::from_mode(0o644)).unwrap();
            None
        }),
        Fault::done_to("is open for writing", "open for writing", |program| {
            Some(OpenOptions::new().append(true).open(program).unwrap())
        })
        .taking_long(),
        Fault::done_to("is for another architecture", "for another architecture", |program| {
            fs::write(program, foreign_program()).unwrap();
            None
        }),
        Fault::done_to(
            "is empty",
            "is not a program: a script must begin with a `#!`",
            |program| {
                fs::write(program, "").unwrap();
                None
            },
        ),
    ]
}

/// Returns the same faults for a project's hook, which is compared with the trusted content.
fn pinned() -> Vec<Fault> {
    let reason = "was changed after it was loaded";
    vec![
        Fault::done_to("does not exist (a project's)", "can no longer be read", |program| {
            fs::remove_file(program).unwrap();
            None
        })
        .but_a_manifest(CHANGED)
        .pinned(),
        Fault::done_to("became a directory (a project's)", reason, |program| {
            fs::remove_file(program).unwrap();
            fs::create_dir(program).unwrap();
            None
        })
        .pinned(),
        Fault::done_to("is not executable (a project's)", reason, |program| {
            fs::set_permissions(program, Permissions::from_mode(0o644)).unwrap();
            None
        })
        .pinned(),
        Fault::done_to("is for another architecture (a project's)", reason, |program| {
            fs::write(program, foreign_program()).unwrap();
            None
        })
        .pinned(),
        Fault::new("is rewritten with the same content (a project's)", "answer", Answers)
            .meanwhile(|program| {
                fs::write(program, fs::read(program).unwrap()).unwrap();
                None
            })
            .pinned(),
    ]
}

/// Returns the beginning of an ELF program for an architecture that does not exist.
fn foreign_program() -> Vec<u8> {
    let mut header = b"\x7fELF\x02\x01\x01".to_vec();
    header.resize(64, 0);
    header[16] = 2;
    header[18..20].copy_from_slice(&[0xfe, 0xfe]);
    header
}
