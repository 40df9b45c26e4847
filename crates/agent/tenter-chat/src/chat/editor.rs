//! The line editor of a chat: history, completion of commands, input of several lines.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use rustyline::completion::{Completer, Pair};
use rustyline::config::{ColorMode, CompletionType};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::{Hint, Hinter};
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{
    Cmd, ConditionalEventHandler, Config, Context, Editor, Event, EventContext, EventHandler,
    Helper, KeyCode, KeyEvent, Modifiers, RepeatCount,
};
use tenter_base::{lock, one_line, private_dir, sanitize};
use tenter_terminal::text::columns;
use tenter_terminal::{FAINT, Failure, NOTICE, styled, ui};

use super::completion::CommandCompletion;
use super::composer::TypedText;
use super::dialogue::{ChatDialogue, Waker, waker};
use super::input::is_unfinished;
use super::slash::COMMANDS;

/// Time in milliseconds after which a lone Escape is a key press.
const ESCAPE_MS: u16 = 500;
/// Maximum number of lines in the history.
const HISTORY: usize = 1000;

/// The prompt at which the user types.
pub(super) struct IdlePrompt {
    /// The text before the input.
    pub(super) text: &'static str,
    /// The line below the input.
    pub(super) status: String,
}

/// Reads messages and commands.
pub(super) struct LineEditor {
    editor: Editor<Commands, FileHistory>,
    waker: Option<Waker>,
    /// True if the last Ctrl-C dropped typed text.
    dropped: Arc<AtomicBool>,
    /// The special key that ended the last reading.
    pressed_key: Arc<Mutex<Option<(SpecialKey, TypedText)>>>,
    /// The file of the history; `None` if nothing is stored.
    file: Option<PathBuf>,
}

/// The result of reading.
pub(super) enum ReadResult {
    /// A line, or several of one message.
    Line(String),
    /// A line was sent ahead before the line editor began.
    SentAhead,
    /// Ctrl-C; `dropped` says whether it dropped typed text.
    Interrupted { dropped: bool },
    /// A special key, with the text that was typed.
    Key(SpecialKey, TypedText),
    /// Ctrl-D.
    Closed,
    /// The terminal is gone.
    Gone,
}

/// A key that the chat handles. The text stays.
#[derive(Debug, Clone, Copy)]
pub(super) enum SpecialKey {
    /// Shift-Tab: begins or ends plan mode.
    Plan,
    /// Ctrl-G: edits the text in the user's editor.
    Editor,
    /// Ctrl-O: shows folded output.
    Expand,
}

impl LineEditor {
    /// Returns an editor with the history in `state_dir`, to which it adds lines unless nothing is stored.
    pub(super) fn open(state_dir: &Path, stores_nothing: bool) -> Result<Self, Failure> {
        let file = state_dir.join("chat_history");
        let mut editor = new_editor()
            .map_err(|error| Failure::new(format!("cannot use the terminal: {error}")))?;
        editor.set_helper(Some(Commands { hints: ui::has_colours(), ..Commands::default() }));
        match editor.load_history(&file) {
            Ok(()) => {}
            Err(ReadlineError::Io(error)) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => warn(&file, "read", &error),
        }
        // Many terminals can be configured to send the same for Shift-Enter.
        editor.bind_sequence(KeyEvent(KeyCode::Enter, Modifiers::ALT), Cmd::Newline);
        let flag = Arc::default();
        let on_interrupt = EventHandler::Conditional(Box::new(OnInterrupt(Arc::clone(&flag))));
        editor.bind_sequence(KeyEvent::ctrl('C'), on_interrupt);
        let pressed = Arc::default();
        for (event, key) in [
            (KeyEvent(KeyCode::BackTab, Modifiers::NONE), SpecialKey::Plan),
            (KeyEvent::ctrl('G'), SpecialKey::Editor),
            (KeyEvent::ctrl('O'), SpecialKey::Expand),
        ] {
            let handler = OnSpecialKey { key, pressed_key: Arc::clone(&pressed) };
            editor.bind_sequence(event, EventHandler::Conditional(Box::new(handler)));
        }
        let waker = waker(&mut editor);
        let file = Some(file).filter(|_| !stores_nothing);
        Ok(Self { editor, waker, dropped: flag, pressed_key: pressed, file })
    }

    /// Checks whether the terminal supports line editing.
    pub(super) fn edits(&self) -> bool {
        self.waker.is_some()
    }

    /// Reads the next input of the user, which begins with `draft` and with what was typed meanwhile.
    pub(super) fn read(
        &mut self,
        dialogue: &ChatDialogue,
        completion: CommandCompletion,
        prompt: &IdlePrompt,
        draft: &TypedText,
    ) -> ReadResult {
        if let Some(commands) = self.editor.helper_mut() {
            commands.completion = Some(completion);
            commands.status.clone_from(&prompt.status);
        }
        let has_status = self.editor.helper().is_some_and(|commands| commands.hints);
        let prompt = prompt.text;
        self.dropped.store(false, Ordering::Relaxed);
        let Ok(result) = dialogue
            .edit(draft, |head, tail| self.editor.readline_with_initial(prompt, (head, tail)))
        else {
            return ReadResult::SentAhead;
        };
        let pressed = lock(&self.pressed_key).take();
        if let Some((key, text)) = pressed {
            erase_prompt(prompt, &text, usize::from(has_status));
            return ReadResult::Key(key, text);
        }
        match result {
            Some(Ok(line)) => {
                self.remember(&line);
                ReadResult::Line(line)
            }
            Some(Err(ReadlineError::Interrupted)) => {
                ReadResult::Interrupted { dropped: self.dropped.load(Ordering::Relaxed) }
            }
            Some(Err(ReadlineError::Eof)) => ReadResult::Closed,
            Some(Err(_)) | None => ReadResult::Gone,
        }
    }

