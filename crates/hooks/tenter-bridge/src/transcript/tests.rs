//! Transcripts that real hosts wrote, and files that are none.

use std::fs::{self, OpenOptions};

use proptest::prelude::*;
use tempfile::TempDir;
use tenter_protocol::{Block, Role};

use super::*;
use crate::hosts;

fn host(id: &str) -> &'static Host {
    hosts::find(id).unwrap()
}

fn recorded(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts").join(name)
}

/// Returns each message as its role and the text of its blocks.
fn message_texts(transcript: &Transcript) -> Vec<String> {
    let block = |block: &Block| match block {
        Block::ToolUse(call) => {
            format!("{} {}", call.name, tenter_protocol::json::to_string(&call.input))
        }
        Block::ToolResult { result, .. } => {
            format!("{} {:?}: {}", result.tool_name, result.success, result.text())
        }
        other => other.content(),
    };
    let message = |message: &Message| {
        let blocks: Vec<String> = message.blocks.iter().map(block).collect();
        let role = if message.role == Role::User { "user" } else { "model" };
        format!("{role}: {}", blocks.join(" | ").trim_end())
    };
    transcript.messages.iter().map(message).collect()
}

#[test]
fn a_transcript_of_claude_code_has_its_messages_in_tenters_names() {
    let (transcript, start) =
        read(host("claude-code"), &recorded("claude-code.record.jsonl"), None).unwrap();
    let texts = message_texts(&transcript);
    assert_eq!(texts[0], "user: Please run the test");
    assert!(
        texts[1].starts_with("model: I will run a command. | bash {\"command\": \"echo hello"),
        "{texts:#?}"
    );
    assert_eq!(texts[2], "user: bash Some(true): hello-from-shell");
    assert!(
        texts[3].starts_with("model: file_write {\"file_path\": \"$WORK/written.txt\", \"text\": "),
        "{texts:#?}"
    );
    assert!(texts[6].starts_with("user: bash Some(false): "), "{texts:#?}");
    assert_eq!(texts.last().unwrap(), "model: All finished.");
    let usage = transcript.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens, usage.turn.input_tokens), (400, 80, 100));
    assert_eq!((usage.current_context_window, usage.estimated), (120, true));
    assert_eq!(start.offset, 0);
}

#[test]
fn a_transcript_of_codex_has_its_messages_in_tenters_names() {
    let (transcript, _) = read(host("codex"), &recorded("codex.record.jsonl"), None).unwrap();
    let texts = message_texts(&transcript);
    assert_eq!(texts[0], "user: Please run the test");
    assert!(
        texts[1].starts_with("model: I will run a command. | bash {\"command\": \"echo hello"),
        "{texts:#?}"
    );
    assert_eq!(texts[2], "user: bash Some(true): hello-from-shell");
    assert!(texts[3].starts_with("model: file_edit {\"patch\": \"*** Begin Patch"), "{texts:#?}");
    assert!(texts[4].starts_with("user: file_edit Some(true): "), "{texts:#?}");
    assert!(texts[6].starts_with("user: bash Some(false): "), "{texts:#?}");
    assert_eq!(texts.last().unwrap(), "model: All finished.");
    let usage = transcript.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens, usage.estimated), (400, 80, true));
    assert!(usage.max_context_window > 0);
}

#[test]
fn a_history_begins_at_its_last_summary_and_is_read_from_there_the_next_time() {
    for (id, name) in
        [("claude-code", "claude-code.compact.jsonl"), ("codex", "codex.compact.jsonl")]
    {
        let (first, start) = read(host(id), &recorded(name), None).unwrap();
        let messages = message_texts(&first);
        assert!(!messages.iter().any(|text| text.contains("seq 1 3000")), "{id}: {messages:#?}");
        assert!(messages.iter().any(|text| text.contains("echo four")), "{id}: {messages:#?}");
        assert!(start.offset > 0);
        let (second, again) = read(host(id), &recorded(name), Some(&start)).unwrap();
        assert_eq!((first, start), (second, again), "{id}");
    }
}

#[test]
fn all_tokens_count_also_those_before_a_summary() {
    let path = recorded("claude-code.compact.jsonl");
    let (transcript, _) = read(host("claude-code"), &path, None).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let count: u64 =
        lines.filter_map(|line| line["message"]["usage"]["input_tokens"].as_u64()).sum();
    assert_eq!(transcript.usage.unwrap().input_tokens, count);
}

