//! The facts of one command: names, options, paths.

use std::collections::{BTreeMap, HashSet};

use crate::facts::{Command, FlowRole, PathOp, Stdin, Uncertain};
use crate::field::Field;
use crate::flags::Arguments;
use crate::locate;
use crate::paths::{Condition, PathRule};
use crate::reader::{Context, Reader};
use crate::tables;

use super::call::{Call, Emitted};
use super::input;
use super::touch::{Touch, is_on_host};

/// Maximum number of bytes of texts on the standard input that are facts, besides the first characters of each.
const MAX_STDIN: usize = 4 * crate::limits::MAX_HEREDOC_BYTES;

/// Maximum number of characters of a text on the standard input beyond that.
const MAX_CUT_STDIN: usize = 64;

/// Programs that no table has, and that do not show what is in their operands.
const NAMING: [&str; 18] = [
    ":", "[", "basename", "dirname", "exa", "eza", "getfacl", "hash", "keychain", "la", "ll",
    "lsattr", "lsd", "namei", "readlink", "realpath", "type", "which",
];

impl Reader<'_> {
    /// Keeps the facts of a command. `None` at the limit.
    pub(super) fn emit(&mut self, call: &Call, context: &Context) -> Option<Emitted> {
        if self.facts.commands.len() >= crate::limits::MAX_COMMANDS {
            self.reach_limit();
            return None;
        }
        let unnamed = Field::default();
        let name = call.argv.first().unwrap_or(&unnamed);
        let (program, path) = program_name(&name.text);
        let is_program_certain =
            name.is_certain || (path.is_some() && !program.contains(['$', '`']));
        let is_pattern = name.is_glob && program.contains(['?', '*', '[']);
        let is_program_certain = is_program_certain && !is_pattern;
        let mut emitted = self.sort_arguments(call, program, path.is_some(), is_program_certain);
        self.enter_directory(&mut emitted);
        let stdin_from = self.stdin_fact(context);
        let command = Command { stdin_from, ..self.command(call, &emitted, path, context) };
        self.facts.commands.push(command);
        self.runs_stdin.push(input::runs_stdin(call, &emitted));
        if self.waits_for_unseen_input(call, &emitted, context) {
            self.reach_limit();
        }
        if call.redirected.sends_output {
            self.sends_own_output(emitted.index);
        }
        self.command_paths(call, &emitted, name, context);
        self.remember_links(call, &emitted);
        self.shows_sourced(call, &emitted);
        self.argument_flows(call, &emitted, context);
        self.downloads_here(call, &emitted);
        Some(emitted)
    }

    fn sort_arguments(
        &self,
        call: &Call,
        program: String,
        has_path: bool,
        is_program_certain: bool,
    ) -> Emitted {
        let args = call.args();
        // `/bin/c?t`: the shell puts the program there that fits.
        let row = if is_program_certain {
            tables::find(&program)
        } else {
            tables::find(&program).or_else(|| tables::fitting(&program))
        };
        let mut emitted = Emitted {
            index: self.facts.commands.len(),
            program: tables::spelling(program, row),
            has_path,
            is_program_certain,
            row,
            subcommand_row: None,
            nested_row: None,
            nested: None,
            subcommand: None,
            has_layer: false,
            arguments: Arguments::default(),
        };
        if row.is_some_and(|row| row.has_subcommands) {
            emitted.sort_with_subcommand(args);
        } else {
            emitted.arguments = Arguments::sort(args, row);
            emitted.subcommand = match emitted.program.as_str() {
                "npx" | "bunx" | "pnpx" => first_word(args, &emitted.arguments, is_package),
                _ if row.is_none() => first_word(args, &emitted.arguments, is_plain),
                _ => None,
            };
        }
        emitted
    }

    /// Enters the working directory of one command, in a layer that the caller closes: `git -C directory`.
    fn enter_directory(&mut self, emitted: &mut Emitted) {
        let options: Vec<&str> = emitted.rows().map(|row| row.directory).collect();
        let directories: Vec<Field> = options
            .iter()
            .flat_map(|names| emitted.arguments.values(names))
            .map(|(directory, _)| directory.clone())
            .collect();
        if directories.is_empty() {
            return;
        }
        emitted.has_layer = true;
        self.scope.open();
        for directory in directories {
            let is_known = directory.is_certain && !directory.is_glob;
            let cwd =
                is_known.then(|| locate::absolute(&directory.text, self.scope.cwd())).flatten();
            self.scope.set_cwd(cwd);
        }
    }

    fn command(
        &self,
        call: &Call,
        emitted: &Emitted,
        path: Option<String>,
        context: &Context,
    ) -> Command {
        let args = call.args();
        let cwd = self.cwd(context);
        let mut uncertain = Vec::new();
        if !emitted.is_program_certain {
            uncertain.push(Uncertain::Program);
        }
        if cwd.is_none() {
            uncertain.push(Uncertain::Cwd);
        }
        let unknown = args.iter().enumerate().filter(|(_, arg)| !arg.is_certain);
        uncertain.extend(unknown.map(|(index, _)| Uncertain::Arg(index)));
        let arguments = &emitted.arguments;
        let flag_text = |flag: &crate::flags::Flag| match &flag.value {
            Some(value) => format!("{}={}", flag.name, value.text),
            None => flag.name.clone(),
        };
        let exports =
            self.scope.exports().map(|(name, value)| (name.to_owned(), value.text.clone()));
        let own = call.env.iter().map(|(name, value)| (name.clone(), value.text.clone()));
        let env: BTreeMap<String, String> = exports.chain(own).collect();
        let operand_args: Vec<usize> =
            emitted.nested.into_iter().chain(arguments.operands.iter().copied()).collect();
        let operands = operand_args.iter().filter_map(|index| args.get(*index));
        Command {
            program: emitted.program.clone(),
            path,
            subcommand: emitted.subcommand.clone(),
            flags: arguments.flags.iter().map(flag_text).collect(),
            operands: operands.map(|operand| operand.text.clone()).collect(),
            args: args.iter().map(|arg| arg.text.clone()).collect(),
            env,
            cwd,
            via: context.via.clone(),
            stdin_from: None,
            redirects: call.redirected.redirects.clone(),
            text: call.text.clone(),
            location: context.location,
            uncertain,
            flag_args: arguments.flags.iter().map(|flag| flag.arg).collect(),
            operand_args,
            dashes: arguments.dashes.map(|dashes| dashes + usize::from(emitted.nested.is_some())),
            globs: (0..args.len()).filter(|index| args[*index].is_glob).collect(),
            classes: classes(call, emitted),
        }
    }

    /// Returns the standard input as a fact. A long text that many commands read is cut.
    fn stdin_fact(&mut self, context: &Context) -> Option<Stdin> {
        let input = context.stdin.as_ref()?;
        let Stdin::Text(text) = &input.stdin else { return Some(input.stdin.clone()) };
        self.stdin_bytes += text.len();
        if self.stdin_bytes <= MAX_STDIN {
            return Some(input.stdin.clone());
        }
        Some(Stdin::Text(text.chars().take(MAX_CUT_STDIN).collect()))
    }

    /// Adds the paths that a command touches, and the files that it reads and writes.
    fn command_paths(&mut self, call: &Call, emitted: &Emitted, name: &Field, context: &Context) {
        let index = Some(emitted.index);
        let mut here = self.placed(context);
        here.has_hosts = matches!(
            emitted.program.as_str(),
            "scp"
                | "rsync"
                | "tar"
                | "rclone"
                | "sftp"
                | "docker"
                | "podman"
                | "aws"
                | "gsutil"
                | "gcloud"
                | "kubectl"
        );
        if emitted.has_path && !is_system_program(&name.text) {
            let touch = Touch { path: name, op: PathOp::Execute, recursive: false };
            self.touch_in(&touch, index, &here);
            self.read_file(name, emitted.index, FlowRole::Code);
            if self.written(name).is_some() {
                self.classify(emitted.index, crate::facts::Class::Interpreter);
            }
        }
        for (path, op) in &call.redirected.paths {
            self.touch_in(&Touch { path, op: *op, recursive: false }, index, &here);
        }
        for (path, op, recursive) in self.touched(call, emitted) {
            let touch = Touch { path: &path, op, recursive };
            match op {
                PathOp::Write | PathOp::Create => self.touch_target(&touch, call, emitted, &here),
                _ => self.touch_in(&touch, index, &here),
            }
            self.file_flow((&path, op), call, emitted, context);
        }
    }

    /// Returns the paths that the arguments of a command name, what it does to each, and whether with everything below.
    fn touched(&self, call: &Call, emitted: &Emitted) -> Vec<(Field, PathOp, bool)> {
        let rules = emitted.rows().flat_map(|row| row.paths.iter().map(move |rule| (row, rule)));
        let mut touched = Vec::new();
        for (row, rule) in rules {
            let rule = PathRule::parse(rule);
            if rule.applies(&emitted.arguments) {
                let recursive = crate::paths::is_recursive(row, &emitted.arguments);
                let paths = rule.paths(call.args(), &emitted.arguments);
                touched.extend(paths.into_iter().map(|path| (path, rule.op, recursive)));
            }
        }
        if emitted.operand_row().is_none() {
            touched.extend(output_files(call.args()).map(|path| (path, PathOp::Write, false)));
        }
        let is_unknown = emitted.row.is_none() && emitted.is_program_certain && !emitted.has_path;
        let names_files = NAMING.contains(&emitted.program.as_str());
        if is_unknown && !names_files && !self.functions.contains_key(&emitted.program) {
            touched.extend(hidden_files(call.args()).map(|path| (path, PathOp::Read, false)));
        }
        // The same argument many times is one path.
        if touched.len() > 1 {
            let mut unique = HashSet::new();
            touched.retain(|(path, op, recursive)| {
                unique.insert((path.text.clone(), path.is_glob, path.is_certain, *op, *recursive))
            });
        }
        touched
    }

    /// Notes what a command reads from a file or writes into it.
    fn file_flow(
        &mut self,
        (path, op): (&Field, PathOp),
        call: &Call,
        emitted: &Emitted,
        context: &Context,
    ) {
        match op {
            PathOp::Read | PathOp::Move | PathOp::Link => {
                self.read_file(path, emitted.index, FlowRole::Data);
            }
            PathOp::Execute => {
                for source in &path.sources {
                    self.flow(*source, emitted.index, FlowRole::Code);
                }
                self.read_file(path, emitted.index, FlowRole::Code);
            }
            PathOp::Create if emitted.program == "mkfifo" => {
                let file = locate::absolute(&path.text, self.scope.cwd());
                self.fifos.extend(file.map(|file| (file, Vec::new())));
            }
            PathOp::Write | PathOp::Create => {
                let source = crate::facts::FlowSource::Command(emitted.index);
                let input = context.stdin.as_ref().filter(|_| copies_input(call, emitted));
                let text = input.and_then(|input| input.text.clone());
                let text = text.or_else(|| self.copied(call, emitted));
                self.writes_file(path, &[source], text);
                self.writes_into_directory(path, call, emitted);
            }
            _ => {}
        }
    }

    /// Notes that files are in the current directory without another one: `gh release download`.
    fn downloads_here(&mut self, call: &Call, emitted: &Emitted) {
        let is_download = emitted.program == "gh"
            && matches!(emitted.subcommand.as_deref(), Some("release" | "run"))
            && call.operands(emitted).next().is_some_and(|word| word.text == "download");
        if is_download {
            self.classify(emitted.index, crate::facts::Class::Download);
            if !emitted.arguments.has("-D --dir -O --output") {
                self.unpacks_into(&Field::known("."), emitted.index);
            }
        }
    }

    /// Adds the flows of arguments whose text other commands write.
    fn argument_flows(&mut self, call: &Call, emitted: &Emitted, context: &Context) {
        for (place, arg) in call.argv.iter().enumerate() {
            // `$(curl …)` runs what it downloads.
            let is_program = place == 0 && !arg.sources.is_empty() && !emitted.is_program_certain;
            if is_program {
                self.classify(emitted.index, crate::facts::Class::Interpreter);
            }
            let role = match (is_program, arg.is_process) {
                (true, _) => FlowRole::Code,
                (_, true) => FlowRole::Data,
                _ => FlowRole::Argument,
            };
            for source in &arg.sources {
                self.flow(*source, emitted.index, role);
            }
            if arg.is_process && arg.text.starts_with(">(") {
                let source = crate::facts::FlowSource::Command(emitted.index);
                let input = context.stdin.as_ref().filter(|_| copies_input(call, emitted));
                let text = input.and_then(|input| input.text.as_ref());
                for receiver in self.receivers(&arg.text) {
                    self.flow_into_stdin(receiver, &[source], text);
                }
            }
        }
    }
}

