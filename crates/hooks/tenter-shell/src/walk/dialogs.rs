//! Commands of editors, debuggers, and programs that transfer files: in options, in files that the text wrote, and on the standard input.

use crate::facts::{Language, PathOp};
use crate::field::Field;
use crate::reader::{Context, NodeResult, Reader};

use super::call::{Call, Emitted};
use super::wrappers::values;

/// Maximum number of commands.
const MAX_COMMANDS: usize = 256;

/// An effect of a command.
enum Effect<'t> {
    Script(&'t str),
    Code(Language, &'t str),
    Path(&'t str, PathOp),
}

impl Reader<'_> {
    /// Reads `put file` and `get file` of sftp.
    pub(super) fn transfers(
        &mut self,
        (inline, files): (&str, &str),
        emitted: &Emitted,
        context: &Context,
    ) -> NodeResult {
        let mut texts = values(emitted, inline);
        for file in values(emitted, files) {
            texts.extend(self.written_here(&file).and_then(|file| file.text.clone()));
        }
        texts.extend(context.stdin.as_ref().and_then(|input| input.text.clone()));
        self.dialog(&texts, transferred, emitted, context)
    }

    /// Reads `:r file`, `:w file` and `:!command` of vi and its relatives.
    pub(super) fn edits(
        &mut self,
        inline: &str,
        call: &Call,
        emitted: &Emitted,
        context: &Context,
    ) -> NodeResult {
        let mut texts = values(emitted, inline);
        let after_plus = call
            .operands(emitted)
            .filter_map(|operand| Some(operand.with_text(operand.text.strip_prefix('+')?)));
        texts.extend(after_plus);
        texts.extend(context.stdin.as_ref().and_then(|input| input.text.clone()));
        self.dialog(&texts, edited, emitted, context)
    }

    /// Reads `shell command` and `python code` of gdb, lldb and other programs with a language of their own.
    pub(super) fn debugs(
        &mut self,
        inline: &str,
        emitted: &Emitted,
        context: &Context,
    ) -> NodeResult {
        let mut texts = values(emitted, inline);
        texts.extend(context.stdin.as_ref().and_then(|input| input.text.clone()));
        self.dialog(&texts, debugged, emitted, context)
    }

    fn dialog(
        &mut self,
        texts: &[Field],
        effect: fn(&str) -> Option<Effect<'_>>,
        emitted: &Emitted,
        context: &Context,
    ) -> NodeResult {
        let mut all = NodeResult::default();
        for text in texts {
            let mut effects = text.text.lines().flat_map(|line| line_effects(line, effect));
            let read: Vec<Effect<'_>> = effects.by_ref().take(MAX_COMMANDS).collect();
            if effects.next().is_some() {
                self.reach_limit();
            }
            for effect in read {
                match effect {
                    Effect::Script(script) => {
                        let script = text.with_text(script);
                        all.commands.extend(self.script_of(&script, emitted, context).commands);
                    }
                    Effect::Code(language, code) => {
                        let code = text.with_text(code);
                        let inner = self.code(language, &code, emitted.index, context);
                        all.commands.extend(inner.commands);
                    }
                    Effect::Path(path, op) => {
                        let path = text.with_text(self.in_home(path.to_owned()));
                        self.touch(&path, op, Some(emitted.index));
                    }
                }
            }
        }
        all
    }
}

/// Returns the effects of a line. A command for a shell, or code, is all of its rest: `:!a | b`. Other commands end at `|` and `;`.
fn line_effects(
    line: &str,
    effect: fn(&str) -> Option<Effect<'_>>,
) -> impl Iterator<Item = Effect<'_>> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let command = rest?.trim();
        if let Some(whole @ (Effect::Script(_) | Effect::Code(..))) = effect(command) {
            rest = None;
            return Some(Some(whole));
        }
        let parts = command.split_once(['|', ';']);
        rest = parts.map(|(_, others)| others);
        Some(effect(parts.map_or(command, |(first, _)| first.trim())))
    })
    .flatten()
}

