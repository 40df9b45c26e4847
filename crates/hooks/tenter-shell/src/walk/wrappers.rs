//! Programs that run other programs, by the tables.

use crate::facts::{Class, FlowRole, Location};
use crate::field::Field;
use crate::reader::{Context, NodeResult, Reader};
use crate::scope::{Environment, Keep};
use crate::tables::{self, Run};

use super::call::{Call, Emitted};

impl Reader<'_> {
    /// Reads the commands that a command runs.
    pub(super) fn runs(&mut self, call: &Call, emitted: &Emitted, context: &Context) -> NodeResult {
        self.patched_files(call, emitted, context);
        let mut outcome = match emitted.program.as_str() {
            "find" => self.find(call, emitted, context),
            "xargs" => self.xargs(call, emitted, context),
            "parallel" => self.parallel(call, emitted, context),
            "fd" => self.fd(call, emitted, context),
            "sed" => self.sed(call, emitted, context),
            "cmd" => self.cmd(call, emitted, context),
            _ => self.interpret(call, emitted, context),
        };
        if emitted.row.is_none() {
            outcome.commands.extend(self.known_inside(call, emitted, context).commands);
        }
        let is_of_package = emitted
            .subcommand
            .as_deref()
            .is_some_and(|subcommand| tables::OF_PACKAGES.contains(&subcommand));
        if is_of_package && matches!(emitted.program.as_str(), "pnpm" | "yarn") {
            let is_name = |arg: &Field| Some(&arg.text) == emitted.subcommand.as_ref();
            let at = call.args().iter().position(is_name).unwrap_or_default();
            let words = &call.args()[at..];
            let inner = self.words(words, &call.env, &emitted.program, context);
            outcome.commands.extend(inner.commands);
        }
        for row in emitted.rows() {
            for run in row.runs {
                let inner = self.runs_one(*run, call, emitted, context);
                outcome.commands.extend(inner.commands);
                outcome.text = inner.text;
                outcome.succeeds = inner.succeeds;
            }
        }
        outcome
    }

    /// Reads `with-secrets app -- rm -rf a`, `with-pty git push -f`: an unknown program runs the arguments after `--` if they begin with a
    /// known one, and those from the name of a program on that is hardly ever anything else.
    fn known_inside(&mut self, call: &Call, emitted: &Emitted, context: &Context) -> NodeResult {
        let after_dashes = after_dashes(call);
        let is_known = after_dashes.first().is_some_and(|name| {
            let name = name.text.rsplit('/').next().unwrap_or_default();
            tables::find(name).is_some()
        });
        // `capsh -- -c script`.
        if let [option, script, ..] = after_dashes
            && option.text == "-c"
        {
            return self.script_of(script, emitted, context);
        }
        let args = call.args();
        let words = if is_known {
            after_dashes
        } else if tables::SPEAKING.contains(&emitted.program.as_str()) {
            &[]
        } else {
            let at = (0..args.len()).find(|at| is_command(&args[*at..]));
            &args[at.unwrap_or(args.len())..]
        };
        self.words(words, &call.env, &emitted.program, context)
    }

    fn runs_one(
        &mut self,
        run: Run,
        call: &Call,
        emitted: &Emitted,
        context: &Context,
    ) -> NodeResult {
        let operands: Vec<Field> = call.operands(emitted).cloned().collect();
        let from = |start: usize| operands.get(start..).unwrap_or_default();
        let is_first = |word: &str| operands.first().is_some_and(|first| first.text == word);
        let via = emitted.program.as_str();
        let container = || Context { location: Location::Container, ..context.clone() };
        let remote = || Context { location: Location::Remote, ..context.clone() };
        match run {
            // `flock file -c script`.
            Run::Words(start) if from(start).first().is_some_and(|first| first.text == "-c") => {
                self.scripts(from(start + 1), emitted, context)
            }
            Run::Words(start) => self.words(from(start), &call.env, via, context),
            Run::Unless(options, start) if !emitted.arguments.has(options) => {
                self.words(from(start), &call.env, via, context)
            }
            Run::Environment => self.environment(&operands, call, emitted, context),
            Run::AfterDashes => self.words(after_dashes(call), &call.env, via, context),
            Run::AfterFlag(names) => {
                let at = emitted
                    .arguments
                    .flags
                    .iter()
                    .find(|flag| names.split(' ').any(|name| name == flag.name));
                let start = at.map_or(usize::MAX, |flag| flag.arg + 1);
                self.words(call.args().get(start..).unwrap_or_default(), &call.env, via, context)
            }
            Run::After(word, start) if is_first(word) => {
                self.words(from(start), &call.env, via, context)
            }
            Run::AfterScript(word) if is_first(word) => {
                let args = call.args();
                let at =
                    args.iter().position(|arg| arg.text == word).map_or(args.len(), |at| at + 1);
                let options = args[at..].iter().take_while(|arg| arg.text.starts_with('-')).count();
                let script = Field::join(&args[at + options..], " ");
                // `screen -X stuff 'command\n'` types the text.
                let is_typed = word == "stuff";
                let input_text = script.text.replace("\\n", "\n").replace("^M", "\n");
                let script = if is_typed { script.with_text(input_text) } else { script };
                self.script_of(&script, emitted, context)
            }
            Run::Script(start) => self.script_of(&Field::join(from(start), " "), emitted, context),
            Run::Each => self.scripts(&operands, emitted, context),
            Run::Option(names) => self.scripts(&values(emitted, names), emitted, context),
            Run::Keyed(names, key) => {
                let scripts: Vec<Field> =
                    values(emitted, names).iter().filter_map(|value| keyed(value, key)).collect();
                self.scripts(&scripts, emitted, context)
            }
            Run::Prefixed(prefix) => {
                let texts = operands.iter().filter_map(|operand| after(operand, prefix));
                let scripts: Vec<Field> =
                    texts.filter_map(|text| without_name(text, prefix)).collect();
                let scripts: Vec<Field> = scripts.iter().map(unescaped_script).collect();
                self.scripts(&scripts, emitted, context)
            }
            Run::Recipes(files) => self.recipes(files, call, emitted, context),
            Run::Sql(client) => self.sql(client, call, emitted, context),
            Run::GitAlias => self.git_alias(call, emitted, context),
            Run::Remote(start) => self.remote(from(start), call, emitted, &remote()),
            Run::OptionRemote(names) => self.scripts(&values(emitted, names), emitted, &remote()),
            Run::ListRemote(names, key) => {
                let list = values(emitted, names);
                let scripts: Vec<Field> =
                    list.iter().flat_map(|value| listed_texts(value, key)).collect();
                self.scripts(&scripts, emitted, &remote())
            }
            Run::Package => {
                let package = from(0).first().map_or("", |first| first.text.as_str());
                let words = if let Some((_, name)) = package.rsplit_once('#') {
                    [&[Field::known(name)], after_dashes(call)].concat()
                } else if let Some(name) = package.strip_prefix("npm:") {
                    let name = name.split_once('@').map_or(name, |(name, _)| name);
                    [&[Field::known(name)], from(1)].concat()
                } else {
                    return NodeResult::default();
                };
                self.words(&words, &call.env, via, context)
            }
            Run::Transfers(inline, files) => self.transfers((inline, files), emitted, context),
            Run::Edits(inline) => self.edits(inline, call, emitted, context),
            Run::Debugs(inline) => self.debugs(inline, emitted, context),
            Run::InputLines => self.input_lines(call, emitted, context),
            Run::Entry(option, start) => {
                self.words(&entry(option, from(start), emitted), &call.env, via, context)
            }
            Run::Container(start) => {
                let image = start.checked_sub(1).and_then(|image| operands.get(image));
                let option = values(emitted, "--entrypoint").into_iter().next();
                let program = option.or_else(|| image.and_then(entry_point).map(Field::known));
                let rest = from(start);
                let dashes = usize::from(rest.first().is_some_and(|first| first.text == "--"));
                let words: Vec<Field> =
                    program.into_iter().chain(rest[dashes..].to_vec()).collect();
                self.words(&words, &call.env, via, &container())
            }
            Run::AfterDashesContainer => {
                self.words(after_dashes(call), &call.env, via, &container())
            }
            Run::Unless(..) | Run::After(..) | Run::AfterScript(..) => NodeResult::default(),
        }
    }

    /// Reads a script on another machine: the operands, or the standard input without any.
    fn remote(
        &mut self,
        operands: &[Field],
        call: &Call,
        emitted: &Emitted,
        context: &Context,
    ) -> NodeResult {
        let dashes = usize::from(operands.first().is_some_and(|first| first.text == "--"));
        let operands = &operands[dashes..];
        let via = emitted.program.as_str();
        let input = context.stdin.clone();
        let input = input.filter(|_| operands.is_empty() && !call.args().is_empty());
        if let Some(input) = &input {
            self.classify(emitted.index, Class::Interpreter);
            for source in &input.sources {
                self.flow(*source, emitted.index, FlowRole::Code);
            }
            self.runs_unread(&input.sources, input.text.as_ref(), emitted.index);
        }
        match input.and_then(|input| input.text.clone()) {
            Some(script) => self.script(&script, via, &context.with_stdin(None)),
            None => self.script(&Field::join(operands, " "), via, context),
        }
    }

    /// Runs the program with each line of the standard input as arguments, if it has no operands.
    fn input_lines(&mut self, call: &Call, emitted: &Emitted, context: &Context) -> NodeResult {
        let input = context.stdin.clone();
        let text = input.and_then(|input| input.text.clone());
        let (Some(text), None) = (text, call.operands(emitted).next()) else {
            return NodeResult::default();
        };
        let mut all = NodeResult::default();
        let inner = context.with_stdin(None);
        for line in text.text.lines() {
            let words = std::iter::once(emitted.program.as_str()).chain(line.split_whitespace());
            let words: Vec<Field> = words.map(|word| text.with_text(word)).collect();
            all.commands.extend(self.words(&words, &[], &emitted.program, &inner).commands);
        }
        all
    }

    /// Reads `env A=b command`, and `env -S 'command …'`.
    fn environment(
        &mut self,
        operands: &[Field],
        call: &Call,
        emitted: &Emitted,
        context: &Context,
    ) -> NodeResult {
        if let Some(split) = split_string(call, emitted) {
            return self.script_of(&split, emitted, context);
        }
        // `sudo -e` edits its operands.
        if emitted.arguments.has("-e --edit") {
            return NodeResult::default();
        }
        let is_empty = operands.first().is_some_and(|first| first.text == "-");
        let operands = &operands[usize::from(is_empty)..];
        let is_assignment =
            |field: &&Field| field.text.split_once('=').is_some_and(|(name, _)| !name.is_empty());
        let count = operands.iter().take_while(is_assignment).count();
        let assigned = operands[..count].iter().filter_map(|field| {
            let (name, value) = field.text.split_once('=')?;
            Some((name.to_owned(), field.with_text(value)))
        });
        let mut env: Vec<(String, Field)> = assigned.collect();
        env.extend_from_slice(&call.env);
        let is_empty = is_empty || emitted.arguments.has("-i --ignore-environment");
        let is_env = emitted.program == "env";
        let environment =
            if is_empty && is_env { Environment::Empty } else { Environment::Exported };
        self.scope.open_process(environment);
        for name in values(emitted, "-u --unset").into_iter().filter(|_| is_env) {
            self.scope.set(&name.text, None);
        }
        let outcome = self.words(&operands[count..], &env, &emitted.program, context);
        self.scope.close(Keep::Nothing);
        outcome
    }

    /// Reads a command in the operands of another, with the variables of that and more.
    pub(super) fn words(
        &mut self,
        argv: &[Field],
        env: &[(String, Field)],
        via: &str,
        context: &Context,
    ) -> NodeResult {
        if argv.is_empty() {
            return NodeResult::default();
        }
        // `yarn exec 'git status'`.
        if let [script] = argv
            && script.is_certain
            && script.text.trim().contains(' ')
        {
            return self.script(script, via, context);
        }
        let Some(inner) = context.inside(via) else {
            self.reach_limit();
            return NodeResult::default();
        };
        let text = Field::join(argv, " ").text;
        if !self.expand_by(text.len()) {
            return NodeResult::default();
        }
        let call = Call { argv: argv.to_vec(), env: env.to_vec(), text, ..Call::default() };
        self.run(&call, &inner)
    }

    /// Scripts that a command runs.
    pub(super) fn scripts(
        &mut self,
        scripts: &[Field],
        emitted: &Emitted,
        context: &Context,
    ) -> NodeResult {
        let mut all = NodeResult::default();
        for script in scripts {
            all.commands.extend(self.script_of(script, emitted, context).commands);
        }
        all
    }

    /// Reads a script that a command runs. What other commands wrote of it flows into the command as code.
    pub(super) fn script_of(
        &mut self,
        script: &Field,
        emitted: &Emitted,
        context: &Context,
    ) -> NodeResult {
        for source in &script.sources {
            self.flow(*source, emitted.index, FlowRole::Code);
        }
        // Of a script with more in it, the rest can be read.
        if script.text.starts_with("$(") && script.text.ends_with(')') {
            self.runs_unread(&script.sources, None, emitted.index);
        } else if has_command_of_output(&script.text) {
            self.runs_printed(&script.sources, emitted.index);
        }
        self.script(script, &emitted.program, context)
    }

    /// Reads `git -c alias.x='…' x`, and `git config alias.x '…'`, which may be called later: a shell command after `!`, or arguments of git.
    fn git_alias(&mut self, call: &Call, emitted: &Emitted, context: &Context) -> NodeResult {
        let settings = values(emitted, "-c");
        let commands: Vec<Field> = settings
            .iter()
            .filter(|setting| is_command_of_git(&setting.text))
            .filter_map(|setting| Some(setting.with_text(setting.text.split_once('=')?.1)))
            .collect();
        self.scripts(&commands, emitted, context);
        let is_set = emitted.subcommand.as_deref() == Some("config");
        let alias = match emitted.subcommand.as_deref() {
            Some("config") => configured_alias(call, emitted),
            Some(subcommand) if emitted.subcommand_row.is_none() => {
                let key = format!("alias.{subcommand}=");
                values(emitted, "-c").iter().find_map(|value| after(value, &key))
            }
            _ => None,
        };
        let Some(alias) = alias else { return NodeResult::default() };
        let mut text = match alias.text.strip_prefix('!') {
            Some(command) => alias.with_text(command),
            None => alias.with_text(format!("git {}", alias.text)),
        };
        if !is_set {
            for operand in call.operands(emitted) {
                text.push(&Field::known(" "));
                text.push(&super::scripts::quote(operand));
            }
        }
        self.script_of(&text, emitted, context)
    }
}

