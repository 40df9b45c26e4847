//! Simulates a command: its facts, its effects on the shell, and what it runs itself.

use crate::facts::{FlowRole, FlowSource, Language, Stdin};
use crate::field::Field;
use crate::locate;
use crate::reader::{Context, NodeResult, Reader, WrittenFile};
use crate::scope::Keep;
use crate::tables;

use super::call::{Call, Emitted};

impl Reader<'_> {
    pub(super) fn run(&mut self, call: &Call, context: &Context) -> NodeResult {
        if !self.step() {
            return NodeResult::default();
        }
        let redirected;
        let context = if let Some(stdin) = &call.redirected.stdin {
            redirected = context.with_stdin(Some(stdin.clone()));
            &redirected
        } else {
            context
        };
        let with_variables = self.with_variables(call);
        let call = with_variables.as_ref().unwrap_or(call);
        let with_path = self.with_path(call);
        let call = with_path.as_ref().unwrap_or(call);
        let Some(emitted) = self.emit(call, context) else {
            return NodeResult { succeeds: Some(true), ..NodeResult::default() };
        };
        self.connect_input(&emitted, context);
        self.variables_that_run(call, &emitted, context);
        self.open_descriptors(call);
        let outcome = self.effects(call, &emitted, context);
        if call.redirected.sends_output {
            // `nohup env > /dev/tcp/…`: what a command writes that another one runs is sent, too.
            for command in &outcome.commands {
                self.flow(FlowSource::Command(*command), emitted.index, FlowRole::Data);
            }
        }
        if emitted.has_layer {
            self.scope.close(Keep::Nothing);
        }
        self.remember_descriptors(call, &emitted);
        self.connect_output(&call.redirected, outcome)
    }

    /// Reads the effects of a command on the shell, and the commands that it runs.
    fn effects(&mut self, call: &Call, emitted: &Emitted, context: &Context) -> NodeResult {
        let own = NodeResult { commands: vec![emitted.index], ..NodeResult::default() };
        if !emitted.has_path && emitted.is_program_certain {
            let args = call.argv.get(1..).unwrap_or_default();
            if let Some(outcome) = self.call(&emitted.program, args, context) {
                return merge(own, outcome);
            }
            if let Some(outcome) = self.call_alias(&emitted.program, args, context) {
                return merge(own, outcome);
            }
            self.evaluated_words(call, emitted, context);
            if let Some(outcome) = self.builtin(call, emitted, context) {
                return merge(own, outcome);
            }
        }
        let inner = match self.written_program(call, emitted) {
            Some(script) => {
                self.active.push(call.argv[0].text.clone());
                let language = language_of(&call.argv[0].text, &script.text);
                self.scope.open_call(Some(call.args().to_vec()));
                self.scope.set("0", call.argv.first().cloned());
                let outcome = match language {
                    Some(language) => self.code(language, &script, emitted.index, context),
                    None => self.script_of(&script, emitted, context),
                };
                self.scope.close(Keep::Nothing);
                self.active.pop();
                outcome
            }
            None => self.runs(call, emitted, context),
        };
        let outcome = merge(own, inner);
        let text = outcome.text.or_else(|| self.output(call, emitted, context));
        let text = self.within_limit(text, &[emitted.index]);
        if text.is_none() {
            self.note_rewriting(call, emitted, context);
        }
        let succeeds = outcome.succeeds.or_else(|| succeeds(&emitted.program));
        NodeResult { text, succeeds, ..outcome }
    }

    /// Returns the text of a program that the text wrote before: `./x.sh`.
    fn written_program(&self, call: &Call, emitted: &Emitted) -> Option<Field> {
        let name = call.argv.first().filter(|_| emitted.has_path)?;
        let text = self.text_to_run(name)?;
        (!self.active.contains(&name.text)).then_some(text)
    }

    /// Returns a call with the path of a program that the text wrote into a directory of `PATH`. `None` for other programs.
    fn with_path(&self, call: &Call) -> Option<Call> {
        let name = call.argv.first().filter(|name| !name.text.contains('/'))?;
        if self.files.is_empty() || self.functions.contains_key(&name.text) {
            return None;
        }
        // `uv run x.py`.
        if language_of_name(&name.text).is_some() && self.written_here(name).is_some() {
            let mut call = call.clone();
            call.argv[0] = name.with_text(format!("./{}", name.text));
            return Some(call);
        }
        let directories = self.environment_value(call, "PATH")?;
        let cwd = self.scope.cwd();
        let is_in_path = |file: &str| {
            directories.text.split(':').any(|directory| {
                let directory = if directory.is_empty() { "." } else { directory };
                locate::absolute(directory, cwd).is_some_and(|directory| directory == file)
            })
        };
        let files = self.files.keys().filter_map(|file| file.rsplit_once('/'));
        let mut matches = files.filter(|(_, base)| *base == name.text);
        let (directory, _) = matches.find(|(directory, _)| is_in_path(directory))?;
        let path = name.with_text(format!("{directory}/{}", name.text));
        let mut call = call.clone();
        call.argv[0] = path;
        Some(call)
    }

    /// Opens the descriptors of a command as files: `bash /dev/fd/3 3<<< 'rm a'`.
    fn open_descriptors(&mut self, call: &Call) {
        for (name, input) in &call.redirected.inputs {
            let file = WrittenFile { sources: input.sources.clone(), text: input.text.clone() };
            self.files.insert(format!("/dev/fd/{name}"), file.clone());
            self.files.insert(format!("/dev/fd/${name}"), file);
        }
    }

    /// Opens descriptors for the commands that follow: `exec 3<file`.
    fn remember_descriptors(&mut self, call: &Call, emitted: &Emitted) {
        if emitted.program != "exec" && !emitted.program.is_empty() && !is_exec_after_prefix(call) {
            return;
        }
        for (name, input) in &call.redirected.inputs {
            self.descriptors.insert(name.clone(), input.clone());
        }
        for (name, file) in &call.redirected.files {
            self.opened_files.insert(name.clone(), file.clone());
        }
        for receivers in [&call.redirected.receivers] {
            for (fd, redirect) in
                call.redirected.redirects.iter().map(|redirect| (&redirect.fd, redirect))
            {
                if redirect.target.starts_with(">(") {
                    self.outputs.insert(fd.trim_matches(['{', '}']).to_owned(), receivers.clone());
                }
            }
        }
    }

    /// Adds the flow of a command's standard input.
    fn connect_input(&mut self, emitted: &Emitted, context: &Context) {
        if let Some(input) = context.stdin.clone() {
            let runs = self.input_flows(emitted.index, &input.sources, input.text.as_ref());
            // `sh < pipe | nc host 1 > pipe`: what is written into the pipe comes later.
            if let Stdin::File(path) = &input.stdin
                && !self.fifos.is_empty()
            {
                let role = if runs { FlowRole::Code } else { FlowRole::Data };
                self.read_file(&Field::known(path.as_str()), emitted.index, role);
            }
        }
    }

    /// Adds the flow of data into the standard input of a command. Returns whether the command runs it.
    fn input_flows(
        &mut self,
        command: usize,
        sources: &[FlowSource],
        text: Option<&Field>,
    ) -> bool {
        let runs = self.runs_stdin.get(command).copied().unwrap_or(false);
        let role = if runs { FlowRole::Code } else { FlowRole::Data };
        for source in sources {
            self.flow(*source, command, role);
        }
        if runs {
            self.runs_unread(sources, text, command);
        }
        runs
    }

    /// Lets data reach the standard input of a command.
    pub(super) fn flow_into_stdin(
        &mut self,
        command: usize,
        sources: &[FlowSource],
        text: Option<&Field>,
    ) {
        let runs = self.input_flows(command, sources, text);
        if let Some(text) = text.filter(|_| runs).cloned()
            && let Some(receiver) = self.facts.commands.get(command)
        {
            let (program, context) = (receiver.program.clone(), inside_of(receiver));
            self.script(&text, &program, &context);
        }
    }

    /// Notes that a program runs what it decodes or downloads itself.
    pub(super) fn flow_into_itself(&mut self, command: usize) {
        let from = FlowSource::Command(command);
        self.facts.flows.push(crate::facts::Flow { from, into: command, role: FlowRole::Code });
    }

    /// Notes that a command that writes into a connection sends what it writes: `env > /dev/tcp/…`.
    pub(super) fn sends_own_output(&mut self, command: usize) {
        let from = FlowSource::Command(command);
        self.facts.flows.push(crate::facts::Flow { from, into: command, role: FlowRole::Data });
    }

    pub(super) fn flow(&mut self, from: FlowSource, into: usize, role: FlowRole) {
        /// Maximum number of flows.
        const MAX_FLOWS: usize = 4 * crate::limits::MAX_COMMANDS;
        let flow = crate::facts::Flow { from, into, role };
        // The flows into a command follow each other. At the limit, they are not compared: files with many sources are slow to read.
        let flows = self.facts.flows.iter().rev().take(64).take_while(|old| old.into == into);
        let is_full = self.facts.flows.len() >= MAX_FLOWS;
        if from == FlowSource::Command(into)
            || (!is_full && flows.into_iter().any(|old| *old == flow))
        {
            return;
        }
        if is_full {
            self.reach_limit();
            return;
        }
        self.facts.flows.push(flow);
    }
}

