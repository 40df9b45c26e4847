//! Runtime hooks as real processes: shell scripts that are started once and called many times (S5 to S13).

mod life;
mod lines;
mod parallel;
mod same_outcome;
mod services;
mod stage;
