//! Shows what would change in an agent's settings, and asks whether to change it.

use tenter_base::sanitize::visible;
use tenter_bridge::registration::{Plan, SettingsChange};
use tenter_terminal::env::Env;
use tenter_terminal::failure::Failure;
use tenter_terminal::question::{self, read_at_terminal};
use tenter_terminal::text::diff;
use tenter_terminal::ui::{self, HEADING, styled};

/// Maximum number of lines of a diff.
const LINES: usize = 500;

/// The way to ask for consent.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct Consent {
    /// Show what would change, and change nothing.
    #[arg(long, conflicts_with = "yes")]
    pub(super) dry_run: bool,
    /// Change it without asking.
    #[arg(long)]
    pub(super) yes: bool,
}

impl Consent {
    /// Shows the changes of files. Returns whether to make them.
    ///
    /// # Errors
    /// The user cannot be asked.
    pub(super) fn to(self, plan: &Plan, question: &str) -> Result<bool, Failure> {
        let changes = plan.changes().iter().filter(|change| change.is_change());
        changes.for_each(|change| self.show(change));
        if self.dry_run || self.yes {
            return Ok(self.yes);
        }
        if !Env::can_ask() {
            return Err(Failure::new("cannot ask whether to change it: there is no terminal")
                .help("pass --yes to change it without asking, or --dry-run to look at it"));
        }
        Ok(question::confirm(question, &mut read_at_terminal))
    }

    fn show(self, change: &SettingsChange) {
        let line = |text: String| if self.dry_run { ui::out(text) } else { ui::note(text) };
        let what = match (change.before(), change.after()) {
            (None, Some(_)) => " (new file)",
            (Some(_), None) => " (the file is removed)",
            _ => "",
        };
        let file = change.path().to_string_lossy();
        line(styled(HEADING, format!("--- {}{what}", visible(&file))));
        let before = change.before().unwrap_or_default();
        let after = change.after().unwrap_or_default();
        diff::of_trusted(before, after, LINES).into_iter().for_each(line);
    }
}
