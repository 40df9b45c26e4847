//! Builtins of bash that do more with their words than read them (R84): they evaluate them, or change how the shell reads the
//! commands that follow.

use crate::facts::Command;

/// Builtins that read their words and change nothing for the commands that follow.
const PLAIN: [&str; 24] = [
    ":", "[", "bg", "break", "caller", "cd", "chdir", "continue", "dirs", "disown", "echo", "exit",
    "false", "fg", "help", "jobs", "kill", "printf", "pwd", "test", "times", "true", "type",
    "wait",
];

/// The other builtins of bash. They evaluate words (`let`, `compgen`), set variables (`read`), or change the shell (`alias`).
const OTHERS: [&str; 40] = *tenter_base::words!(
    ". alias bind builtin command compgen complete compopt coproc declare enable eval exec export
     fc getopts hash history let local logout mapfile popd pushd read readarray readonly return
     set shift shopt source suspend trap typeset ulimit umask unalias unset select"
);

/// A word of a command, as far as it matters here.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CommandWord<'w> {
    pub(crate) text: &'w str,
    /// The shell replaces it by the files that it matches, whatever their names are.
    pub(crate) is_pattern: bool,
}

/// Returns whether bash evaluates the words of this command. `program` is written without a slash.
pub(crate) fn evaluates<'w>(program: &str, args: impl Iterator<Item = CommandWord<'w>>) -> bool {
    if OTHERS.contains(&program) {
        return true;
    }
    if !PLAIN.contains(&program) {
        return false;
    }
    // What only prints or ignores its words.
    if matches!(program, "echo" | ":" | "true" | "false" | "pwd") {
        return false;
    }
    let args: Vec<CommandWord<'_>> = args.collect();
    let is_option = |letter: char| {
        move |arg: &CommandWord<'_>| arg.text.starts_with('-') && arg.text.contains(letter)
    };
    let names_variable = match program {
        "printf" => args.first().is_some_and(|arg| arg.text.starts_with('-') && arg.text != "--"),
        "test" | "[" => args.iter().any(|arg| matches!(arg.text, "-v" | "-R")),
        "wait" => args.iter().any(is_option('p')),
        "jobs" => args.iter().any(is_option('x')),
        _ => false,
    };
    // The name of a file can be an option or a subscript. Some shells evaluate subscripts where bash does not.
    let is_subscript = |text: &str| text.contains('[') && text.contains(['$', '`']);
    names_variable
        || (program != "cd" && args.iter().any(|arg| arg.is_pattern && program != "kill"))
        || (program != "printf" && args.iter().any(|arg| is_subscript(arg.text)))
}

impl Command {
    /// Checks whether bash evaluates words of this command, quoted or not, or lets it change how it reads the commands that follow
    /// (R84): `printf -v`, `test -v`, `let`, `read`, `eval`, `export`.
    pub fn evaluates_words(&self) -> bool {
        let args = self
            .args
            .iter()
            .enumerate()
            .map(|(index, text)| CommandWord { text, is_pattern: self.globs.contains(&index) });
        self.path.is_none() && evaluates(&self.program, args)
    }
}
