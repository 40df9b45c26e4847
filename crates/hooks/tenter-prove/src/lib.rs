//! Proves that hooks guard an agent: runs the real agent in a scratch home and project, against a scripted model on loopback, with
//! hooks that are registered as `tenter bridge install` registers them, and reports what happened (B32, B33).
//!
//! ```text
//! scenario ── hooks, replies ──► sandbox ──► client ◄──► model server
//!                                               │
//!        checks ◄── files, requests, payloads ──┘
//! ```
//!
//! ```
//! use tenter_bridge::hosts;
//! use tenter_prove::{Check, Client};
//!
//! let claude = hosts::find("claude-code").unwrap();
//! assert!(Client::find(claude).is_some());
//! assert!(Check::all().iter().any(|check| check.id() == "fires.before_tool"));
//! ```

mod check;
pub mod client;
mod hook_file;
pub mod machine;
mod mcp_server;
pub mod network;
mod observed;
mod other_program;
mod own_rules;
pub mod page;
mod plan;
mod process;
mod prover;
mod results;
mod sandbox;
mod scenario;
mod verdict;

pub use check::Check;
pub use client::Client;
pub use own_rules::{OwnRule, ProvedRule, RuleOutcome};
pub use plan::failures::HookFailure;
pub use prover::Prover;
pub use results::{Proof, ProvedCheck};
pub use scenario::Scenario;
pub use verdict::CheckVerdict;
