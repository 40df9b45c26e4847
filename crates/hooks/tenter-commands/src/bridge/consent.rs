//! Shows what would change in an agent's settings, and asks whether to change it.

use tenter_base::visible;
use tenter_bridge::registration::{Plan, SettingsChange};
use tenter_terminal::question::{self, Choice, read_at_terminal};
use tenter_terminal::text::diff;
use tenter_terminal::{Env, Failure, HEADING, styled, ui};

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
    /// Shows the changes of files: a line for each, and the differences if the user asks for them. Returns whether to make them.
    ///
    /// # Errors
    /// The user cannot be asked.
    pub(super) fn to(self, plan: &Plan, question: &str) -> Result<bool, Failure> {
        let changes: Vec<&SettingsChange> =
            plan.changes().iter().filter(|change| change.is_change()).collect();
        if self.dry_run {
            for change in changes {
                show(change, &|line| ui::out(line));
            }
            return Ok(false);
        }
        for change in &changes {
            ui::note(summary(change));
        }
        if self.yes {
            return Ok(true);
        }
        if !Env::can_ask() {
            return Err(Failure::new("cannot ask whether to change it: there is no terminal")
                .help("pass --yes to change it without asking, or --dry-run to look at it"));
        }
        loop {
            match question::choose(question, &CHOICES, &mut read_at_terminal) {
                Some(ConsentAnswer::Yes) => return Ok(true),
                Some(ConsentAnswer::No) | None => return Ok(false),
                Some(ConsentAnswer::Diff) => {
                    for change in &changes {
                        show(change, &|line| ui::note(line));
                    }
                }
            }
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum ConsentAnswer {
    Yes,
    No,
    Diff,
}

const CHOICES: [Choice<'static, ConsentAnswer>; 3] = [
    Choice { letter: "y", label: "yes", words: &["yes"], value: ConsentAnswer::Yes },
    Choice { letter: "n", label: "no", words: &["no", "q", "quit"], value: ConsentAnswer::No },
    Choice { letter: "d", label: "diff", words: &["diff"], value: ConsentAnswer::Diff },
];

/// Says how many lines of a file change.
fn summary(change: &SettingsChange) -> String {
    let file = visible(&change.path().to_string_lossy()).into_owned();
    let (before, after) = (change.before().unwrap_or_default(), change.after());
    let Some(after) = after else { return format!("Removes {file}.") };
    if change.before().is_none() {
        return format!("Creates {file}.");
    }
    let lines = |text: &str| text.lines().count();
    let (before, after) = (lines(before), lines(after));
    let count = match after.abs_diff(before) {
        0 => "lines changed".to_owned(),
        1 if after > before => "1 line more".to_owned(),
        1 => "1 line less".to_owned(),
        count if after > before => format!("{count} lines more"),
        count => format!("{count} lines less"),
    };
    format!("Changes {file} ({count}).")
}

fn show(change: &SettingsChange, print: &dyn Fn(String)) {
    let what = match (change.before(), change.after()) {
        (None, Some(_)) => " (new file)",
        (Some(_), None) => " (the file is removed)",
        _ => "",
    };
    let file = change.path().to_string_lossy();
    print(styled(HEADING, format!("--- {}{what}", visible(&file))));
    let before = change.before().unwrap_or_default();
    let after = change.after().unwrap_or_default();
    diff::render_trusted(before, after, LINES).into_iter().for_each(print);
}