/// Returns the files that options with the usual names let a program write of which nothing is known.
fn output_files(args: &[Field]) -> impl Iterator<Item = Field> {
    /// Options whose value is a file.
    const FILES: [&str; 8] = *tenter_base::words!(
        "-out --out-file --outfile --output-file --log-file --logfile --report-file --result-file"
    );
    /// Options whose value is a file, a directory, or the name of a format.
    const OUTPUTS: [&str; 8] = *tenter_base::words!(
        "-o --out --out-dir --outdir --output --output-dir --output-directory --dest"
    );
    args.iter().enumerate().filter_map(|(index, arg)| {
        let (name, value) = match arg.text.split_once('=') {
            Some((name, value)) => (name, Some(arg.with_text(value))),
            None => (arg.text.as_str(), args.get(index + 1).cloned()),
        };
        if arg.text.starts_with("-o/") || arg.text.starts_with("-o~") {
            return Some(arg.with_text(&arg.text[2..]));
        }
        let is_path = |value: &Field| value.text.contains('/') && !value.text.contains("://");
        let is_file = FILES.contains(&name);
        value.filter(|value| is_file || (OUTPUTS.contains(&name) && is_path(value)))
    })
}

/// Returns the base name of a program without `.exe`, and the program as written if that has a slash.
fn program_name(text: &str) -> (String, Option<String>) {
    let is_windows = matches!(text.as_bytes(), [_, b':', b'\\', ..]);
    let is_separator = |c: char| c == '/' || (is_windows && c == '\\');
    let base = text.rsplit(is_separator).next().unwrap_or(text);
    let bytes = base.as_bytes();
    let is_exe = bytes.len() > 4 && bytes[bytes.len() - 4..].eq_ignore_ascii_case(b".exe");
    let name = if is_exe { &base[..base.len() - 4] } else { base };
    // `npx rimraf@5`
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '^' | '~');
    let version = name.rfind('@').filter(|at| {
        *at > 0 && name[..*at].chars().all(is_part) && name[at + 1..].chars().all(is_part)
    });
    let name = &name[..version.unwrap_or(name.len())];
    (name.to_owned(), (base.len() < text.len()).then(|| text.to_owned()))
}

