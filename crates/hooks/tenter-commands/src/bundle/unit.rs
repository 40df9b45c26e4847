//! `tenter bundle unit`: a service and a timer of systemd that update bundles.

use tenter_base::visible;
use tenter_terminal::{Env, Exit, ui};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Minutes between updates.
    #[arg(long, value_name = "MINUTES", default_value = "15", value_parser = minutes)]
    every: u32,
}

/// Parses a number of minutes.
fn minutes(text: &str) -> Result<u32, String> {
    const MAX_MINUTES: u32 = 10_080;
    let minutes = text.parse().ok().filter(|minutes| (1..=MAX_MINUTES).contains(minutes));
    minutes.ok_or_else(|| format!("minutes are a number from 1 to {MAX_MINUTES}"))
}

/// Runs the command. The delay keeps the machines of a fleet from asking at the same moment.
pub(super) fn run(args: &Args) -> Exit {
    let program = Env::program();
    let program = visible(&program.to_string_lossy()).into_owned();
    let every = args.every;
    ui::out(format!(
        "# /etc/systemd/system/tenter-bundle.service
[Unit]
Description=Updates the bundles of managed hooks
Wants=network-online.target
After=network-online.target

[Service]
Type=oneshot
ExecStart={program} bundle update

# /etc/systemd/system/tenter-bundle.timer; then: systemctl enable --now tenter-bundle.timer
[Unit]
Description=Updates the bundles of managed hooks every {every} minutes

[Timer]
OnBootSec=1min
OnUnitActiveSec={every}min
RandomizedDelaySec={every}min

[Install]
WantedBy=timers.target"
    ));
    Exit::Done
}
