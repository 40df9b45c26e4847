//! The engine as its users meet it: real directories, real scripts, real processes.

#![expect(clippy::unwrap_used, reason = "a test that cannot set its scene fails")]

mod builtin;
mod deadline;
mod discovery;
mod embed;
#[cfg(target_os = "linux")]
mod faults;
mod journal;
mod journal_properties;
mod late;
mod manifests;
mod native;
mod nested_projects;
mod not_running;
mod remembering;
mod renewal;
mod replies;
mod rewritten_guards;
mod scene;
#[cfg(target_os = "linux")]
mod serving;
mod session;
#[cfg(target_os = "linux")]
mod state_files;
mod test_run;
mod trust;
mod trust_sets;
mod unsearched;
