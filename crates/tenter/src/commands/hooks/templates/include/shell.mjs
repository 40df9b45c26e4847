// --- Parsing a shell command: quotes, escapes, `;`, `&&`, pipes, `$(...)`, subshells, here-documents, `bash -c`. ------
// Not covered: values of variables, aliases, functions, scripts, and what other programs do.
const RESERVED = ['!', '{', '}', 'if', 'then', 'elif', 'else', 'while', 'until', 'do'];
const WRAPPERS = ['sudo', 'doas', 'env', 'command', 'builtin', 'exec', 'nohup', 'time', 'timeout', 'nice', 'ionice',
  'stdbuf', 'setsid', 'xargs', 'find', 'watch', 'parallel', 'npx'];
const SHELLS = ['sh', 'bash', 'dash', 'zsh', 'ksh', 'su', 'eval'];
const MAX_DEPTH = 20;

// A simple command: its words without quotes, the files that it is redirected to, and its working directory.
class Command {
  constructor(words, writes, cwd) {
    Object.assign(this, { words, writes, cwd });
  }

  // Returns the words from the first of these programs on; empty if the command starts none of them.
  call(...programs) {
    const start = this.words.findIndex((word) => !RESERVED.includes(word) && !/^[A-Za-z_]\w*=/.test(word));
    const words = start < 0 ? [] : this.words.slice(start);
    const names = words.map((word) => word.split('/').pop());
    if (programs.includes(names[0])) return words;
    const index = WRAPPERS.includes(names[0]) ? names.findIndex((name) => programs.includes(name)) : -1;
    return index < 0 ? [] : words.slice(index);
  }
}

class Reader {
  constructor(text, cwd, depth) {
    Object.assign(this, { text, cwd, depth, at: 0, commands: [], documents: [], pending: [] });
  }

  // Reads up to `end`: a closing bracket, a backtick, or the end of the text.
  read(end = '') {
    let [words, writes, word, redirect, quote] = [[], [], null, null, ''];
    const endWord = () => {
      if (word === null) return;
      if (redirect === null) words.push(word);
      else if (redirect === '<<' || redirect === '<<-') this.pending.push([word, redirect === '<<-']);
      else if (redirect.includes('>') && !(redirect.endsWith('&') && /^(\d+|-)$/.test(word))) writes.push(word);
      [word, redirect] = [null, null];
    };
    const endCommand = () => {
      endWord();
      if (words.length + writes.length > 0) this.add(new Command(words, writes, this.cwd));
      [words, writes, redirect] = [[], [], null];
    };
    while (this.at < this.text.length) {
      const c = this.text[this.at++];
      const next = this.text[this.at] ?? '';
      if (quote === "'") {
        if (c === "'") quote = '';
        else word += c;
      } else if (c === '\\') {
        this.at++;
        if (next !== '\n') word = (word ?? '') + (quote && !'"\\$`'.includes(next) ? c : '') + next;
      } else if (c === '$' && next === '(') {
        const isDirectory = this.text.startsWith('(pwd)', this.at);
        this.at++;
        this.nested(')');
        word = (word ?? '') + (isDirectory ? '${PWD}' : '$()');
      } else if (c === '`' && end === '`') {
        break;
      } else if (c === '`') {
        this.nested('`');
        word = (word ?? '') + '$()';
      } else if (c === '"') {
        [quote, word] = [quote ? '' : '"', word ?? ''];
      } else if (quote) {
        word += c;
      } else if (c === "'") {
        [quote, word] = ["'", word ?? ''];
      } else if (c === '$' && (next === "'" || next === '"')) {
        // `$'...'`: the quotes follow.
      } else if (' \t\r'.includes(c)) {
        endWord();
      } else if (c === '\n') {
        endCommand();
        this.skipDocuments();
      } else if ('<>'.includes(c) || (c === '&' && next === '>')) {
        if (word !== null && /^(\d+|\{\w+\})$/.test(word)) word = null;
        endWord();
        if (next === '(') {
          this.at++;
          this.nested(')');
          word = '$()';
          continue;
        }
        redirect = c;
        while ('<>&|'.includes(this.text[this.at] ?? ' ') || (redirect === '<<' && this.text[this.at] === '-')) {
          redirect += this.text[this.at++];
        }
      } else if (c === '(') {
        endCommand();
        this.nested(')');
      } else if (c === ')') {
        if (end === ')') break;
        endCommand();
      } else if (';&|'.includes(c)) {
        endCommand();
      } else if (c === '#' && word === null) {
        while (this.at < this.text.length && this.text[this.at] !== '\n') this.at++;
      } else {
        word = (word ?? '') + c;
      }
    }
    endCommand();
  }

