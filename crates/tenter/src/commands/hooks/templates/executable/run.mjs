#!/usr/bin/env node
// Tenter starts this file in the project's directory, in two ways:
//   FILE hook    it prints the event that it is for
//   FILE run     it reads a payload on stdin, one line of JSON, and prints its answer: one JSON object, or nothing
// Another exit code than 0, or other text on stdout, is a failure of the hook: the agent warns, and blocks where the
// configuration says `fail = "closed"`. stderr goes to the journal: `tenter log`. Logs and other files of its own belong in
// the directory $TENTER_HOOK_STATE.
//
// Try a change with `tenter hooks test @NAME@`.
//
@FIELDS@
// What it has to say, for example: return { additional_context: 'It is Friday.' };
function answer(payload) {
  return null;
}

// An `import` statement would need a package.json that says so.
import('node:fs').then((fs) => {
  if (process.argv[2] === 'hook') console.log('@EVENT@');
  if (process.argv[2] !== 'run') return;
  const reply = answer(JSON.parse(fs.readFileSync(0, 'utf8')));
  if (reply !== null) console.log(JSON.stringify(reply));
});
