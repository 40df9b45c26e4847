//! Strict scripts.

mod counting;
mod faults;
mod llama;
mod requests;
mod signatures;
mod streams;
mod violations;
