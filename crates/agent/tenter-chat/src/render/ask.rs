//! Asks the user at the terminal on behalf of a hook (R30), or because the permission mode says so.

use std::path::Path;

use tenter_agent::permission::{
    Asker, NoAnswer, PermissionAnswer, PermissionReply, PermissionRequest,
};
use tenter_base::{sanitize, visible};
use tenter_proc::Cancel;
use tenter_protocol::runtime::Question;
use tenter_protocol::{ToolCall, json};
use tenter_terminal::question::{
    ReadLine, read_at_terminal, read_at_terminal_until, read_key_at_terminal,
};
use tenter_terminal::screen::screen;
use tenter_terminal::text::hanging;
use tenter_terminal::{NAME, NOTICE, styled, ui};

use super::ask_permission;
use super::call_input::whole;

/// The prompt for a hook's question.
pub(crate) const ASK_PROMPT: &str =
    "  Run it? [y] yes  [a] always this call, in this session  [n] no: ";

/// The letters that answer it.
pub(crate) const ASK_LETTERS: &str = "yanu";

/// The prompt for a protected path.
pub(crate) const WRITE_PROMPT: &str = "  Allow it in this session? [y] yes  [n] no: ";

/// The letters that answer it.
pub(crate) const WRITE_LETTERS: &str = "yn";

/// Asks at the terminal: yes, always for this call in this session, or no.
pub(crate) struct TerminalAsker;

impl Asker for TerminalAsker {
    fn ask(&self, hook: &str, reason: &str, call: &ToolCall) -> PermissionAnswer {
        screen().suspended(|| {
            put_question(hook, reason, call);
            answer_of(read_key_at_terminal(ASK_PROMPT, ASK_LETTERS))
        })
    }

    fn permits(&self, request: &PermissionRequest<'_>) -> PermissionReply {
        screen()
            .suspended(|| ask_permission(request, &mut read_key_at_terminal, &mut read_at_terminal))
    }

    fn answer(&self, hook: &str, question: &Question, cancel: &Cancel) -> Result<String, NoAnswer> {
        screen().suspended(|| {
            answer_question(hook, question, cancel, &mut |prompt| {
                read_at_terminal_until(prompt, &|| cancel.is_cancelled())
            })
        })
    }
}

/// Shows a hook's question and reads lines until one is an answer. `read` returns `None` if the user closed or interrupted the input.
pub(crate) fn answer_question(
    hook: &str,
    question: &Question,
    cancel: &Cancel,
    read: &mut ReadLine,
) -> Result<String, NoAnswer> {
    if cancel.is_cancelled() {
        return Err(NoAnswer::Interrupted);
    }
    put_free_question(hook, question);
    let prompt = match question.choices.len() {
        0 => "  Answer: ".to_owned(),
        count => format!("  Answer [1-{count}]: "),
    };
    loop {
        let line = read(&prompt).ok_or(NoAnswer::Interrupted)?;
        if cancel.is_cancelled() {
            return Err(NoAnswer::Interrupted);
        }
        match chosen(&question.choices, line.trim()) {
            Some(answer) => return Ok(answer),
            None => ui::note("  Please type the number of an answer, or the answer itself."),
        }
    }
}

/// Returns the answer in a typed line; `None` if it is none of the choices.
fn chosen(choices: &[String], line: &str) -> Option<String> {
    if choices.is_empty() {
        return Some(line.to_owned());
    }
    let choice_by_name = choices.iter().find(|choice| choice.trim().eq_ignore_ascii_case(line));
    let numbered = || choices.get(line.parse::<usize>().ok()?.checked_sub(1)?);
    choice_by_name.or_else(numbered).cloned()
}

/// Shows which hook asks what, and the choices.
fn put_free_question(hook: &str, question: &Question) {
    let (mark, hook) = (styled(NOTICE, "?"), styled(NAME, visible(hook)));
    note_prose(&format!("{mark} the hook {hook} asks: {}", sanitize(&question.question)));
    for (index, choice) in question.choices.iter().enumerate() {
        ui::note(format!("  {}) {}", index + 1, visible(choice)));
    }
}

/// Shows a paragraph, broken between words.
fn note_prose(line: &str) {
    line.lines().flat_map(|line| hanging(line, ui::columns())).for_each(ui::note);
}

/// Shows which hook asks about which call, and its reason.
pub(crate) fn put_question(hook: &str, reason: &str, call: &ToolCall) {
    let (mark, hook) = (styled(NOTICE, "?"), styled(NAME, visible(hook)));
    note_prose(&format!("{mark} the hook {hook} asks: {}", sanitize(reason)));
    ui::note(format!("  {} {}", call.name, whole(&json::to_string(&call.input))));
}

/// Shows which protected file the agent wants to change.
pub(crate) fn put_write_question(place: &Path, file: &Path) {
    ui::note(format!(
        "{} the agent wants to write {}",
        styled(NOTICE, "?"),
        styled(NAME, quote(file))
    ));
    ui::note(format!(
        "  {} is protected, because it decides what runs or guards the agent",
        quote(place)
    ));
}

/// Returns a path with line ends and control characters escaped.
fn quote(path: &Path) -> String {
    sanitize(&path.to_string_lossy().escape_debug().to_string()).into_owned()
}

/// Returns the answer that a letter means; everything but a clear yes means no.
pub(crate) fn answer_of(letter: Option<char>) -> PermissionAnswer {
    match letter {
        Some('y') => PermissionAnswer::Yes,
        Some('a') => PermissionAnswer::Always,
        Some('u') => PermissionAnswer::Unconfined,
        _ => PermissionAnswer::No,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(choices: &[&str], lines: &[&str]) -> Result<String, NoAnswer> {
        let choices = choices.iter().map(|choice| (*choice).to_owned()).collect();
        let question = Question { question: "Which?".to_owned(), choices };
        let mut lines = lines.iter();
        let mut read = |_: &str| lines.next().map(|line| (*line).to_owned());
        answer_question("judge", &question, &Cancel::new(), &mut read)
    }

    #[test]
    fn a_choice_is_named_or_numbered_and_asked_again_otherwise() {
        let choices = ["test", "Production"];
        for lines in [&["2\n"][..], &["production\n"], &["3\n", "0\n", "\n", "2\n"]] {
            assert_eq!(answered(&choices, lines), Ok("Production".to_owned()), "{lines:?}");
        }
        assert_eq!(answered(&choices, &["what?\n"]), Err(NoAnswer::Interrupted));
    }

    #[test]
    fn a_number_that_is_a_choice_is_that_choice() {
        assert_eq!(answered(&["3", "2"], &["2\n"]), Ok("2".to_owned()));
    }

    #[test]
    fn without_choices_any_line_is_the_answer() {
        assert_eq!(answered(&[], &[" the test one \n"]), Ok("the test one".to_owned()));
        assert_eq!(answered(&[], &[]), Err(NoAnswer::Interrupted));
    }

    #[test]
    fn a_cancelled_question_is_not_put() {
        let cancel = Cancel::new();
        cancel.cancel();
        let question = Question { question: "?".to_owned(), choices: Vec::new() };
        let mut read = |_: &str| panic!("asked");
        let answer = answer_question("judge", &question, &cancel, &mut read);
        assert_eq!(answer, Err(NoAnswer::Interrupted));
    }
}