/// Checks whether a command of a script is the output of another: `true; $(x)`.
fn has_command_of_output(script: &str) -> bool {
    script.match_indices("$(").any(|(at, _)| {
        let before = script[..at].trim_end_matches([' ', '\t', '"']);
        before.is_empty() || before.ends_with([';', '&', '|', '\n', '(', '{'])
    })
}

/// Checks whether words begin with a program and what it is often told to do. `rm` can be the word of another program for something else.
pub(super) fn is_command(words: &[Field]) -> bool {
    let [name, next, ..] = words else { return false };
    if !name.is_certain {
        return false;
    }
    let is_option = |letters: &str| {
        next.text.starts_with('-') && next.text.contains(|letter| letters.contains(letter))
    };
    match name.text.rsplit('/').next().unwrap_or_default() {
        "rm" => is_option("rRf"),
        "sh" | "bash" | "zsh" | "dash" => is_option("c"),
        "chmod" | "chown" => is_option("R"),
        "git" => tables::subcommand("git", &next.text).is_some(),
        // `minikube kubectl -- get pods`.
        "kubectl" => next.text == "--" || tables::subcommand("kubectl", &next.text).is_some(),
        "dd" => next.text.contains("f="),
        "shred" | "sudo" => true,
        _ => false,
    }
}

