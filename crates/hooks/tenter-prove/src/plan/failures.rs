//! Hooks hang, crash and print garbage, failing closed and open.

use tenter_model_server::ModelReply;
use tenter_protocol::EventName;

use super::{Plan, touch};
use crate::client::Client;
use crate::hook_file::HookFile;

/// The way in which a hook fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookFailure {
    /// It does not end by itself.
    Hangs,
    /// It is killed.
    Crashes,
    /// It prints something that is not a reply.
    Garbage,
}

impl HookFailure {
    /// Every failure.
    pub const ALL: [Self; 3] = [Self::Hangs, Self::Crashes, Self::Garbage];

    /// Returns the name, which is also part of hooks and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hangs => "hangs",
            Self::Crashes => "crashes",
            Self::Garbage => "garbage",
        }
    }

    fn script(self) -> &'static str {
        match self {
            Self::Hangs => "sleep 100\n",
            Self::Crashes => "kill -KILL $$\n",
            Self::Garbage => "cat > /dev/null\necho '{\"decision\": \"deny\", '\n",
        }
    }

    /// Returns the name of the hook that fails like this.
    pub(crate) fn hook(self, fail_closed: bool) -> String {
        format!("{}-{}", self.name(), if fail_closed { "closed" } else { "open" })
    }

    /// Returns the file of the call that the hook guards.
    pub(crate) fn file(self, fail_closed: bool) -> String {
        format!("{}.txt", self.hook(fail_closed))
    }
}

/// The timeout of the hooks, in milliseconds: it cuts short only what hangs.
const TIMEOUT: u32 = 2000;

pub(super) fn plan(client: &Client) -> Plan {
    let cases =
        || HookFailure::ALL.iter().flat_map(|failure| [(*failure, true), (*failure, false)]);
    let hooks = cases().map(|(failure, fail_closed)| {
        let name = failure.hook(fail_closed);
        let hook = HookFile::script(&name, EventName::BeforeTool, failure.script())
            .only("Bash", &failure.file(fail_closed))
            .timeout(TIMEOUT);
        if fail_closed { hook } else { hook.failing_open() }
    });
    let calls = cases().map(|(failure, fail_closed)| {
        (client.shell)(ModelReply::new(), &touch(&failure.file(fail_closed)))
    });
    Plan::new(hooks.collect(), calls.chain([ModelReply::text("All finished.")]).collect())
}
