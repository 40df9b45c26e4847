//! The limits of a manifest's values.

use crate::front_matter::IntegerRange;

/// Maximum size of a `HOOK.md`, in bytes.
pub const MAX_FILE_SIZE: usize = 1024 * 1024;
/// Maximum number of characters in a description.
pub(super) const MAX_DESCRIPTION_LENGTH: usize = 1024;

/// The time limit of a run, in milliseconds.
pub(super) const TIMEOUT: IntegerRange = IntegerRange {
    min: 100,
    max: 600_000,
    default: 30_000,
    expected_value: "a number of milliseconds from 100 to 600000",
};

/// The budget of a run, in milliseconds. The default is not used: without the key there is no budget.
pub(super) const BUDGET: IntegerRange = IntegerRange {
    min: 1,
    max: 600_000,
    default: 600_000,
    expected_value: "a number of milliseconds from 1 to 600000",
};

/// The priority of a hook.
pub(super) const PRIORITY: IntegerRange = IntegerRange {
    min: 0,
    max: 1000,
    default: 100,
    expected_value: "a number from 0 to 1000; higher runs earlier",
};
