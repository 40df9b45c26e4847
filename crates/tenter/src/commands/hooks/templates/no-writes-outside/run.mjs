// @include about
import fs from 'node:fs';

const PROJECT = process.env.TENTER_PROJECT_DIR || process.cwd();
// Directories outside the project that may be written to. Adapt the list to your project.
const ALLOWED = [process.env.TMPDIR ?? '/tmp'];
const DEVICES = /^\/dev\/(null|zero|full|stdin|stdout|stderr|tty|fd\/\d+)$/;
// Programs that write all of their operands, the last one, or all but the first.
const WRITES_ALL = ['mkdir', 'mv', 'rm', 'rmdir', 'shred', 'tee', 'touch', 'truncate', 'unlink'];
const WRITES_LAST = ['cp', 'install', 'ln', 'rsync'];
const WRITES_AFTER_FIRST = ['chgrp', 'chmod', 'chown', 'sed'];

// @include call

// @include shell

// The options of programs whose values are written to: short (also bundled) and long.
const COPY = [/^-[abCdDfHilLnPpRrsTuvxZ]*t(.*)$/, '--target-directory'];
const OUTPUT_OPTIONS = {
  cp: COPY, install: COPY, ln: COPY, mv: COPY,
  curl: [/^-[#:0-46aBfgGiIjJklLMnNOpqRsSvVZ]*o(.*)$/, '--output'],
  wget: [/^-[46bcdEFhHkKLmnNpqrSvVx]*O(.*)$/, '--output-document'],
};

// Returns the values of options that are written to.
function writtenValues(program, words) {
  const [short, long] = OUTPUT_OPTIONS[program] ?? [/$^/, '$'];
  return words.flatMap((word, index) => {
    if (word.startsWith(`${long}=`)) return [word.slice(long.length + 1)];
    const value = word === long ? '' : word.match(short)?.[1];
    return value === undefined ? [] : [value || (words[index + 1] ?? '-')];
  });
}

// Returns the operands that a program writes to.
function writtenOperands(program, words) {
  const named = operands(words);
  if (WRITES_ALL.includes(program)) return named;
  if (WRITES_LAST.includes(program)) return named.length > 1 ? named.slice(-1) : [];
  if (program === 'dd') return words.filter((word) => word.startsWith('of=')).map((word) => word.slice(3));
  if (program === 'sed' && !hasFlag(words, 'i', '--in-place')) return [];
  if (program === 'sed' && hasFlag(words, 'e', '--expression')) return named;
  return WRITES_AFTER_FIRST.includes(program) ? named.slice(1) : [];
}

// Returns the paths that a command writes to, as far as its text shows them.
function written(command) {
  const call = command.call(...WRITES_ALL, ...WRITES_LAST, ...WRITES_AFTER_FIRST, 'dd', 'curl', 'wget');
  if (call.length === 0) return command.writes;
  const [program, words] = [call[0].split('/').pop(), call.slice(1)];
  const paths = [...command.writes, ...writtenOperands(program, words), ...writtenValues(program, words)];
  return paths.filter((path) => path !== '-' && !(program === 'rsync' && path.includes(':')));
}

function isAllowed(path) {
  const roots = [PROJECT, ...ALLOWED].map(real);
  return DEVICES.test(path) || roots.some((root) => path === root || path.startsWith(`${root.replace(/\/$/, '')}/`));
}

const [given, cwd] = readCall();
const named = [given.file_path, given.path, given.notebook_path].filter((path) => typeof path === 'string');
const paths = named.map((path) => [path, cwd]);
for (const command of commands(given.command ?? '', cwd)) {
  paths.push(...written(command).map((path) => [path, command.cwd]));
}
for (const [path, base] of paths) {
  const target = DEVICES.test(path) ? path : resolved(path, base);
  if (target !== null && !isAllowed(target)) {
    console.error(`${path} is outside the project: write to a file of the project, or ask the user`);
    process.exit(2);
  }
}
