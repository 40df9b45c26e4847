//! The builtins that change the shell: directory, variables, functions, traps.

use crate::facts::{FlowRole, FlowSource, PathOp};
use crate::field::Field;
use crate::locate;
use crate::reader::{Context, NodeResult, Reader};

use super::call::{Call, Emitted};

impl Reader<'_> {
    /// Applies the effect of a builtin on the shell. `None` for other programs, and for builtins that run a command in their operands.
    pub(super) fn builtin(
        &mut self,
        call: &Call,
        emitted: &Emitted,
        context: &Context,
    ) -> Option<NodeResult> {
        let mut text = None;
        match emitted.program.as_str() {
            "cd" if call.args().iter().all(|arg| arg.text != "-") => {
                self.change_directory(call, emitted);
                text = Some(Field::default());
            }
            "cd" | "pushd" | "chdir" => self.change_directory(call, emitted),
            "popd" => self.scope.set_cwd(None),
            "export" | "declare" | "local" | "readonly" | "typeset" => self.declare(call, emitted),
            "unset" => self.unset(call, emitted),
            "read" | "mapfile" | "readarray" => self.read_variables(call, emitted, context),
            "set" => self.set_options(call),
            "shift" => self.shift(call),
            "alias" => self.aliases(call, emitted, context),
            "hash" => self.remember_program(call, emitted, context),
            "source" | "." => return Some(self.source(call, emitted, context)),
            "trap" => return Some(self.trap(call, emitted, context)),
            "printf" if emitted.arguments.has("-v") => self.printf_variable(call, emitted),
            _ => return None,
        }
        Some(NodeResult { succeeds: Some(true), text, ..NodeResult::default() })
    }

    fn change_directory(&mut self, call: &Call, emitted: &Emitted) {
        let home = || match self.scope.get("HOME") {
            Some(Some(home)) => Some(home.clone()),
            _ => self.surroundings.home.as_deref().map(Field::known),
        };
        let target = match call.operands(emitted).next() {
            Some(target) => Some(target.clone()),
            None => home(),
        };
        let cwd = target
            .filter(|target| target.is_certain && !target.is_glob && target.text != "-")
            .and_then(|target| locate::absolute(&target.text, self.scope.cwd()));
        self.scope.set_cwd(cwd);
    }

    fn declare(&mut self, call: &Call, emitted: &Emitted) {
        let is_exported = emitted.program == "export" || emitted.arguments.has("-x");
        let is_readonly = emitted.program == "readonly" || emitted.arguments.has("-r");
        let is_local = matches!(emitted.program.as_str(), "local" | "declare" | "typeset")
            && !emitted.arguments.has("-g");
        let mut arrays = std::mem::take(&mut self.array_arguments).into_iter();
        for operand in call.operands(emitted) {
            let (name, value) = match operand.text.split_once('=') {
                Some((name, "()")) if !operand.is_certain => {
                    self.set_array(name.trim_end_matches('+'), arrays.next().unwrap_or_default());
                    continue;
                }
                Some((name, value)) => (name.trim_end_matches('+'), Some(operand.with_text(value))),
                None => (operand.text.as_str(), None),
            };
            if is_local {
                self.scope.localize(name);
            }
            if emitted.arguments.has("-n") && emitted.program != "export" {
                if let Some(other) = value.filter(|value| value.is_certain) {
                    self.scope.refer(name, &other.text);
                }
                continue;
            }
            if let Some(mut value) = value {
                value.is_glob = false;
                value.is_certain &= !operand.text.contains("+=");
                self.scope.set(name, Some(with_attributes(value, emitted)));
            }
            if is_exported {
                self.scope.export(name, !emitted.arguments.has("-n"));
            }
            if is_readonly {
                self.scope.freeze(name);
            }
        }
    }

    fn unset(&mut self, call: &Call, emitted: &Emitted) {
        if emitted.arguments.has("-f") {
            return;
        }
        for operand in call.operands(emitted) {
            self.scope.set(&operand.text, None);
            self.scope.export(&operand.text, false);
        }
    }

    /// Sets the variables of `read`, which come from the standard input.
    fn read_variables(&mut self, call: &Call, emitted: &Emitted, context: &Context) {
        let descriptor = emitted.arguments.values("-u").next().map(|(value, _)| value.text.clone());
        let input = match descriptor {
            Some(name) => self.descriptors.get(name.trim_start_matches('$')).cloned(),
            None => context.stdin.clone(),
        };
        let names: Vec<&Field> = call.operands(emitted).collect();
        let separators = call.env.iter().find(|(name, _)| name == "IFS").map(|(_, value)| value);
        let separators = separators.map_or_else(|| self.separators(), |value| value.text.clone());
        let text = input.as_ref().and_then(|input| input.text.as_ref()?.whole());
        if let Some(text) = text.filter(|text| text.is_certain)
            && self.read_array(call, emitted, text, &separators)
        {
            return;
        }
        for (index, name) in names.iter().enumerate() {
            let value = match text {
                Some(text) if names.len() == 1 => {
                    text.with_text(text.text.lines().next().unwrap_or_default().trim())
                }
                Some(text) if text.is_certain => {
                    let line = text.text.lines().next().unwrap_or_default();
                    let mut words = words_of(line, &separators);
                    text.with_text(if index + 1 == names.len() {
                        words
                            .skip(index)
                            .collect::<Vec<_>>()
                            .join(separators.get(..1).unwrap_or(" "))
                    } else {
                        words.nth(index).unwrap_or_default().to_owned()
                    })
                }
                _ => {
                    let sources =
                        input.as_ref().map(|input| input.sources.clone()).unwrap_or_default();
                    Field { sources, ..Field::unknown(format!("${}", name.text)) }
                }
            };
            self.scope.set(&name.text, Some(value));
        }
        for (callback, _) in emitted.arguments.values("-C") {
            self.script(callback, &emitted.program, context);
        }
    }

    /// Sets an array to the words or lines of a text: `read -a name`, `mapfile name`. Returns `false` if nothing was read.
    fn read_array(
        &mut self,
        call: &Call,
        emitted: &Emitted,
        text: &Field,
        separators: &str,
    ) -> bool {
        if emitted.program == "read" {
            let name = emitted.arguments.values("-a").next().map(|(name, _)| name.text.clone());
            let Some(name) = name else { return false };
            let line = text.text.lines().next().unwrap_or_default();
            let fields = words_of(line, separators).map(|word| text.with_text(word)).collect();
            self.set_array(&name, fields);
            return true;
        }
        let name = call.operands(emitted).next();
        let name = name.map_or_else(|| "MAPFILE".to_owned(), |name| name.text.clone());
        let fields = text.text.lines().map(|line| text.with_text(line)).collect();
        self.set_array(&name, fields);
        !emitted.arguments.has("-C")
    }

    fn set_options(&mut self, call: &Call) {
        let args = call.args();
        for (at, arg) in args.iter().enumerate() {
            let next = args.get(at + 1).map(|next| next.text.as_str());
            match (arg.text.as_str(), next) {
                ("--", _) => break,
                ("-o", Some("allexport")) => self.scope.export_all(true),
                ("+o", Some("allexport")) => self.scope.export_all(false),
                (text, _) if text.starts_with('-') && text.contains('a') => {
                    self.scope.export_all(true);
                }
                (text, _) if text.starts_with('+') && text.contains('a') => {
                    self.scope.export_all(false);
                }
                _ => {}
            }
        }
        let is_option = |at: usize| {
            let before = at.checked_sub(1).and_then(|before| args.get(before));
            args[at].text.starts_with(['-', '+'])
                || before.is_some_and(|before| {
                    before.text.starts_with(['-', '+']) && before.text.ends_with('o')
                })
        };
        let dashes = args.iter().position(|arg| arg.text == "--").map(|at| at + 1);
        let start = dashes.or_else(|| (0..args.len()).find(|at| !is_option(*at)));
        if let Some(start) = start {
            self.scope.set_positional(args[start..].to_vec());
        }
    }

    fn shift(&mut self, call: &Call) {
        let count = call.args().first().map_or(Some(1), |count| count.text.parse().ok());
        if let (Some(count), Some(fields)) = (count, self.scope.positional()) {
            let rest = fields.get(count..).unwrap_or_default().to_vec();
            self.scope.set_positional(rest);
        }
    }

    fn aliases(&mut self, call: &Call, emitted: &Emitted, context: &Context) {
        for operand in call.operands(emitted) {
            if let Some((name, text)) = operand.text.split_once('=') {
                self.define_alias(name, operand.with_text(text), context);
            }
        }
    }

    /// Keeps that a name runs a file: `hash -p file name`.
    fn remember_program(&mut self, call: &Call, emitted: &Emitted, context: &Context) {
        let file = emitted.arguments.values("-p").next().map(|(file, _)| file.clone());
        if let (Some(file), Some(name)) = (file, call.operands(emitted).next()) {
            self.define_alias(&name.text, super::scripts::quote(&file), context);
        }
    }

    fn source(&mut self, call: &Call, emitted: &Emitted, context: &Context) -> NodeResult {
        let Some(file) = call.operands(emitted).next().cloned() else {
            return NodeResult::default();
        };
        if file.is_process {
            let text = self.written(&file).and_then(|file| file.text.clone());
            return self.run_input(&file.sources, text.as_ref(), emitted, context);
        }
        let is_stdin = matches!(file.text.as_str(), "/dev/stdin" | "/dev/fd/0" | "-");
        let descriptor =
            file.text.strip_prefix("/dev/fd/").and_then(|name| self.descriptors.get(name).cloned());
        let input = if is_stdin { context.stdin.clone() } else { descriptor };
        if let Some(input) = input {
            return self.run_input(&input.sources, input.text.as_ref(), emitted, context);
        }
        self.touch(&file, PathOp::Execute, Some(emitted.index));
        self.remember_sourced(&file);
        let file_text = self.written(&file).cloned().unwrap_or_default();
        let text = file_text.text.filter(|_| !self.active.contains(&file.text));
        self.active.push(file.text);
        let outcome = self.run_input(&file_text.sources, text.as_ref(), emitted, context);
        self.active.pop();
        outcome
    }

    fn remember_sourced(&mut self, file: &Field) {
        /// Maximum number of files.
        const MAX_FILES: usize = 16;
        if self.sourced.len() >= MAX_FILES {
            return self.reach_limit();
        }
        self.sourced.push(file.clone());
    }

    /// Adds the flow of a sourced file into what shows variables: `. .env; env`.
    pub(super) fn shows_sourced(&mut self, call: &Call, emitted: &Emitted) {
        let is_shown = match emitted.program.as_str() {
            "printenv" => true,
            "set" => call.args().is_empty(),
            "env" | "export" | "declare" | "typeset" => call.operands(emitted).next().is_none(),
            _ => false,
        };
        if is_shown {
            for file in self.sourced.clone() {
                self.touch(&file, PathOp::Read, Some(emitted.index));
            }
        }
    }

    /// Runs data that a command reads as a shell's script.
    pub(super) fn run_input(
        &mut self,
        sources: &[FlowSource],
        text: Option<&Field>,
        emitted: &Emitted,
        context: &Context,
    ) -> NodeResult {
        for source in sources.iter().chain(text.iter().flat_map(|text| &text.sources)) {
            self.flow(*source, emitted.index, FlowRole::Code);
        }
        self.runs_unread(sources, text, emitted.index);
        match text {
            Some(text) => self.script(text, &emitted.program, &context.with_stdin(None)),
            None => NodeResult::default(),
        }
    }

    fn trap(&mut self, call: &Call, emitted: &Emitted, context: &Context) -> NodeResult {
        match call.operands(emitted).next().cloned() {
            Some(script) if script.text != "-" => {
                self.scope.open();
                let outcome = self.script(&script, "trap", &context.with_stdin(None));
                self.scope.close(crate::scope::Keep::Nothing);
                outcome
            }
            _ => NodeResult::default(),
        }
    }

    fn printf_variable(&mut self, call: &Call, emitted: &Emitted) {
        let Some(name) = emitted.arguments.values("-v").next().map(|(name, _)| name.text.clone())
        else {
            return;
        };
        let operands: Vec<Field> = call.operands(emitted).cloned().collect();
        // A longer text is not whole.
        let whole = super::output::printf(&operands)
            .filter(|value| value.text.len() <= crate::limits::MAX_VALUE);
        let value = whole.unwrap_or_else(|| Field::unknown(format!("${name}")));
        self.scope.set(&name, Some(value));
    }
}

/// Returns the words of a line between these characters.
fn words_of<'t>(line: &'t str, separators: &'t str) -> impl Iterator<Item = &'t str> {
    line.split(|c| separators.contains(c)).filter(|word| !word.is_empty())
}

/// Returns the value of a variable that is declared in upper or lower case.
fn with_attributes(value: Field, emitted: &Emitted) -> Field {
    match emitted.arguments.flags.iter().find(|flag| matches!(&*flag.name, "-u" | "-l")) {
        Some(flag) if flag.name == "-u" => value.with_text(value.text.to_uppercase()),
        Some(_) => value.with_text(value.text.to_lowercase()),
        None => value,
    }
}
