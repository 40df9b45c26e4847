// @include about
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const FIELDS = ['command', 'file_path', 'path', 'url', 'pattern', 'query', 'question', 'name'];

// @include secrets

const event = JSON.parse(fs.readFileSync(0, 'utf8'));
const line = {
  timestamp: event.timestamp,
  session: event.session_id,
  event: event.event_type,
  tool: event.tool_name,
  input: FIELDS.map((field) => event.tool_input[field]).find((text) => typeof text === 'string') ?? null,
};
const state = process.env.XDG_STATE_HOME || path.join(os.homedir(), '.local/state');
const stateDir = process.env.TENTER_HOOK_STATE || path.join(state, 'agent-hooks/@NAME@');
fs.mkdirSync(stateDir, { recursive: true, mode: 0o700 });
fs.appendFileSync(path.join(stateDir, 'audit.jsonl'), `${JSON.stringify(redacted(line))}\n`, { mode: 0o600 });
