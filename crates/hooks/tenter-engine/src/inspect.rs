//! The door for Tenter's own commands and programs: everything that lists, explains, checks and tests hooks, or runs them for other
//! agents. Embedders need none of it.

pub use tenter_proc::Trampoline;

// Hooks and their status.
pub use crate::catalog::{
    Catalog, HookFiles, HookSummaries, ListedHook, Loss, LostHook, PolicyOverride, PolicyTable,
    Status, Untrusted, no_such,
};
pub use crate::hook::{Hook, HookKind, HookOptions, RuntimeHook};
pub use crate::hook_policy::{HookMode, HookPolicy, TIMEOUTS_MS};
pub use crate::outer_projects::OuterProjects;
pub use crate::protected_paths::{ProtectedPaths, is_git_directory};
pub use crate::settings::AsynchronousHooks;
pub use crate::source::EntryPoint;

// Ready-made hooks.
pub use crate::checkpoints::{Checkpoint, Checkpoints};
pub use crate::ready_made::ReadyMade;

// Manifests.
pub use crate::matcher::{check_examples, check_pattern, check_tool};
pub use crate::static_action::{CHECKS, StaticAction, needless_script, replaces_script};

// Explanations and tests.
pub use crate::dispatch::{
    ConsideredHook, HookTest, Outcome, Reload, Selection, SelectionSubject, TestRun,
};
pub use crate::facts::{CallSurroundings, HookFacts};
pub use crate::matcher::{
    Explanation, HookRules, MatchResult, Matcher, Part, RuleExplanation, Search,
};
pub use crate::pattern::Truth;
pub use crate::run_context::RunContext;

// Environments and keys.
pub use crate::environment::{Environment, HookEnvironment, with_git_setting};
pub use crate::keys::{KeyMask, KeyStream, is_model_key};

// Processes of runtime hooks.
pub use crate::serving::{
    Call, CallReport, ChildProcesses, Connection, Connector, GrantedTurn, HookAnswer, HookRequest,
    PoolKey, ProcessPool, RequestCaller, RequestTurn, ServingProcess, Start,
};
