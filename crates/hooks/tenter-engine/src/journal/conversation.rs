//! The messages of a conversation as hooks read them (S7): with the secrets removed that the journal removes.

use serde_json::{Value, json};
use tenter_base::excerpt;
use tenter_protocol::{Block, Message};

use super::redact::Redactor;

impl Redactor {
    /// Returns the message as payloads have it, without secrets. With `light`, texts of tool results are cut to that many bytes,
    /// and images have no data.
    pub(crate) fn message(&self, message: &Message, light: Option<usize>) -> Value {
        let texts: Vec<String> =
            message.blocks.iter().map(|block| self.content(block, light)).collect();
        let blocks: Vec<Value> =
            message.blocks.iter().map(|block| self.block(block, light)).collect();
        json!({"role": message.role, "content": texts.join("\n"), "blocks": blocks})
    }

    fn content(&self, block: &Block, light: Option<usize>) -> String {
        let text = self.mask(&block.content());
        match (block, light) {
            (Block::ToolResult { .. }, Some(limit)) => excerpt::head(&text, limit).into_owned(),
            _ => text,
        }
    }

    fn block(&self, block: &Block, light: Option<usize>) -> Value {
        let value = serde_json::to_value(block).unwrap_or_default();
        match (block, light) {
            (Block::ToolResult { .. }, Some(limit)) => self.whole(value, limit),
            (Block::Image(image), Some(_)) => {
                json!({"type": "image", "media_type": image.media_type})
            }
            // The data is no text.
            (Block::Image(_), None) => value,
            _ => self.whole(value, usize::MAX),
        }
    }

    /// Returns the value without secrets, each text cut to `limit` bytes. Values of tools are at most 64 levels deep.
    fn whole(&self, value: Value, limit: usize) -> Value {
        let text = |text: &str| excerpt::head(&self.mask(text), limit).into_owned();
        match value {
            Value::String(string) => text(&string).into(),
            Value::Array(items) => items.into_iter().map(|item| self.whole(item, limit)).collect(),
            Value::Object(fields) => fields
                .into_iter()
                .map(|(key, field)| (text(&key), self.whole(field, limit)))
                .collect(),
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use tenter_protocol::{Image, ImageSource, Role, ToolCall, ToolResult};

    use super::*;

    const KEY: &str = "ghp_0123456789abcdefghijklmnop";

    fn message() -> Message {
        let call = ToolCall::new("1", "bash", [("command".to_owned(), json!(format!("a {KEY}")))]);
        let result =
            ToolResult::failure("bash", format!("{KEY} {}", "x".repeat(9000)), String::new());
        let image =
            Image { media_type: "image/png".into(), source: ImageSource::Data("QUJD".into()) };
        let mut message = Message::new(
            Role::User,
            vec![
                Block::text(format!("see {KEY}, and own-secret")),
                Block::ToolUse(call),
                Block::ToolResult { call_id: "1".to_owned(), result },
                Block::Image(image),
            ],
        );
        message.native = Some(json!({"signature": "s"}));
        message
    }

    #[test]
    fn secrets_and_the_native_form_are_removed() {
        let redactor = Redactor::new(["own-secret".to_owned()]);
        let message = redactor.message(&message(), None);
        let text = message.to_string();
        assert!(!text.contains(KEY) && !text.contains("own-secret") && !text.contains("signature"));
        assert!(
            text.contains("ghp_[") && text.contains("QUJD") && text.contains(&"x".repeat(9000))
        );
        assert_eq!(message["role"], "user");
        assert!(message["content"].as_str().unwrap().starts_with("see ghp_["));
    }

    #[test]
    fn a_light_message_has_short_results_and_no_image_data() {
        let light = Redactor::default().message(&message(), Some(100)).to_string();
        assert!(!light.contains("QUJD") && light.contains("image/png"), "{light}");
        assert!(!light.contains(&"x".repeat(200)) && light.len() < 2000, "{light}");
    }
}
