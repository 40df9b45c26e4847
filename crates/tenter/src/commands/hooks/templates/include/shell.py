# --- Parsing a shell command: quotes, escapes, `;`, `&&`, pipes, `$(...)`, subshells, here-documents, `bash -c`. -------
# Not covered: values of variables, aliases, functions, scripts, and what other programs do.
RESERVED = {"!", "{", "}", "if", "then", "elif", "else", "while", "until", "do"}
WRAPPERS = {"sudo", "doas", "env", "command", "builtin", "exec", "nohup", "time", "timeout", "nice", "ionice", "stdbuf",
            "setsid", "xargs", "find", "watch", "parallel", "npx"}
SHELLS = {"sh", "bash", "dash", "zsh", "ksh", "su", "eval"}


class Command:
    """A simple command: its words without quotes, the files that it is redirected to, and its working directory."""

    def __init__(self, words, writes, cwd):
        self.words, self.writes, self.cwd = words, writes, cwd

    def call(self, programs):
        """Returns the words from the first of these programs on; empty if the command starts none of them."""
        words = list(self.words)
        while words and (words[0] in RESERVED or re.match(r"[A-Za-z_]\w*=", words[0])):
            words.pop(0)
        names = [word.rsplit("/", 1)[-1] for word in words]
        if names and names[0] in programs:
            return words
        if names and names[0] in WRAPPERS:
            for index, name in enumerate(names):
                if name in programs:
                    return words[index:]
        return []


class Reader:
    def __init__(self, text, cwd, depth):
        self.text, self.cwd, self.depth, self.at = text, cwd, depth, 0
        self.commands, self.documents, self.pending = [], [], []

    def read(self, end=""):
        """Reads up to `end`: a closing bracket, a backtick, or the end of the text."""
        words, writes, word, redirect, quote = [], [], None, None, ""

        def end_word():
            nonlocal word, redirect
            if word is not None:
                if redirect is None:
                    words.append(word)
                elif redirect.startswith("<<") and not redirect.startswith("<<<"):
                    self.pending.append((word, redirect == "<<-"))
                elif ">" in redirect and not (redirect.endswith("&") and re.fullmatch(r"\d+|-", word)):
                    writes.append(word)
                redirect = None
            word = None

        def end_command():
            nonlocal words, writes, redirect
            end_word()
            if words or writes:
                self.add(Command(words, writes, self.cwd))
            words, writes, redirect = [], [], None

        while self.at < len(self.text):
            c, self.at = self.text[self.at], self.at + 1
            following = self.text[self.at:self.at + 1]
            if quote == "'":
                if c == "'":
                    quote = ""
                else:
                    word += c
            elif c == "\\":
                self.at += 1
                if following != "\n":
                    word = (word or "") + (c if quote and following not in '"\\$`' else "") + following
            elif c == "$" and following == "(":
                is_directory = self.text.startswith("(pwd)", self.at)
                self.at += 1
                self.nested(")")
                word = (word or "") + ("${PWD}" if is_directory else "$()")
            elif c == "`" and end == "`":
                break
            elif c == "`":
                self.nested("`")
                word = (word or "") + "$()"
            elif c == '"':
                quote, word = "" if quote else '"', word or ""
            elif quote:
                word += c
            elif c == "'":
                quote, word = "'", word or ""
            elif c == "$" and following in ("'", '"') and following:
                pass
            elif c in " \t\r":
                end_word()
            elif c == "\n":
                end_command()
                self.skip_documents()
            elif c in "<>" or (c == "&" and following == ">"):
                if word is not None and re.fullmatch(r"\d+|\{\w+\}", word):
                    word = None
                end_word()
                if following == "(":
                    self.at += 1
                    self.nested(")")
                    word = "$()"
                    continue
                redirect = c
                while self.at < len(self.text) and self.text[self.at] in "<>&|-":
                    if self.text[self.at] == "-" and redirect != "<<":
                        break
                    redirect += self.text[self.at]
                    self.at += 1
            elif c == "(":
                end_command()
                self.nested(")")
            elif c == ")":
                if end == ")":
                    break
                end_command()
            elif c in ";&|":
                end_command()
            elif c == "#" and word is None:
                while self.at < len(self.text) and self.text[self.at] != "\n":
                    self.at += 1
            else:
                word = (word or "") + c
        end_command()

    def nested(self, end):
        """Reads commands in brackets. A change of directory applies only inside."""
        cwd, pending, self.pending = self.cwd, self.pending, []
        self.depth += 1
        if self.depth > 20:
            raise ValueError("the command is nested too deeply")
        self.read(end)
        self.depth -= 1
        self.cwd, self.pending = cwd, pending

    def skip_documents(self):
        """Skips here-documents: they are data."""
        for delimiter, is_indented in self.pending:
            lines = []
            while self.at < len(self.text):
                line = self.text[self.at:].split("\n", 1)[0]
                self.at += len(line) + 1
                if (line.lstrip("\t") if is_indented else line) == delimiter:
                    break
                lines.append(line)
            self.documents.append("\n".join(lines))
        self.pending = []

    def add(self, command):
        self.commands.append(command)
        moved = command.call({"cd", "pushd"})
        if moved:
            targets = [word for word in moved[1:] if not word.startswith("-")]
            self.cwd = resolved(targets[0] if targets else "~", self.cwd)
        inner = command.call(SHELLS)
        texts = [" ".join(inner[1:])] if inner[:1] == ["eval"] else [word for word in inner[1:] if " " in word or "\n" in word]
        for text in texts:
            self.commands += commands(text, self.cwd, self.depth + 1)


def commands(text, cwd, depth=0):
    """Returns every command in `text`, including those in substitutions and in arguments of shells."""
    if depth > 20:
        raise ValueError("the command is nested too deeply")
    reader = Reader(text, cwd, depth)
    reader.read()
    if any(command.call(SHELLS) for command in reader.commands):
        for document in reader.documents:
            reader.commands += commands(document, cwd, depth + 1)
    return reader.commands


def resolved(path, cwd):
    """Returns the absolute path with symlinks resolved; None if it depends on a variable."""
    path = re.sub(r"^~(?=/|$)|\$HOME\b|\$\{HOME\b[^}]*\}", lambda _: os.environ.get("HOME", "~"), path)
    path = re.sub(r"\$TMPDIR\b|\$\{TMPDIR\b[^}]*\}", lambda _: os.environ.get("TMPDIR", "/tmp"), path)
    path = re.sub(r"\$PWD\b|\$\{PWD\b[^}]*\}", lambda _: cwd or "$", path)
    if "$" in path or cwd is None:
        return None if "$" in path or not path.startswith("/") else os.path.realpath(path)
    return os.path.realpath(os.path.join(cwd, path))


def operands(arguments):
    """Returns the arguments that are not options."""
    if "--" in arguments:
        at = arguments.index("--")
        return [word for word in arguments[:at] if not word.startswith("-")] + arguments[at + 1:]
    return [word for word in arguments if not word.startswith("-")]


def has_flag(arguments, letters, *names):
    """Whether an option is given: one of these letters, alone or bundled, or one of these long names."""
    before = arguments[:arguments.index("--")] if "--" in arguments else arguments
    short = any(re.match(f"-[A-Za-z0-9]*[{letters}]", word) for word in before)
    return short or any(word.split("=")[0] in names for word in before)


def git_call(command):
    """Returns the subcommand of git and its arguments, without options of git itself such as `-C dir`."""
    words = command.call({"git"})[1:]
    while words and words[0].startswith("-"):
        has_value = words[0] in ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env")
        words = words[2 if has_value else 1:]
    return words
