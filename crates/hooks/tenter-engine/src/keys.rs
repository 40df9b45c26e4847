//! Model keys: which environment variables contain one, and masking of their values in text.
//!
//! One table decides for hooks, tools, recipes and the programs that Tenter starts for itself. In doubt, a variable is
//! withheld: the configuration can pass on a variable that is needed (`hooks.pass_env`).

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;
use tenter_protocol::{Object, ToolResult};

/// Vendors, resellers and routers of models. With one of [`SECRET_WORDS`], anywhere in the name, they identify a key.
const VENDORS: &[&str] = tenter_base::words!(
    "AI21 ANTHROPIC ANYSCALE AZURE BEDROCK CEREBRAS CHATGPT CLAUDE CODESTRAL CODEX COHERE COPILOT
     DASHSCOPE DEEPINFRA DEEPSEEK FIREWORKS GEMINI GOOGLE GROK GROQ HELICONE HUGGINGFACE
     HUGGING_FACE LITELLM MINIMAX MISTRAL MOONSHOT NOVITA NVIDIA OLLAMA OPENAI OPENROUTER
     PERPLEXITY PORTKEY QWEN REPLICATE SAMBANOVA SILICONFLOW TOGETHER VERTEX VOYAGE WATSONX ZHIPU"
);
/// Vendors whose names are too short to be looked for within words.
const SHORT_VENDORS: &[&str] = &["GLM", "HF", "XAI", "ZAI"];
/// The words that mark a vendor's variable as a secret.
const SECRET_WORDS: &[&str] = &["AUTH", "HEADER", "KEY", "PASSWORD", "SECRET", "TOKEN"];

/// Returns whether a variable contains a model key, according to its name.
pub fn is_model_key(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let has_word = |word: &&str| name.split('_').any(|part| part == *word);
    let is_of_vendor =
        || VENDORS.iter().any(|vendor| name.contains(vendor)) || SHORT_VENDORS.iter().any(has_word);
    // First, because few names contain one.
    let is_secret = SECRET_WORDS.iter().any(|word| name.contains(word));
    is_secret && (name.contains("API_KEY") || name.contains("APIKEY") || is_of_vendor())
}

/// Minimum length of a value that is masked in tool results, in bytes.
const SHORTEST_IN_RESULTS: usize = 16;
/// Minimum length of a key, or a part of one, that is masked in a server's errors, in bytes.
const SHORTEST_IN_ERRORS: usize = 8;

/// Masks the values of keys in text, complete or truncated.
#[derive(Debug, Clone, Default)]
pub struct KeyMask {
    values: Arc<Vec<String>>,
    /// Parts of values that reveal something about a key, all of one length in bytes.
    parts: Arc<HashSet<Vec<u8>>>,
    mask: &'static str,
}

/// Masks keys in a text that arrives in pieces, also those that are in several pieces.
#[derive(Debug)]
pub struct KeyStream {
    keys: KeyMask,
    /// Text at the end that may be the beginning of a key.
    pending: String,
}

impl KeyStream {
    /// Adds a piece, and returns what can be shown now.
    pub fn push(&mut self, piece: &str) -> String {
        let text = std::mem::take(&mut self.pending) + piece;
        let (ready, pending) = text.split_at(text.len() - self.keys.unfinished(&text));
        pending.clone_into(&mut self.pending);
        self.keys.text(ready).into_owned()
    }

    /// Returns the rest: no further piece comes.
    pub fn finish(&mut self) -> String {
        self.keys.owned(std::mem::take(&mut self.pending))
    }
}

impl KeyMask {
    /// Returns a mask for tool results: values of at least 16 bytes that are not made of words, so that ordinary text is
    /// unchanged. In a value with spaces, such as a header, every word is masked separately.
    pub fn for_results(values: impl IntoIterator<Item = String>) -> Self {
        let is_maskable = |value: &&str| {
            let is_place = value.starts_with(['/', '~']) || value.contains("://");
            value.len() >= SHORTEST_IN_RESULTS && !is_place && !is_words(value)
        };
        let mut needles = Vec::new();
        for value in values {
            needles.extend(value.split_whitespace().filter(is_maskable).map(str::to_owned));
        }
        let parts = parts_of(&needles, SHORTEST_IN_RESULTS, |part| !is_words(part));
        Self::new(needles, parts, "[model key masked by Tenter]")
    }

    /// Returns a mask for a server's messages: keys of at least 8 bytes, also percent-encoded.
    pub fn for_errors(values: impl IntoIterator<Item = String>) -> Self {
        let long = values.into_iter().filter(|value| value.len() >= SHORTEST_IN_ERRORS);
        let needles: Vec<_> = long.flat_map(|value| [percent_encoded(&value), value]).collect();
        let tells = |part: &str| part.bytes().any(|byte| byte.is_ascii_digit()) || !is_words(part);
        let parts = parts_of(&needles, SHORTEST_IN_ERRORS, tells);
        Self::new(needles, parts, "[key]")
    }

