//! A Rust program that does nothing: the baseline for the processes of Tenter.

fn main() {}
