//! A client that behaves like Claude Code without a terminal, as far as the proof of clients needs it, and can have defects.
//!
//! It reads the hooks in the scratch home and project, fires their events, asks the model at `ANTHROPIC_BASE_URL`, carries out
//! calls of `Bash`, `Write`, `Agent`, `Skill` and of MCP servers, and honours the answers of hooks: as was measured of Claude Code 2.1.332.
//!
//! It needs no program of its own: a test binary is the client if a test in it calls [`run`]. [`install`] writes a script
//! `claude` that starts that test.

mod hooks;
mod mcp;
mod model;
mod session;
mod tools;

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::{fs, io};

use session::Session;

use crate::own_process;

/// The version that `claude --version` prints.
pub const VERSION: &str = "2.1.332";

const PROMPT: &str = "TENTER_FAKE_PROMPT";
const CONTINUES: &str = "TENTER_FAKE_CONTINUES";
const DEFECTS: &str = "TENTER_FAKE_DEFECTS";

/// A defect of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Defect {
    /// Hooks are not run.
    FiresNothing,
    /// A denied call runs.
    IgnoresDeny,
    /// A call runs with its first input.
    IgnoresRewrite,
    /// An output is not replaced.
    IgnoresOutput,
    /// The model does not read what hooks add.
    DropsContext,
    /// A tool runs before its hooks have answered. What they answer is reported to the model.
    RunsFirst,
    /// Of each text of a hook, the model reads the first line only.
    ReadsFirstLine,
    /// The agent does not continue.
    DoesNotContinue,
    /// Each hook runs twice at each event.
    FiresTwice,
    /// A rejected message is sent to the model.
    IgnoresRejection,
    /// A hook of a subagent's call is not run.
    SkipsSubagents,
    /// A call runs although its hook failed and the settings say that it is to be blocked then.
    IgnoresSwitch,
    /// A call that a hook asks about runs without an answer.
    IgnoresAsk,
    /// Hooks read the same name for every tool.
    NamesToolsAlike,
    /// A hook of a call of an MCP server's tool is not run.
    SkipsMcp,
    /// An answer with a notice counts for nothing else.
    NoticeVoidsAnswer,
    /// Notices of hooks are not shown.
    HidesNotices,
    /// Of several hooks of an event, the first one runs.
    RunsFirstHookOnly,
    /// A sandbox that the settings turn on does not hold.
    IgnoresSandbox,
    /// A sandbox that the settings turn on lets no command run.
    SandboxFails,
    /// A user disables the hooks that administrators registered.
    UserDisablesManaged,
}

/// The part that the test plays in the process of a client.
pub const PART: &str = "claude";

/// Writes the program `claude` into a directory: it starts the test with the name `test` in this test binary, which calls [`run`] if it
/// plays [`PART`]. Beside it are the programs that Claude Code's sandbox needs; this client only looks for them.
///
/// # Errors
/// It cannot be written.
pub fn install(directory: &Path, test: &str, defects: &[Defect]) -> io::Result<()> {
    let binary = std::env::current_exe()?;
    let script = format!(
        r#"#!/bin/sh
if [ "$1" = --version ]; then
    echo '{VERSION} (Claude Code)'
    exit
fi
export {}={PART} {DEFECTS}='{defects:?}' {PROMPT}="$2"
case " $* " in *' --continue '*) export {CONTINUES}=1 ;; esac
exec '{}' {}
"#,
        own_process::PART,
        binary.display(),
        own_process::arguments(test).join(" ")
    );
    write_program(&directory.join("claude"), &script)?;
    for name in ["bwrap", "socat"] {
        write_program(&directory.join(name), "#!/bin/sh\nexit 1\n")?;
    }
    Ok(())
}

fn write_program(path: &Path, script: &str) -> io::Result<()> {
    fs::write(path, script)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

/// Acts as the client: with the environment that a client is given, in its project.
///
/// # Panics
/// It was not started by the program that [`install`] writes.
#[expect(
    clippy::disallowed_methods,
    clippy::exit,
    reason = "it is a client that is started by a program"
)]
#[expect(clippy::print_stderr, reason = "a client shows errors")]
pub fn run() -> ! {
    let variable = |name: &str| std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set"));
    let mut session = Session::new(
        variable("HOME").into(),
        std::env::current_dir().unwrap_or_default(),
        variable("ANTHROPIC_BASE_URL"),
        variable(DEFECTS),
    );
    let continues = std::env::var_os(CONTINUES).is_some();
    let code = match session.answer(&variable(PROMPT), continues) {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("{error}");
            1
        }
    };
    std::process::exit(code)
}
