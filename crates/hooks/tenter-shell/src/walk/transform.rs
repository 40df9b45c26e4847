//! The output of programs that rewrite text: `rev`, `tr`, `sed`. A program that runs what another has rewritten runs an encoded text.

use crate::facts::{Class, FlowSource, Stdin};
use crate::field::Field;
use crate::limits::MAX_VALUE;
use crate::reader::{Context, Reader};

use super::call::{Call, Emitted};

impl Reader<'_> {
    /// Returns the text that a program rewrites: the content of its last operand, if the text wrote that file, or its standard input.
    pub(super) fn rewrite(
        &self,
        call: &Call,
        emitted: &Emitted,
        context: &Context,
    ) -> Option<Field> {
        let file = call.operands(emitted).last().and_then(|file| self.written_here(file));
        match file {
            Some(file) => file.text.clone(),
            None => context.stdin.as_ref()?.text.clone(),
        }
    }

    /// Keeps that a command rewrites a known text in a way that is not read: `echo … | awk …`.
    pub(super) fn note_rewriting(&mut self, call: &Call, emitted: &Emitted, context: &Context) {
        let is_filter = match emitted.row {
            Some(row) => {
                row.classes.iter().any(|(class, _)| *class == Class::PassThrough)
                    || row.interpreter.is_some_and(|one| one.language.is_some())
            }
            None => !emitted.has_path && emitted.is_program_certain,
        };
        // What an interpreter runs, it does not rewrite.
        if !is_filter || self.runs_stdin[emitted.index] {
            return;
        }
        let is_known = || {
            self.rewrite(call, emitted, context)
                .is_some_and(|text| text.is_certain && !text.is_partial && !text.text.is_empty())
        };
        let sources = context.stdin.as_ref().map(|input| input.sources.as_slice());
        if self.has_rewriting(sources.unwrap_or_default()) || is_known() {
            self.rewriting.insert(emitted.index);
        }
    }

    fn has_rewriting(&self, sources: &[FlowSource]) -> bool {
        sources
            .iter()
            .filter_map(FlowSource::command)
            .any(|command| self.rewriting.contains(&command))
    }

    /// Adds that a command runs what other commands write. What of it is not known is what they decode, or has the texts in their arguments.
    pub(super) fn runs_unread(
        &mut self,
        sources: &[FlowSource],
        text: Option<&Field>,
        receiver: usize,
    ) {
        self.runs_rewritten(sources);
        if sources.iter().filter_map(FlowSource::command).any(|command| self.cut.contains(&command))
        {
            self.reach_limit();
        }
        if crate::field::is_incomplete(text) {
            self.runs_printed(sources, receiver);
        }
    }

    /// Notes that commands that rewrote a known text decode it, if their output is run.
    pub(super) fn runs_rewritten(&mut self, sources: &[FlowSource]) {
        for command in sources.iter().filter_map(FlowSource::command) {
            if self.rewriting.contains(&command) {
                self.classify(command, Class::Decode);
            }
        }
    }
}

/// Maximum number of texts of one command that are read as what it prints.
const MAX_TEXTS: usize = 512;

impl Reader<'_> {
    /// Reads commands in the arguments of a command whose output runs: `python3 -c 'print("rm a")' | sh`, `date '+rm a' | sh`.
    pub(super) fn runs_printed(&mut self, sources: &[FlowSource], receiver: usize) {
        let mut commands: Vec<usize> = sources.iter().filter_map(FlowSource::command).collect();
        while let Some(command) = commands.pop() {
            let Some(facts) = self.facts.commands.get(command) else { continue };
            // `printf %q` prints no command.
            if facts.program == "printf" || !self.printing.insert(command) {
                continue;
            }
            // `yes 'rm a' | head -1`.
            if let Some(Stdin::Commands(before)) = &facts.stdin_from
                && facts.classes.contains(&Class::PassThrough)
            {
                commands.extend(before);
            }
            let code = self.facts.code.iter().filter(|code| code.command == command);
            let code = code.filter(|code| !facts.args.contains(&code.text));
            let texts: Vec<&String> =
                facts.args.iter().chain(code.map(|code| &code.text)).take(MAX_TEXTS).collect();
            let is_decoded = texts.iter().any(|text| crate::code::decodes(text));
            let is_limited = texts.len() == MAX_TEXTS
                || texts.iter().any(|text| in_quotes(text).nth(MAX_TEXTS).is_some());
            let Some(running) = self.facts.commands.get(receiver) else { continue };
            let (program, context) = (running.program.clone(), super::run::inside_of(running));
            let row = crate::tables::find(&program);
            let language = row.and_then(|row| row.interpreter?.language);
            let scripts: Vec<String> =
                texts.into_iter().flat_map(|text| list_printed(text, language.is_some())).collect();
            if is_limited {
                self.reach_limit();
            }
            if is_decoded {
                self.classify(command, Class::Decode);
            }
            for script in scripts {
                match language {
                    Some(language) => {
                        self.code(language, &Field::known(script), receiver, &context)
                    }
                    None => self.script(&Field::known(script), &program, &context),
                };
            }
        }
    }
}

/// Words of the shell before a command.
const KEYWORDS: [&str; 9] = ["!", "(", "do", "for", "if", "then", "until", "while", "{"];

