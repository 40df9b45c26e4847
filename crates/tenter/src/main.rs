//! `tenter`: lifecycle hooks for coding agents, and an agent that runs under them. See `app` for the commands.

mod app;
mod completion;
mod grouped_help;
mod unknown_command;

use tenter_terminal::Env;

fn main() -> std::process::ExitCode {
    if let Some(code) = app::version(Env::arguments()) {
        return code;
    }
    if let Some(code) = tenter_commands::confine::run_first(Env::arguments()) {
        return code;
    }
    // Where it cannot be caught, everything else works.
    let _ = tenter_proc::outlive_file_size_limit();
    if let Some(failure) = tenter_commands::bound::run(Env::arguments()) {
        return failure;
    }
    let env = Env::read_process();
    if let Some(exit) = completion::run(&env, app::command) {
        return exit;
    }
    // Where the system cannot do this, processes that leave the group of a killed hook survive it; nothing else changes.
    let _ = tenter_proc::adopt_orphans();
    // Makes it harder for other processes to read a model's key. Where the system cannot do it, everything else works.
    let _ = tenter_proc::keep_memory_private();
    app::main(&env)
}
