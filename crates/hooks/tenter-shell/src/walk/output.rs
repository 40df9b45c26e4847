//! The output of commands that only repeat or name something (C2).

use crate::escapes;
use crate::field::Field;
use crate::limits::MAX_VALUE;
use crate::reader::{Context, Reader};

use super::call::{Call, Emitted};

impl Reader<'_> {
    /// Returns the standard output of a command, if it is known without running it.
    pub(super) fn output(
        &self,
        call: &Call,
        emitted: &Emitted,
        context: &Context,
    ) -> Option<Field> {
        let operands = || call.operands(emitted).cloned().collect::<Vec<_>>();
        match emitted.program.as_str() {
            // `$(< file)`.
            "" if call.argv.is_empty() => context.stdin.as_ref()?.text.clone(),
            "echo" => Some(echo(call.args())),
            "printf" => printf(&operands()),
            "pwd" => self.scope.cwd().map(Field::known),
            "cat" | "tee"
                if operands().is_empty()
                    || emitted.program == "tee"
                    || operands()[0].text == "-" =>
            {
                context.stdin.as_ref()?.text.clone()
            }
            "cat" => {
                let operands = operands();
                let [file] = operands.as_slice() else { return None };
                self.written(file)?.text.clone()
            }
            "rev" if operands().is_empty() => {
                Some(super::transform::reverse(context.stdin.as_ref()?.text.as_ref()?))
            }
            "sed"
                if !emitted.arguments.has("-i --in-place -n --quiet --silent -f --file -s -z") =>
            {
                let mut scripts = super::wrappers::values(emitted, "-e --expression");
                scripts.extend(operands().into_iter().take(usize::from(scripts.is_empty())));
                super::transform::substitute(&self.rewrite(call, emitted, context)?, &scripts)
            }
            "tr" => {
                let input = context.stdin.as_ref()?.text.as_ref()?;
                let flags: Vec<&str> =
                    emitted.arguments.flags.iter().map(|flag| flag.name.as_str()).collect();
                super::transform::translate(input, &flags, &operands())
            }
            "which" | "command" if emitted.program == "which" || emitted.arguments.has("-v") => {
                operands().first().map(installed)
            }
            "basename" => operands().first().map(|path| {
                path.with_text(
                    path.text.trim_end_matches('/').rsplit('/').next().unwrap_or_default(),
                )
            }),
            "dirname" => operands().first().map(|path| path.with_text(directory(&path.text))),
            "realpath" | "readlink" => {
                let path = operands().into_iter().next()?;
                let absolute = crate::locate::absolute(&path.text, self.scope.cwd())?;
                path.is_certain.then(|| path.with_text(absolute))
            }
            "find" => Self::find_output(call, emitted),
            "ls" | "dir" if !emitted.arguments.has("-l -R -i -s") => Some(listed(&operands())),
            "head" | "tail" | "sort" | "uniq" | "grep" | "shuf" | "tac" => {
                let list = context.stdin.as_ref()?.text.as_ref()?;
                // Which of all files are left is not known.
                let is_all = |line: &str| line.ends_with("**") || matches!(line, "*" | "./*");
                (list.is_glob && !list.text.lines().any(is_all)).then(|| list.clone())
            }
            "git" if emitted.subcommand.as_deref() == Some("ls-files") => {
                git_files(emitted, &operands())
            }
            "mktemp" => Some(self.temporary(call, emitted)),
            "git" if emitted.subcommand.as_deref() == Some("rev-parse") => {
                let project = self.surroundings.project.first();
                if emitted.arguments.has("--show-toplevel") {
                    project.map(Field::known)
                } else if emitted.arguments.has("--git-dir --absolute-git-dir --git-common-dir") {
                    project.map(|project| Field::known(format!("{project}/.git")))
                } else {
                    None
                }
            }
            "whoami" => self.surroundings.variables.get("USER").map(Field::known),
            _ => None,
        }
    }

    /// Returns a text of commands if it is within the limit. Of a longer one, it is kept who writes it: it is a limit if something runs it.
    pub(super) fn within_limit(
        &mut self,
        text: Option<Field>,
        commands: &[usize],
    ) -> Option<Field> {
        if text.as_ref().is_none_or(|text| text.text.len() <= MAX_VALUE) {
            return text;
        }
        self.cut.extend(commands);
        None
    }

    /// Returns the path that `mktemp` prints, with a name that shows that it is unknown.
    fn temporary(&self, call: &Call, emitted: &Emitted) -> Field {
        let temp = match self.scope.get("TMPDIR") {
            Some(Some(temp)) if temp.is_certain => temp.text.clone(),
            _ => self
                .surroundings
                .variables
                .get("TMPDIR")
                .cloned()
                .unwrap_or_else(|| "/tmp".to_owned()),
        };
        let directory =
            emitted.arguments.values("-p --tmpdir").next().map(|(value, _)| value.clone());
        let template = call.operands(emitted).next();
        match (directory, template) {
            (Some(directory), template) => {
                let name = template.map_or("tmp.XXXXXXXXXX", |template| &template.text);
                directory.with_text(format!("{}/{name}", directory.text))
            }
            (None, Some(template)) if emitted.arguments.has("-t --tmpdir") => {
                template.with_text(format!("{temp}/{}", template.text))
            }
            (None, Some(template)) => template.clone(),
            (None, None) => Field::known(format!("{temp}/tmp.XXXXXXXXXX")),
        }
    }
}

