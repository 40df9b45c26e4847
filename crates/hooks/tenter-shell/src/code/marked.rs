//! Commands that no call runs, but signs around them: backticks, pipes, and words at the start of a line.

use crate::facts::{Language, PathOp};

use super::delimiters::in_marks;
use super::{CodeCall, CodeReader};

impl CodeReader<'_> {
    /// Reads the commands of `` `…` `` in Perl, Ruby and PHP, and after `$` in Bun's JavaScript; of `%x(…)` in Ruby, and of `qx(…)` in Perl.
    pub(super) fn backticks(&mut self) {
        use Language::{Node, Other, Perl, Php, Ruby};
        let parts: Vec<&str> = self.text.split('`').collect();
        let in_backticks = parts.iter().skip(1).step_by(2);
        let before = parts.iter().step_by(2);
        let is_run = |before: &str| match self.language {
            Perl | Ruby | Php | Other => true,
            Node => before.ends_with('$'),
            _ => false,
        };
        let mut scripts: Vec<&str> = before
            .zip(in_backticks)
            .filter_map(|(before, script)| is_run(before).then_some(*script))
            .collect();
        let name = match self.language {
            Perl => "qx",
            Ruby => "%x",
            _ => "",
        };
        let places = self.text.match_indices(name).filter(|_| !name.is_empty());
        scripts.extend(places.filter_map(|(at, _)| {
            in_marks(&self.text[at + name.len()..]).map(|(script, _)| script)
        }));
        for script in scripts {
            self.facts.dynamic |= script.contains(['$', '#']);
            self.facts.calls.push(CodeCall::Script(script.to_owned()));
        }
    }

    /// Reads `"command".execute()` of Groovy, `"command".!` of Scala.
    pub(super) fn executed_texts(&mut self) {
        let parts: Vec<&str> = self.text.split('"').collect();
        for pair in parts.windows(2).skip(1).step_by(2) {
            let next = pair[1].trim_start();
            let is_run = next.starts_with(".execute(")
                || next.starts_with(".!")
                || next.starts_with(".lazyLines");
            self.facts.calls.extend(is_run.then(|| CodeCall::Script(pair[0].to_owned())));
        }
    }

    /// Reads `exec command` of Tcl, `spawn command` of expect: the rest of a statement is a command.
    pub(super) fn lines_after(&mut self, words: &[&str]) {
        for statement in self.text.split(['\n', ';']) {
            let statement = statement.trim_start_matches([' ', '\t', '[', '{', '"', '\'']);
            let rest = words.iter().find_map(|word| statement.strip_prefix(word));
            let script =
                rest.map(|rest| rest.trim_start_matches("-- ").trim_end_matches([']', '}']));
            self.facts.calls.extend(script.map(|script| CodeCall::Script(script.to_owned())));
        }
    }

    /// Reads `"command" | getline`, `print | "command"` and `print > "file"` of AWK.
    pub(super) fn pipes(&mut self) {
        let (mut before, mut has_print) = ("", false);
        let mut texts: Vec<&str> = Vec::new();
        // `print | "sh -c \"command\""`.
        let text = self.text.replace("\\\"", "'");
        for (index, part) in text.split('"').enumerate() {
            let is_literal = index % 2 == 1;
            let end = before.trim_end();
            let is_pipe = end.ends_with("|&") || (end.ends_with('|') && !end.ends_with("||"));
            if is_literal && is_pipe {
                self.facts.calls.extend(formatted(&texts).map(CodeCall::Script));
                // `{print | "sh"}`.
                self.facts.runs_input |=
                    has_print && matches!(part.rsplit('/').next(), Some("sh" | "bash" | "zsh"));
                self.facts.calls.push(CodeCall::Script(part.to_owned()));
            }
            // `getline line < "file"`.
            let is_read = end.strip_suffix('<').is_some_and(|end| {
                end.rsplit(['(', '{', ';']).next().is_some_and(|end| end.contains("getline"))
            });
            if is_literal && is_read {
                let (path, op) = (part.to_owned(), PathOp::Read);
                self.facts.calls.push(CodeCall::Path { path, op, recursive: false });
            }
            // Without `print`, `>` compares.
            if is_literal && end.ends_with('>') && has_print {
                let (path, op) = (part.to_owned(), PathOp::Write);
                self.facts.calls.push(CodeCall::Path { path, op, recursive: false });
            }
            if is_literal {
                texts.push(part);
            } else if part.contains([';', '{', '}', '\n']) {
                texts.clear();
            }
            // `print "a" > "b"`
            has_print = if is_literal { has_print } else { prints_at_end(part, has_print) };
            if !is_literal && index > 1 && part.trim_start().starts_with('|') {
                let is_or = part.trim_start().starts_with("||");
                self.facts.calls.extend((!is_or).then(|| CodeCall::Script(before.to_owned())));
            }
            before = part;
        }
    }
}

/// Returns what `printf "rm %s\n", "a"` and `print "rm", "a"` print. A single text is read elsewhere.
fn formatted(texts: &[&str]) -> Option<String> {
    let (format, values) = texts.split_first().filter(|(_, values)| !values.is_empty())?;
    let format = format.trim_end_matches("\\n");
    if !format.contains("%s") {
        return Some(texts.join(" "));
    }
    let fill = |text: String, value: &&str| text.replacen("%s", value, 1);
    Some(values.iter().fold(format.to_owned(), fill))
}

/// Checks whether a text of AWK ends in a statement that prints. `prints` is `true` if it begins in one.
fn prints_at_end(text: &str, prints: bool) -> bool {
    match text.rsplit_once([';', '{', '}', '\n']) {
        Some((_, statement)) => statement.contains("print"),
        None => prints || text.contains("print"),
    }
}
