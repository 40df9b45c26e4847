//! The script of a server, of either kind.

use serde_json::Value;

use crate::exchange::{Evidence, Verdict};
use crate::http::Request;
use crate::lenient::{LenientPlayer, LenientScript};
use crate::reply::Reply;
use crate::strict::{StrictPlayer, StrictScript};

/// The replies of a server.
#[must_use]
#[derive(Debug, Clone)]
pub enum Script {
    /// Replies for a client whose requests are checked.
    Strict(StrictScript),
    /// Turns for any client.
    Lenient(Box<LenientScript>),
}

impl From<StrictScript> for Script {
    fn from(script: StrictScript) -> Self {
        Self::Strict(script)
    }
}

impl From<LenientScript> for Script {
    fn from(script: LenientScript) -> Self {
        Self::Lenient(Box::new(script))
    }
}

/// Plays a script.
#[derive(Debug)]
pub(super) enum Player {
    Strict(StrictPlayer),
    Lenient(Box<LenientPlayer>),
}

impl Player {
    pub(super) fn new(script: Script) -> Self {
        match script {
            Script::Strict(script) => Self::Strict(StrictPlayer::new(script)),
            Script::Lenient(script) => Self::Lenient(Box::new(LenientPlayer::new(*script))),
        }
    }

    pub(super) fn push(&mut self, reply: Reply) {
        match self {
            Self::Strict(player) => player.push(reply),
            Self::Lenient(player) => player.push(reply),
        }
    }

    /// Number of replies that are not used yet; 0 in lenient scripts, whose turns can be replayed.
    pub(super) fn left(&self) -> usize {
        match self {
            Self::Strict(player) => player.left(),
            Self::Lenient(_) => 0,
        }
    }

    /// Records a request and selects its response.
    pub(super) fn judge(
        &mut self,
        request: &Request,
        body: &Value,
        evidence: &mut Evidence,
    ) -> Verdict {
        match self {
            Self::Strict(player) => player.judge(request, body, evidence),
            Self::Lenient(player) => player.judge(request, body, evidence),
        }
    }
}
