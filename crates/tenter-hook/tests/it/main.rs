//! Runs `tenter-hook` as hosts do, with payloads that real hosts wrote.

mod claude_code;
mod golden;
mod host_session;
mod misuse;
mod state;
