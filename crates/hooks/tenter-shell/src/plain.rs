//! Plain texts: in them nothing happens but commands that are written out, with literal words.
//!
//! [`read`](crate::read) marks what it does not know as uncertain; a plain text has nothing of that kind to begin with. It is for
//! callers that allow commands, and must not allow anything else along with them.

use crate::evaluation::{CommandWord, evaluates};
use crate::expand::has_tildes;
use crate::syntax;
use crate::syntax::tree::{
    List, Node, Part, Redirection, RedirectionOp, Script, Simple, Target, Word,
};

/// A command of a plain text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlainCommand {
    /// The program and its arguments; never empty.
    pub words: Vec<PlainWord>,
    /// The files that its redirections write, as written.
    pub writes: Vec<String>,
}

/// A word of a plain command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlainWord {
    /// The word without its quotes.
    pub text: String,
    /// It contains unquoted `*`, `?` or `[`, or a `~` that the shell replaces.
    pub is_pattern: bool,
    /// A part of it is quoted.
    pub is_quoted: bool,
}

/// Returns the commands of a text in their order, if the text is plain: lists, pipelines, subshells, groups, `if` and `while` of commands
/// that consist of literal words. `None` if it has assignments, expansions of variables or braces, substitutions, functions, `for`,
/// `case`, tests, coprocesses, redirections of named descriptors or of the network, builtins that evaluate their words or change
/// the shell (R84), or anything that bash would reject or that exceeds a limit.
pub fn plain(text: &str) -> Option<Vec<PlainCommand>> {
    plain_words(text).filter(|commands| !commands.iter().any(PlainCommand::evaluates_words))
}

/// As [`plain`], with builtins that evaluate their words: for texts that are not run, such as patterns of commands.
pub fn plain_words(text: &str) -> Option<Vec<PlainCommand>> {
    is_readable(text).then(|| commands_of(&syntax::parse(text, 0)))?
}

impl PlainCommand {
    /// Checks whether bash does more with the words than to read them.
    fn evaluates_words(&self) -> bool {
        let Some((program, args)) = self.words.split_first() else { return true };
        let args =
            args.iter().map(|word| CommandWord { text: &word.text, is_pattern: word.is_pattern });
        evaluates(&program.text, args)
    }
}

/// Checks whether a script is plain, as [`plain`] says.
pub(crate) fn is_plain(text: &str, script: &Script) -> bool {
    is_readable(text)
        && commands_of(script)
            .is_some_and(|commands| !commands.iter().any(PlainCommand::evaluates_words))
}

/// Checks that a text has no characters that programs show or split differently.
fn is_readable(text: &str) -> bool {
    let is_odd = |c: char| {
        (c.is_control() && !matches!(c, '\n' | '\t')) || (c.is_whitespace() && !c.is_ascii())
    };
    !text.contains(is_odd)
}

fn commands_of(script: &Script) -> Option<Vec<PlainCommand>> {
    if script.is_broken || script.is_limited {
        return None;
    }
    let mut plain = Plain { script, commands: Vec::new() };
    plain.list(&script.commands)?;
    Some(plain.commands)
}

struct Plain<'s> {
    script: &'s Script,
    commands: Vec<PlainCommand>,
}

impl Plain<'_> {
    fn list(&mut self, list: &List) -> Option<()> {
        list.iter().try_for_each(|statement| self.node(&statement.node))
    }

    fn node(&mut self, node: &Node) -> Option<()> {
        match node {
            Node::Simple(simple) => self.simple(simple),
            Node::Pipeline(stages) => stages.iter().try_for_each(|stage| self.node(stage)),
            Node::Subshell(list) | Node::Group(list) => self.list(list),
            Node::Not(node) => self.node(node),
            Node::If(branches) => branches.iter().try_for_each(|branch| {
                self.list(&branch.condition)?;
                self.list(&branch.body)
            }),
            Node::Loop { condition, body } => {
                self.list(condition)?;
                self.list(body)
            }
            Node::Redirected(node, redirections) => {
                let writes = self.writes(redirections)?;
                // In which directory they are depends on what is in the block.
                if writes.is_empty() { self.node(node) } else { None }
            }
            Node::For { .. }
            | Node::Case { .. }
            | Node::Function { .. }
            | Node::Test(_)
            | Node::Coproc(_) => None,
        }
    }

    fn simple(&mut self, simple: &Simple) -> Option<()> {
        if !simple.assignments.is_empty() || simple.words.is_empty() {
            return None;
        }
        let words = simple.words.iter().map(word).collect::<Option<_>>()?;
        let writes = self.writes(&simple.redirections)?;
        self.commands.push(PlainCommand { words, writes });
        Some(())
    }

    /// Returns the files that redirections write.
    fn writes(&self, redirections: &[Redirection]) -> Option<Vec<String>> {
        let mut files = Vec::new();
        redirections
            .iter()
            .try_for_each(|redirection| self.add_written(redirection, &mut files))?;
        Some(files)
    }

    /// Adds the file that a redirection writes, if it writes one.
    fn add_written(&self, redirection: &Redirection, files: &mut Vec<String>) -> Option<()> {
        if !redirection.fd.chars().all(|c| c.is_ascii_digit()) {
            return None;
        }
        let target = match &redirection.target {
            Target::HereDoc(index) => {
                return self.script.heredocs.get((*index)?)?.is_literal.then_some(());
            }
            Target::Word(target) => word(target).filter(|target| !target.is_pattern)?.text,
        };
        // Bash opens connections for these names.
        if target.starts_with("/dev/tcp/") || target.starts_with("/dev/udp/") {
            return None;
        }
        let is_descriptor =
            target == "-" || (!target.is_empty() && target.chars().all(|c| c.is_ascii_digit()));
        match redirection.op {
            RedirectionOp::Read | RedirectionOp::HereString => Some(()),
            RedirectionOp::DuplicateIn => is_descriptor.then_some(()),
            RedirectionOp::HereDoc => None,
            RedirectionOp::DuplicateOut if is_descriptor => Some(()),
            RedirectionOp::Write
            | RedirectionOp::Clobber
            | RedirectionOp::Append
            | RedirectionOp::ReadWrite
            | RedirectionOp::DuplicateOut
            | RedirectionOp::WriteBoth
            | RedirectionOp::AppendBoth => {
                files.extend(Some(target).filter(|target| target != "/dev/null"));
                Some(())
            }
        }
    }
}

