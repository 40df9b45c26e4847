//! A model that plays a file of turns: for the demo, for tests, and for reports of bugs. The file's form is described in
//! `docs/scripted-models.md`.
//!
//! It is strict with what it is given: an unknown key, a wrong type or an unmet expectation is an error that names the
//! turn, because a script that is silently misread proves nothing.

mod file;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use tenter_proc::Cancel;
use tenter_protocol::Block;
use tenter_protocol::event::TurnUsage;

use self::file::{Answer, Expect, Failure, Script, Turn};
use super::{Delta, Model, ModelError, Request, Response, ResponseBlock, StopCause};

/// Tokens that a scripted model holds, where its file does not say.
const CONTEXT_WINDOW: u64 = 200_000;
/// Bytes of a request that an unmet expectation shows.
const SHOWN_REQUEST: usize = 16 * 1024;

/// A model that plays a script.
pub struct ScriptedModel {
    name: String,
    script: Script,
    places: Mutex<Places>,
}

/// Where a script stands: in its turns, and in those of each recipe.
#[derive(Debug, Default)]
struct Places {
    turns: Place,
    recipes: BTreeMap<String, Place>,
}

/// Where a list of turns stands.
#[derive(Debug, Default)]
struct Place {
    /// The turn that is next, from 0.
    turn: usize,
    /// How often it failed already.
    failed: u32,
}

impl Place {
    /// Goes to the next turn, unless this one, which stands here, fails this time; says whether it does. After its failures
    /// a turn is played as if nothing had been, where there is anything to play.
    fn advance(&mut self, turn: &Turn) -> bool {
        let failing = self.failed < turn.failures();
        self.failed = if failing { self.failed + 1 } else { 0 };
        let over = self.failed == turn.failures() && !turn.has_content();
        if !failing || over {
            self.turn += 1;
            self.failed = 0;
        }
        failing
    }
}

impl ScriptedModel {
    /// Reads a script, YAML or JSON.
    ///
    /// # Errors
    /// When the file cannot be read or is no script.
    pub fn load(path: &Path) -> Result<Self, ModelError> {
        let setup = |problem: String| {
            ModelError::Setup(format!("the script {}: {problem}", path.display()))
        };
        let text = std::fs::read_to_string(path).map_err(|error| setup(error.to_string()))?;
        Self::parse(&format!("scripted:{}", path.display()), &text).map_err(setup)
    }

    /// Reads a script from text.
    ///
    /// # Errors
    /// What is wrong with it and where.
    pub fn parse(name: &str, text: &str) -> Result<Self, String> {
        let script: Script = serde_saphyr::from_str(text).map_err(|error| error.to_string())?;
        Ok(Self { name: name.to_owned(), script, places: Mutex::default() })
    }

    /// The turn for the next request with its number, and whether it fails this time. A recipe's last turn is played again
    /// and again; after the last of the conversation's own there is none.
    fn next(&self, recipe: Option<&str>) -> Option<(usize, &Turn, bool)> {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(recipe) = recipe else {
            let turn = self.script.turns.get(places.turns.turn)?;
            let number = places.turns.turn + 1;
            return Some((number, turn, places.turns.advance(turn)));
        };
        let turns = self.script.recipes.get(recipe)?;
        let place = places.recipes.entry(recipe.to_owned()).or_default();
        let index = place.turn.min(turns.len().checked_sub(1)?);
        let Answer(turn) = &turns[index];
        Some((index + 1, turn, place.advance(turn)))
    }
}

/// A script says what its recipes answer, or they fail: an answer that nobody meant proves nothing.
fn no_answer(recipe: &str) -> ModelError {
    let message = format!("the script has no answer for the recipe {recipe:?}");
    ModelError::Refused { message, help: Some("give it some under `recipes`".to_owned()) }
}

impl Model for ScriptedModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn context_window(&self) -> u64 {
        self.script.context_window.unwrap_or(CONTEXT_WINDOW)
    }

    fn respond(
        &self,
        request: &Request,
        deltas: &mut dyn FnMut(Delta),
        cancel: &Cancel,
    ) -> Result<Response, ModelError> {
        if cancel.is_cancelled() {
            return Err(ModelError::Cancelled);
        }
        let Some((number, turn, fails)) = self.next(request.recipe) else {
            let over = Response { stop: StopCause::Over, ..Response::default() };
            return request.recipe.map_or(Ok(over), |recipe| Err(no_answer(recipe)));
        };
        turn.expect.check(number, request)?;
        match turn.failure().filter(|_| fails) {
            Some(failure) => {
                turn.wait(cancel)?;
                Err(turn.fail(failure, deltas))
            }
            // A turn that failed was late when it did.
            None if turn.failures() > 0 => Ok(turn.response(number, deltas)),
            None => {
                turn.wait(cancel)?;
                Ok(turn.response(number, deltas))
            }
        }
    }
}

impl Expect {
    fn check(&self, turn: usize, request: &Request) -> Result<(), ModelError> {
        if self.contains.is_empty() && self.lacks.is_empty() {
            return Ok(());
        }
        let sent = request.text();
        let missing = self.contains.iter().find(|text| !sent.contains(text.as_str()));
        let present = self.lacks.iter().find(|text| sent.contains(text.as_str()));
        let problem = match (missing, present) {
            (Some(text), _) => format!("expects the request to contain {text:?}, and it does not"),
            (None, Some(text)) => format!("expects the request to lack {text:?}, and it does not"),
            (None, None) => return Ok(()),
        };
        Err(ModelError::Expectation { turn, problem, sent: shortened(sent) })
    }
}

/// The end of a long request: what was added last is what a script is usually about.
fn shortened(sent: String) -> String {
    if sent.len() <= SHOWN_REQUEST {
        return sent;
    }
    let start = sent.ceil_char_boundary(sent.len() - SHOWN_REQUEST);
    format!("[… {start} bytes before this]\n{}", &sent[start..])
}

impl Turn {
    fn wait(&self, cancel: &Cancel) -> Result<(), ModelError> {
        let delay = self.fault.as_ref().map_or_else(Default::default, |fault| fault.delay);
        if !delay.is_zero() && cancel.wait(delay) { Err(ModelError::Cancelled) } else { Ok(()) }
    }

    fn fail(&self, failure: &Failure, deltas: &mut dyn FnMut(Delta)) -> ModelError {
        if failure.is_cut() {
            let text = self.text.as_deref().unwrap_or_default();
            stream(&text[..text.floor_char_boundary(text.len() / 2)], deltas);
        }
        failure.error()
    }

    fn response(&self, number: usize, deltas: &mut dyn FnMut(Delta)) -> Response {
        let mut blocks = Vec::new();
        if let Some(text) = &self.reasoning {
            deltas(Delta::Reasoning(text));
            blocks.push(ResponseBlock::Said(Block::Reasoning { text: text.clone() }));
        }
        if let Some(text) = &self.text {
            stream(text, deltas);
            blocks.push(ResponseBlock::Said(Block::text(text)));
        }
        blocks.extend(
            self.tool_calls.iter().enumerate().map(|(index, call)| call.block(number, index + 1)),
        );
        Response {
            blocks,
            usage: self.usage.map(TurnUsage::from),
            cost_usd: self.cost_usd,
            stop: self.stop.map_or(StopCause::Done, StopCause::from),
            native: None,
        }
    }
}

/// Gives text word by word, as a model would.
fn stream(text: &str, deltas: &mut dyn FnMut(Delta)) {
    for word in text.split_inclusive(' ').filter(|word| !word.is_empty()) {
        deltas(Delta::Text(word));
    }
}
