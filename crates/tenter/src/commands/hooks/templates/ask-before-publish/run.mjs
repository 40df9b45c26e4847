// @include about
import fs from 'node:fs';

// Commands that publish: the program and its subcommands. Adapt the list to your project.
const PUBLISHES = {
  cargo: ['publish'],
  docker: ['push', 'image push'],
  gem: ['push'],
  gh: ['gist create', 'issue create', 'pr create', 'pr merge', 'release create', 'repo create'],
  git: ['push'],
  helm: ['push'],
  mvn: ['deploy', 'clean deploy'],
  npm: ['publish'],
  pnpm: ['publish'],
  podman: ['push'],
  poetry: ['publish'],
  twine: ['upload'],
  uv: ['publish'],
  yarn: ['publish', 'npm publish'],
};

// @include call

// @include shell

// Returns how the command publishes, such as `npm publish`; null if it does not.
function published(command) {
  if (command.words.includes('--dry-run') || command.words.includes('--help')) return null;
  for (const [program, subcommands] of Object.entries(PUBLISHES)) {
    const words = program === 'git' ? gitCall(command) : command.call(program).slice(1);
    // `git push -n` is a dry run.
    if (program === 'git' && words.some((word) => /^-[dfquv46]*n[dfnquv46]*$/.test(word))) continue;
    const start = words.findIndex((word) => !/^[-+]/.test(word));
    // The first option may have a value: `npm --prefix web publish`.
    const starts = start > 0 ? [start, start + 1] : [0];
    for (const subcommand of subcommands) {
      const parts = subcommand.split(' ');
      const isHere = (at) => words.slice(at, at + parts.length).join(' ') === subcommand;
      if (starts.some(isHere)) return `${program} ${subcommand}`;
    }
  }
  const module = command.call('python', 'python3').slice(1, 4).join(' ');
  return module === '-m twine upload' ? 'twine upload' : null;
}

const [given, cwd] = readCall();
const found = commands(given.command ?? '', cwd).map(published).find(Boolean);
if (found) console.log(JSON.stringify({ decision: 'ask', reason: `\`${found}\` publishes your work` }));
