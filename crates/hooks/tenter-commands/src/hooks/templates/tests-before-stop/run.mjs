// @include about
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';

// The command that runs the tests. If it is empty, the project's files determine it.
const TESTS = '';
// Maximum number of attempts in a row; then the agent may stop.
const ATTEMPTS = 3;

function text(path) {
  try {
    return fs.readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function suggested() {
  if (fs.existsSync('Cargo.toml')) return 'cargo test --quiet';
  if (fs.existsSync('go.mod')) return 'go test ./...';
  if (/"test"\s*:/.test(text('package.json'))) return 'npm test --silent';
  if (/^test *:/m.test(text('Makefile'))) return 'make test';
  const isPytest = fs.existsSync('pytest.ini') || fs.existsSync('tox.ini') || /pytest/.test(text('pyproject.toml') + text('setup.cfg'));
  return isPytest ? 'python3 -m pytest -q' : '';
}

const event = JSON.parse(fs.readFileSync(0, 'utf8'));
process.chdir(process.env.TENTER_PROJECT_DIR || '.');
const tests = TESTS || suggested();
if (tests && event.continuation_count < ATTEMPTS) {
  const done = spawnSync('sh', ['-c', `exec 2>&1\n${tests}`], { stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 256 * 1024 * 1024 });
  const output = done.stdout.toString().trimEnd().split('\n').slice(-40).join('\n');
  if (done.status === 126 || done.status === 127) {
    console.error(output);
    process.exitCode = 1;
  } else if (done.status !== 0) {
    console.error(`\`${tests}\` fails:\n${output}`);
    process.exitCode = 2;
  }
}