    /// Masks a text that arrives in pieces.
    pub fn stream(&self) -> KeyStream {
        KeyStream { keys: self.clone(), pending: String::new() }
    }

    /// Returns the length of the end of `text` that may be a part of a value, of which the rest is yet to come.
    fn unfinished(&self, text: &str) -> usize {
        let longest = self.values.iter().map(String::len).max().unwrap_or(0);
        let starts = text.char_indices().map(|(start, _)| start);
        let mut starts = starts.filter(|start| text.len() - start <= longest);
        let is_part =
            |start: &usize| self.values.iter().any(|value| value.contains(&text[*start..]));
        starts.find(is_part).map_or(0, |start| text.len() - start)
    }

    fn new(mut values: Vec<String>, parts: HashSet<Vec<u8>>, mask: &'static str) -> Self {
        // The longest first: of two with the same beginning, the shorter would leave the end of the longer one.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        Self { values: Arc::new(values), parts: Arc::new(parts), mask }
    }

    /// Replaces in `text` every value, and every part of one that is long enough to reveal something.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let ranges = self.find(text);
        if ranges.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut masked_text = String::with_capacity(text.len());
        let mut from = 0;
        for range in ranges {
            masked_text.push_str(&text[from..range.start]);
            masked_text.push_str(self.mask);
            from = range.end;
        }
        masked_text.push_str(&text[from..]);
        Cow::Owned(masked_text)
    }

    /// Masks every string in a tool's result.
    #[must_use]
    pub fn result(&self, result: ToolResult) -> ToolResult {
        if self.values.is_empty() {
            return result;
        }
        ToolResult {
            error: result.error.map(|error| self.owned(error)),
            metadata: result.metadata.map(|metadata| self.object(metadata)),
            ..result
        }
    }

    fn object(&self, object: Object) -> Object {
        object.into_iter().map(|(key, value)| (self.owned(key), self.value(value))).collect()
    }

    fn value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.owned(text)),
            Value::Array(items) => items.into_iter().map(|item| self.value(item)).collect(),
            Value::Object(fields) => Value::Object(self.object(fields)),
            other => other,
        }
    }

    fn owned(&self, text: String) -> String {
        match self.text(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(masked) => masked,
        }
    }

    /// Returns the ranges of values and parts of values, in order and disjoint.
    fn find(&self, text: &str) -> Vec<Range<usize>> {
        let whole = self.values.iter().flat_map(|value| {
            text.match_indices(value.as_str()).map(|(start, part)| start..start + part.len())
        });
        let mut ranges: Vec<Range<usize>> = whole.collect();
        if let Some(length) = self.parts.iter().next().map(Vec::len) {
            let parts = text.as_bytes().windows(length).enumerate();
            let parts = parts.filter(|(_, part)| self.parts.contains(*part));
            ranges.extend(parts.map(|(start, _)| {
                text.floor_char_boundary(start)..text.ceil_char_boundary(start + length)
            }));
        }
        ranges.sort_by_key(|range| range.start);
        let mut apart: Vec<Range<usize>> = Vec::new();
        for range in ranges {
            match apart.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => apart.push(range),
            }
        }
        apart
    }
}

/// Returns the revealing parts of values with this length.
fn parts_of(values: &[String], length: usize, tells: impl Fn(&str) -> bool) -> HashSet<Vec<u8>> {
    let parts = values.iter().flat_map(|value| value.as_bytes().windows(length));
    parts.filter(|part| tells(&String::from_utf8_lossy(part))).map(<[u8]>::to_vec).collect()
}

/// Returns whether a value is made of words, as `my-local-key` is: masking it would damage ordinary text and hide nothing.
fn is_words(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric()).all(is_word)
}

/// Returns whether it is letters of one case or `CamelCase`, a short number, or a short mix such as `v2`.
fn is_word(run: &str) -> bool {
    const SHORT: usize = 4;
    const LONGEST_NUMBER: usize = 8;
    let letters = run.bytes().filter(u8::is_ascii_alphabetic).count();
    if letters == 0 {
        return run.len() <= LONGEST_NUMBER;
    }
    if letters < run.len() {
        return run.len() <= SHORT;
    }
    let humps = run
        .as_bytes()
        .windows(2)
        .filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    humps.count() * SHORT <= run.len()
}

