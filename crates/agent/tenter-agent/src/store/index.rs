//! The full-text index: which words of a message it contains, and how they get there.
//!
//! It contains no text, only the position of each word, so the text around a match is read from the message itself. It is
//! updated with the messages: saved messages can be found, deleted ones cannot.

use rusqlite::{Connection, params};
use serde_json::Value;
use tenter_protocol::{Block, Message};

use super::error::StoreFault;

/// The tokenizer, which splits text into words and compares them; the steps of `migrations` define the index the same way.
pub(super) const TOKENIZER: &str = "unicode61 remove_diacritics 2";

/// Returns the full text of a message, without the descriptions that [`Message::content`] adds. A tool's input is indexed as
/// text, not as JSON: there a newline is spelled `
/// `, and the word after it would not be found.
pub(super) fn indexed_text(message: &Message) -> String {
    let mut text = String::new();
    for block in &message.blocks {
        match block {
            Block::Text { text: words } | Block::Reasoning { text: words } => add(&mut text, words),
            Block::Image(image) => add(&mut text, &image.to_string()),
            Block::ToolUse(call) => {
                add(&mut text, &call.name);
                add_object(&mut text, &call.input);
            }
            Block::ToolResult { result, .. } => add(&mut text, &result.text()),
        }
    }
    text
}

fn add(text: &mut String, piece: &str) {
    text.push_str(piece);
    text.push('\n');
}

fn add_object(text: &mut String, object: &tenter_protocol::Object) {
    for (key, value) in object {
        add(text, key);
        add_value(text, value);
    }
}

fn add_value(text: &mut String, value: &Value) {
    match value {
        Value::Null => {}
        Value::String(string) => add(text, string),
        Value::Array(items) => items.iter().for_each(|item| add_value(text, item)),
        Value::Object(object) => add_object(text, object),
        Value::Bool(_) | Value::Number(_) => add(text, &value.to_string()),
    }
}

/// Adds the words of the message whose row is `id`.
pub(super) fn add_message(
    connection: &Connection,
    id: i64,
    message: &Message,
) -> Result<(), StoreFault> {
    let sql = "INSERT INTO message_text (rowid, text) VALUES (?1, ?2)";
    connection.prepare_cached(sql)?.execute(params![id, indexed_text(message)])?;
    Ok(())
}

/// Removes deleted words from the file, too: until then the index only marks them as deleted.
pub(super) fn forget_deleted(connection: &Connection) -> Result<(), StoreFault> {
    connection.execute("INSERT INTO message_text (message_text) VALUES ('optimize')", [])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use tenter_protocol::{Role, ToolCall};

    #[test]
    fn a_tools_input_is_indexed_as_text() {
        let input = json!({"path": "a.rs", "lines": ["one\ntwo", {"three": 4}, null, true]});
        let input = input.as_object().unwrap().clone();
        let call = Block::ToolUse(ToolCall { id: "c1".into(), name: "file_write".into(), input });
        let message = Message::new(Role::Assistant, vec![Block::text("I write."), call]);
        let words: Vec<String> =
            indexed_text(&message).split_whitespace().map(str::to_owned).collect();
        assert_eq!(
            words,
            *tenter_base::words!("I write. file_write path a.rs lines one two three 4 true")
        );
    }
}
