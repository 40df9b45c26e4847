//! Texts around a command that run it, or only contain it. They are files of frames, which `%%` separates.

use std::sync::LazyLock;

use super::quote;
use crate::choices::Choices;

/// Texts that run the command `{}`; `{q}` is the command in quotes, `{d}` a delimiter. A command with several lines ends with a
/// line feed, so these do not have anything behind it.
static ONE_LINE: LazyLock<Vec<&str>> =
    LazyLock::new(|| frames(include_str!("../../fixtures/frames/one_line.txt")));

/// As [`ONE_LINE`], for any command.
static ANY: LazyLock<Vec<&str>> =
    LazyLock::new(|| frames(include_str!("../../fixtures/frames/any.txt")));

/// Texts that contain a command, but do not run it.
static DATA: LazyLock<Vec<&str>> =
    LazyLock::new(|| frames(include_str!("../../fixtures/frames/data.txt")));

/// As [`DATA`], for commands of one line.
const COMMENTS: [&str; 3] = ["# {}", "ls # {}", "ls\n  # {}\nls"];

/// Returns the command within a text that runs it, with the frame that was chosen. `depth` keeps here-documents apart that are
/// within each other.
pub fn frame(command: &str, depth: usize, choices: &mut Choices) -> String {
    let is_one_line = !command.contains('\n') && !command.contains('#');
    let at = choices.below(if is_one_line { ANY.len() + ONE_LINE.len() } else { ANY.len() });
    let frame = ANY.get(at).copied().unwrap_or_else(|| ONE_LINE[at - ANY.len()]);
    // `find` would replace the `{}` of an inner `xargs`.
    let is_changed = frame.starts_with("find ") && command.contains("{}");
    let frame = if is_changed { "eval {q}" } else { frame };
    fill(frame, command, depth)
}

/// Returns every text that contains the command as data.
pub fn as_data(command: &str) -> Vec<String> {
    let comments = COMMENTS.iter().filter(|_| !command.contains('\n'));
    DATA.iter().copied().chain(comments.copied()).map(|frame| fill(frame, command, 0)).collect()
}

fn frames(file: &str) -> Vec<&str> {
    file.strip_suffix('\n').unwrap_or(file).split("\n%%\n").collect()
}

fn fill(frame: &str, command: &str, depth: usize) -> String {
    let fill =
        |part: &str| part.replace("{d}", &format!("END{depth}")).replace("{q}", &quote(command));
    match frame.split_once("{}") {
        Some((before, after)) => format!("{}{command}{}", fill(before), fill(after)),
        None => fill(frame),
    }
}
