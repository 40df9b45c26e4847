//! `tenter`: runs a coding agent under lifecycle hooks. See `app` for the commands.

mod agent;
mod ancestors;
mod app;
mod commands;
mod draft;
mod env;
mod failure;
mod git;
mod pager;
mod project;
mod question;
mod render;
mod sanitize;
mod settings;
mod signals;
mod trust;
mod ui;
mod user_only;

fn main() -> std::process::ExitCode {
    // Where the system has no such thing, what leaves the group of a hook that is ended outlives it, and nothing else changes.
    let _ = tenter_proc::adopt_orphans();
    // It makes it harder to come by a model's key, and is no more than that: who cannot have it works all the same.
    let _ = tenter_proc::keep_memory_private();
    signals::outlive_file_size_limit();
    app::main(&env::Env::of_process())
}
