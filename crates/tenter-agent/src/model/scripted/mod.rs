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

use self::file::{Expect, Failure, Script, Turn};
use super::{Delta, Model, ModelError, Request, Response, ResponseBlock, StopCause};

/// Tokens that a scripted model holds, where its file does not say.
const CONTEXT_WINDOW: u64 = 200_000;
/// Bytes of a request that an unmet expectation shows.
const SHOWN_REQUEST: usize = 16 * 1024;

/// A model that plays a script.
pub struct ScriptedModel {
    name: String,
    script: Script,
    place: Mutex<Place>,
}

/// Where a script stands.
#[derive(Debug, Default)]
struct Place {
    /// The turn that is next, from 0.
    turn: usize,
    /// How often it failed already.
    failed: u32,
    /// How many answers each recipe has had.
    recipes: BTreeMap<String, usize>,
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
        Ok(Self { name: name.to_owned(), script, place: Mutex::default() })
    }

    /// The turn for the next request with its number, and whether it fails this time. After its failures a turn is played
    /// as if nothing had been, where there is anything to play.
    fn next(&self) -> (usize, Option<&Turn>, Option<&Failure>) {
        let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        let (index, turn) = (place.turn, self.script.turns.get(place.turn));
        let failing = turn.is_some_and(|turn| place.failed < turn.failures());
        place.failed = if failing { place.failed + 1 } else { 0 };
        let over = |turn: &Turn| place.failed == turn.failures() && !turn.has_content();
        if !failing || turn.is_some_and(over) {
            place.turn = index + 1;
            place.failed = 0;
        }
        let fault = turn.and_then(|turn| turn.fault.as_ref());
        (index + 1, turn, fault.and_then(|fault| fault.failure.as_ref()).filter(|_| failing))
    }
}

impl ScriptedModel {
    /// A recipe's next answer; its last one again and again.
    fn answer_recipe(
        &self,
        recipe: &str,
        deltas: &mut dyn FnMut(Delta),
    ) -> Result<Response, ModelError> {
        let answers = self.script.recipes.get(recipe).map_or(&[][..], Vec::as_slice);
        let Some(last) = answers.len().checked_sub(1) else {
            let message = format!("the script has no answer for the recipe {recipe:?}");
            let help = Some("give it some under `recipes`".to_owned());
            return Err(ModelError::Refused { message, help });
        };
        let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        let given = place.recipes.entry(recipe.to_owned()).or_default();
        let text = &answers[(*given).min(last)];
        *given += 1;
        deltas(Delta::Text(text));
        let blocks = vec![ResponseBlock::Said(Block::text(text))];
        Ok(Response { blocks, ..Response::default() })
    }
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
        if let Some(recipe) = request.recipe {
            return self.answer_recipe(recipe, deltas);
        }
        let (number, turn, failure) = self.next();
        let Some(turn) = turn else {
            return Ok(Response { stop: StopCause::Over, ..Response::default() });
        };
        turn.expect.check(number, request)?;
        match failure {
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