/// Returns the effect of a command of gdb, lldb, radare2, dc or ghci.
fn debugged(command: &str) -> Option<Effect<'_>> {
    let command = command.trim_start_matches([':', ' ']);
    if let Some(script) = command.strip_prefix('!') {
        return Some(Effect::Script(script));
    }
    // `print/x system("a")`
    let end = command.find([' ', '(', '/']).unwrap_or(command.len());
    let (name, rest) = command.split_at(end);
    let rest = rest.trim_start();
    match name {
        "she" | "shel" | "shell" | "make" => Some(Effect::Script(rest)),
        // The rest of the line after `|` is the command.
        "pipe" => Some(Effect::Script(rest.split_once('|')?.1)),
        "platform" | "platf" | "plat" | "pla" | "pl" => {
            let (name, script) = rest.split_once(' ')?;
            ["shell", "shel", "she", "sh"].contains(&name).then_some(Effect::Script(script))
        }
        "python" | "pytho" | "pyth" | "pyt" | "py" | "pi" | "python-interactive" | "script"
        | "scrip" | "scri" | "scr" => Some(Effect::Code(Language::Python, rest)),
        "call" | "print" | "p" | "inspect" | "output" | "set" | "compile" | "expression"
        | "expr" | "eval" => Some(Effect::Code(Language::Other, rest)),
        "source" => Some(Effect::Path(rest.split_whitespace().next()?, PathOp::Execute)),
        _ => None,
    }
}

/// Returns the effect of a command of `sftp`, `ftp`, `lftp` or `smbclient` on this machine.
fn transferred(command: &str) -> Option<Effect<'_>> {
    if let Some(script) = command.strip_prefix('!') {
        return Some(Effect::Script(script));
    }
    let mut words = command.split_whitespace();
    let name = words.next()?.trim_start_matches('-');
    let mut paths = words.filter(|word| !word.starts_with('-'));
    match name {
        "put" | "mput" | "reput" | "send" | "append" | "mirror" => {
            Some(Effect::Path(paths.next()?, PathOp::Read))
        }
        "get" | "mget" | "reget" | "recv" => {
            let from = paths.next()?;
            let name = from.rsplit('/').next().unwrap_or(from);
            Some(Effect::Path(paths.next().unwrap_or(name), PathOp::Write))
        }
        _ => None,
    }
}

/// Returns the effect of a command of an editor.
fn edited(command: &str) -> Option<Effect<'_>> {
    let is_range = |c: char| c.is_ascii_digit() || ":%,.$ '<>+".contains(c);
    let command = command.trim_start_matches(is_range);
    if let Some(script) = command.strip_prefix('!') {
        return Some(Effect::Script(script));
    }
    let end = command.find(|c: char| !c.is_ascii_alphabetic())?;
    let (name, rest) = command.split_at(end);
    let in_quotes = || {
        let rest = rest.trim();
        let quote = rest.chars().next().filter(|first| matches!(first, '"' | '\''));
        quote.map_or(rest, |quote| rest[1..].split(quote).next().unwrap_or_default())
    };
    let op = match name {
        "sil" | "silent" => return edited(rest.trim_start_matches('!')),
        "exe" | "execute" => return edited(in_quotes()),
        "lua" | "call" | "cal" | "echo" | "let" => {
            return Some(Effect::Code(Language::Other, rest));
        }
        "py" | "python" | "pyx" => {
            return Some(Effect::Code(Language::Python, rest.trim_start_matches('3')));
        }
        "perl" => return Some(Effect::Code(Language::Perl, rest)),
        "ruby" => return Some(Effect::Code(Language::Ruby, rest)),
        "r" | "re" | "read" | "e" | "edit" | "sp" | "split" | "vs" | "tabe" | "tabedit" => {
            PathOp::Read
        }
        "w" | "wri" | "write" | "wq" | "x" | "sav" | "saveas" => PathOp::Write,
        "so" | "source" => PathOp::Execute,
        _ => return None,
    };
    // `:w !command` runs it, `:w! file` writes.
    let rest = if op == PathOp::Write || name.starts_with('e') {
        rest.strip_prefix('!').unwrap_or(rest)
    } else {
        rest
    };
    let rest = rest.trim_start().trim_start_matches(['>', ' ']);
    if let Some(script) = rest.strip_prefix('!') {
        return Some(Effect::Script(script));
    }
    let path = rest.split_whitespace().next()?;
    Some(Effect::Path(path, op))
}
