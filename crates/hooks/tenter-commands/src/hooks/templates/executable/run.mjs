#!/usr/bin/env node
// Tenter runs this file in the project's directory, in two ways:
//   FILE hook    prints the event that it subscribes to
//   FILE run     reads a payload on stdin, one line of JSON, and prints its reply: one JSON object, or nothing
// An exit code other than 0, or other text on stdout, is a failure: the agent shows a warning, and blocks if the
// configuration has `fail = "closed"`. stderr is written to the journal: `tenter log`. Keep logs and other files in
// the directory $TENTER_HOOK_STATE.
//
// Test changes with `tenter hooks test @NAME@`.
//
@FIELDS@
// Returns the reply, for example { additional_context: 'It is Friday.' }; null for no reply.
function replyTo(payload) {
  return null;
}

// An `import` statement would need a package.json with "type": "module".
import('node:fs').then((fs) => {
  if (process.argv[2] === 'hook') console.log('@EVENT@');
  if (process.argv[2] !== 'run') return;
  const reply = replyTo(JSON.parse(fs.readFileSync(0, 'utf8')));
  if (reply !== null) console.log(JSON.stringify(reply));
});
