//! Time limits that grow, for tests of what happens at a limit.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Plays a scene with its usual time limits; then with limits that are 5 and 25 times as long, if it panics: a machine is too slow now
/// and then, a defect is there every time. The factor of the limits is passed to `play`.
///
/// Use it only where a limit that suits every machine would make the test slow, or where the limit is one of the program.
///
/// # Panics
/// The scene panics with the longest limits.
pub fn with_growing_limits(play: impl Fn(u32)) {
    let has_succeeded = |factor| catch_unwind(AssertUnwindSafe(|| play(factor))).is_ok();
    if ![1, 5].into_iter().any(has_succeeded) {
        play(25);
    }
}
