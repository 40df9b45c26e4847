// @include about
import fs from 'node:fs';

// @include call

// @include shell

// Whether the arguments of `git push` overwrite a branch: --force, -f, --mirror or +branch.
function isForced(words) {
  const takesValue = ['-o', '--push-option', '--repo', '--receive-pack', '--exec'];
  return words.some((word, index) => {
    if (takesValue.includes(words[index - 1])) return false;
    if (word === '--force' || (word.startsWith('--m') && '--mirror'.startsWith(word))) return true;
    return /^-(?!-)[A-Za-np-z0-9]*f/.test(word) || word.startsWith('+');
  });
}

const [given, cwd] = readCall();
for (const command of commands(given.command ?? '', cwd)) {
  const [subcommand, ...words] = gitCall(command);
  if (['push', 'send-pack'].includes(subcommand) && isForced(words)) {
    console.error('a force push overwrites commits that others may have: push new commits, or ask the user');
    process.exit(2);
  }
}
