// @include about
import fs from 'node:fs';

const event = JSON.parse(fs.readFileSync(0, 'utf8'));

// What the event says, for example: event.session_id.
// What the hook answers, for example: process.exit(2) with a reason on stderr, or a JSON object:
// console.log(JSON.stringify({ log: 'seen' }));
