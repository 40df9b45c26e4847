//! The pages over real HTTP, and in a real browser.

#![expect(clippy::unwrap_used, reason = "tests")]

mod browser;
mod journals;
mod live;
mod pages;
mod scene;
mod security;
