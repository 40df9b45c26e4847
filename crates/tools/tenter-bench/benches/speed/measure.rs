//! Measures times. Two pieces of work are compared by alternating them in one process, so that other load affects both. The ratio
//! is the median of the ratios of all rounds, which single outliers do not change.

use std::time::{Duration, Instant};

use crate::Measured;

/// The times of one piece of work, sorted.
#[derive(Debug, Clone)]
pub(crate) struct Times(Vec<Duration>);

impl Times {
    /// Sorts the times; there must be at least one.
    pub(crate) fn new(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Self(times)
    }

    /// Returns the minimum time.
    pub(crate) fn minimum(&self) -> Duration {
        self.0.first().copied().unwrap_or_default()
    }

    /// Returns the time within which this many of a hundred are.
    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        let place = (self.0.len() * percent).div_ceil(100).saturating_sub(1);
        self.0.get(place).copied().unwrap_or_default()
    }

    /// Returns the median time.
    pub(crate) fn median(&self) -> Duration {
        self.0.get(self.0.len() / 2).copied().unwrap_or_default()
    }
}

/// The times of a piece of work and of its baseline.
#[derive(Debug)]
pub(crate) struct Pair {
    /// The work.
    pub(crate) work: Times,
    /// The baseline.
    pub(crate) baseline: Times,
    /// The median ratio of the rounds.
    pub(crate) ratio: f64,
}

/// Measures the time of `work`.
pub(crate) fn time<T>(work: impl FnOnce() -> Measured<T>) -> Measured<Duration> {
    let start = Instant::now();
    std::hint::black_box(work()?);
    Ok(start.elapsed())
}

/// Measures `work` in several rounds. Each time is the mean of `repeats` runs, because the clock is too coarse for a single one.
pub(crate) fn alone<T>(
    rounds: usize,
    repeats: u32,
    mut work: impl FnMut() -> Measured<T>,
) -> Measured<Times> {
    let round = || {
        let start = Instant::now();
        for _ in 0..repeats {
            std::hint::black_box(work()?);
        }
        Ok(start.elapsed() / repeats)
    };
    std::iter::repeat_with(round).take(rounds).collect::<Measured<_>>().map(Times::new)
}

/// Measures `work` and `baseline` alternately. The order changes with every round. The first round is not counted.
pub(crate) fn paired<T, U>(
    rounds: usize,
    mut work: impl FnMut() -> Measured<T>,
    mut baseline: impl FnMut() -> Measured<U>,
) -> Measured<Pair> {
    let (mut work_times, mut baseline_times) = (Vec::new(), Vec::new());
    work()?;
    baseline()?;
    for round in 0..rounds {
        if round % 2 == 0 {
            work_times.push(time(&mut work)?);
            baseline_times.push(time(&mut baseline)?);
        } else {
            baseline_times.push(time(&mut baseline)?);
            work_times.push(time(&mut work)?);
        }
    }
    let mut ratios: Vec<f64> = work_times
        .iter()
        .zip(&baseline_times)
        .map(|(work, baseline)| ratio(*work, *baseline))
        .collect();
    ratios.sort_unstable_by(f64::total_cmp);
    Ok(Pair {
        ratio: ratios[ratios.len() / 2],
        work: Times::new(work_times),
        baseline: Times::new(baseline_times),
    })
}

/// Returns the ratio of two times.
pub(crate) fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64().max(f64::MIN_POSITIVE)
}
