// @include about
import fs from 'node:fs';

const PROJECT = real(process.env.TENTER_PROJECT_DIR || process.cwd());
const HOME = real(process.env.HOME ?? '/');
const SYSTEM =
  /^\/((bin|boot|dev(?!\/shm\/)|etc|lib|lib32|lib64|proc|sbin|sys|usr|System|Library|Applications)(\/|$)|(home|opt|root|srv|var|Users)$)/;
const FILE_SYSTEMS = ['btrfs', 'exfat', 'ext2', 'ext3', 'ext4', 'f2fs', 'fat', 'msdos', 'ntfs', 'vfat', 'xfs'];
const DISK = /^\/dev\/(sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|loop|mapper\/|dm-)/;

// @include call

// @include shell

// Whether `directory` is `path` or a parent of it.
function holds(directory, path) {
  return path === directory || path.startsWith(`${directory.replace(/\/$/, '')}/`);
}

// Whether the path is a system directory, the home directory, the project, or a parent of one of them.
function isVital(path, cwd, projectToo = true) {
  // `$DIR/` is `/` where DIR is empty, and `~root` is a home directory.
  if (/^~[A-Za-z_][\w.-]*\/?\*?$/.test(path) || /^\$\{?\w+\}?\/\*?$/.test(path)) return true;
  const target = resolved(path.replace(/(^|\/)(\.?\*|\.\[!?\^?\.\]\*)$/, '$1.'), cwd);
  if (target === null) return false;
  if (projectToo && (holds(target, PROJECT) || target === `${PROJECT}/.git`)) return true;
  return (target !== PROJECT && holds(target, PROJECT)) || holds(target, HOME) || SYSTEM.test(target);
}

// Returns the directories that `find` deletes from; with a condition, only those that are not in the project.
function searched(words, cwd) {
  const isDeleting = words.includes('-delete') || (words.includes('rm') && words.some((word) => /^-exec(dir)?$/.test(word)));
  if (!isDeleting) return [];
  const first = words.findIndex((word) => word.startsWith('-'));
  const starts = first > 0 ? words.slice(0, first) : ['.'];
  const isUnconditional = ['-delete', '-exec', '-execdir'].includes(words[first]);
  return starts.filter((path) => isUnconditional || isVital(path, cwd, false));
}

// Returns a path that the command would destroy and must not.
function destroyed(command) {
  const paths = searched(command.call('find').slice(1), command.cwd);
  const words = command.call('rm').slice(1);
  if (hasFlag(words, 'rR', '--recursive')) {
    paths.push(...(words.includes('--no-preserve-root') ? ['/'] : operands(words)));
  }
  const vital = paths.filter((path) => isVital(path, command.cwd));
  const changed = command.call('chmod', 'chown', 'chgrp').slice(1);
  if (hasFlag(changed, 'R', '--recursive')) {
    vital.push(...operands(changed).slice(1).filter((path) => isVital(path, command.cwd, false)));
  }
  return vital[0];
}

function overwritesDisk(command) {
  const formats = command.call('mkfs', ...FILE_SYSTEMS.map((kind) => `mkfs.${kind}`));
  const words = command.call('dd', 'shred', 'wipefs').slice(1).filter((word) => !word.startsWith('if='));
  const paths = words.map((word) => word.replace(/^of=/, '')).concat(command.writes);
  return formats.length > 0 || paths.some((path) => DISK.test(path));
}

// Returns the git command that discards uncommitted work.
function discarding(command) {
  const [name, ...words] = gitCall(command);
  const isEverything = operands(words).some((word) => ['.', './', ':/', ':', '*', './*'].includes(word));
  const isStaged = hasFlag(words, 'S', '--staged') && !hasFlag(words, 'W', '--worktree');
  const isDiscarding = {
    reset: words.includes('--hard'),
    clean: hasFlag(words, 'f', '--force') && !hasFlag(words, 'n', '--dry-run'),
    checkout: isEverything || hasFlag(words, 'f', '--force'),
    restore: isEverything && !isStaged,
    switch: hasFlag(words, 'f', '--force', '--discard-changes'),
    stash: ['drop', 'clear'].includes(words[0]),
  };
  return Object.hasOwn(isDiscarding, name) && isDiscarding[name] ? `git ${name}` : null;
}

// Returns why the command must not run.
function reason(command) {
  const path = destroyed(command);
  if (path !== undefined) return `this destroys ${path}: name the files of the project that you mean`;
  if (overwritesDisk(command)) return 'this overwrites a disk: leave it to the user';
  const work = discarding(command);
  return work && `this \`${work}\` discards uncommitted work: commit it first, or ask the user`;
}

const [given, cwd] = readCall();
const found = commands(given.command ?? '', cwd).map(reason).find(Boolean);
if (found) {
  console.error(found);
  process.exit(2);
}
