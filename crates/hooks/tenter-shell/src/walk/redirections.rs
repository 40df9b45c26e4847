//! Redirections: what a command reads instead of its standard input, and the files that it writes.

use std::rc::Rc;

use crate::facts::{FlowRole, FlowSource, PathOp, Redirect, Stdin};
use crate::field::Field;
use crate::globs::fits;
use crate::limits::MAX_VALUE;
use crate::reader::{Context, Input, NodeResult, Reader, WrittenFile};
use crate::syntax::tree::{HereDoc, Part, Redirection, RedirectionOp as Op, Target};
use crate::syntax::{self};

/// The redirections of a command, read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Redirected {
    pub(super) stdin: Option<Rc<Input>>,
    /// Other descriptors that are opened for reading, by number or name.
    pub(super) inputs: Vec<(String, Rc<Input>)>,
    pub(super) redirects: Vec<Redirect>,
    pub(super) paths: Vec<(Field, PathOp)>,
    /// Files that receive the standard output.
    pub(super) outputs: Vec<Field>,
    /// Other descriptors that are opened for writing files, by number or name.
    pub(super) files: Vec<(String, Field)>,
    /// Commands in `>(…)` that receive the standard output.
    pub(super) receivers: Vec<usize>,
    /// The standard output does not reach the pipe.
    pub(super) takes_stdout: bool,
    /// A connection is opened: `/dev/tcp/…`.
    pub(super) uses_network: bool,
    /// The standard output goes into a connection.
    pub(super) sends_output: bool,
}

