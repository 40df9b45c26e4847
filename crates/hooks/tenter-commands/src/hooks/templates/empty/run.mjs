// @include about
import fs from 'node:fs';

const event = JSON.parse(fs.readFileSync(0, 'utf8'));

// Read a field, for example: event.session_id
// Reply, for example: console.error('not on a Friday'); process.exit(2);
// or with a JSON object: console.log(JSON.stringify({ log: 'seen' }));