    /// Adds a line to the history, unless it begins with a space.
    fn remember(&mut self, line: &str) {
        let is_new = self.editor.add_history_entry(line).unwrap_or(false);
        let Some(file) = self.file.clone().filter(|_| is_new) else { return };
        let result = make_directory(&file)
            .map_err(ReadlineError::from)
            .and_then(|()| self.editor.append_history(&file));
        if let Err(error) = result {
            warn(&file, "write", &error);
            self.file = None; // once is enough
        }
    }
}

/// Records whether Ctrl-C drops typed text.
struct OnInterrupt(Arc<AtomicBool>);

impl ConditionalEventHandler for OnInterrupt {
    fn handle(
        &self,
        _event: &Event,
        _times: RepeatCount,
        _positive: bool,
        context: &EventContext,
    ) -> Option<Cmd> {
        self.0.store(!context.line().is_empty(), Ordering::Relaxed);
        Some(Cmd::Interrupt)
    }
}

/// Ends reading at a special key.
struct OnSpecialKey {
    key: SpecialKey,
    pressed_key: Arc<Mutex<Option<(SpecialKey, TypedText)>>>,
}

impl ConditionalEventHandler for OnSpecialKey {
    fn handle(
        &self,
        _event: &Event,
        _times: RepeatCount,
        _positive: bool,
        context: &EventContext,
    ) -> Option<Cmd> {
        let (before, right) = context.line().split_at(context.pos());
        let text = TypedText { head: before.to_owned(), tail: right.to_owned() };
        *lock(&self.pressed_key) = Some((self.key, text));
        Some(Cmd::Interrupt)
    }
}

/// Erases the prompt, the text and the rows below of a reading that ended, because another follows in their place.
fn erase_prompt(prompt: &str, text: &TypedText, rows_below: usize) {
    let width = ui::columns().max(1);
    let text_before = format!("{prompt}{}", text.join_text());
    let rows: usize = text_before.split('\n').map(|line| rows_of(line, width)).sum();
    let rows = rows + rows_below;
    ui::note_raw(&format!("\x1b[{rows}A\r\x1b[J"));
}

/// Returns the number of rows that a line takes.
fn rows_of(line: &str, width: usize) -> usize {
    columns(line).div_ceil(width).max(1)
}

fn new_editor() -> rustyline::Result<Editor<Commands, FileHistory>> {
    let colours = if ui::has_colours() { ColorMode::Enabled } else { ColorMode::Disabled };
    let config = Config::builder()
        .max_history_size(HISTORY)?
        .history_ignore_dups(true)?
        .history_ignore_space(true)
        .completion_type(CompletionType::List)
        .color_mode(colours)
        .keyseq_timeout(Some(ESCAPE_MS))
        .build();
    let history = FileHistory::with_config(&config);
    Editor::with_history(config, history)
}

fn make_directory(file: &Path) -> std::io::Result<()> {
    private_dir::create_parent(file)
}

fn warn(file: &Path, what: &str, error: &ReadlineError) {
    let file = file.to_string_lossy();
    let text = format!("cannot {what} the history {file}: {error}; new lines are not kept");
    ui::note(format!("{}: {}", styled(NOTICE, "warning"), sanitize(&text)));
}

/// Completion and hints for commands, and the status line.
#[derive(Default)]
struct Commands {
    completion: Option<CommandCompletion>,
    /// The line below the prompt.
    status: String,
    /// True if hints are shown: only with colours, which tell them from typed text.
    hints: bool,
}

impl Helper for Commands {}

impl Validator for Commands {
    fn validate(&self, context: &mut ValidationContext) -> rustyline::Result<ValidationResult> {
        Ok(if is_unfinished(context.input()) {
            ValidationResult::Incomplete
        } else {
            ValidationResult::Valid(None)
        })
    }
}

impl Completer for Commands {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _context: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let complete = |completion: &CommandCompletion| completion.candidates(&line[..position]);
        Ok(self.completion.as_ref().map(complete).unwrap_or_default())
    }
}

impl Hinter for Commands {
    type Hint = CommandHint;

    fn hint(&self, line: &str, position: usize, _context: &Context<'_>) -> Option<CommandHint> {
        self.hints.then(|| {
            let rest = line.get(position..).filter(|rest| rest.is_empty());
            let (name, argument) = rest.and_then(|_| rest_of_command(line)).unwrap_or_default();
            let status = one_line(&self.status, ui::columns().saturating_sub(1));
            let space = if argument.is_empty() { "" } else { " " };
            CommandHint { text: format!("{name}{space}{argument}\n{status}"), name }
        })
    }
}

/// Returns the rest of a command's name and its argument, if only one command begins with `line`: `/comp` → `act`, `[TEXT]`.
fn rest_of_command(line: &str) -> Option<(String, &'static str)> {
    let text_before = line.strip_prefix('/').filter(|text_before| !text_before.is_empty())?;
    let mut matches = COMMANDS.iter().filter(|command| command.name.starts_with(text_before));
    let command = matches.next().filter(|_| matches.next().is_none())?;
    Some((command.name[text_before.len()..].to_owned(), command.argument))
}

impl Highlighter for Commands {
    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        Cow::Owned(styled(FAINT, hint))
    }
}

/// The rest of a command, and the status line below it.
struct CommandHint {
    text: String,
    name: String,
}

impl Hint for CommandHint {
    fn display(&self) -> &str {
        &self.text
    }

    fn completion(&self) -> Option<&str> {
        Some(self.name.as_str()).filter(|name| !name.is_empty())
    }
}