/// Returns the words of `flatpak run --command=sh app -c script` and `snap run --shell app -c script`: a program from an option, and operands.
fn entry(option: &str, operands: &[Field], emitted: &Emitted) -> Vec<Field> {
    let flag = emitted.arguments.flags.iter().find(|flag| flag.name == option);
    let program = flag.map(|flag| flag.value.clone().unwrap_or_else(|| Field::known("sh")));
    program
        .into_iter()
        .flat_map(|program| std::iter::once(program).chain(operands.to_vec()))
        .collect()
}

/// Returns the program that an image runs with the arguments of `docker run`: `alpine/git push`.
fn entry_point(image: &Field) -> Option<&str> {
    let path = image.text.split(['@', ':']).next().filter(|path| path.contains('/'))?;
    let name = path.rsplit('/').next()?;
    let name = if name == "aws-cli" { "aws" } else { name };
    tables::IMAGES.contains(&name).then_some(name)
}

/// Returns the value that `git config alias.NAME VALUE` gives an alias.
fn configured_alias(call: &Call, emitted: &Emitted) -> Option<Field> {
    let is_name = |operand: &&Field| after(operand, "alias.").is_some();
    call.operands(emitted).skip_while(|operand| !is_name(operand)).nth(1).cloned()
}

/// Returns the arguments after `--`.
fn after_dashes(call: &Call) -> &[Field] {
    let args = call.args();
    let start = args.iter().position(|arg| arg.text == "--").map_or(args.len(), |at| at + 1);
    &args[start..]
}

