//! Trust in a project: in its hooks, its recipes that start programs, the model and the plugin sources that it names
//! (R45 to R47, R77).
//!
//! `ask` shows what is not trusted yet and asks, `changes` shows what changed since it was trusted, `lost` asks about trusted
//! hooks that no longer run, `root` about `root = true` of its settings, `record` and `store` keep the answers in the trust store, `reload` asks again while an agent runs.

mod ask;
mod changes;
pub mod command;
mod lost;
mod record;
mod reload;
mod root;
mod store;

pub(crate) use ask::note_untrusted;
pub use ask::{
    PendingTrust, TrustChoice, ask, ask_hooks_of_plugin, ask_through, note_consequences,
};
pub use lost::{accept_lost, settle_lost};
pub use record::{ProjectRecipe, TrustRecord};
pub use reload::Reloader;
pub use root::settle_root;
pub use store::{
    accept, accept_disabled, accept_if_complete, record, record_in, revoke, trust_hooks,
    trust_pending, trust_recipes,
};