/// Returns the language of a script whose first line names an interpreter that is no shell, or whose name ends as files in this language do.
fn language_of(name: &str, script: &str) -> Option<Language> {
    let Some(line) = script.strip_prefix("#!").and_then(|script| script.lines().next()) else {
        return language_of_name(name);
    };
    let rows = line.split([' ', '/']).filter_map(tables::find);
    rows.filter_map(|row| row.interpreter?.language).next_back()
}

/// Returns the language of a file by the end of its name.
pub(super) fn language_of_name(name: &str) -> Option<Language> {
    Some(match name.rsplit_once('.')?.1 {
        "py" => Language::Python,
        "js" | "cjs" | "mjs" | "ts" | "tsx" => Language::Node,
        "rb" => Language::Ruby,
        "pl" => Language::Perl,
        "php" => Language::Php,
        "lua" => Language::Other,
        _ => return None,
    })
}

/// Returns the context of a script that a command runs.
pub(super) fn inside_of(command: &crate::facts::Command) -> Context {
    let mut context = Context::new(Vec::new());
    context.via.clone_from(&command.via);
    context.location = command.location;
    context.depth = context.via.len();
    context
}

fn merge(own: NodeResult, mut inner: NodeResult) -> NodeResult {
    let mut commands = own.commands;
    commands.append(&mut inner.commands);
    NodeResult { commands, ..inner }
}

/// Checks for `time exec 3<file` and `command exec 3<file`: these words leave the redirections to the shell.
fn is_exec_after_prefix(call: &Call) -> bool {
    const PREFIXES: [&str; 5] = ["--", "-p", "builtin", "command", "time"];
    let mut words = call.argv.iter().map(|word| word.text.as_str());
    words.find(|word| !PREFIXES.contains(word)) == Some("exec")
}

/// Returns whether a program is expected to succeed, so that the command after `&&` runs.
fn succeeds(program: &str) -> Option<bool> {
    const SUCCEED: [&str; 12] = [
        "true", ":", "echo", "printf", "cd", "mkdir", "export", "set", "pwd", "touch", "alias",
        "shopt",
    ];
    match program {
        "false" => Some(false),
        program => SUCCEED.contains(&program).then_some(true),
    }
}