/// Returns the command of `env -S 'command …' argument…`.
fn split_string(call: &Call, emitted: &Emitted) -> Option<Field> {
    const NAMES: [&str; 2] = ["-S", "--split-string"];
    let flag = emitted.arguments.flags.iter().find(|flag| NAMES.contains(&flag.name.as_str()))?;
    let is_apart = NAMES.contains(&call.args()[flag.arg].text.as_str());
    let mut text = flag.value.clone()?;
    for arg in call.args().get(flag.arg + 1 + usize::from(is_apart)..).unwrap_or_default() {
        text.push(&Field::known(" "));
        text.push(&super::scripts::quote(arg));
    }
    Some(text)
}

/// Returns the values of options of a command.
pub(super) fn values(emitted: &Emitted, names: &str) -> Vec<Field> {
    emitted.arguments.values(names).map(|(value, _)| value.clone()).collect()
}

/// Returns the texts after `key=` or `"key":`: those in quotes, or the rest.
fn listed_texts(value: &Field, key: &str) -> Vec<Field> {
    let Some((_, rest)) = value.text.split_once(key) else { return Vec::new() };
    let rest = rest.trim_start_matches(['"', '=', ':', ' ', '[']);
    let is_quoted = value.text.contains("[\"") || value.text.contains("[ \"");
    let texts: Vec<&str> = if is_quoted {
        rest.split('"').step_by(2).collect()
    } else {
        rest.split(',').take(1).collect()
    };
    texts.into_iter().map(|text| value.with_text(text)).collect()
}

