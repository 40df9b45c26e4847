//! Interpreters: their program is inline, a file, or their standard input.

use crate::code::CodeCall;
use crate::facts::{Class, Code, FlowRole, FlowSource, Language, PathOp, SqlStatement};
use crate::field::Field;
use crate::paths::PathRule;
use crate::reader::{Context, NodeResult, Reader};
use crate::scope::{Environment, Keep};
use crate::tables::{Inline, Interpreter, NO_FILES};

use super::call::{Call, Emitted};
use super::wrappers::values;

impl Reader<'_> {
    pub(super) fn interpret(
        &mut self,
        call: &Call,
        emitted: &Emitted,
        context: &Context,
    ) -> NodeResult {
        let Some(interpreter) = emitted.operand_row().and_then(|row| row.interpreter) else {
            return NodeResult::default();
        };
        let arguments = &emitted.arguments;
        if arguments.has(interpreter.no_program) && !arguments.has("+n") {
            return NodeResult::default();
        }
        self.scope.open_process(Environment::Exported);
        for (name, value) in &call.env {
            self.scope.set(name, Some(value.clone()));
        }
        let first = self.files_before(interpreter.language, call, emitted, context);
        let mut outcome = self.program_of(interpreter, call, emitted, context);
        outcome.commands.extend(first.commands);
        self.scope.close(Keep::Nothing);
        outcome
    }

    /// Reads the files that an interpreter runs besides its program: `bash --rcfile a`, `node -r ./a.js`.
    fn files_before(
        &mut self,
        language: Option<Language>,
        call: &Call,
        emitted: &Emitted,
        context: &Context,
    ) -> NodeResult {
        let rules = emitted.rows().flat_map(|row| row.paths).map(|rule| PathRule::parse(rule));
        let module = emitted.operand_row().and_then(|row| row.interpreter).map(|row| row.module);
        let in_options = rules.filter(|rule| {
            rule.op == PathOp::Execute
                && rule.is_in_options()
                && module.is_none_or(|module| module.is_empty() || !emitted.arguments.has(module))
                && rule.applies(&emitted.arguments)
        });
        let files: Vec<Field> =
            in_options.flat_map(|rule| rule.paths(call.args(), &emitted.arguments)).collect();
        let mut all = NodeResult::default();
        for file in files {
            let text = self.written(&file).and_then(|file| file.text.clone());
            let Some(text) = text.filter(|_| !self.active.contains(&file.text)) else { continue };
            self.active.push(file.text);
            let outcome = match language {
                None => self.script(&text, &emitted.program, context),
                Some(language) => self.code(language, &text, emitted.index, context),
            };
            self.active.pop();
            all.commands.extend(outcome.commands);
        }
        all
    }

    fn program_of(
        &mut self,
        interpreter: Interpreter,
        call: &Call,
        emitted: &Emitted,
        context: &Context,
    ) -> NodeResult {
        let operands: Vec<Field> = call.operands(emitted).cloned().collect();
        let arguments = &emitted.arguments;
        let inline: Vec<Field> = match interpreter.inline {
            Inline::Values(names) => values(emitted, names),
            Inline::ValuesOrOperand(names) if arguments.has(names) => values(emitted, names),
            Inline::OperandWith(names) if !arguments.has(names) => Vec::new(),
            Inline::ValuesOrOperand(_) if arguments.has(interpreter.module) => Vec::new(),
            Inline::OperandWith(_) | Inline::ValuesOrOperand(_) => {
                operands.iter().take(1).cloned().collect()
            }
        };
        if let Some(language) = interpreter.language {
            if !inline.is_empty() {
                let mut text = awk_variables(language, emitted);
                text.extend(inline);
                let mut text = Field::join(&text, "\n");
                // `pwsh -Command git status`: the rest of the words belongs to it.
                if language == Language::Powershell {
                    let is_first = matches!(interpreter.inline, Inline::ValuesOrOperand(names) if !arguments.has(names));
                    for operand in operands.iter().skip(usize::from(is_first)) {
                        text.push(&Field::known(" "));
                        text.push(operand);
                    }
                }
                return self.code(language, &text, emitted.index, context);
            }
        } else if let Some(script) = inline.first() {
            let arguments = operands.get(2..).unwrap_or_default().to_vec();
            self.scope.open_call(Some(arguments));
            if let Some(zero) = operands.get(1) {
                self.scope.set("0", Some(zero.clone()));
            }
            let outcome = self.script_of(script, emitted, context);
            self.scope.close(Keep::Nothing);
            return outcome;
        }
        if arguments.has(interpreter.module) && interpreter.language == Some(Language::Python) {
            return self.module(interpreter.module, call, emitted, context);
        }
        for file in values(emitted, interpreter.module) {
            if let Some(text) = self.written(&file).and_then(|file| file.text.clone())
                && let Some(language) = interpreter.language
            {
                return self.code(language, &text, emitted.index, context);
            }
        }
        let is_apart = !matches!(interpreter.inline, Inline::ValuesOrOperand(_));
        let takes_files = is_apart && interpreter.stdin != NO_FILES;
        let runs_stdin = self.runs_stdin[emitted.index];
        if !runs_stdin && (arguments.has(interpreter.module) || !takes_files) {
            return NodeResult::default();
        }
        if runs_stdin {
            let Some(input) = context.stdin.clone() else { return NodeResult::default() };
            return match interpreter.language {
                None => self.run_input(&input.sources, input.text.as_ref(), emitted, context),
                Some(language) => match &input.text {
                    Some(text) => self.code(language, text, emitted.index, context),
                    None => NodeResult::default(),
                },
            };
        }
        // `python manage.py shell`, `php artisan tinker`: the program of a framework.
        let framework = operands.first().filter(|file| {
            let name = file.text.rsplit('/').next().unwrap_or_default();
            matches!(name, "manage.py" | "artisan" | "rails") && !self.active.contains(&file.text)
        });
        if let Some(file) = framework.cloned() {
            self.active.push(file.text);
            let outcome =
                self.words(&operands_from(call, emitted), &call.env, &emitted.program, context);
            self.active.pop();
            return outcome;
        }
        match operands.first() {
            Some(file) => {
                self.scope.open_call(Some(operands[1..].to_vec()));
                self.scope.set("0", Some(file.clone()));
                let outcome = self.run_file(file, interpreter.language, emitted, context);
                self.scope.close(Keep::Nothing);
                outcome
            }
            None => NodeResult::default(),
        }
    }

    /// Reads `python -m pip install x`: a module is a program of the same name.
    fn module(
        &mut self,
        name: &str,
        call: &Call,
        emitted: &Emitted,
        context: &Context,
    ) -> NodeResult {
        let flag = emitted.arguments.flags.iter().find(|flag| flag.name == name);
        let Some((flag, module)) = flag.and_then(|flag| Some((flag, flag.value.clone()?))) else {
            return NodeResult::default();
        };
        let args = call.args();
        let is_apart = args.get(flag.arg).is_some_and(|arg| arg.text == name);
        let rest = args.get(flag.arg + 1 + usize::from(is_apart)..).unwrap_or_default();
        let file = module.with_text(format!("{}.py", module.text.replace('.', "/")));
        if self.written_here(&file).is_some() {
            return self.run_file(&file, Some(Language::Python), emitted, context);
        }
        let words = [std::slice::from_ref(&module), rest].concat();
        self.words(&words, &call.env, &emitted.program, context)
    }

    /// Reads a script in a file, which the text may have written.
    fn run_file(
        &mut self,
        file: &Field,
        language: Option<Language>,
        emitted: &Emitted,
        context: &Context,
    ) -> NodeResult {
        for source in &file.sources {
            self.flow(*source, emitted.index, FlowRole::Code);
        }
        if !file.is_process {
            self.touch(file, PathOp::Execute, Some(emitted.index));
            self.read_file(file, emitted.index, FlowRole::Code);
        }
        let text = self.text_to_run(file);
        if file.is_process {
            self.runs_unread(&file.sources, text.as_ref(), emitted.index);
        }
        // A script can run itself.
        if self.active.contains(&file.text) {
            return NodeResult::default();
        }
        self.active.push(file.text.clone());
        let outcome = match (text, language) {
            (Some(text), None) => self.script(&text, &emitted.program, context),
            (Some(text), Some(language)) => self.code(language, &text, emitted.index, context),
            (None, _) => NodeResult::default(),
        };
        self.active.pop();
        outcome
    }

    /// Reads a program in another language: kept as it is, with the calls in it that run commands or touch files.
    pub(super) fn code(
        &mut self,
        language: Language,
        text: &Field,
        command: usize,
        context: &Context,
    ) -> NodeResult {
        let Some(facts) = self.facts.commands.get(command) else { return NodeResult::default() };
        let program = facts.program.clone();
        for source in &text.sources {
            self.flow(*source, command, FlowRole::Code);
        }
        let facts = crate::code::read(language, &text.text);
        let code = Code { language, text: text.text.clone(), dynamic: facts.dynamic, command };
        self.facts.code.push(code);
        self.facts.forkbomb |= crate::forkbomb::is_in_code(&text.text);
        if facts.over_limit {
            self.reach_limit();
        }
        for (runs, class) in
            [(facts.runs_decoded, Class::Decode), (facts.runs_download, Class::Download)]
        {
            if runs {
                self.classify(command, class);
                self.classify(command, Class::Interpreter);
                self.flow_into_itself(command);
            }
        }
        let mut all = self.imported(language, &text.text, command, context);
        if facts.runs_input {
            all.commands.extend(self.input_as_code(language, command, context).commands);
        }
        let is_network = facts.calls.contains(&CodeCall::Network);
        if facts.has_environment {
            self.classify(command, Class::Environment);
        }
        if facts.has_environment && (is_network || facts.downloads) {
            self.classify(command, Class::Network);
            self.sends_own_output(command);
        }
        if facts.dynamic {
            // `for command in ["rm -rf a"]: os.system(command)`.
            for literal in super::transform::in_quotes(&text.text) {
                let words: Vec<Field> =
                    literal.split_whitespace().take(2).map(Field::known).collect();
                if super::wrappers::is_command(&words) {
                    let script = Field::known(literal);
                    all.commands.extend(self.script(&script, &program, context).commands);
                }
            }
        }
        if language == Language::Powershell {
            self.facts.unparsed = true;
            let script = text.with_text(crate::powershell::as_shell(&text.text));
            all.commands.extend(self.script(&script, &program, context).commands);
        }
        for call in facts.calls {
            if facts.downloads && matches!(call, CodeCall::Path { op: PathOp::Write, .. }) {
                self.classify(command, Class::Download);
            }
            all.commands.extend(self.code_call(call, command, &program, context).commands);
        }
        all
    }

    /// Reads the standard input of a program in another language that runs it.
    fn input_as_code(
        &mut self,
        language: Language,
        command: usize,
        context: &Context,
    ) -> NodeResult {
        let Some(input) = context.stdin.clone() else { return NodeResult::default() };
        self.classify(command, Class::Interpreter);
        for source in &input.sources {
            self.flow(*source, command, FlowRole::Code);
        }
        self.runs_unread(&input.sources, input.text.as_ref(), command);
        let Some(text) = &input.text else { return NodeResult::default() };
        let program = self.facts.commands[command].program.clone();
        let inner = context.with_stdin(None);
        let mut all = self.script(text, &program, &inner);
        all.commands.extend(self.code(language, text, command, &inner).commands);
        all
    }

    /// Reads a call in a program in another language, which the command `command` runs.
    fn code_call(
        &mut self,
        call: CodeCall,
        command: usize,
        program: &str,
        context: &Context,
    ) -> NodeResult {
        match call {
            CodeCall::Script(script) => {
                return self.script(&Field::known(script), program, context);
            }
            CodeCall::Words(words) => {
                let word = |word: Option<String>| match word {
                    Some(word) => Field::known(self.in_home(word)),
                    None => Field::unknown("$value"),
                };
                let words: Vec<Field> = words.into_iter().map(word).collect();
                return self.words(&words, &[], program, context);
            }
            CodeCall::Path { path, op, recursive } => {
                let path = Field::known(self.in_home(path));
                self.touch_in_code(&path, op, recursive, command);
                if op == PathOp::Write {
                    self.writes_file(&path, &[FlowSource::Command(command)], None);
                }
            }
            CodeCall::Network => self.classify(command, Class::Network),
            CodeCall::Sql(text) => {
                let facts = crate::sql::read(&text);
                let own = |statement| SqlStatement { command, ..statement };
                self.facts.sql.extend(facts.statements.into_iter().map(own));
            }
        }
        NodeResult::default()
    }

    /// Reads the modules that a program imports, and that the text wrote.
    fn imported(
        &mut self,
        language: Language,
        text: &str,
        command: usize,
        context: &Context,
    ) -> NodeResult {
        let mut all = NodeResult::default();
        if self.files.is_empty() || !matches!(language, Language::Python | Language::Node) {
            return all;
        }
        let is_imported = |path: &str| {
            let base = path.rsplit('/').next().unwrap_or_default();
            let name = base.split_once('.').map_or(base, |(name, _)| name);
            super::run::language_of_name(base) == Some(language) && imports(language, text, name)
        };
        let files = self.files.iter().filter(|(path, _)| is_imported(path));
        let files: Vec<(String, Field)> =
            files.filter_map(|(path, file)| Some((path.clone(), file.text.clone()?))).collect();
        for (path, text) in files {
            if self.active.contains(&path) {
                continue;
            }
            self.active.push(path);
            all.commands.extend(self.code(language, &text, command, context).commands);
            self.active.pop();
        }
        all
    }

    /// Returns a path of a program that begins with the home directory.
    pub(super) fn in_home(&self, path: String) -> String {
        match (path.strip_prefix('~'), &self.surroundings.home) {
            (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
                format!("{home}{rest}")
            }
            _ => path,
        }
    }

    /// Adds a class to a command.
    pub(super) fn classify(&mut self, command: usize, class: Class) {
        if let Some(command) = self.facts.commands.get_mut(command)
            && !command.classes.contains(&class)
        {
            command.classes.push(class);
        }
    }
}