/// Returns a word that consists of text; `None` if it has expansions or braces.
fn word(word: &Word) -> Option<PlainWord> {
    let is_pattern = has_tildes(&word.parts);
    let mut plain = PlainWord { text: String::new(), is_pattern, is_quoted: false };
    let mut unquoted = String::new();
    for part in &word.parts {
        match part {
            Part::Plain(text) => {
                plain.is_pattern |= text.contains(['*', '?', '[']);
                unquoted.push_str(text);
                plain.text.push_str(text);
            }
            Part::Quoted(text) => {
                plain.is_quoted = true;
                plain.text.push_str(text);
            }
            _ => return None,
        }
    }
    let has_braces = unquoted.contains('{') && (unquoted.contains(',') || unquoted.contains(".."));
    (!has_braces).then_some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(text: &str) -> Option<Vec<String>> {
        let line = |command: PlainCommand| {
            let words: Vec<String> = command.words.into_iter().map(|word| word.text).collect();
            let writes: Vec<String> =
                command.writes.iter().map(|file| format!(" >{file}")).collect();
            words.join(" ") + &writes.concat()
        };
        Some(plain(text)?.into_iter().map(line).collect())
    }

    #[test]
    fn the_commands_of_a_plain_text_are_all_that_happens() {
        for (text, expected) in [
            ("git status", &["git status"][..]),
            ("a 'b c'\td\\ e; f | g && ! h & i", &["a b c d e", "f", "g", "h", "i"]),
            ("(a; b) && { c; }", &["a", "b", "c"]),
            ("if a; then b; else c; fi; while d; do e; done", &["a", "b", "c", "d", "e"]),
            ("a 2>&1 >/dev/null | b", &["a", "b"]),
            ("a > x 2>> y", &["a >x >y"]),
            ("a &> x", &["a >x"]),
            ("cat <<'E'\n$(rm x)\nE\n", &["cat"]),
            ("git stash drop stash@{0}", &["git stash drop stash@{0}"]),
            ("find . -name x -exec ls {} \\;", &["find . -name x -exec ls {} ;"]),
            ("a # b", &["a"]),
            (
                "printf '%s' -v x && test -f x && [ a = b ]",
                &["printf %s -v x", "test -f x", "[ a = b ]"],
            ),
            (
                "printf -- -v; sleep 1 & wait; jobs -l",
                &["printf -- -v", "sleep 1", "wait", "jobs -l"],
            ),
            ("echo 'a[$(x)]' -v *", &["echo a[$(x)] -v *"]),
            ("./printf -v x", &["./printf -v x"]),
            ("", &[]),
        ] {
            let expected: Vec<String> = expected.iter().map(|line| (*line).to_owned()).collect();
            assert_eq!(commands(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn a_text_in_which_anything_else_happens_is_not_plain() {
        for text in [
            "PATH=. git status",
            "PATH=.; git status",
            "PATH=.\ngit status",
            "a[$(rm x)]=1",
            "git status $(rm x)",
            "git status `rm x`",
            "git status \"$(rm x)\"",
            "git status $x",
            "git status ${x:=y}",
            "git status $((x=1))",
            "git status <(rm x)",
            "git() { rm x; }; git status",
            "for PATH in .; do git status; done",
            "case x in x) git status;; esac",
            "[[ -v x[$(rm y)] ]]",
            "(( x = 1 ))",
            "coproc git status",
            "cat <<E\n$(rm x)\nE\n",
            "git status {fd}> x",
            "git status > $x",
            "git status > *",
            "git status > ~/x",
            "git status > a=~/x",
            "git status < /dev/tcp/h/80",
            "git {status,push}",
            "> x",
            "{ git status; } > x",
            "git status \u{a0}x",
            "git status\r",
            "git status 'x",
            "git status )",
            "git status ${x",
            "printf -v x y",
            "printf -vx y",
            "test -v 'a[$(rm x)]'",
            "[ ! -v 'a[$(rm x)]' ]",
            "test *",
            "[ 'a[$(rm x)]' -eq 0 ]",
            "sleep 1 & wait -np x",
            "jobs -lx rm x",
            "let x=1",
            "read PATH",
            "compgen -W '$(rm x)'",
            "umask 0",
            "git status; trap 'rm x' EXIT",
        ] {
            assert_eq!(commands(text), None, "{text}");
        }
        assert_eq!(commands(&"git status; ".repeat(10_000)), None);
    }
}