/// Returns the text after a key in any case.
fn after(field: &Field, key: &str) -> Option<Field> {
    let start = field.text.get(..key.len())?;
    start.eq_ignore_ascii_case(key).then(|| field.with_text(&field.text[key.len()..]))
}

/// Returns the command after a key, and after `=` or blanks if it ends in a letter.
fn keyed(field: &Field, key: &str) -> Option<Field> {
    let rest = after(field, key)?;
    if !key.ends_with(char::is_alphabetic) {
        return Some(rest);
    }
    let script = rest.text.trim_start();
    let script = script.strip_prefix('=').unwrap_or(script);
    (script.len() < rest.text.len()).then(|| rest.with_text(script))
}

/// Returns the command of `scripts.name=command`, after a prefix with a dot.
fn without_name(text: Field, prefix: &str) -> Option<Field> {
    if !prefix.ends_with('.') {
        return Some(text);
    }
    let (_, script) = text.text.split_once('=')?;
    Some(text.with_text(script))
}

/// Returns the command of `EXEC:command,options`: backslashes and quotes are socat's. In `ext::command` of git, `% ` is a blank in a word.
fn unescaped_script(field: &Field) -> Field {
    let text = field.text.replace("\\\"", "'").replace("\\ ", " ").replace("% ", "\\ ");
    field.with_text(text.split(",pty").next().unwrap_or_default())
}

/// Checks whether git runs the value of a setting: `mergetool.x.cmd`, `filter.x.clean`.
fn is_command_of_git(setting: &str) -> bool {
    const ENDS: [&str; 8] =
        ["clean", "cmd", "command", "driver", "packobjectshook", "process", "smudge", "textconv"];
    let key = setting.split('=').next().unwrap_or_default().to_ascii_lowercase();
    let end = key.rsplit('.').next().unwrap_or_default();
    (ENDS.contains(&end) && key.contains('.')) || key.starts_with("pager.")
}
