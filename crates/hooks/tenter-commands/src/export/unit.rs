//! `tenter export unit`: a unit of systemd that keeps sending records.

use tenter_base::visible;
use tenter_terminal::{Env, Exit, ui};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The collector, such as http://localhost:4318; /v1/logs is added.
    #[arg(long, value_name = "URL")]
    endpoint: String,
    /// Leave out the inputs of tool calls.
    #[arg(long)]
    no_inputs: bool,
}

/// Runs the command.
pub(super) fn run(args: &Args) -> Exit {
    let program = Env::program();
    let program = visible(&program.to_string_lossy()).into_owned();
    let endpoint = visible(&args.endpoint).into_owned();
    let inputs = if args.no_inputs { " --no-inputs" } else { "" };
    ui::out(format!(
        "# ~/.config/systemd/user/tenter-export.service; then: systemctl --user enable --now tenter-export
[Unit]
Description=Sends the decisions of hooks to a collector

[Service]
ExecStart={program} export otlp --follow --endpoint {endpoint}{inputs}
Restart=always
RestartSec=10

[Install]
WantedBy=default.target"
    ));
    Exit::Done
}
