//! Limits the arguments of tool calls while they are streamed, before any parser reads them (R79). Three APIs send them as pieces
//! of text, and the model library needs memory quadratic in the nesting depth to read truncated text. Arguments that exceed a
//! limit are emptied here, so that the call is malformed and the model receives an error.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use serde_json::Value;
use tenter_agent::model::MAX_ARGUMENT_DEPTH;

use crate::Api;

/// Maximum size of all arguments of a response, in bytes.
const MAX_BYTES: usize = 8 << 20;
/// Maximum number of values in all arguments of a response, and in one event of it.
pub(crate) const MAX_VALUES: usize = 100_000;
/// Replaces arguments that exceed a limit. The result is never valid JSON, whatever preceded it; empty text would be a call
/// without arguments.
const EMPTIED: &str = "[";

/// The limit that the arguments of a response exceed, if any. Shared by its clones.
#[derive(Debug, Clone, Default)]
pub(crate) struct Excess(Arc<OnceLock<String>>);

impl Excess {
    /// Returns the message for the model.
    pub(crate) fn problem(&self) -> Option<&str> {
        self.0.get().map(String::as_str)
    }
}

/// The arguments of one response so far.
pub(crate) struct Arguments {
    api: Api,
    excess: Excess,
    bytes: usize,
    values: usize,
    calls: BTreeMap<Option<u64>, Call>,
}

/// One call's arguments so far.
#[derive(Default)]
struct Call {
    id: Option<String>,
    text: Nesting,
    is_emptied: bool,
}

/// Identifies the call that a piece of arguments belongs to.
#[derive(Default)]
struct CallRef {
    index: Option<u64>,
    id: Option<String>,
}

impl Arguments {
    pub(crate) fn new(api: Api, excess: Excess) -> Self {
        Self { api, excess, bytes: 0, values: 0, calls: BTreeMap::new() }
    }

    /// Checks an event, and empties arguments that exceed a limit. Returns whether it changed the event.
    ///
    /// # Errors
    /// It is ambiguous which call a piece belongs to.
    pub(crate) fn check(&mut self, frame: &mut Value) -> Result<bool, String> {
        match self.api {
            Api::Chat => self.chat(frame),
            Api::Messages => self.messages(frame),
            Api::Responses => self.responses(frame),
            Api::Gemini => Ok(self.gemini(frame)),
        }
    }

    fn chat(&mut self, frame: &mut Value) -> Result<bool, String> {
        let Some(choices) = frame.get_mut("choices").and_then(Value::as_array_mut) else {
            return Ok(false);
        };
        if choices.len() > 1 {
            return Err("its response has several choices".to_owned());
        }
        let parts = choices.iter_mut().filter_map(Value::as_object_mut).flat_map(|choice| {
            choice.iter_mut().filter(|(name, _)| matches!(name.as_str(), "delta" | "message"))
        });
        let calls = parts.filter_map(|(_, part)| part.get_mut("tool_calls")?.as_array_mut());
        let mut is_changed = false;
        for call in calls.flatten() {
            let id = match call.get("id") {
                Some(Value::String(id)) if !id.is_empty() && id != "null" => Some(id.clone()),
                Some(id @ Value::Number(_)) => Some(id.to_string()),
                _ => None,
            };
            let call_ref = CallRef { index: call.get("index").and_then(Value::as_u64), id };
            if let Some(arguments) = call.pointer_mut("/function/arguments") {
                is_changed |= self.piece(call_ref, arguments)?;
            }
        }
        Ok(is_changed)
    }

    fn messages(&mut self, frame: &mut Value) -> Result<bool, String> {
        let index = frame.get("index").and_then(Value::as_u64);
        if let Some(piece) = frame.pointer_mut("/delta/partial_json") {
            return self.piece(CallRef { index, id: None }, piece);
        }
        Ok(self.wholes(frame, &["/content_block/input"]))
    }

