//! A model that plays a file of turns: for the demo, for tests, and for bug reports. The file format is described in
//! `docs/scripted-models.md`.
//!
//! It is strict: an unknown key, a wrong type or an unmet expectation is an error that names the turn, because a script
//! that is silently misread proves nothing.

mod file;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use tenter_base::{excerpt, lock};
use tenter_proc::Cancel;
use tenter_protocol::Block;
use tenter_protocol::event::TurnUsage;

use self::file::{ModelScript, ScriptExpectation, ScriptFailure, ScriptTurn, SideTurn};
use super::{Delta, Model, ModelError, Purpose, Request, Response, ResponseBlock, StopCause};

/// The default context window, in tokens.
const CONTEXT_WINDOW: u64 = 200_000;
/// Maximum number of bytes of a request that an unmet expectation shows.
const SHOWN_REQUEST: usize = 16 * 1024;

/// A model that plays a script.
pub struct ScriptedModel {
    name: String,
    script: ModelScript,
    positions: Mutex<Positions>,
}

/// The positions in a script: in its turns, in the turns of each recipe, and in its completions.
#[derive(Debug, Default)]
struct Positions {
    turns: TurnPosition,
    recipes: BTreeMap<String, TurnPosition>,
    completions: TurnPosition,
}

/// The position in a list of turns.
#[derive(Debug, Default)]
struct TurnPosition {
    /// The index of the next turn.
    turn: usize,
    /// The number of its failures.
    failure_count: u32,
}

impl TurnPosition {
    /// Advances past `turn` unless it is to be repeated; returns whether it fails this time. After its failures, a turn
    /// is played if it has content, otherwise skipped.
    fn advance(&mut self, turn: &ScriptTurn) -> bool {
        let failing = self.failure_count < turn.failures();
        self.failure_count = if failing { self.failure_count + 1 } else { 0 };
        let over = self.failure_count == turn.failures() && !turn.has_content();
        if !failing || over {
            self.turn += 1;
            self.failure_count = 0;
        }
        failing
    }
}

impl ScriptedModel {
    /// Reads a script file, YAML or JSON.
    ///
    /// # Errors
    /// The file cannot be read or is not a valid script.
    pub fn load(path: &Path) -> Result<Self, ModelError> {
        let display_path = path.display();
        let text = std::fs::read_to_string(path).map_err(|error| {
            ModelError::Setup(format!("cannot read the script {display_path}: {error}"))
        })?;
        Self::parse(&format!("scripted:{display_path}"), &text).map_err(|problem| {
            let problem = problem.trim_start_matches("error: ");
            ModelError::Setup(format!("the script {display_path} is not valid: {problem}"))
        })
    }

    /// Parses a script.
    ///
    /// # Errors
    /// The problem and its position.
    pub fn parse(name: &str, text: &str) -> Result<Self, String> {
        let script: ModelScript =
            serde_saphyr::from_str(text).map_err(|error| error.to_string())?;
        Ok(Self { name: name.to_owned(), script, positions: Mutex::default() })
    }

    /// Returns the turn for the next request, its number, and whether it fails this time. The last turn of a recipe and the last
    /// completion repeat; the conversation's turns end.
    fn next(&self, purpose: Purpose) -> Option<(usize, &ScriptTurn, bool)> {
        let mut positions = lock(&self.positions);
        let (turns, position) = match purpose {
            Purpose::Conversation => {
                let turn = self.script.turns.get(positions.turns.turn)?;
                let number = positions.turns.turn + 1;
                return Some((number, turn, positions.turns.advance(turn)));
            }
            Purpose::Recipe(recipe) => (
                self.script.recipes.get(recipe)?,
                positions.recipes.entry(recipe.to_owned()).or_default(),
            ),
            Purpose::Completion => (&self.script.completions, &mut positions.completions),
        };
        let index = position.turn.min(turns.len().checked_sub(1)?);
        let SideTurn(turn) = &turns[index];
        Some((index + 1, turn, position.advance(turn)))
    }
}