/// Reads `awk -v name=value`: the assignments before the program.
fn awk_variables(language: Language, emitted: &Emitted) -> Vec<Field> {
    let assigned = values(emitted, "-v --assign").into_iter().filter_map(|assigned| {
        let (name, value) = assigned.text.split_once('=')?;
        Some(assigned.with_text(format!("{name}=\"{value}\"")))
    });
    if language == Language::Awk { assigned.collect() } else { Vec::new() }
}

/// Returns the first operand of a command, and all arguments after it.
fn operands_from(call: &Call, emitted: &Emitted) -> Vec<Field> {
    let first = emitted.arguments.operands.first().copied().unwrap_or(usize::MAX);
    call.args().get(first..).unwrap_or_default().to_vec()
}

/// Checks whether a program imports a module with this name. Python imports two without a word.
fn imports(language: Language, text: &str, name: &str) -> bool {
    if language == Language::Node {
        return [format!("/{name}\""), format!("/{name}'"), format!("/{name}.")]
            .iter()
            .any(|end| text.contains(end.as_str()));
    }
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut lines = text.split(['\n', ';']).map(str::trim_start);
    matches!(name, "sitecustomize" | "usercustomize")
        || lines.any(|line| {
            let is_import = line.starts_with("import ") || line.starts_with("from ");
            is_import && line.split(|c| !is_part(c)).any(|word| word == name)
        })
}