    fn responses(&mut self, frame: &mut Value) -> Result<bool, String> {
        let kind = frame.get("type").and_then(Value::as_str).unwrap_or_default();
        if matches!(
            kind,
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta"
        ) {
            let call_ref = CallRef {
                index: frame.get("output_index").and_then(Value::as_u64),
                id: frame.get("item_id").and_then(Value::as_str).map(str::to_owned),
            };
            return frame.get_mut("delta").map_or(Ok(false), |piece| self.piece(call_ref, piece));
        }
        let mut is_changed =
            self.wholes(frame, &["/arguments", "/input", "/item/arguments", "/item/input"]);
        let output = frame.pointer_mut("/response/output").and_then(Value::as_array_mut);
        for item in output.into_iter().flatten() {
            is_changed |= self.wholes(item, &["/arguments", "/input"]);
        }
        Ok(is_changed)
    }

    fn gemini(&mut self, frame: &mut Value) -> bool {
        let candidates = frame.get_mut("candidates").and_then(Value::as_array_mut);
        let parts = candidates.into_iter().flatten().filter_map(|candidate| {
            candidate.pointer_mut("/content/parts").and_then(Value::as_array_mut)
        });
        let mut is_changed = false;
        for part in parts.flatten() {
            is_changed |= self.wholes(part, &["/functionCall/args"]);
        }
        is_changed
    }

    /// Checks arguments that are complete in one event. Returns whether they were emptied.
    fn wholes(&mut self, value: &mut Value, places: &[&str]) -> bool {
        let mut is_changed = false;
        for place in places {
            if let Some(Value::String(text)) = value.pointer_mut(place) {
                let mut nesting = Nesting::default();
                nesting.push(text);
                if self.exceeds_limit(&nesting, text.len() > MAX_BYTES) {
                    EMPTIED.clone_into(text);
                    is_changed = true;
                }
            }
        }
        is_changed
    }

    /// Checks a piece of the arguments of a call. Returns whether it was emptied.
    fn piece(&mut self, call_ref: CallRef, piece: &mut Value) -> Result<bool, String> {
        let text = match &*piece {
            Value::String(text) => text.clone(),
            Value::Null => return Ok(false),
            other => other.to_string(),
        };
        let key = self.key(&call_ref)?;
        let mut call = self.calls.remove(&key).unwrap_or_default();
        let values = call.text.values;
        call.text.push(&text);
        self.bytes += text.len();
        self.values += call.text.values - values;
        let is_large = self.bytes > MAX_BYTES || self.values > MAX_VALUES;
        let was_emptied = call.is_emptied;
        call.is_emptied |= self.exceeds_limit(&call.text, is_large);
        if call_ref.id.is_some() {
            call.id = call_ref.id;
        }
        if call.is_emptied {
            *piece = Value::from(if was_emptied { "" } else { EMPTIED });
        }
        let is_emptied = call.is_emptied;
        self.calls.insert(key, call);
        Ok(is_emptied)
    }

    /// Returns the key of the call that a piece belongs to. Ambiguity is an error: the library might add the piece to another
    /// call than the one it was checked with.
    fn key(&self, call_ref: &CallRef) -> Result<Option<u64>, String> {
        let unclear =
            || Err("it is ambiguous which call a piece of the arguments belongs to".to_owned());
        let key = match (call_ref.index, self.calls.keys().next()) {
            (None, Some(Some(only))) if self.calls.len() == 1 => Some(*only),
            (None, Some(Some(_))) | (Some(_), Some(None)) => return unclear(),
            (index, _) => index,
        };
        let Some(id) = &call_ref.id else { return Ok(key) };
        let is_anothers =
            self.calls.iter().any(|(other, call)| *other != key && call.id.as_ref() == Some(id));
        let is_next = self.calls.get(&key).is_some_and(|call| {
            call.id.as_ref().is_some_and(|first| first != id) && !call.text.is_complete()
        });
        if is_anothers || is_next { unclear() } else { Ok(key) }
    }

    /// Returns whether a text exceeds a limit, and records that for the model.
    fn exceeds_limit(&self, text: &Nesting, is_large: bool) -> bool {
        let problem = if text.deepest > MAX_ARGUMENT_DEPTH {
            format!("the arguments are nested deeper than {MAX_ARGUMENT_DEPTH} levels")
        } else if is_large || text.values > MAX_VALUES {
            format!("the arguments are more than {} MiB or {MAX_VALUES} values", MAX_BYTES >> 20)
        } else {
            return false;
        };
        // Only the first problem is kept.
        let _already_set = self.excess.0.set(problem);
        true
    }
}