/// Returns the reply of a script without a response for this purpose: the end of a conversation, or an error.
fn no_response(purpose: Purpose) -> Result<Response, ModelError> {
    let (message, key) = match purpose {
        Purpose::Conversation => {
            return Ok(Response { stop: StopCause::ScriptEnd, ..Response::default() });
        }
        Purpose::Recipe(recipe) => {
            (format!("the script has no response for the recipe {recipe:?}"), "recipes")
        }
        Purpose::Completion => {
            ("the script has no response for hooks that use the model".to_owned(), "completions")
        }
    };
    Err(ModelError::Rejected { message, help: Some(format!("add some under `{key}`")) })
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
        let Some((number, turn, fails)) = self.next(request.purpose) else {
            return no_response(request.purpose);
        };
        turn.expect.check(number, request)?;
        match turn.failure().filter(|_| fails) {
            Some(failure) => {
                turn.wait(cancel)?;
                Err(turn.fail(failure, deltas, cancel))
            }
            // A turn that failed was already delayed.
            None if turn.failures() > 0 => turn.response(number, deltas, cancel),
            None => {
                turn.wait(cancel)?;
                turn.response(number, deltas, cancel)
            }
        }
    }
}

impl ScriptExpectation {
    fn check(&self, turn: usize, request: &Request) -> Result<(), ModelError> {
        if self.contains.is_empty() && self.lacks.is_empty() {
            return Ok(());
        }
        let request_text = request.text();
        let missing = self.contains.iter().find(|text| !request_text.contains(text.as_str()));
        let present = self.lacks.iter().find(|text| request_text.contains(text.as_str()));
        let problem = match (missing, present) {
            (Some(text), _) => format!("expects the request to contain {text:?}, and it does not"),
            (None, Some(text)) => format!("expects the request to lack {text:?}, and it does not"),
            (None, None) => return Ok(()),
        };
        // What a script expects is usually at the end of the request.
        let tail = excerpt::tail(&request_text, SHOWN_REQUEST).into_owned();
        Err(ModelError::Expectation { turn, problem, sent: tail })
    }
}

impl ScriptTurn {
    fn wait(&self, cancel: &Cancel) -> Result<(), ModelError> {
        let delay = self.fault.as_ref().map_or_else(Default::default, |fault| fault.delay);
        if !delay.is_zero() && cancel.wait(delay) { Err(ModelError::Cancelled) } else { Ok(()) }
    }

    fn fail(
        &self,
        failure: &ScriptFailure,
        deltas: &mut dyn FnMut(Delta),
        cancel: &Cancel,
    ) -> ModelError {
        let text = self.text.as_deref().filter(|_| failure.is_cut()).unwrap_or_default();
        let half = &text[..text.floor_char_boundary(text.len() / 2)];
        self.stream(half, deltas, cancel).err().unwrap_or_else(|| failure.error())
    }

    fn response(
        &self,
        number: usize,
        deltas: &mut dyn FnMut(Delta),
        cancel: &Cancel,
    ) -> Result<Response, ModelError> {
        let mut blocks = Vec::new();
        if let Some(text) = &self.reasoning {
            deltas(Delta::Reasoning(text));
            blocks.push(ResponseBlock::Content(Block::Reasoning { text: text.clone() }));
        }
        if let Some(text) = &self.text {
            self.stream(text, deltas, cancel)?;
            blocks.push(ResponseBlock::Content(Block::text(text)));
        }
        blocks.extend(
            self.tool_calls.iter().enumerate().map(|(index, call)| call.block(number, index + 1)),
        );
        Ok(Response {
            blocks,
            usage: self.usage.map(TurnUsage::from),
            cost_usd: self.cost_usd,
            stop: self.stop.map_or(StopCause::Done, StopCause::from),
            native: None,
        })
    }

    /// Streams text word by word, like a model.
    fn stream(
        &self,
        text: &str,
        deltas: &mut dyn FnMut(Delta),
        cancel: &Cancel,
    ) -> Result<(), ModelError> {
        let pace = Duration::from_millis(self.pace_ms);
        for (index, word) in text.split_inclusive(' ').enumerate() {
            if index > 0 && !pace.is_zero() && cancel.wait(pace) {
                return Err(ModelError::Cancelled);
            }
            deltas(Delta::Text(word));
        }
        Ok(())
    }
}
