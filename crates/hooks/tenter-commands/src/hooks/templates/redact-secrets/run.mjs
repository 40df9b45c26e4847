// @include about
import fs from 'node:fs';

// @include secrets

const result = JSON.parse(fs.readFileSync(0, 'utf8')).tool_output;
if (JSON.stringify(redacted(result)) !== JSON.stringify(result)) {
  console.log(JSON.stringify({ modified_output: redacted(result) }));
}
