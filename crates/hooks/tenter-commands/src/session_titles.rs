//! Titles of sessions, for the log and the inspector: the user's first words, from the conversations of Tenter's own agent and from the
//! transcripts of the others.

use std::collections::{BTreeMap, HashMap};

use tenter_backtest::TitleFinder;
use tenter_engine::journal::Redactor;
use tenter_terminal::Env;

use crate::{OwnAgent, backtest};

pub(crate) struct SessionTitles {
    own: BTreeMap<String, String>,
    finder: TitleFinder,
    redactor: Redactor,
    /// The titles in transcripts by session; `None` for a session without one.
    others: HashMap<String, Option<String>>,
}

impl SessionTitles {
    /// Reads the titles of the agent's conversations; a store that cannot be read has none. `secrets` are masked in titles.
    pub(crate) fn read(env: &Env, agent: &dyn OwnAgent, secrets: Vec<String>) -> Self {
        let conversations = agent.conversations(env, None, usize::MAX).unwrap_or_default();
        Self {
            own: conversations
                .into_iter()
                .map(|conversation| (conversation.id, conversation.title))
                .collect(),
            finder: TitleFinder::new(backtest::places(env)),
            redactor: Redactor::new(secrets),
            others: HashMap::new(),
        }
    }

    /// Reads again what may have changed: a title that was found in a transcript stays.
    pub(crate) fn renew(&mut self, env: &Env, agent: &dyn OwnAgent, secrets: Vec<String>) {
        let others = std::mem::take(&mut self.others);
        *self = Self::read(env, agent, secrets);
        self.others = others.into_iter().filter(|(_, title)| title.is_some()).collect();
    }

    /// Returns the title of a session of an agent; `None` for `host` is Tenter's own agent.
    pub(crate) fn title(&mut self, host: Option<&str>, session: &str) -> Option<String> {
        let title = match (self.own.get(session), host) {
            (Some(title), _) => Some(title.clone()),
            (None, None) => None,
            (None, Some(host)) => {
                let read = || Some(self.redactor.text(&self.finder.title(host, session)?));
                self.others.entry(session.to_owned()).or_insert_with(read).clone()
            }
        };
        title.filter(|title| !title.is_empty())
    }
}