/// Creates a file with this text.
fn file(text: &[u8]) -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("transcript.jsonl");
    fs::write(&path, text).unwrap();
    (directory, path)
}

#[test]
fn a_line_that_is_being_written_is_not_read() {
    let whole = fs::read(recorded("codex.record.jsonl")).unwrap();
    let (_directory, path) = file(&whole[..whole.len() - 40]);
    let (transcript, _) = read(host("codex"), &path, None).unwrap();
    assert!(!transcript.messages.is_empty());
    let (_directory, path) = file(b"\xff\xfe\n{\"type\": 7}\n[1]\nnull\n{");
    assert!(read(host("codex"), &path, None).unwrap().0.messages.is_empty());
}

#[test]
fn a_file_that_was_replaced_is_read_anew() {
    let (_directory, path) = file(&fs::read(recorded("codex.compact.jsonl")).unwrap());
    let (_, start) = read(host("codex"), &path, None).unwrap();
    fs::copy(recorded("codex.record.jsonl"), &path).unwrap();
    let (transcript, _) = read(host("codex"), &path, Some(&start)).unwrap();
    let short = fs::metadata(&path).unwrap().len() < start.offset;
    assert!(!short || !transcript.messages.is_empty());
    let other = recorded("codex.record.jsonl");
    assert_eq!(
        message_texts(&read(host("codex"), &other, Some(&start)).unwrap().0)[0],
        "user: Please run the test"
    );
}

#[test]
fn what_is_missing_no_file_or_too_long_is_an_error() {
    let (directory, path) = file(b"");
    let read = |path: &Path| read(host("codex"), path, None).map(drop);
    assert!(read(&directory.path().join("none")).is_err());
    assert!(read(directory.path()).is_err());
    let fifo = directory.path().join("fifo");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &fifo,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    assert!(read(&fifo).is_err());
    OpenOptions::new().write(true).open(&path).unwrap().set_len(MAX_READ + 1).unwrap();
    assert!(read(&path).is_err());
    assert!(read(&recorded("codex.record.jsonl")).is_ok());
}

#[test]
fn a_subagent_of_claude_code_has_a_transcript_of_its_own() {
    let payload = |text: &str| Payload::parse(text.as_bytes()).unwrap();
    let main = payload(r#"{"transcript_path": "/main"}"#);
    let sub = payload(r#"{"transcript_path": "/t", "agent_id": "a"}"#);
    let stop =
        payload(r#"{"transcript_path": "/t", "agent_id": "a", "agent_transcript_path": "/own"}"#);
    let transcript = |id: &str, payload: &Payload| named_in(host(id), payload);
    assert_eq!(transcript("claude-code", &main), Some("/main".into()));
    assert_eq!(transcript("claude-code", &sub), None, "it is the main agent's");
    assert_eq!(transcript("claude-code", &stop), Some("/own".into()));
    assert_eq!(transcript("codex", &sub), Some("/t".into()));
    assert_eq!(transcript("gemini", &main), None, "its format is not known");
}

proptest! {
    #[test]
    fn any_line_is_harmless(lines in proptest::collection::vec(r#"(\{"type": "(user|assistant|response_item|compacted|event_msg)", "(message|payload)": (\{"(type|role|content|usage|info)": ("x"|1|\[\]|null|\{\})\}|3)\}|.{0,20})"#, 0..8)) {
        let (_directory, path) = file(lines.join("\n").as_bytes());
        for id in ["claude-code", "codex"] {
            let (_, start) = read(host(id), &path, None).unwrap();
            prop_assert!(read(host(id), &path, Some(&start)).is_ok());
        }
    }

    #[test]
    fn huge_counts_are_harmless(count in any::<u64>()) {
        let line = serde_json::json!({"type": "assistant", "message": {"id": "1", "content": "x", "usage": {"input_tokens": count, "cache_read_input_tokens": count, "output_tokens": count}}});
        let (_directory, path) = file(format!("{line}\n{line}\n").as_bytes());
        prop_assert!(read(host("claude-code"), &path, None).is_ok());
    }
}
