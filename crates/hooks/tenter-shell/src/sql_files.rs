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
    match (*tokens.get(at + 1)?, tokens.get(at + 2)) {
        (Token::Open, Some(Token::Text(path))) => {
            let function = FUNCTIONS.iter().find(|(name, _)| is(name));
            function.map(|(_, op)| (*path, *op))
        }
        (Token::Text(path), _) if is("infile") => Some((path, PathOp::Read)),
        (Token::Text(path), _) if is("attach") || is("database") => Some((path, PathOp::Write)),
        (Token::Text(path), _) if is("outfile") || is("dumpfile") => Some((path, PathOp::Write)),
        (Token::Text(path), _) if is("from") && path.contains('/') => Some((path, PathOp::Read)),
        (Token::Text(path), _) if is("to") && path.contains('/') => Some((path, PathOp::Write)),
        _ => None,
    }
}

/// Returns the effect of a line for the client: `\! ls`, `.shell ls`, `.output file`, `\copy t from 'file'`.
pub(crate) fn client_line(line: &str) -> Option<ClientLine<'_>> {
    let (name, rest) = line.split_once(char::is_whitespace)?;
    let rest = rest.trim();
    let target = |op| {
        let word = unquote(rest)?;
        Some(match word.strip_prefix('|') {
            // Without quotes, the command is the rest of the line.
            Some(_) if rest.starts_with('|') => ClientLine::Script(rest[1..].trim()),
            Some(script) => ClientLine::Script(script.trim()),
            None if word.starts_with('-') => return None,
            None => ClientLine::Path(word, op),
        })
    };
    match name {
        "\\!" | ".shell" | ".system" | "system" => {
            Some(ClientLine::Script(rest)).filter(|_| !rest.is_empty())
        }
        "\\o" | "\\out" | "\\w" | "\\write" | ".output" | ".once" | ".open" | ".backup"
        | ".save" | ".log" => target(PathOp::Write),
        "pager" | "\\P" => Some(ClientLine::Script(rest)),
        ".import" | ".read" | ".restore" => target(PathOp::Read),
        ".load" => target(PathOp::Execute),
        "\\copy" => {
            let ends = [(" from ", PathOp::Read), (" to ", PathOp::Write)];
            let (end, op) =
                ends.iter().find_map(|(word, op)| Some((rest.split_once(word)?.1, *op)))?;
            match end.trim().strip_prefix("program ") {
                Some(script) => Some(ClientLine::Script(unquote(script)?)),
                None => Some(ClientLine::Path(unquote(end)?, op)),
            }
        }
        // psql runs what is in backticks.
        name if name.starts_with('\\') => Some(ClientLine::Script(rest.split('`').nth(1)?)),
        _ => None,
    }
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