/// Returns the commands in a text, or in quotes in it: those that begin with the name of a program; for a program in another language, those that
/// may call a function.
pub(super) fn list_printed(text: &str, is_code: bool) -> Vec<String> {
    let whole = text.rsplit("format=").next().unwrap_or(text).trim_start_matches('+');
    let in_quotes = in_quotes(text).take(MAX_TEXTS).map(str::to_owned);
    std::iter::once(whole.to_owned())
        .chain(in_quotes)
        .map(|text| crate::escapes::ansi(&text).0)
        .filter(|text| {
            let is_before = |word: &&str| word.contains('=') || KEYWORDS.contains(word);
            let first = text.split_whitespace().find(|word| !is_before(word)).unwrap_or_default();
            let name = first.trim_start_matches(['(', '\\']).rsplit('/').next();
            let is_program = name.and_then(crate::tables::find).is_some();
            if is_code { text.contains('(') } else { text.contains(' ') && is_program }
        })
        .collect()
}

/// Returns the texts in quotes.
pub(super) fn in_quotes(text: &str) -> impl Iterator<Item = &str> {
    let parts = |quote: char| text.split(quote).skip(1).step_by(2);
    parts('"').chain(parts('\''))
}

/// Returns the output of `sed` for a script of `s/text/text/`. `None` for patterns, addresses and other commands.
pub(super) fn substitute(text: &Field, scripts: &[Field]) -> Option<Field> {
    /// Maximum number of commands.
    const MAX_COMMANDS: usize = 32;
    let mut lines: Vec<String> = text.text.lines().map(str::to_owned).collect();
    let commands = scripts.iter().flat_map(|script| script.text.split([';', '\n']));
    for (index, command) in commands.enumerate() {
        let mut letters = command.trim().strip_prefix('s')?.chars();
        let delimiter = letters.next().filter(char::is_ascii_punctuation)?;
        let parts = super::sed::parts(letters.as_str(), delimiter);
        let [pattern, replacement, flags] = parts.as_slice() else { return None };
        let starts = pattern.starts_with('^');
        let ends = pattern.ends_with('$');
        let literal = pattern.trim_start_matches('^').trim_end_matches('$');
        let is_plain = !literal.contains(|c| ".*[]\\^$+?(){}|".contains(c))
            && !replacement.contains(['&', '\\'])
            && matches!(flags.as_str(), "" | "g");
        let occurrences: usize = lines.iter().map(|line| line.matches(literal).count()).sum();
        let is_long = occurrences.saturating_mul(replacement.len()) > MAX_VALUE;
        if !is_plain || is_long || index >= MAX_COMMANDS {
            return None;
        }
        for line in &mut lines {
            *line = match (starts, ends) {
                (true, true) if line == literal => replacement.clone(),
                (true, false) if line.starts_with(literal) => {
                    line.replacen(literal, replacement, 1)
                }
                (false, true) if line.ends_with(literal) => {
                    format!("{}{replacement}", &line[..line.len() - literal.len()])
                }
                (false, false) if literal.is_empty() => return None,
                (false, false) if flags == "g" => line.replace(literal, replacement),
                (false, false) => line.replacen(literal, replacement, 1),
                _ => continue,
            };
        }
        if lines.iter().map(String::len).sum::<usize>() > MAX_VALUE {
            return None;
        }
    }
    Some(text.with_text(lines.join("\n") + "\n"))
}

/// Returns the lines of a text, each backwards.
pub(super) fn reverse(text: &Field) -> Field {
    let lines = text.text.split_inclusive('\n').map(|line| {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        line.chars().rev().chain(end.chars()).collect::<String>()
    });
    text.with_text(lines.collect::<String>())
}

/// Returns the output of `tr [-d|-s] SET [SET]` for a text. `None` for sets with classes, and for complements.
pub(super) fn translate(text: &Field, flags: &[&str], sets: &[Field]) -> Option<Field> {
    if flags.iter().any(|flag| !matches!(*flag, "-d" | "-s")) || !text.is_certain {
        return None;
    }
    let sets = sets.iter().map(members).collect::<Option<Vec<_>>>()?;
    let text_after = match sets.as_slice() {
        [from] if flags == ["-d"] => {
            text.text.chars().filter(|letter| !from.contains(letter)).collect::<String>()
        }
        [from, to] if flags.is_empty() => {
            let last = *to.last()?;
            let translate = |letter: char| {
                let at = from.iter().rposition(|member| *member == letter);
                at.map_or(letter, |at| to.get(at).copied().unwrap_or(last))
            };
            text.text.chars().map(translate).collect()
        }
        _ => return None,
    };
    Some(text.with_text(text_after))
}

/// Returns the letters of a set such as `a-z\n`. `None` if it has classes.
fn members(set: &Field) -> Option<Vec<char>> {
    /// Maximum number of letters of a set.
    const MAX_LETTERS: usize = 512;
    if !set.is_certain || set.text.contains("[:") || set.text.contains("[=") {
        return None;
    }
    let letters: Vec<char> = crate::escapes::ansi(&set.text).0.chars().collect();
    let mut members = Vec::new();
    let mut at = 0;
    while at < letters.len() && members.len() <= MAX_LETTERS {
        match letters[at..] {
            [first, '-', last, ..] if first <= last => {
                members.extend((first..=last).take(MAX_LETTERS));
                at += 3;
            }
            _ => {
                members.push(letters[at]);
                at += 1;
            }
        }
    }
    (members.len() <= MAX_LETTERS).then_some(members)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_substitution_is_computed_unless_its_result_is_long() {
        let (text, long) = (Field::known("a".repeat(1 << 20)), "b".repeat(1 << 20));
        assert!(substitute(&text, &[Field::known(format!("s/a/{long}/g"))]).is_none());
        let short = substitute(&Field::known("rXm X"), &[Field::known("s/X//")]);
        assert_eq!(short.unwrap().text, "rm X\n");
    }
}
