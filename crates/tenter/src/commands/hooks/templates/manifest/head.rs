// Tenter starts this script in the project's folder whenever HOOK.md says so. It reads the event on stdin, one line of
// JSON, and answers by its exit code:
//   0        stdout is the answer: one JSON object, or nothing
//   2        it blocks, and stderr says why
//   other    it failed: the agent warns and goes on, unless HOOK.md says `metadata: {fail: closed}`
// HOOK.md tells the event's fields and the answers. `tenter hooks test NAME` runs the tests in the folder `tests`.
use std::io::Read;

/// What the hook answers.
enum Answer {
    /// A JSON object.
    Says(String),
    /// It must not be, and why.
    Blocks(&'static str),
}

