//! Lenient scripts.

mod clients;
mod evidence;
mod hostile;
mod lanes;
mod round_trip;
mod services;
mod side;
mod tools;
mod turns;
