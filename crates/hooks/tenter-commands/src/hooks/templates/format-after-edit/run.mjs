// @include about
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const PROJECT = fs.realpathSync(process.env.TENTER_PROJECT_DIR || process.cwd());
const WEB = ['js', 'mjs', 'cjs', 'jsx', 'ts', 'tsx', 'css', 'html', 'json', 'yaml', 'yml', 'md'];

// The formatters of a file, in order of preference. They read stdin, so a file name is never parsed as an option. Adapt them
// to your project.
function formatters(file) {
  const kind = path.extname(file).slice(1);
  if (kind === 'rs') return [['rustfmt', '--edition', edition()]];
  if (kind === 'py') return [['ruff', 'format', '--stdin-filename', file, '-'], ['black', '-q', '-']];
  if (kind === 'go') return [['gofmt']];
  if (kind === 'sh' || kind === 'bash') return [['shfmt']];
  return WEB.includes(kind) ? [['prettier', '--stdin-filepath', file]] : [];
}

function edition() {
  try {
    const manifest = fs.readFileSync(path.join(PROJECT, 'Cargo.toml'), 'utf8');
    return /^edition *= *"(\d+)"/m.exec(manifest)?.[1] ?? '2021';
  } catch {
    return '2021';
  }
}

// Returns the real path of the file; null if it is outside the project, where a symlink may lead.
function inside(given, cwd) {
  try {
    const real = fs.realpathSync(path.isAbsolute(given) ? given : `${cwd}/${given}`);
    return real.startsWith(`${PROJECT}/`) && fs.statSync(real).isFile() ? real : null;
  } catch {
    return null;
  }
}

// Adds text for the model.
function reply(text) {
  console.log(JSON.stringify({ additional_context: text }));
}

const event = JSON.parse(fs.readFileSync(0, 'utf8'));
const shown = event.tool_input.file_path ?? event.tool_input.path ?? '';
const file = shown && inside(shown, event.work_dir);
const text = file && fs.readFileSync(file);
for (const [program, ...words] of file ? formatters(file) : []) {
  const done = spawnSync(program, words, { input: text, maxBuffer: 64 * 1024 * 1024 });
  if (done.error?.code === 'ENOENT') continue;
  if (done.status !== 0) {
    reply(`${program} cannot format ${shown}: ${done.stderr.toString().slice(0, 2000)}`);
  } else if (done.stdout.length > 0 && !done.stdout.equals(text)) {
    fs.writeFileSync(file, done.stdout);
    reply(`${program} changed ${shown}: read it again before you edit it`);
  }
  break;
}
