//! The length of the tests that repeat themselves.
//!
//! `TENTER_SOAK=25 cargo test --workspace` multiplies the rounds of these tests by 25. Any factor above 1 also plays the
//! combinations that an ordinary run samples.

use std::env;

/// Returns the factor of `TENTER_SOAK`, at least 1; 1 where the variable is not set.
///
/// # Panics
/// When the variable is not a number.
#[expect(clippy::disallowed_methods, reason = "the environment says how long a test run may be")]
pub fn soak_factor() -> usize {
    let Some(value) = env::var_os("TENTER_SOAK") else { return 1 };
    let factor: Option<usize> = value.to_str().and_then(|text| text.parse().ok());
    factor.unwrap_or_else(|| panic!("TENTER_SOAK is not a number: {}", value.display())).max(1)
}

/// Returns true if the tests run longer than usual.
pub fn is_soak() -> bool {
    soak_factor() > 1
}
