// HOOK.md says when this script runs. It reads the event on stdin, one JSON object, and answers by its exit code:
//   0        stdout is the answer: one JSON object, or nothing
//   2        block; stderr is the reason
//   other    the hook failed; with `fail: closed` in HOOK.md that blocks too
// Try a change with `tenter hooks test NAME`.