impl Reader<'_> {
    pub(super) fn redirections(&mut self, all: &[Redirection], context: &Context) -> Redirected {
        let mut redirected = Redirected::default();
        for redirection in all {
            match &redirection.target {
                Target::HereDoc(index) => {
                    let heredoc = index.and_then(|index| context.heredocs.get(index)).cloned();
                    self.heredoc(redirection, heredoc, context, &mut redirected);
                }
                Target::Word(word) => {
                    let target = self.single(word, context);
                    self.redirection(redirection, target, &mut redirected);
                }
            }
        }
        redirected
    }

    fn heredoc(
        &mut self,
        redirection: &Redirection,
        heredoc: Option<HereDoc>,
        context: &Context,
        redirected: &mut Redirected,
    ) {
        let Some(heredoc) = heredoc else { return };
        let target = heredoc.delimiter.clone();
        redirected.redirects.push(redirect(redirection, target));
        // A long document without expansions is a text as it is.
        let is_literal = heredoc.is_literal || !heredoc.body.contains(['$', '`', '\\']);
        let text = if is_literal {
            Field::known(heredoc.body)
        } else {
            let (parts, script) = syntax::parse_quoted(&heredoc.body, context.depth);
            self.keep_broken(&script);
            let inner = context.clone().with_heredocs(script.heredocs);
            self.heredoc_text(&parts, &inner)
        };
        redirected.read(&redirection.fd, Rc::new(Input::from_text(text)));
    }

    fn heredoc_text(&mut self, parts: &[Part], context: &Context) -> Field {
        self.text_of(parts, context)
    }

    fn redirection(
        &mut self,
        redirection: &Redirection,
        target: Field,
        redirected: &mut Redirected,
    ) {
        redirected.redirects.push(redirect(redirection, target.text.clone()));
        match redirection.op {
            Op::HereString => {
                let mut text = target;
                text.text.push('\n');
                redirected.read(&redirection.fd, Rc::new(Input::from_text(text)));
            }
            Op::Read | Op::ReadWrite => self.reads(redirection, target, redirected),
            Op::DuplicateIn => self.duplicates_input(redirection, &target, redirected),
            // The direction of the operator does not matter: `0>&1` reads from what 1 is.
            Op::DuplicateOut if redirection.fd == "0" => {
                self.duplicates_input(redirection, &target, redirected);
            }
            Op::DuplicateOut if is_descriptor(&target.text) => {
                self.duplicates_output(redirection, &target, redirected);
            }
            _ => self.writes(redirection, target, redirected),
        }
    }

    fn reads(&mut self, redirection: &Redirection, target: Field, redirected: &mut Redirected) {
        let is_network = is_network(&target.text);
        redirected.uses_network |= is_network;
        let mut input = Input {
            stdin: Stdin::File(target.text.clone()),
            sources: target.sources.clone(),
            text: None,
        };
        if is_network {
            input.sources.push(FlowSource::Network);
        } else if let Some(number) = target.text.strip_prefix("/dev/fd/")
            && let Some(open) = self.descriptors.get(descriptor(number))
        {
            input = (**open).clone();
        } else if let Some(file) = self.written(&target) {
            input.sources.extend_from_slice(&file.sources);
            input.text.clone_from(&file.text);
        }
        if !target.is_process && !is_network {
            let op = if redirection.op == Op::ReadWrite { PathOp::Write } else { PathOp::Read };
            redirected.paths.push((target, op));
        }
        redirected.read(&redirection.fd, Rc::new(input));
    }

    fn writes(&mut self, redirection: &Redirection, target: Field, redirected: &mut Redirected) {
        let is_stdout = matches!(redirection.fd.as_str(), "" | "1");
        redirected.takes_stdout |= is_stdout;
        if is_network(&target.text) {
            redirected.uses_network = true;
            redirected.sends_output |= is_stdout;
            let input = Input {
                stdin: Stdin::File(target.text.clone()),
                sources: vec![FlowSource::Network],
                text: None,
            };
            let number = descriptor(&redirection.fd);
            let number = if number.is_empty() { "1" } else { number };
            redirected.inputs.push((number.to_owned(), Rc::new(input)));
            return;
        }
        if target.is_process {
            let receivers = self.receivers(&target.text);
            if !is_stdout {
                self.outputs.insert(descriptor(&redirection.fd).to_owned(), receivers.clone());
            }
            redirected.receivers.extend(receivers);
            return;
        }
        if is_stdout {
            redirected.outputs.push(target.clone());
        } else {
            redirected.files.push((descriptor(&redirection.fd).to_owned(), target.clone()));
        }
        redirected.paths.push((target, PathOp::Write));
    }

    fn duplicates_input(
        &self,
        redirection: &Redirection,
        target: &Field,
        redirected: &mut Redirected,
    ) {
        let name = descriptor(&target.text);
        let own = redirected.inputs.iter().rev().find(|(name_here, _)| name_here == name);
        let input = own.map(|(_, input)| input).or_else(|| self.descriptors.get(name)).cloned();
        let is_unknown = target.text.starts_with('$');
        if let Some(input) = input.or_else(|| is_unknown.then(|| self.any_descriptor())) {
            redirected.read(&redirection.fd, input);
        }
    }

    /// Returns what any open descriptor reads, for a descriptor whose number is not known.
    fn any_descriptor(&self) -> Rc<Input> {
        let mut input =
            Input { stdin: Stdin::Commands(Vec::new()), sources: Vec::new(), text: None };
        for open in self.descriptors.values() {
            crate::field::add_sources(&mut input.sources, &open.sources);
        }
        Rc::new(input)
    }

    fn duplicates_output(
        &mut self,
        redirection: &Redirection,
        target: &Field,
        redirected: &mut Redirected,
    ) {
        if !matches!(redirection.fd.as_str(), "" | "1") {
            return;
        }
        let name = descriptor(&target.text);
        let coproc = name.ends_with(super::COPROC_INPUT).then_some(super::COPROC_INPUT);
        if let Some(receivers) = self.outputs.get(coproc.unwrap_or(name)) {
            redirected.receivers.extend_from_slice(receivers);
        }
        redirected.outputs.extend(self.opened_files.get(name).cloned());
        let sends_output = self
            .descriptors
            .get(name)
            .is_some_and(|input| input.sources.contains(&FlowSource::Network));
        redirected.uses_network |= sends_output;
        redirected.sends_output |= sends_output;
        redirected.takes_stdout = target.text != "1";
    }

    /// Returns the commands in `>(…)` with this text.
    pub(super) fn receivers(&self, raw: &str) -> Vec<usize> {
        let all = self.process_outputs.iter().rev();
        all.into_iter()
            .find(|(text, _)| text == raw)
            .map(|(_, commands)| commands.clone())
            .unwrap_or_default()
    }

    /// Returns the file that an earlier command of the text wrote.
    pub(super) fn written(&self, path: &Field) -> Option<&WrittenFile> {
        if self.files.is_empty() && self.unpacked.is_empty() {
            return None;
        }
        let path = crate::locate::absolute(&path.text, self.scope.cwd())
            .unwrap_or_else(|| path.text.clone());
        let around =
            || self.unpacked.iter().rev().find(|(dir, _)| crate::locate::is_in(&path, dir));
        self.files.get(&path).or_else(|| around().map(|(_, file)| file))
    }

    /// Returns the files that earlier commands of the text wrote and that something runs, also by a pattern:
    /// `find . -name '*.sh' -exec sh {}`.
    fn written_to_run(&self, path: &Field) -> Vec<&WrittenFile> {
        if let Some(file) = self.written(path) {
            return vec![file];
        }
        let Some(name) = path.text.rsplit('/').next().filter(|_| path.is_glob) else {
            return Vec::new();
        };
        let is_fitting = |file: &str| file.rsplit('/').next().is_some_and(|base| fits(name, base));
        let files = self.files.iter().filter(|(file, _)| is_fitting(file));
        files.map(|(_, file)| file).collect()
    }

    /// Returns the texts of these files, one below the other.
    pub(super) fn text_to_run(&self, path: &Field) -> Option<Field> {
        let files = self.written_to_run(path).into_iter();
        let texts: Vec<Field> = files.filter_map(|file| file.text.clone()).collect();
        (!texts.is_empty()).then(|| Field::join(&texts, "\n"))
    }

    /// Returns the file with exactly this name that an earlier command of the text wrote.
    pub(super) fn written_here(&self, path: &Field) -> Option<&WrittenFile> {
        if self.files.is_empty() {
            return None;
        }
        self.files.get(&crate::locate::absolute(&path.text, self.scope.cwd())?)
    }

    /// Lets a file that was written earlier flow into its reader; what is written into a named pipe does so later, too.
    pub(super) fn read_file(&mut self, path: &Field, command: usize, role: FlowRole) {
        if !self.fifos.is_empty() {
            let path = crate::locate::absolute(&path.text, self.scope.cwd());
            if let Some(readers) = path.and_then(|path| self.fifos.get_mut(&path)) {
                readers.push((command, role));
            }
        }
        let is_run = role == FlowRole::Code;
        let files = match role {
            FlowRole::Code => self.written_to_run(path),
            _ => self.written(path).into_iter().collect(),
        };
        let files: Vec<WrittenFile> = files.into_iter().cloned().collect();
        for WrittenFile { sources, text } in files {
            if is_run {
                self.runs_unread(&sources, text.as_ref(), command);
            }
            for source in sources {
                self.flow(source, command, role);
            }
        }
    }

    /// Keeps that a command writes files with unknown names into a directory.
    pub(super) fn unpacks_into(&mut self, directory: &Field, command: usize) {
        /// Maximum number of directories.
        const MAX_DIRECTORIES: usize = 64;
        if self.unpacked.len() >= MAX_DIRECTORIES {
            return self.reach_limit();
        }
        if let Some(path) = crate::locate::absolute(&directory.text, self.scope.cwd()) {
            let sources = vec![FlowSource::Command(command)];
            self.unpacked.push((path, WrittenFile { sources, ..WrittenFile::default() }));
        }
    }

    /// Keeps what commands in `<(…)` write.
    pub(crate) fn keep_process(&mut self, file: &Field, text: Option<Field>) {
        let Some(text) = text else { return };
        let sources = file.sources.clone();
        let path = crate::locate::absolute(&file.text, self.scope.cwd())
            .unwrap_or_else(|| file.text.clone());
        let file_here = WrittenFile { sources, text: Some(text) };
        self.files.insert(path, file_here);
    }

    /// Keeps that a command wrote a file.
    pub(super) fn writes_file(
        &mut self,
        path: &Field,
        sources: &[FlowSource],
        text: Option<Field>,
    ) {
        let path = crate::locate::absolute(&path.text, self.scope.cwd())
            .unwrap_or_else(|| path.text.clone());
        if let Some(readers) = self.fifos.get(&path).cloned() {
            for (reader, role) in readers {
                for source in sources {
                    self.flow(*source, reader, role);
                }
            }
        }
        let is_new = !self.files.contains_key(&path);
        let file = self.files.entry(path).or_default();
        crate::field::add_sources(&mut file.sources, sources);
        // `echo "$(curl …)"` prints what another command has printed.
        if let Some(whole) = text.as_ref().filter(|text| text.text.starts_with(['$', '`'])) {
            crate::field::add_sources(&mut file.sources, &whole.sources);
        }
        // A file that several commands write has what is known of each.
        match (&mut file.text, text) {
            (Some(whole), Some(more)) if whole.text.len() + more.text.len() <= MAX_VALUE => {
                whole.push(&more);
            }
            // It is a limit if something runs the file.
            (Some(whole), Some(_)) => {
                whole.is_partial = true;
                self.cut.extend(sources.iter().filter_map(FlowSource::command));
            }
            (Some(whole), None) => whole.is_partial = true,
            (whole, Some(more)) => {
                *whole = Some(Field { is_partial: !is_new || more.is_partial, ..more });
            }
            (None, None) => {}
        }
    }

    /// Connects the redirections of a block with its first command.
    pub(super) fn connect_block(
        &mut self,
        redirected: &Redirected,
        outcome: NodeResult,
    ) -> NodeResult {
        let first = outcome.commands.first().copied();
        for (path, op) in &redirected.paths {
            self.touch(path, *op, first);
        }
        if let Some(first) = first.and_then(|first| self.facts.commands.get_mut(first)) {
            first.redirects.extend_from_slice(&redirected.redirects);
        }
        self.connect_output(redirected, outcome)
    }

    /// Connects what commands write with the files and commands that receive it.
    pub(super) fn connect_output(
        &mut self,
        redirected: &Redirected,
        outcome: NodeResult,
    ) -> NodeResult {
        let sources: Vec<FlowSource> =
            outcome.commands.iter().map(|index| FlowSource::Command(*index)).collect();
        for output in &redirected.outputs {
            self.writes_file(output, &sources, outcome.text.clone());
        }
        for receiver in &redirected.receivers {
            self.flow_into_stdin(*receiver, &sources, outcome.text.as_ref());
        }
        if redirected.takes_stdout {
            return NodeResult { succeeds: outcome.succeeds, ..NodeResult::default() };
        }
        outcome
    }
}

impl Redirected {
    fn read(&mut self, fd: &str, input: Rc<Input>) {
        match fd {
            "" | "0" => self.stdin = Some(input),
            other => self.inputs.push((descriptor(other).to_owned(), input)),
        }
    }
}

fn redirect(redirection: &Redirection, target: String) -> Redirect {
    Redirect { fd: redirection.fd.clone(), op: redirection.op.as_str(), target }
}

/// Returns the number or name of a descriptor: `3`, `{fd}`, `$fd`, `3-`.
fn descriptor(text: &str) -> &str {
    text.trim_matches(|c| matches!(c, '{' | '}' | '$' | '-' | '"'))
}

fn is_descriptor(text: &str) -> bool {
    text == "-"
        || text.starts_with('$')
        || descriptor(text).bytes().all(|byte| byte.is_ascii_digit())
}

fn is_network(text: &str) -> bool {
    text.starts_with("/dev/tcp/") || text.starts_with("/dev/udp/")
}
