//! The results as tables, and the page that contains them.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::Measured;
use crate::measure::{Pair, Times};

/// The page, relative to the directory of this crate.
const PAGE: &str = "../../../docs/performance.md";
/// The markers before and after the tables on the page.
const BEGIN: &str = "<!-- measured: begin -->\n";
const END: &str = "<!-- measured: end -->\n";

/// The results.
#[derive(Debug, Default)]
pub(crate) struct Report {
    sections: Vec<(&'static str, Vec<[String; 5]>)>,
    budgets: Vec<[String; 4]>,
    skipped: Vec<String>,
}

impl Report {
    /// Starts a section for the rows that follow.
    pub(crate) fn section(&mut self, title: &'static str) {
        self.sections.push((title, Vec::new()));
    }

    fn row(&mut self, row: [String; 5]) {
        if let Some((_, rows)) = self.sections.last_mut() {
            rows.push(row);
        }
    }

    /// Adds a piece of work and its baseline.
    pub(crate) fn pair(&mut self, what: impl Into<String>, baseline: &str, pair: &Pair) {
        self.row([
            what.into(),
            shown(pair.work.minimum()),
            shown(pair.work.median()),
            format!("{baseline}: {}", shown(pair.baseline.median())),
            format!("{:.2}", pair.ratio),
        ]);
    }

    /// Adds a piece of work without a baseline, with a remark.
    pub(crate) fn alone(&mut self, what: impl Into<String>, times: &Times, remark: &str) {
        let (minimum, median) = (shown(times.minimum()), shown(times.median()));
        self.row([what.into(), minimum, median, remark.to_owned(), String::new()]);
    }

    /// Adds a piece of work with its growth relative to `baseline`.
    pub(crate) fn growth(
        &mut self,
        what: impl Into<String>,
        times: &Times,
        baseline: &str,
        ratio: f64,
    ) {
        let (minimum, median) = (shown(times.minimum()), shown(times.median()));
        self.row([what.into(), minimum, median, baseline.to_owned(), format!("{ratio:.2}")]);
    }

    /// Adds an amount of memory, with a remark.
    pub(crate) fn memory(&mut self, what: impl Into<String>, kib: u64, remark: &str) {
        self.row([what.into(), String::new(), mib(kib), remark.to_owned(), String::new()]);
    }

    /// Adds a budget, the measured value, and whether the budget is met.
    pub(crate) fn budget(&mut self, what: &str, limit: &str, figure: String, met: bool) {
        let met = if met { "yes" } else { "**no**" };
        self.budgets.push([what.to_owned(), limit.to_owned(), figure, met.to_owned()]);
    }

    /// Adds a measurement that this machine cannot run.
    pub(crate) fn skip(&mut self, what: &str) {
        self.skipped.push(what.to_owned());
    }

    /// Returns the tables as Markdown.
    pub(crate) fn markdown(&self) -> String {
        let mut text = String::from("### Budgets\n\n");
        table(&mut text, ["measurement", "budget", "measured", "met"], &self.budgets);
        for (title, rows) in &self.sections {
            let _ = writeln!(text, "\n### {title}\n");
            table(&mut text, ["measurement", "minimum", "median", "compared with", "ratio"], rows);
        }
        for what in &self.skipped {
            let _ = writeln!(text, "\nSkipped, because this machine has none: {what}.");
        }
        text
    }

    /// Writes the tables to the page.
    pub(crate) fn write(&self) -> Measured<()> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
        let page = fs::read_to_string(&path)?;
        let (before, rest) = page.split_once(BEGIN).ok_or("the page has no place for tables")?;
        let (_, after) = rest.split_once(END).ok_or("the page's place for tables has no end")?;
        let page = format!("{before}{BEGIN}\n{}\n{END}{after}", self.markdown());
        Ok(fs::write(path, page)?)
    }
}

fn table<const N: usize>(text: &mut String, heads: [&str; N], rows: &[[String; N]]) {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    text.push_str(&line(&heads.map(str::to_owned)));
    text.push_str(&line(&[(); N].map(|()| "---".to_owned())));
    for row in rows {
        text.push_str(&line(row));
    }
}

/// Formats a duration with three digits.
pub(crate) fn shown(duration: Duration) -> String {
    let nanos = duration.as_nanos() as f64;
    let (number, unit) = match nanos {
        nanos if nanos < 1e3 => (nanos, "ns"),
        nanos if nanos < 1e6 => (nanos / 1e3, "µs"),
        nanos if nanos < 1e9 => (nanos / 1e6, "ms"),
        nanos => (nanos / 1e9, "s"),
    };
    let digits = if number < 10.0 { 2 } else { usize::from(number < 100.0) };
    format!("{number:.digits$} {unit}")
}

/// Formats an amount of memory in MiB.
pub(crate) fn mib(kib: u64) -> String {
    format!("{:.1} MiB", kib as f64 / 1024.0)
}
