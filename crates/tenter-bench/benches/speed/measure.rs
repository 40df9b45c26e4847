//! Takes times. Two things are compared by doing them in turns in one process, so that whatever else the machine does meets
//! both; the ratio is the middle one of the rounds' ratios, which a disturbance of single rounds does not move.

use std::time::{Duration, Instant};

use crate::Measured;

/// The times of one piece of work, the shortest first.
#[derive(Debug, Clone)]
pub(crate) struct Times(Vec<Duration>);

impl Times {
    /// These times, of which there is at least one.
    pub(crate) fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Self(times)
    }

    /// The shortest.
    pub(crate) fn shortest(&self) -> Duration {
        self.0.first().copied().unwrap_or_default()
    }

    /// The middle one.
    pub(crate) fn middle(&self) -> Duration {
        self.0.get(self.0.len() / 2).copied().unwrap_or_default()
    }
}

/// The times of a piece of work and of what it is measured beside.
#[derive(Debug)]
pub(crate) struct Pair {
    /// The work.
    pub(crate) work: Times,
    /// What it is measured beside.
    pub(crate) beside: Times,
    /// The middle ratio of the rounds.
    pub(crate) ratio: f64,
}

/// How long `work` takes.
pub(crate) fn timed<T>(work: impl FnOnce() -> Measured<T>) -> Measured<Duration> {
    let start = Instant::now();
    std::hint::black_box(work()?);
    Ok(start.elapsed())
}

/// `work` so often; each time is the mean of `repeats` of it, for what a clock is too coarse for.
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
    std::iter::repeat_with(round).take(rounds).collect::<Measured<_>>().map(Times::of)
}

/// `work` and what it is measured `beside` in turns; who begins, changes with every round. A first round is not counted.
pub(crate) fn paired<T, U>(
    rounds: usize,
    mut work: impl FnMut() -> Measured<T>,
    mut beside: impl FnMut() -> Measured<U>,
) -> Measured<Pair> {
    let (mut of_work, mut of_beside) = (Vec::new(), Vec::new());
    work()?;
    beside()?;
    for round in 0..rounds {
        if round % 2 == 0 {
            of_work.push(timed(&mut work)?);
            of_beside.push(timed(&mut beside)?);
        } else {
            of_beside.push(timed(&mut beside)?);
            of_work.push(timed(&mut work)?);
        }
    }
    let mut ratios: Vec<f64> =
        of_work.iter().zip(&of_beside).map(|(work, beside)| ratio(*work, *beside)).collect();
    ratios.sort_unstable_by(f64::total_cmp);
    Ok(Pair {
        ratio: ratios[ratios.len() / 2],
        work: Times::of(of_work),
        beside: Times::of(of_beside),
    })
}

/// How many times the one is as long as the other.
pub(crate) fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64().max(f64::MIN_POSITIVE)
}