/// Counts the nesting depth and the values of a JSON text in constant memory.
#[derive(Default)]
pub(crate) struct Nesting {
    depth: usize,
    deepest: usize,
    values: usize,
    in_string: bool,
    is_escaped: bool,
    in_word: bool,
}

impl Nesting {
    pub(crate) fn push(&mut self, text: &str) {
        for byte in text.bytes() {
            self.byte(byte);
        }
    }

    fn byte(&mut self, byte: u8) {
        if self.in_string {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        let was_word = std::mem::replace(&mut self.in_word, false);
        match byte {
            b'"' => {
                self.in_string = true;
                self.values += 1;
            }
            b'{' | b'[' => {
                self.depth += 1;
                self.deepest = self.deepest.max(self.depth);
                self.values += 1;
            }
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            b' ' | b'\n' | b'\r' | b'\t' | b',' | b':' => {}
            _ => {
                self.in_word = true;
                self.values += usize::from(!was_word);
            }
        }
    }

    /// Returns the number of values: strings, numbers, literals, arrays, objects, and keys of objects.
    pub(crate) fn values(&self) -> usize {
        self.values
    }

    /// Returns whether the text is complete here.
    fn is_complete(&self) -> bool {
        self.depth == 0 && !self.in_string
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn chat(index: Option<u64>, id: Option<&str>, arguments: &str) -> Value {
        let mut call = json!({"function": {"arguments": arguments}});
        if let Some(index) = index {
            call["index"] = json!(index);
        }
        if let Some(id) = id {
            call["id"] = json!(id);
        }
        json!({"choices": [{"delta": {"tool_calls": [call]}}]})
    }

    fn check(frames: &[Value]) -> Result<(Vec<bool>, Option<String>), String> {
        let excess = Excess::default();
        let mut arguments = Arguments::new(Api::Chat, excess.clone());
        let is_changed: Result<_, _> =
            frames.iter().map(|frame| arguments.check(&mut frame.clone())).collect();
        Ok((is_changed?, excess.problem().map(str::to_owned)))
    }

    #[test]
    fn depth_is_counted_across_pieces_and_outside_of_strings() {
        let deep = "[".repeat(MAX_ARGUMENT_DEPTH);
        let fine = [
            chat(Some(0), Some("a"), "{\"code\": \"\\\""),
            chat(Some(0), None, &deep.repeat(9)),
            chat(Some(0), None, "\"}"),
        ];
        assert_eq!(check(&fine), Ok((vec![false; 3], None)));
        let parallel = [
            chat(Some(0), Some("a"), &deep),
            chat(Some(1), Some("b"), &deep),
            chat(Some(0), None, "["),
        ];
        let problem = Some("the arguments are nested deeper than 64 levels".to_owned());
        assert_eq!(check(&parallel), Ok((vec![false, false, true], problem)));
    }

    #[test]
    fn many_values_exceed_the_limit_and_a_long_string_does_not() {
        let (_, problem) = check(&[chat(Some(0), None, &"1,".repeat(MAX_VALUES + 1))]).unwrap();
        assert!(problem.unwrap().contains("100000 values"));
        let text = format!("{{\"content\": \"{}\"}}", "{[ ".repeat(MAX_VALUES));
        assert_eq!(check(&[chat(Some(0), None, &text)]), Ok((vec![false], None)));
    }

    #[test]
    fn a_piece_of_an_ambiguous_call_is_an_error() {
        let whole = |id| chat(None, Some(id), "{\"a\": [1]}");
        assert!(check(&[whole("a"), whole("b")]).is_ok());
        assert!(check(&[chat(Some(0), Some("a"), "{"), chat(None, None, "}")]).is_ok());
        for unclear in [
            vec![chat(None, Some("a"), "\""), chat(None, Some("b"), "[")],
            vec![
                chat(Some(0), Some("a"), "{"),
                chat(Some(1), Some("b"), "{"),
                chat(None, None, "["),
            ],
            vec![chat(None, Some("a"), "{"), chat(Some(0), None, "[")],
            vec![chat(Some(0), Some("a"), "{"), chat(Some(1), Some("a"), "[")],
        ] {
            assert!(check(&unclear).is_err(), "{unclear:?}");
        }
    }
}
