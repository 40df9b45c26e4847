//! Small charts, as SVG. Colours are in the style sheet; every chart has its figures as text for screen readers.

use std::time::Duration;

use maud::{Markup, html};

use crate::figures::{HookFigures, class};

/// Height of a chart, in its own units.
const HEIGHT: usize = 32;
/// Width of a bar, with the gap after it.
const BAR: usize = 6;

/// Runs over time: each bar is a period, its lower part the runs that denied or failed.
pub(super) fn over_time(hook: &HookFigures) -> Markup {
    let most = hook.over_time.iter().map(|period| period.runs).max().unwrap_or_default();
    let label =
        format!("{} runs over time, {} denied, {} failed", hook.runs, hook.denials, hook.failures);
    let bars = html! {
        @for (place, period) in hook.over_time.iter().enumerate() {
            (bar("run", place, height(period.runs, most)))
            (bar("notable", place, height(period.notable, most)))
        }
    };
    chart(hook.over_time.len(), &label, &bars)
}

/// Draws the durations of runs: each bar is a class of durations, on a logarithmic scale, with a mark at the budget.
pub(super) fn spread(hook: &HookFigures) -> Markup {
    let most = hook.spread.iter().copied().max().unwrap_or_default();
    let budget = hook.budget.map(|budget| (budget, class(budget)));
    let limit = budget.map_or(usize::MAX, |(_, class)| class);
    let budget_text = |budget: Duration| format!(", the budget is {} ms", budget.as_millis());
    let label = format!(
        "Durations: half of the runs within {} ms, 95 % within {} ms{}",
        hook.durations.p50.as_millis(),
        hook.durations.p95.as_millis(),
        budget.map(|(budget, _)| budget_text(budget)).unwrap_or_default()
    );
    let bars = html! {
        @for (place, runs) in hook.spread.iter().enumerate() {
            (bar(if place > limit { "notable" } else { "run" }, place, height(*runs, most)))
        }
        @if let Some((_, class)) = budget {
            @let x = (class + 1) * BAR - 1;
            line.budget x1=(x) x2=(x) y1="0" y2=(HEIGHT) {}
        }
    };
    chart(hook.spread.len(), &label, &bars)
}

/// Returns the height of a bar; one that stands for something is visible.
fn height(count: usize, most: usize) -> usize {
    let scaled = count * (HEIGHT - 2) / most.max(1);
    if count > 0 { scaled.max(2) } else { 0 }
}

fn bar(class: &str, place: usize, height: usize) -> Markup {
    html! {
        @if height > 0 {
            rect class=(class) x=(place * BAR) y=(HEIGHT - height) width=(BAR - 2) height=(height) {}
        }
    }
}

fn chart(bars: usize, label: &str, content: &Markup) -> Markup {
    let width = bars * BAR;
    html! {
        svg.chart role="img" aria-label=(label) viewBox={ "0 0 " (width) " " (HEIGHT) } preserveAspectRatio="none" {
            title { (label) }
            line.base x1="0" x2=(width) y1=(HEIGHT) y2=(HEIGHT) {}
            (content)
        }
    }
}
