//! Files in SQL: in functions, in clauses, and in lines for the client.

use crate::facts::PathOp;
use crate::sql_tokens::Token;

/// Functions whose first argument is a file.
const FUNCTIONS: [(&str, PathOp); 17] = [
    ("load_extension", PathOp::Execute),
    ("load_file", PathOp::Read),
    ("lo_import", PathOp::Read),
    ("parquet_scan", PathOp::Read),
    ("pg_read_binary_file", PathOp::Read),
    ("pg_read_file", PathOp::Read),
    ("read_blob", PathOp::Read),
    ("read_csv", PathOp::Read),
    ("read_csv_auto", PathOp::Read),
    ("read_json", PathOp::Read),
    ("read_json_auto", PathOp::Read),
    ("read_ndjson", PathOp::Read),
    ("read_parquet", PathOp::Read),
    ("read_text", PathOp::Read),
    ("readfile", PathOp::Read),
    ("fsdir", PathOp::List),
    ("writefile", PathOp::Write),
];

/// The effect of a line for the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClientLine<'t> {
    /// A command for a shell.
    Script(&'t str),
    Path(&'t str, PathOp),
}

/// Returns the file of a function, or of a clause such as `infile`, that starts at a token.
pub(crate) fn file_of<'t>(tokens: &[Token<'t>], at: usize) -> Option<(&'t str, PathOp)> {
    let Token::Word(word) = *tokens.get(at)? else { return None };
    let is = |name: &str| word.eq_ignore_ascii_case(name);
    // `lo_export(1, 'file')`.
    if is("lo_export") && tokens.get(at + 1) == Some(&Token::Open) {
        let mut arguments = tokens.iter().skip(at + 2).take_while(|token| **token != Token::Close);
        return arguments.find_map(|token| match token {
            Token::Text(path) => Some((*path, PathOp::Write)),
            _ => None,
        });
    }
    match (*tokens.get(at + 1)?, tokens.get(at + 2)) {
        (Token::Open, Some(Token::Text(path))) => {
            let function = FUNCTIONS.iter().find(|(name, _)| is(name));
            function.map(|(_, op)| (*path, *op))
        }
        (Token::Text(path), _) if is("infile") => Some((path, PathOp::Read)),
        (Token::Text(path), _) if is("attach") || is("database") => Some((path, PathOp::Write)),
        (Token::Text(path), _) if is("outfile") || is("dumpfile") => Some((path, PathOp::Write)),
        // `from 'a.csv'`, and not `extract(day from '2026-01-01')`.
        (Token::Text(path), _) if is("from") && path.contains(['/', '.']) => {
            Some((path, PathOp::Read))
        }
        (Token::Text(path), _) if is("to") && path.contains('/') => Some((path, PathOp::Write)),
        _ => None,
    }
}

/// Commands of clients for a shell. Those of SQLite can be abbreviated.
const SHELLS: [&str; 3] = [".shell", ".system", "system"];
/// Commands of clients that touch a file.
const FILE_COMMANDS: [(&str, PathOp); 16] = [
    (".import", PathOp::Read),
    (".read", PathOp::Read),
    (".restore", PathOp::Read),
    ("\\i", PathOp::Read),
    ("\\ir", PathOp::Read),
    (".load", PathOp::Execute),
    (".backup", PathOp::Write),
    (".log", PathOp::Write),
    (".once", PathOp::Write),
    (".open", PathOp::Write),
    (".output", PathOp::Write),
    (".save", PathOp::Write),
    ("\\g", PathOp::Write),
    ("\\gx", PathOp::Write),
    ("\\o", PathOp::Write),
    ("\\out", PathOp::Write),
];

/// Returns the effect of a line for the client: `\! ls`, `.shell ls`, `.output file`, `\copy t from 'file'`.
pub(crate) fn client_line(line: &str) -> Option<ClientLine<'_>> {
    if let Some(script) = line.strip_prefix("\\!") {
        return Some(ClientLine::Script(script.trim())).filter(|_| !script.trim().is_empty());
    }
    let (name, rest) = line.split_once(char::is_whitespace)?;
    let rest = rest.trim();
    let is = |command: &str| {
        name == command || (name.len() > 1 && name.starts_with('.') && command.starts_with(name))
    };
    if SHELLS.into_iter().any(is) {
        return Some(ClientLine::Script(rest)).filter(|_| !rest.is_empty());
    }
    if let Some((_, op)) = FILE_COMMANDS.into_iter().find(|(command, _)| is(command)) {
        return target(rest, op);
    }
    match name {
        "\\w" | "\\write" => target(rest, PathOp::Write),
        "pager" | "\\P" => Some(ClientLine::Script(rest)),
        "\\copy" => copied(rest),
        // psql runs what is in backticks.
        name if name.starts_with('\\') => Some(ClientLine::Script(rest.split('`').nth(1)?)),
        _ => None,
    }
}

/// Returns the file, or the program after `|`, in the arguments of a command.
fn target(arguments: &str, op: PathOp) -> Option<ClientLine<'_>> {
    let mut rest = arguments;
    // `.import --csv --skip 1 file table`
    while rest.starts_with('-') {
        let (option, others) = rest.split_once(char::is_whitespace)?;
        let has_value = matches!(option.trim_start_matches('-'), "schema" | "skip");
        let others = others.trim_start();
        rest = if has_value { others.split_once(char::is_whitespace)?.1 } else { others };
    }
    let word = unquote(rest)?;
    Some(match word.strip_prefix('|') {
        // Without quotes, the command is the rest of the line.
        Some(_) if rest.starts_with('|') => ClientLine::Script(rest[1..].trim()),
        Some(script) => ClientLine::Script(script.trim()),
        None => ClientLine::Path(word, op),
    })
}

/// Returns the file or the program of psql's `\copy`.
fn copied(arguments: &str) -> Option<ClientLine<'_>> {
    let arguments = after_query(arguments);
    let end = |word: &str| {
        let at = arguments.to_ascii_lowercase().find(word)?;
        arguments.get(at + word.len()..)
    };
    let ends = [(" from ", PathOp::Read), (" to ", PathOp::Write)];
    let (end, op) = ends.into_iter().find_map(|(word, op)| Some((end(word)?.trim(), op)))?;
    let (word, rest) = end.split_once(char::is_whitespace).unwrap_or((end, ""));
    if word.eq_ignore_ascii_case("program") {
        return Some(ClientLine::Script(unquote(rest)?));
    }
    Some(ClientLine::Path(unquote(end)?, op))
}

/// Returns the text after a query in brackets: `(select 1 from a) to 'b'`.
fn after_query(text: &str) -> &str {
    let (mut depth, mut is_quoted) = (0_usize, false);
    for (at, letter) in text.char_indices() {
        match letter {
            '\'' => is_quoted = !is_quoted,
            '(' if !is_quoted => depth += 1,
            ')' if !is_quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return if letter == ')' { &text[at + 1..] } else { text };
        }
    }
    text
}

/// Returns the first word, or the text in quotes, at the start.
fn unquote(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let quote = text.chars().next().filter(|first| matches!(first, '"' | '\''));
    let word = match quote {
        Some(quote) => text[1..].split(quote).next(),
        None => text.split_whitespace().next(),
    };
    word.filter(|word| !word.is_empty())
}