/// Checks whether a path is in a directory of installed programs, whose names say enough.
fn is_system_program(path: &str) -> bool {
    const DIRECTORIES: [&str; 9] = *tenter_base::words!(
        "/bin/ /sbin/ /usr/bin/ /usr/sbin/ /usr/local/bin/ /usr/local/sbin/ /opt/homebrew/bin/
         /snap/bin/ /usr/lib/"
    );
    DIRECTORIES.iter().any(|directory| path.starts_with(directory)) && !path.contains("/../")
}

/// Returns the first operand, if it is certain and such a word.
fn first_word(args: &[Field], arguments: &Arguments, is_word: fn(&str) -> bool) -> Option<String> {
    let first = args.get(*arguments.operands.first()?)?;
    (first.is_certain && is_word(&first.text)).then(|| first.text.clone())
}

/// Checks whether a word may be a subcommand.
fn is_plain(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_:".contains(&byte))
}

/// Checks whether a word is a package of a registry, and neither an address nor the repository `owner/name`.
fn is_package(word: &str) -> bool {
    !word.contains(':') && (word.starts_with('@') || !word.contains('/'))
}

fn classes(call: &Call, emitted: &Emitted) -> Vec<crate::facts::Class> {
    let mut classes: Vec<_> = emitted
        .rows()
        .flat_map(|row| row.classes.iter())
        .filter(|(_, when)| Condition(when).holds(&emitted.arguments))
        .map(|(class, _)| *class)
        .collect();
    let is_from_host = || call.operands(emitted).any(|operand| is_on_host(&operand.text));
    if emitted.program == "rsync" && is_from_host() {
        classes.push(crate::facts::Class::Download);
    }
    if call.redirected.uses_network && !classes.contains(&crate::facts::Class::Network) {
        classes.push(crate::facts::Class::Network);
    }
    classes
}

/// Checks whether a command writes its standard input into files.
fn copies_input(call: &Call, emitted: &Emitted) -> bool {
    let program = emitted.program.as_str();
    let is_copied = || call.args().iter().any(|arg| arg.text == "/dev/stdin");
    matches!(program, "tee" | "sponge")
        || (program == "dd" && !call.args().iter().any(|arg| arg.text.starts_with("if=")))
        || (matches!(program, "cp" | "install") && is_copied())
}

/// Returns hidden files in the operands of a program that no table has: it may read them. What follows an option may be its value, which
/// is often used and not shown.
fn hidden_files(args: &[Field]) -> impl Iterator<Item = Field> {
    let before = std::iter::once(None).chain(args.iter().map(Some));
    before.zip(args).filter_map(|(before, arg)| {
        let is_value = before.is_some_and(|before| before.text.starts_with('-'));
        let is_hidden = |part: &str| part.len() > 1 && part.starts_with('.') && part != "..";
        let is_path = !arg.text.starts_with('-') && arg.text.split('/').any(is_hidden);
        (is_path && !is_value).then(|| Field { is_certain: false, ..arg.clone() })
    })
}
