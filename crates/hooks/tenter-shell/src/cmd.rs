//! Texts for cmd, the shell of Windows, rewritten as texts for bash that run the same commands (C15).
//!
//! This is no parser of cmd. What a condition or a loop runs counts as run, and a variable of a loop is not known.

use std::fmt::Write as _;

/// The commands of cmd with other names elsewhere, and these names.
const COMMANDS: [(&str, &str); 13] = [
    ("copy", "cp"),
    ("del", "rm -f"),
    ("erase", "rm -f"),
    ("findstr", "grep"),
    ("md", "mkdir"),
    ("mklink", "ln"),
    ("move", "mv"),
    ("rd", "rmdir"),
    ("ren", "mv"),
    ("rmdir", "rmdir"),
    ("robocopy", "cp -r"),
    ("type", "cat"),
    ("xcopy", "cp -r"),
];

/// Returns a text for bash that runs the commands of a text for cmd.
pub(crate) fn as_shell(text: &str) -> String {
    /// Maximum number of programs that are looked for in the text before them.
    const MAX_PROGRAMS: usize = 64;
    let mut script = String::with_capacity(text.len());
    let mut programs = 0;
    for line in text.lines() {
        let mut rest = line;
        while !rest.is_empty() {
            let (command, separator, next) = next_command(rest);
            let command = translated(&command);
            // Programs in the working directory run by their names.
            programs += usize::from(is_program(&command));
            let is_written =
                is_program(&command) && programs <= MAX_PROGRAMS && script.contains(&command);
            script.push_str(if is_written { "./" } else { "" });
            script.push_str(&command);
            script.push_str(if separator == "&" { "\n" } else { separator });
            rest = next;
        }
        script.push('\n');
    }
    script
}

/// Checks whether a command is only the name of a program's file.
fn is_program(command: &str) -> bool {
    let ends = [".bat", ".cmd", ".com", ".exe", ".ps1"];
    !command.contains(['/', ' '])
        && ends.iter().any(|end| command.to_ascii_lowercase().ends_with(end))
}

/// Returns the words of a command, the separator after it, and the rest.
fn next_command(text: &str) -> (Vec<String>, &'static str, &str) {
    let mut words = vec![String::new()];
    let mut is_quoted = false;
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let next = letters.peek().map(|(_, next)| *next);
        let word = words.last_mut().map_or(0, |word| word.len());
        match letter {
            '"' => is_quoted = !is_quoted,
            '^' if !is_quoted => push(&mut words, letters.next().map(|(_, next)| next)),
            '&' | '|' if !is_quoted => {
                let is_double = next == Some(letter);
                let separator = match (letter, is_double) {
                    ('&', true) => " && ",
                    ('&', false) => "&",
                    (_, true) => " || ",
                    (_, false) => " | ",
                };
                return (words, separator, &text[at + 1 + usize::from(is_double)..]);
            }
            ' ' | '\t' | ',' | ';' if !is_quoted => words.push(String::new()),
            // `rd/s/q`.
            '/' if !is_quoted && word > 0 && has_options(&words) => words.push("/".to_owned()),
            '(' if !is_quoted && word == 0 => {}
            ')' if !is_quoted && words.last().is_some_and(|word| !word.contains('(')) => {}
            _ => push(&mut words, Some(letter)),
        }
    }
    (words, "", "")
}

/// Checks whether options follow the last word without a blank: a path of cmd has backslashes.
fn has_options(words: &[String]) -> bool {
    let is_option = words.len() == 1 || words.last().is_some_and(|word| word.starts_with('/'));
    is_option && COMMANDS.iter().any(|(name, _)| words[0].eq_ignore_ascii_case(name))
}

fn push(words: &mut [String], letter: Option<char>) {
    if let Some(word) = words.last_mut() {
        word.extend(letter);
    }
}

/// Returns a command for bash.
fn translated(words: &[String]) -> String {
    let words: Vec<&str> = words.iter().map(String::as_str).filter(|it| !it.is_empty()).collect();
    let words = without_prefix(&words);
    let Some((first, rest)) = words.split_first() else { return String::new() };
    let name = first.trim_start_matches('@').to_ascii_lowercase();
    let base = name.trim_end_matches(".exe");
    let command = COMMANDS.iter().find(|(command, _)| *command == base);
    let Some((_, command)) = command else {
        let first = first.trim_start_matches('@');
        return [first].iter().chain(rest).map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    };
    let has = |option: &str| rest.iter().any(|word| word.eq_ignore_ascii_case(option));
    let mut script = match base {
        "rd" | "rmdir" if has("/s") => "rm -rf".to_owned(),
        "del" | "erase" if has("/s") => format!("{command} -r"),
        _ => (*command).to_owned(),
    };
    // A mirror has nothing that its source has not.
    let mirrors = base == "robocopy" && (has("/mir") || has("/purge"));
    let operands: Vec<&&str> = rest.iter().filter(|word| !is_option(word)).collect();
    for operand in &operands {
        let _ = write!(script, " {}", quoted(operand));
    }
    if let Some(target) = operands.get(1).filter(|_| mirrors) {
        let _ = write!(script, "\nrm -rf {}", quoted(target));
    }
    script
}

