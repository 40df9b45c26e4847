//! The fuzz targets, run on mutations of the repository's own examples: so they stay valid, and errors show without a nightly compiler.

use std::fs;
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::TestRunner;
use tenter_walk::{SkipRules, walk};

use super::architecture::root;

/// The input of a target.
pub(crate) trait Input<'a>: Sized {
    /// Returns the input in `bytes`, if they can be one.
    fn read(bytes: &'a [u8]) -> Option<Self>;
}

impl<'a> Input<'a> for &'a [u8] {
    fn read(bytes: &'a [u8]) -> Option<Self> {
        Some(bytes)
    }
}

impl<'a> Input<'a> for &'a str {
    fn read(bytes: &'a [u8]) -> Option<Self> {
        std::str::from_utf8(bytes).ok()
    }
}

impl<'a> Input<'a> for (u8, &'a [u8]) {
    fn read(bytes: &'a [u8]) -> Option<Self> {
        bytes.split_first().map(|(first, rest)| (*first, rest))
    }
}

/// Makes each target a module and a test, which runs it on examples.
macro_rules! targets {
    ($($name:ident in $file:literal: $examples:expr;)*) => {
        $(
            #[expect(unused_attributes, reason = "a target alone is a program without main")]
            #[path = $file]
            mod $name;
        )*

        const FILES: &[&str] = &[$($file),*];

        mod with_mutations {
            use super::{commands, files_below, texts};

            $(
                #[test]
                fn $name() {
                    super::run_on_mutations(super::$name::run, $examples);
                }
            )*
        }
    };
}

targets! {
    manifests in "../../../../fuzz/fuzz_targets/manifests.rs": files_below("crates/hooks/tenter-commands/src/guard/shipped");
    model_requests in "../../../../fuzz/fuzz_targets/model_requests.rs":
        texts(&[r#"0{"model": "m", "stream": true, "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}], "tools": []}"#]);
    native_payloads in "../../../../fuzz/fuzz_targets/native_payloads.rs": files_below("crates/hooks/tenter-hook/tests/fixtures");
    patches in "../../../../fuzz/fuzz_targets/patches.rs":
        texts(&["*** Begin Patch\n*** Add File: a\n+one\n*** Update File: b\n*** Move to: c\n@@ x\n-old\n+new\n*** Delete File: d\n*** End Patch\n"]);
    registrations in "../../../../fuzz/fuzz_targets/registrations.rs":
        [files_below("crates/hooks/tenter-bridge/tests/fixtures/claude-hooks"), texts(&["# c\n[hooks]\na = [{ b = 1 }] # d\n\n[[hooks.x]]\n"])].concat();
    replies in "../../../../fuzz/fuzz_targets/replies.rs": files_below("crates/hooks/tenter-hook/tests/golden");
    runtime_lines in "../../../../fuzz/fuzz_targets/runtime_lines.rs": texts(&[
        r#"{"jsonrpc": "2.0", "id": 1, "method": "model/complete", "params": {"prompt": "hi", "max_tokens": 10}}"#,
        r#"{"jsonrpc": "2.0", "id": "a", "result": {"hooks": [{"event": "before_tool", "priority": 5}]}}"#,
        r#"{"jsonrpc": "2.0", "id": null, "error": {"code": -32600, "message": "no"}}"#,
    ]);
    shell in "../../../../fuzz/fuzz_targets/shell.rs": commands();
    subscriptions in "../../../../fuzz/fuzz_targets/subscriptions.rs": texts(&["before_tool\nafter_tool Bash\n", "PreToolUse\r\n\nsession_start\n"]);
    templates in "../../../../fuzz/fuzz_targets/templates.rs": files_below("crates/agent/tenter-agent/src/recipe/builtin");
    transcripts in "../../../../fuzz/fuzz_targets/transcripts.rs": files_below("crates/hooks/tenter-backtest/tests/homes");
}

fn texts(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_owned()).collect()
}

fn files_below(directory: &str) -> Vec<Vec<u8>> {
    let cancel = tenter_proc::Cancel::new();
    let entries = walk(&root().join(directory), SkipRules::None, &cancel).map(Result::unwrap);
    entries
        .filter(|entry| entry.kind.is_file())
        .map(|entry| fs::read(entry.path).unwrap())
        .collect()
}

/// Returns the commands in the shell's cases: the lines that begin with `$`, with those that continue them.
fn commands() -> Vec<Vec<u8>> {
    let files = files_below("crates/hooks/tenter-shell/tests/cases").concat();
    let text = String::from_utf8(files).unwrap();
    let lines = text.lines().filter_map(|line| {
        line.strip_prefix("$ ")
            .map(|first| format!("\0{first}"))
            .or_else(|| Some(format!("\n{}", line.strip_prefix("> ")?)))
    });
    let commands: String = lines.collect();
    commands.split('\0').map(|command| command.as_bytes().to_owned()).collect()
}

fn run_on_mutations(target: fn(&[u8]), examples: Vec<Vec<u8>>) {
    assert!(!examples.is_empty());
    for example in &examples {
        target(example);
    }
    let part = (select(examples.clone()), any::<Index>(), 0..30_usize).prop_map(
        |(example, start, length)| {
            let start = start.index(example.len() + 1);
            example[start..example.len().min(start + length)].to_owned()
        },
    );
    let replacement = prop_oneof![part, vec(any::<u8>(), 0..4)];
    let edits = vec((any::<Index>(), 0..20_usize, replacement), 1..6);
    let config =
        ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() };
    let test = TestRunner::new(config).run(&(select(examples), edits), |(mut bytes, edits)| {
        for (start, length, replacement) in edits {
            let start = start.index(bytes.len() + 1);
            let end = bytes.len().min(start + length);
            bytes.splice(start..end, replacement);
        }
        target(&bytes);
        Ok(())
    });
    test.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn every_target_is_run() {
    let files = fs::read_dir(root().join("fuzz/fuzz_targets")).unwrap();
    let mut names: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
    names.sort();
    let run: Vec<_> = FILES.iter().map(|file| Path::new(file).file_name().unwrap()).collect();
    assert_eq!(names, run);
}

/// Replaces the macro of the fuzzing library: a target becomes a function that reads its input from any bytes.
#[macro_export]
macro_rules! fuzz_target {
    (|$input:ident: $type:ty| $body:block) => {
        pub(super) fn run(bytes: &[u8]) {
            if let Some($input) = <$type as $crate::fuzz_targets::Input>::read(bytes) {
                $body
            }
        }
    };
}
