// @include about
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';

// Do not start programs from the repository's own configuration.
const GIT = ['--no-optional-locks', '-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null'];

// Returns the output of git; empty if it fails.
function git(...words) {
  const done = spawnSync('git', [...GIT, ...words], { encoding: 'utf8' });
  return done.status === 0 ? done.stdout.replace(/\n+$/, '') : '';
}

fs.readFileSync(0);
process.chdir(process.env.TENTER_PROJECT_DIR || '.');
if (git('rev-parse', '--git-dir')) {
  const context = [`Branch: ${git('symbolic-ref', '--quiet', '--short', 'HEAD') || 'none'}`];
  const changed = git('status', '--short');
  if (changed) context.push('Not committed:', ...changed.split('\n').slice(0, 20));
  const commits = git('log', '--no-show-signature', '--max-count=5', '--format=%h %s');
  if (commits) context.push('Last commits:', commits);
  console.log(JSON.stringify({ additional_context: context.join('\n') }));
}