/// Checks whether a word is an option: `/s`, `/f:list`, and no path as in other shells.
fn is_option(word: &str) -> bool {
    let name = word.strip_prefix('/').unwrap_or_default();
    let name = name.split(':').next().unwrap_or_default();
    let is_name = |length: usize| (1..=5).contains(&length);
    is_name(name.len())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-')
}

/// Returns the words after those that only say when or how the command runs: `if exist a`, `for %i in (*) do`, `call`, `start /b`.
fn without_prefix<'w, 't>(words: &'w [&'t str]) -> &'w [&'t str] {
    let mut rest = words;
    loop {
        let count = prefix(rest);
        if count == 0 {
            return rest;
        }
        rest = rest.get(count..).unwrap_or_default();
    }
}

/// Returns the number of such words at the start.
fn prefix(words: &[&str]) -> usize {
    let is = |place: usize, name: &str| {
        let word = words.get(place).map(|word| word.trim_start_matches('@'));
        word.is_some_and(|word| word.eq_ignore_ascii_case(name))
    };
    if is(0, "for") {
        let at = words.iter().position(|word| word.eq_ignore_ascii_case("do"));
        return at.map_or(words.len(), |at| at + 1);
    }
    if is(0, "if") {
        let not = usize::from(is(1, "/i")) + 1;
        let start = not + usize::from(is(not, "not"));
        let has_operand = ["exist", "defined", "errorlevel"].iter().any(|word| is(start, word));
        return start + 1 + usize::from(has_operand);
    }
    if ["call", "else", "start"].iter().any(|name| is(0, name)) {
        return 1 + words[1..].iter().take_while(|word| is_option(word)).count();
    }
    0
}

/// Returns a word for bash, in which `%NAME%` is `$NAME` and the parts of paths follow slashes.
fn quoted(word: &str) -> String {
    let mut text = String::from("\"");
    for (place, part) in word.split('%').enumerate() {
        let is_name =
            !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if place % 2 == 1 && is_name {
            let name = if part.eq_ignore_ascii_case("userprofile") { "HOME" } else { part };
            let _ = write!(text, "${{{name}}}");
            continue;
        }
        for letter in part.chars() {
            match letter {
                '\\' => text.push('/'),
                '$' | '`' => text.extend(['\\', letter]),
                _ => text.push(letter),
            }
        }
    }
    text.push('"');
    // Redirections, and words that need no quotes.
    let inner = &text[1..text.len() - 1];
    let is_plain = inner.chars().all(|c| c.is_ascii_alphanumeric() || "_./:=-<>*?~+@%".contains(c));
    if is_plain { inner.to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_cmd_are_those_of_other_shells() {
        for (text, script) in [
            ("git push --force", "git push --force"),
            ("g^it pu^sh", "git push"),
            ("a & b && c | d || e", "a\nb && c | d || e"),
            ("a&b", "a\nb"),
            ("del /s /q C:\\a", "rm -f -r C:/a"),
            ("del a.log", "rm -f a.log"),
            ("rd /s /q \"C:\\a b\"", "rm -rf \"C:/a b\""),
            ("RD/S/Q a", "rm -rf a"),
            ("rmdir a", "rmdir a"),
            ("type .env", "cat .env"),
            ("type a > b", "cat a > b"),
            ("copy a %USERPROFILE%\\b", "cp a \"${HOME}/b\""),
            ("robocopy a b /MIR", "cp -r a b\nrm -rf b"),
            ("if exist a del b", "rm -f b"),
            ("if /i not %X%==y git push", "git push"),
            ("for /r %i in (*) do del %i", "rm -f \"${i}\""),
            ("curl -o x.bat http://a && x.bat", "curl -o x.bat http://a && ./x.bat"),
            ("x.bat", "x.bat"),
            ("start /b git push", "git push"),
            ("@call git push", "git push"),
            ("echo $(a) `b`", "echo \"\\$(a)\" \"\\`b\\`\""),
            ("(a & b)", "a\nb"),
        ] {
            assert_eq!(as_shell(text).trim_end(), script, "{text}");
        }
    }

    #[test]
    fn any_text_is_read_to_its_end() {
        for text in
            ["", "\"", "^", "%", "&", "|", "é^", "for", "if", "if not", "start /b", "%a", "(", "/"]
        {
            let _ = as_shell(text);
        }
        for text in ["call ", "if a ", "a.exe&", "(", "^", "%a% ", "start /b "] {
            let _ = as_shell(&text.repeat(10_000));
        }
    }
}
