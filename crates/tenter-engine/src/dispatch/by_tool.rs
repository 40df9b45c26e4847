//! Which hooks of an event are about a tool, remembered by the tool's name: an agent has few tools and calls them often, while
//! there may be a thousand hooks about others. What a hook wants to find in the input is never remembered.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tenter_protocol::{Body, EventName};

use crate::catalog::Catalog;
use crate::hook::Hook;

/// Names that are remembered at most: a model may call tools that do not exist, by ever new names.
const MOST_NAMES: usize = 64;

/// Hooks in the order in which they run.
type Hooks = Arc<[Arc<Hook>]>;

/// What is remembered.
#[derive(Default)]
pub(super) struct ByTool(Mutex<HashMap<String, HashMap<EventName, Hooks>>>);

impl ByTool {
    /// The hooks of `catalog` that may be about `body`: those that want its event and, where it is about a tool call, do not
    /// say that they are about other tools.
    pub(super) fn hooks_for(&self, catalog: &Catalog, body: &Body) -> Hooks {
        let event = body.name();
        let Some(call) = body.tool_call() else { return catalog.shared_hooks_for(event) };
        let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(hooks) = names.get(&call.name).and_then(|events| events.get(&event)) {
            return Arc::clone(hooks);
        }
        if names.len() >= MOST_NAMES {
            names.clear();
        }
        let about = |hook: &&Arc<Hook>| hook.matcher().is_none_or(|it| it.may_be_about(&call.name));
        let hooks: Hooks = catalog.hooks_for(event).iter().filter(about).cloned().collect();
        names.entry(call.name.clone()).or_default().insert(event, Arc::clone(&hooks));
        hooks
    }
}
