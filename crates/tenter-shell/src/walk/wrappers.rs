//! Programs that run other programs, by the tables.

use crate::facts::{FlowRole, Location};
use crate::field::Field;
use crate::reader::{Context, Outcome, Reader};
use crate::scope::Keep;
use crate::tables::{Interpreter, Run};

use super::call::{Call, Emitted};

impl Reader<'_> {
    /// The commands that a command runs.
    pub(super) fn runs(&mut self, call: &Call, emitted: &Emitted, context: &Context) -> Outcome {
        let mut outcome = Outcome::default();
        if let Some(interpreter) = emitted.operand_row().and_then(|row| row.interpreter) {
            self.scope.open();
            self.set_env(call);
            outcome = self.interpret(interpreter, call, emitted, context);
            self.scope.close(Keep::Nothing);
        }
        let runs: Vec<Run> = emitted.rows().flat_map(|row| row.runs.iter().copied()).collect();
        for run in runs {
            let inner = self.runs_one(run, call, emitted, context);
            outcome.commands.extend(inner.commands);
            outcome.text = inner.text;
            outcome.succeeds = inner.succeeds;
        }
        outcome
    }

    /// The variables that are set for a command alone.
    fn set_env(&mut self, call: &Call) {
        for (name, value) in &call.env {
            self.scope.set(name, Some(value.clone()));
        }
    }

    fn runs_one(&mut self, run: Run, call: &Call, emitted: &Emitted, context: &Context) -> Outcome {
        let operands: Vec<Field> = call.operands(emitted).cloned().collect();
        let from = |start: usize| operands.get(start..).unwrap_or_default();
        let via = emitted.program.as_str();
        match run {
            Run::Words(start) => self.words(from(start), &call.env, via, context),
            Run::Environment => {
                let is_assignment = |field: &&Field| {
                    field.text.split_once('=').is_some_and(|(name, _)| !name.is_empty())
                };
                let count = operands.iter().take_while(is_assignment).count();
                let mut env: Vec<(String, Field)> = operands[..count]
                    .iter()
                    .filter_map(|field| {
                        let (name, value) = field.text.split_once('=')?;
                        Some((name.to_owned(), field.with_text(value)))
                    })
                    .collect();
                env.extend_from_slice(&call.env);
                self.words(from(count), &env, via, context)
            }
            Run::Script(start) => {
                let text = Field::joined(from(start), " ");
                self.code_flow(&text, emitted);
                self.script(&text, via, context)
            }
            Run::Option(names) => {
                let scripts: Vec<Field> =
                    emitted.arguments.values(names).map(|(value, _)| value.clone()).collect();
                let mut all = Outcome::default();
                for script in scripts {
                    all.commands.extend(self.script(&script, via, context).commands);
                }
                all
            }
            Run::Remote(start) => {
                let inner = Context { location: Location::Remote, ..context.clone() };
                self.script(&Field::joined(from(start), " "), via, &inner)
            }
        }
    }

    /// A command in the operands of another, with the variables of that and more.
    pub(super) fn words(
        &mut self,
        argv: &[Field],
        env: &[(String, Field)],
        via: &str,
        context: &Context,
    ) -> Outcome {
        if argv.is_empty() {
            return Outcome::default();
        }
        let Some(inner) = context.inside(via) else {
            self.facts.unparsed = true;
            return Outcome::default();
        };
        let text = Field::joined(argv, " ").text;
        let call = Call { argv: argv.to_vec(), env: env.to_vec(), text, ..Call::default() };
        self.run(&call, &inner)
    }

    fn code_flow(&mut self, text: &Field, emitted: &Emitted) {
        for source in &text.sources {
            self.flow(*source, emitted.index, FlowRole::Code);
        }
    }

    /// The program of an interpreter: inline, a file, or its standard input.
    fn interpret(
        &mut self,
        interpreter: Interpreter,
        call: &Call,
        emitted: &Emitted,
        context: &Context,
    ) -> Outcome {
        let operands: Vec<Field> = call.operands(emitted).cloned().collect();
        let is_shell = interpreter.language.is_none();
        if emitted.arguments.has(interpreter.no_program) && !emitted.arguments.has("+n") {
            return Outcome::default();
        }
        if is_shell && emitted.arguments.has(interpreter.inline) {
            let Some(script) = operands.first() else { return Outcome::default() };
            self.code_flow(script, emitted);
            self.scope.open_call(Some(operands.get(2..).unwrap_or_default().to_vec()));
            let outcome = self.script(script, &emitted.program, context);
            self.scope.close(Keep::Nothing);
            return outcome;
        }
        if self.runs_stdin[emitted.index] {
            let Some(input) = context.stdin.clone().filter(|_| is_shell) else {
                return Outcome::default();
            };
            return self.run_input(&input.sources, input.text.as_ref(), emitted, context);
        }
        match operands.first() {
            Some(file) => self.run_file(file, is_shell, emitted, context),
            None => Outcome::default(),
        }
    }

    /// A script in a file, which the text may have written.
    fn run_file(
        &mut self,
        file: &Field,
        is_shell: bool,
        emitted: &Emitted,
        context: &Context,
    ) -> Outcome {
        if file.is_process {
            self.code_flow(file, emitted);
            return Outcome::default();
        }
        self.touch(file, crate::facts::PathOp::Execute, Some(emitted.index));
        self.read_file(file, emitted.index, FlowRole::Code);
        let text = self.written(file).and_then(|file| file.text.clone());
        match text.filter(|_| is_shell) {
            Some(text) => self.script(&text, &emitted.program, context),
            None => Outcome::default(),
        }
    }
}
