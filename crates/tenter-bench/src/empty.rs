//! A Rust program that does nothing: what every process costs, beside which Tenter's are measured.

fn main() {}
