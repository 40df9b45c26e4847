//! The model server, asked by a client that is written down here and shares nothing with it.

mod client;
mod counting;
mod faults;
mod llama;
mod requests;
mod signatures;
mod speech;
mod streams;
mod violations;