  // Reads commands in brackets. A change of directory applies only inside.
  nested(end) {
    const [cwd, pending] = [this.cwd, this.pending];
    this.pending = [];
    this.depth += 1;
    if (this.depth > MAX_DEPTH) throw new Error('the command is nested too deeply');
    this.read(end);
    this.depth -= 1;
    Object.assign(this, { cwd, pending });
  }

  // Skips here-documents: they are data.
  skipDocuments() {
    for (const [delimiter, isIndented] of this.pending) {
      const lines = [];
      while (this.at < this.text.length) {
        const line = this.text.slice(this.at).split('\n', 1)[0];
        this.at += line.length + 1;
        if ((isIndented ? line.replace(/^\t+/, '') : line) === delimiter) break;
        lines.push(line);
      }
      this.documents.push(lines.join('\n'));
    }
    this.pending = [];
  }

  add(command) {
    this.commands.push(command);
    const moved = command.call('cd', 'pushd');
    if (moved.length > 0) {
      this.cwd = resolved(moved.slice(1).find((word) => !word.startsWith('-')) ?? '~', this.cwd);
    }
    const inner = command.call(...SHELLS);
    const texts = inner[0] === 'eval' ? [inner.slice(1).join(' ')] : inner.slice(1).filter((word) => /[ \n]/.test(word));
    for (const text of texts) this.commands.push(...commands(text, this.cwd, this.depth + 1));
  }
}

// Returns every command in `text`, including those in substitutions and in arguments of shells.
function commands(text, cwd, depth = 0) {
  if (depth > MAX_DEPTH) throw new Error('the command is nested too deeply');
  const reader = new Reader(text, cwd, depth);
  reader.read();
  if (reader.commands.some((command) => command.call(...SHELLS).length > 0)) {
    for (const document of reader.documents) reader.commands.push(...commands(document, cwd, depth + 1));
  }
  return reader.commands;
}

// Returns the absolute path with symlinks resolved; null if it depends on a variable.
function resolved(path, cwd) {
  const values = { HOME: process.env.HOME ?? '~', TMPDIR: process.env.TMPDIR ?? '/tmp', PWD: cwd ?? '$' };
  const plain = path
    .replace(/^~(?=\/|$)/, () => values.HOME)
    .replace(/\$(HOME|TMPDIR|PWD)\b|\$\{(HOME|TMPDIR|PWD)\b[^}]*\}/g, (_, a, b) => values[a ?? b]);
  if (plain.includes('$') || (cwd === null && !plain.startsWith('/'))) return null;
  return real(plain.startsWith('/') ? plain : `${cwd}/${plain}`);
}

// @include real

// Returns the arguments that are not options.
function operands(words) {
  const end = words.indexOf('--');
  const before = end < 0 ? words : words.slice(0, end);
  return before.filter((word) => !word.startsWith('-')).concat(end < 0 ? [] : words.slice(end + 1));
}

// Whether an option is given: one of these letters, alone or bundled, or one of these long names.
function hasFlag(words, letters, ...names) {
  const end = words.indexOf('--');
  const short = new RegExp(`^-[A-Za-z0-9]*[${letters}]`);
  return (end < 0 ? words : words.slice(0, end)).some((word) => short.test(word) || names.includes(word.split('=')[0]));
}

// Returns the subcommand of git and its arguments, without options of git itself such as `-C dir`.
function gitCall(command) {
  const words = command.call('git').slice(1);
  while (words[0]?.startsWith('-')) {
    const hasValue = ['-C', '-c', '--git-dir', '--work-tree', '--namespace', '--config-env'].includes(words[0]);
    words.splice(0, hasValue ? 2 : 1);
  }
  return words;
}
