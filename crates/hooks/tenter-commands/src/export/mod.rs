//! `tenter export`: takes the records of the journals to other stores.
//!
//! The journals are the queue: a cursor says how far a collector has acknowledged each of them. Records may arrive twice, never not at
//! all, and each has an id that stays the same (M4).

mod cursor;
mod headers;
mod otlp;
mod ship;
mod source;
mod unit;

use std::path::Path;

use tenter_terminal::{CommandResult, Env};

use crate::{Deferred, OwnAgent, log};

/// Send the records of journals to a collector, or print them.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Send records to an OpenTelemetry collector, as logs over HTTP.
    Otlp(Deferred<ship::Args>),
    /// Print all records as JSON, one object per line.
    Jsonl,
    /// Print all runs, answers and permissions as comma-separated values.
    Csv,
    /// Print a systemd unit that keeps sending records.
    Unit(Deferred<unit::Args>),
}

/// Runs the command.
pub fn run(
    env: &Env,
    project: Option<&Path>,
    command: &Command,
    agent: &'static dyn OwnAgent,
) -> CommandResult {
    match command {
        Command::Otlp(args) => ship::run(env, args),
        Command::Jsonl => log::run(env, project, &log::Args::everything(false), agent),
        Command::Csv => log::run(env, project, &log::Args::everything(true), agent),
        Command::Unit(args) => Ok(unit::run(args)),
    }
}
