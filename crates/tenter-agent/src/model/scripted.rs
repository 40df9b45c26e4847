//! A model that plays a file of turns: for the demo, for tests, and for reports of bugs. The file's form is described in
//! `docs/scripted-models.md`.
//!
//! It is strict with what it is given: an unknown key, a wrong type or an unmet expectation is an error that names the
//! turn, because a script that is silently misread proves nothing.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use tenter_proc::Cancel;
use tenter_protocol::event::TurnUsage;
use tenter_protocol::{Block, Object, ToolCall};

use super::{Delta, Model, ModelError, Request, Response, ResponseBlock, Trouble, read_arguments};

/// Tokens that a scripted model holds, where its file does not say.
const CONTEXT_WINDOW: u64 = 200_000;
/// Bytes of a request that an unmet expectation shows.
const SHOWN_REQUEST: usize = 16 * 1024;

/// A model that plays a script.
pub struct ScriptedModel {
    name: String,
    script: Script,
    next: AtomicUsize,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Script {
    turns: Vec<Turn>,
    /// Answers for side runs, by recipe name.
    #[serde(default)]
    #[expect(
        dead_code,
        reason = "part of the file's form, and checked; nothing runs recipes in this version"
    )]
    recipes: BTreeMap<String, Vec<String>>,
    context_window: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Turn {
    text: Option<String>,
    reasoning: Option<String>,
    #[serde(default)]
    tool_calls: Vec<Call>,
    usage: Option<Figures>,
    #[serde(default)]
    expect: Expect,
    fault: Option<Fault>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    name: String,
    id: Option<String>,
    /// An object; or a string that stands for the arguments as a model wrote them, well formed or not.
    #[serde(default)]
    input: Value,
}

#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Figures {
    input_tokens: u64,
    output_tokens: u64,
}

