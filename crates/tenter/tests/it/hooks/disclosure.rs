//! Progressive disclosure: many hooks with long texts (section 9 of the specification).

use super::{manifest, user_hooks};
use crate::sandbox;

const HOOKS: usize = 500;
/// Bytes of each hook's text, far more than any front matter.
const TEXT: usize = 64 * 1024;

#[test]
fn listing_five_hundred_hooks_does_not_read_their_texts() {
    let sandbox = sandbox();
    let hooks = user_hooks(&sandbox);
    let text = "A long explanation. ".repeat(TEXT / 20);
    for number in 0..HOOKS {
        let directory = manifest(&hooks, &format!("hook-{number:03}"), "trigger: before_tool", "");
        let file = directory.join("HOOK.md");
        let front = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, front + &text).unwrap();
    }
    // The shell's own figures include the programs that it waited for.
    let read = |command: &str| {
        let line = format!("{command} > list.json; grep rchar /proc/$$/io || echo rchar: none");
        let output = sandbox.shell(&line);
        output.stdout.trim().trim_start_matches("rchar: ").parse::<usize>().ok()
    };
    let (cold, warm) = (read("tenter hooks list --json"), read("tenter hooks list --json"));
    let list: serde_json::Value = serde_json::from_str(&sandbox.read("list.json")).unwrap();
    // The last is built in.
    assert_eq!(list.as_array().unwrap().len(), HOOKS + 1);
    assert!(list.as_array().unwrap().iter().all(|hook| hook["status"] == "active"));
    assert!(!sandbox.read("list.json").contains("A long explanation"));
    // The first time each text is read once, for the hash that says what runs; after that no text is read at all.
    if let (Some(cold), Some(warm)) = (cold, warm) {
        let hashed = HOOKS * TEXT;
        assert!(cold >= hashed, "the figure leaves something out: {cold} of {hashed}");
        assert!(
            cold < hashed + HOOKS * (TEXT / 2),
            "{cold} bytes were read, and the hashes need {hashed}"
        );
        assert!(warm < hashed / 4, "{warm} bytes were read again, of texts of {hashed}");
    }
}