/// Returns the probable path of a program: its name counts, and that it is a program of the system.
fn installed(name: &Field) -> Field {
    if name.text.contains('/') {
        return name.clone();
    }
    Field { is_certain: false, ..name.with_text(format!("/usr/bin/{}", name.text)) }
}

/// Returns the output of `ls`, as patterns: all names of a directory, and its operands. A name with a dot is a file.
fn listed(operands: &[Field]) -> Field {
    let every = Field { is_glob: true, ..Field::known("*") };
    let line = |operand: &Field| {
        let name = operand.text.rsplit('/').next().unwrap_or_default();
        let is_file = operand.is_glob || name.trim_start_matches('.').contains('.');
        let every = || Field { is_glob: true, ..operand.with_text("*") };
        // A name without a dot is a file or a directory.
        if is_file { vec![operand.clone()] } else { vec![operand.clone(), every()] }
    };
    let lines: Vec<Field> = operands.iter().flat_map(line).collect();
    Field::join(if lines.is_empty() { std::slice::from_ref(&every) } else { &lines }, "\n")
}

/// Returns the output of `git ls-files` for all files in the repository, as a pattern.
fn git_files(emitted: &Emitted, operands: &[Field]) -> Option<Field> {
    let is_part = emitted.arguments.has("-o -i -d -m -u --others --ignored --deleted --modified");
    (!is_part && operands.is_empty()).then(|| Field { is_glob: true, ..Field::known("./**") })
}

fn directory(path: &str) -> &str {
    match path.trim_end_matches('/').rsplit_once('/') {
        Some(("", _)) => "/",
        Some((directory, _)) => directory,
        None => ".",
    }
}

fn echo(args: &[Field]) -> Field {
    let is_option = |arg: &&Field| {
        arg.text.len() > 1
            && arg.text.starts_with('-')
            && arg.text[1..].bytes().all(|byte| b"neE".contains(&byte))
    };
    let options = args.iter().take_while(is_option).count();
    let escapes = args[..options].iter().any(|option| option.text.contains('e'));
    let newline = !args[..options].iter().any(|option| option.text.contains('n'));
    let mut text = Field::join(&args[options..], " ");
    if escapes {
        let (plain, is_certain) = escapes::echo(&text.text);
        text.text = plain;
        text.is_certain &= is_certain;
    }
    if newline {
        text.text.push('\n');
    }
    text
}

/// Returns the output of `printf FORMAT ARGUMENTS…`. `None` for formats of numbers.
pub(super) fn printf(operands: &[Field]) -> Option<Field> {
    let (format, mut args) = operands.split_first()?;
    let mut text = Field { text: String::new(), ..format.clone() };
    let pieces = pieces(&format.text)?;
    loop {
        let before = args.len();
        for piece in &pieces {
            match piece {
                Piece::Text(literal) => text.push(&Field::known(literal)),
                Piece::Argument { is_escaped } => {
                    let empty = Field::default();
                    let (arg, rest) =
                        args.split_first().map_or((&empty, args), |(arg, rest)| (arg, rest));
                    args = rest;
                    text.push(&if *is_escaped {
                        arg.with_text(escapes::echo(&arg.text).0)
                    } else {
                        arg.clone()
                    });
                }
            }
            if text.text.len() > MAX_VALUE {
                return Some(text);
            }
        }
        if args.is_empty() || args.len() == before {
            return Some(text);
        }
    }
}

enum Piece {
    Text(String),
    Argument { is_escaped: bool },
}

fn pieces(format: &str) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        pieces.push(Piece::Text(escapes::ansi(&rest[..at]).0));
        let kind = rest[at + 1..].chars().next()?;
        pieces.push(match kind {
            '%' => Piece::Text("%".to_owned()),
            's' | 'd' | 'i' => Piece::Argument { is_escaped: false },
            'b' => Piece::Argument { is_escaped: true },
            _ => return None,
        });
        rest = &rest[at + 2..];
    }
    pieces.push(Piece::Text(escapes::ansi(rest).0));
    Some(pieces)
}
