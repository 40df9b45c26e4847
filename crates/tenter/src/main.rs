//! `tenter`: runs a coding agent under lifecycle hooks. See `app` for the commands.

mod agent;
mod agent_version;
mod ancestors;
mod app;
mod bound;
mod commands;
mod completion;
mod draft;
mod editor;
mod env;
mod failure;
mod git;
mod hook_figures;
mod installed_agents;
mod notify;
mod numbers;
mod pager;
mod project;
mod question;
mod render;
mod screen;
mod settings;
mod signals;
mod since;
mod style;
mod trust;
mod ui;
mod user_only;

use tenter_base::sanitize;

fn main() -> std::process::ExitCode {
    // Where it cannot be caught, everything else works.
    let _ = tenter_proc::outlive_file_size_limit();
    if let Some(failure) = bound::run(env::Env::arguments()) {
        return failure;
    }
    let env = env::Env::of_process();
    if let Some(completed) = completion::run(&env, app::command) {
        return completed;
    }
    // Where the system cannot do this, processes that leave the group of a killed hook survive it; nothing else changes.
    let _ = tenter_proc::adopt_orphans();
    // Makes it harder for other processes to read a model's key. Where the system cannot do it, everything else works.
    let _ = tenter_proc::keep_memory_private();
    app::main(&env)
}
