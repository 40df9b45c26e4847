//! `tenter`: runs a coding agent under lifecycle hooks. See `app` for the commands.

mod agent;
mod app;
mod commands;
mod draft;
mod env;
mod failure;
mod git;
mod hooks;
mod render;
mod sanitize;
mod settings;
mod signals;
mod ui;

fn main() -> std::process::ExitCode {
    app::main(&env::Env::of_process())
}