impl From<Figures> for TurnUsage {
    fn from(figures: Figures) -> Self {
        Self {
            input_tokens: figures.input_tokens,
            output_tokens: figures.output_tokens,
            ..Self::default()
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    #[serde(default)]
    contains: Vec<String>,
    #[serde(default)]
    lacks: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fault {
    kind: Option<FaultKind>,
    delay_ms: Option<u64>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FaultKind {
    Overloaded,
    RateLimited,
    Cut,
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
        Ok(Self { name: name.to_owned(), script, next: AtomicUsize::new(0) })
    }

    fn play(
        &self,
        index: usize,
        request: &Request,
        deltas: &mut dyn FnMut(Delta),
        cancel: &Cancel,
    ) -> Result<Response, ModelError> {
        let Some(turn) = self.script.turns.get(index) else { return Ok(Response::default()) };
        turn.expect.check(index + 1, request)?;
        turn.wait(cancel)?;
        match turn.fault.as_ref().and_then(|fault| fault.kind) {
            Some(FaultKind::Overloaded) => return Err(ModelError::passing(Trouble::Overloaded)),
            Some(FaultKind::RateLimited) => return Err(ModelError::passing(Trouble::RateLimited)),
            Some(FaultKind::Cut) => {
                let text = turn.text.as_deref().unwrap_or_default();
                stream(&text[..text.floor_char_boundary(text.len() / 2)], deltas);
                return Err(ModelError::passing(Trouble::Cut));
            }
            None => {}
        }
        Ok(turn.response(index + 1, deltas))
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
        let index = self.next.fetch_add(1, Ordering::SeqCst);
        self.play(index, request, deltas, cancel)
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
        let delay = self.fault.as_ref().and_then(|fault| fault.delay_ms).unwrap_or(0);
        if delay > 0 && cancel.wait(Duration::from_millis(delay)) {
            Err(ModelError::Cancelled)
        } else {
            Ok(())
        }
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
        Response { blocks, usage: self.usage.map(TurnUsage::from), ..Response::default() }
    }
}

impl Call {
    fn block(&self, turn: usize, index: usize) -> ResponseBlock {
        let id = self.id.clone().unwrap_or_else(|| format!("call-{turn}-{index}"));
        let input = match &self.input {
            Value::Object(object) => Ok(object.clone()),
            Value::Null => Ok(Object::new()),
            Value::String(arguments) => read_arguments(arguments),
            other => read_arguments(&other.to_string()),
        };
        let name = self.name.clone();
        match input {
            Ok(input) => ResponseBlock::Said(Block::ToolUse(ToolCall { id, name, input })),
            Err(error) => ResponseBlock::Malformed { id, name, error },
        }
    }
}

/// Gives text word by word, as a model would.
fn stream(text: &str, deltas: &mut dyn FnMut(Delta)) {
    for word in text.split_inclusive(' ').filter(|word| !word.is_empty()) {
        deltas(Delta::Text(word));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenter_protocol::Message;

    fn respond(model: &ScriptedModel, said: &str) -> (Result<Response, ModelError>, String) {
        let messages = [Message::user(said)];
        let request = Request { system: "system", messages: &messages, tools: &[] };
        let mut streamed = String::new();
        let response = model.respond(
            &request,
            &mut |delta| {
                if let Delta::Text(text) = delta {
                    streamed.push_str(text);
                }
            },
            &Cancel::new(),
        );
        (response, streamed)
    }

    fn model(script: &str) -> ScriptedModel {
        ScriptedModel::parse("scripted:test", script).unwrap()
    }

    #[test]
    fn turns_are_played_in_order_and_then_nothing_more_is_said() {
        let model = model(
            "turns:\n  - text: I will look.\n    tool_calls: [{name: bash, input: {command: ls}}]\n  - text: Done.\n",
        );
        let (first, streamed) = respond(&model, "hi");
        assert_eq!(streamed, "I will look.");
        assert!(
            matches!(&first.unwrap().blocks[1], ResponseBlock::Said(Block::ToolUse(call)) if call.id == "call-1-1")
        );
        assert_eq!(respond(&model, "hi").1, "Done.");
        assert!(respond(&model, "hi").0.unwrap().blocks.is_empty());
    }

    #[test]
    fn json_is_read_as_well_and_usage_is_the_scripts_own() {
        let model = model(
            r#"{"turns": [{"text": "x", "usage": {"input_tokens": 900, "output_tokens": 30}}], "context_window": 16000}"#,
        );
        assert_eq!(
            respond(&model, "hi").0.unwrap().usage,
            Some(TurnUsage { input_tokens: 900, output_tokens: 30, ..TurnUsage::default() })
        );
        assert_eq!(model.context_window(), 16_000);
    }

    #[test]
    fn an_unmet_expectation_shows_both_texts() {
        let model = model(
            "turns:\n  - expect: {contains: [hello], lacks: [AKIA]}\n  - expect: {lacks: [hi]}\n",
        );
        let error = respond(&model, "hi").0.unwrap_err().to_string();
        assert!(
            error.contains("turn 1") && error.contains("\"hello\"") && error.contains("\n\nhi"),
            "{error}"
        );
        let error = respond(&model, "hi").0.unwrap_err().to_string();
        assert!(error.contains("turn 2") && error.contains("lack \"hi\""), "{error}");
    }

    #[test]
    fn faults_are_errors_and_a_cut_stream_has_begun() {
        let model = model(
            "turns:\n  - fault: {kind: overloaded}\n  - fault: {kind: rate_limited}\n  - {text: one two, fault: {kind: cut}}\n  - {text: late, fault: {delay_ms: 1}}\n",
        );
        assert_eq!(respond(&model, "").0, Err(ModelError::passing(Trouble::Overloaded)));
        assert_eq!(respond(&model, "").0, Err(ModelError::passing(Trouble::RateLimited)));
        let (cut, streamed) = respond(&model, "");
        assert_eq!((cut, streamed.as_str()), (Err(ModelError::passing(Trouble::Cut)), "one"));
        assert_eq!(respond(&model, "").1, "late");
    }

    #[test]
    fn malformed_arguments_are_told_apart() {
        let model = model(
            "turns:\n  - tool_calls: [{name: bash, input: '{\"command\": '}, {name: bash, input: '[1]'}]\n",
        );
        let blocks = respond(&model, "").0.unwrap().blocks;
        assert!(
            blocks.iter().all(|block| matches!(block, ResponseBlock::Malformed { .. })),
            "{blocks:?}"
        );
    }

    #[test]
    fn what_is_no_script_is_refused_with_its_place() {
        for script in [
            "",
            "turns: 3",
            "turns: []\nturnz: []",
            "turns:\n  - txt: hi",
            "turns: [{usage: {tokens: 1}}]",
        ] {
            assert!(ScriptedModel::parse("x", script).is_err(), "{script:?}");
        }
        assert!(ScriptedModel::parse("x", "turns:\n  - txt: hi").err().unwrap().contains("line 2"));
    }
}
