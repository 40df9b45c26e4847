//! Runs `tenter-hook` as hosts do, with payloads that real hosts wrote.

#![expect(clippy::unwrap_used, reason = "tests")]

mod backtest;
mod claude_code;
mod claude_version;
mod codex;
mod confine;
mod confine_hosts;
mod confine_protected;
mod confined_calls;
mod copilot;
mod faults;
mod gemini;
mod golden;
mod host_session;
mod http;
mod imported;
mod keeper;
mod kimi_code;
mod managed;
mod misuse;
mod one_answer;
mod plugins;
mod protected;
mod qwen;
mod ruled_out;
mod serve;
mod state;
mod tool_names;
mod update;
mod user_rules;