fn percent_encoded(value: &str) -> String {
    let mut encoded_text = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            encoded_text.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(encoded_text, "%{byte:02X}");
        }
    }
    encoded_text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const KEY: &str = "sk-proj-9dKq27ZtXw01mRbV";

    fn results(values: &[&str]) -> KeyMask {
        KeyMask::for_results(values.iter().map(|value| (*value).to_owned()))
    }

    #[test]
    fn a_key_in_several_pieces_of_a_stream_is_masked() {
        const KEY: &str = "sk-live-9f8Q2xTz7LmW4kRb";
        let keys = KeyMask::for_results([KEY.to_owned()]);
        let text = format!("The key is {KEY}, use it.");
        for size in [1, 3, 7, 100] {
            let mut stream = keys.stream();
            let pieces: Vec<String> = text
                .as_bytes()
                .chunks(size)
                .map(|piece| String::from_utf8_lossy(piece).into())
                .collect();
            let mut output: String = pieces.iter().map(|piece| stream.push(piece)).collect();
            output.push_str(&stream.finish());
            assert_eq!(output, keys.text(&text), "{size}");
        }
        let mut stream = KeyMask::default().stream();
        assert_eq!(stream.push("plain text"), "plain text");
    }

    #[test]
    fn keys_are_recognised_by_vendor_words_anywhere_in_the_name() {
        for key in *tenter_base::words!(
            "OPENAI_API_KEY anthropic_api_key ANTHROPIC_AUTH_TOKEN ANTHROPIC_CUSTOM_HEADERS
             AWS_BEARER_TOKEN_BEDROCK AZURE_CLIENT_SECRET CLAUDE_CODE_OAUTH_TOKEN COPILOT_TOKEN
             GEMINI_KEY GH_COPILOT_TOKEN HF_TOKEN HUGGINGFACEHUB_API_TOKEN LITELLM_MASTER_KEY
             MY_APIKEY_2 MYOPENAIKEY OPENAIKEY XAI_TOKEN"
        ) {
            assert!(is_model_key(key), "{key}");
        }
        for other in *tenter_base::words!(
            "PATH SLACK_WEBHOOK_URL GITHUB_TOKEN GH_TOKEN AWS_SECRET_ACCESS_KEY KEYBOARD
             SSH_AUTH_SOCK SHFT_TOKEN GOOGLE_CLOUD_PROJECT GOOGLE_APPLICATION_CREDENTIALS
             OPENAI_BASE_URL OLLAMA_HOST"
        ) {
            assert!(!is_model_key(other), "{other}");
        }
    }

    #[test]
    fn complete_and_truncated_values_are_masked_and_words_are_not() {
        let mask = results(&[KEY, "Authorization: Bearer 0f9e8d7c6b5a49382716"]);
        let mask_text = "[model key masked by Tenter]";
        assert_eq!(
            mask.text(&format!("KEY={KEY}\nü{KEY}")),
            format!("KEY={mask_text}\nü{mask_text}")
        );
        assert_eq!(mask.text(&format!("…{}", &KEY[4..22])), format!("…{mask_text}"));
        assert_eq!(mask.text("x 0f9e8d7c6b5a49382716 y"), format!("x {mask_text} y"));
        assert_eq!(mask.text("Authorization: Bearer me"), "Authorization: Bearer me");
        for value in [
            "short-1a2b3c",
            "my-local-development-key",
            "correct horse battery staple",
            "/home/ada/keys/openai-2b7f1c.txt",
            "https://vault.example.com/v1/2b7f1c9d8e",
            "MyLocalDevelopmentKey",
            "2024-10-01-preview",
        ] {
            assert_eq!(results(&[value]).text(value), value);
        }
    }

    #[test]
    fn every_string_of_a_result_is_masked() {
        let metadata = json!({"output": KEY, "lines": [{"text": format!("a {KEY}")}], "code": 0});
        let result = ToolResult {
            metadata: metadata.as_object().cloned(),
            ..ToolResult::failure("bash", format!("failed: {KEY}"), "T".to_owned())
        };
        let masked_json = serde_json::to_string(&results(&[KEY]).result(result.clone())).unwrap();
        assert_eq!(masked_json.matches("[model key masked by Tenter]").count(), 3, "{masked_json}");
        assert!(!masked_json.contains(KEY));
        assert_eq!(results(&[]).result(result.clone()), result);
    }

    #[test]
    fn an_error_shows_no_part_of_a_key_in_any_form() {
        let mask = KeyMask::for_errors(["ab+cd/0123456789==".to_owned()]);
        for text in [
            "bad ab+cd/0123456789== key",
            "bad ab+cd/01234 key",
            "bad 3456789== key",
            "GET /v1?key=ab%2Bcd%2F0123456789%3D%3D",
        ] {
            let masked_text = mask.text(text);
            assert!(masked_text.contains("[key]") && !masked_text.contains("345"), "{masked_text}");
        }
        let none = KeyMask::for_errors(["1234".to_owned()]);
        assert_eq!(none.text("error 1234"), "error 1234");
    }
}
