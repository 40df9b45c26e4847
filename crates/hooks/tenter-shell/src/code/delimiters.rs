//! Texts between marks, and where an expression starts.

/// Maximum number of bytes of the arguments of one call, and of an expression.
pub(super) const MAX_BYTES: usize = 4096;

/// Returns the text of `q(…)`, `qq{…}`, `qw[…]`, `%w(…)` and `%q|…|`, and the length of the whole.
pub(super) fn quoted_by_letters(text: &str) -> Option<(&str, usize)> {
    let names = ["qw", "qq", "q", "%w", "%q", "%Q", "%"];
    let name = names.iter().find(|name| text.starts_with(**name))?;
    let (inner, length) = in_marks(&text[name.len()..])?;
    Some((inner, name.len() + length))
}

/// Returns the text in the marks that a text begins with, and the length of the whole: `(…)`, `/…/`.
pub(super) fn in_marks(text: &str) -> Option<(&str, usize)> {
    let open = text.chars().next()?;
    let close = match open {
        '(' => ')',
        '[' => ']',
        '{' => '}',
        '|' | '/' => open,
        _ => return None,
    };
    let end = 1 + text[1..].find(close)?;
    Some((&text[1..end], end + 1))
}

/// Returns the start of the expression at the end of a text: names, dots, literals, and what is in brackets.
pub(super) fn object_start(text: &str) -> usize {
    let letters: Vec<(usize, char)> = text.char_indices().rev().take(MAX_BYTES).collect();
    let mut start = text.len();
    let mut open = 0_usize;
    let mut quote = None;
    for (at, letter) in letters {
        match (quote, letter) {
            (Some(open_quote), letter) => {
                if letter == open_quote {
                    quote = None;
                }
            }
            (None, '"' | '\'') => quote = Some(letter),
            (None, ')' | ']') => open += 1,
            (None, '(' | '[') if open > 0 => open -= 1,
            (None, letter) => {
                let is_part = letter.is_alphanumeric() || "_.$@".contains(letter);
                if open == 0 && !is_part {
                    break;
                }
            }
        }
        start = at;
    }
    start
}
