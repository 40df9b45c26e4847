//! Parses the numbers of a command line: errors say what is valid, in words.

use std::num::NonZeroU64;
use std::str::FromStr;

/// Returns a whole number that may be 0.
pub fn whole<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| whole_error(text, "must be a whole number, such as 20"))
}

/// Returns a whole number above 0.
pub fn positive(text: &str) -> Result<NonZeroU64, String> {
    text.parse().map_err(|_| whole_error(text, "must be a whole number above 0"))
}

/// Returns a port of a server; 0 for any.
pub fn port(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_| "must be a port: a number from 1 to 65535, or 0 for any".to_owned())
}

/// Returns a number of seconds from 1 to an hour.
pub fn seconds_of_an_hour(text: &str) -> Result<u64, String> {
    let seconds = text.parse().ok().filter(|seconds| (1..=3600).contains(seconds));
    seconds.ok_or_else(|| "must be a number of seconds from 1 to 3600".to_owned())
}

/// Returns the error about a text that is not a valid whole number.
fn whole_error(text: &str, requirement: &str) -> String {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_large = is_number && text.trim_start_matches('0').len() > 3;
    if is_large { "is too large".to_owned() } else { requirement.to_owned() }
}
