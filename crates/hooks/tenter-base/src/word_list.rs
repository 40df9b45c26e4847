//! Lists of words that the source has as one text: `words!("ls cat")` is `&["ls", "cat"]`, made by the compiler.

/// Returns the words of a text as a list, at no cost at run time. White space separates them.
///
/// ```
/// const LISTERS: &[&str] = tenter_base::words!("ls dir
///     tree");
/// assert_eq!(LISTERS, ["ls", "dir", "tree"]);
/// ```
#[macro_export]
macro_rules! words {
    ($text:expr) => {
        const { &$crate::word_list::split::<{ $crate::word_list::count($text, b' ') }>($text, b' ') }
    };
}

/// Returns the phrases of a text as a list, as [`words!`](crate::words) does. Commas separate them.
///
/// ```
/// const READERS: &[&str] = tenter_base::phrases!("git log, git show,
///     cat");
/// assert_eq!(READERS, ["git log", "git show", "cat"]);
/// ```
#[macro_export]
macro_rules! phrases {
    ($text:expr) => {
        const { &$crate::word_list::split::<{ $crate::word_list::count($text, b',') }>($text, b',') }
    };
}

/// Returns the number of parts of a text.
pub const fn count(text: &str, separator: u8) -> usize {
    let (mut parts, mut rest) = (0, text.trim_ascii_start());
    while !rest.is_empty() {
        rest = first(rest, separator).1;
        parts += 1;
    }
    parts
}

/// Returns the parts of a text that has `N` of them.
pub const fn split<const N: usize>(text: &'static str, separator: u8) -> [&'static str; N] {
    let (mut parts, mut rest) = ([""; N], text.trim_ascii_start());
    let mut index = 0;
    while index < N {
        (parts[index], rest) = first(rest, separator);
        index += 1;
    }
    parts
}

/// Returns the part with which a text begins, and the text from the next part on. A separator that is a space stands for all white space.
const fn first(text: &str, separator: u8) -> (&str, &str) {
    let bytes = text.as_bytes();
    let mut end = 0;
    while end < bytes.len()
        && bytes[end] != separator
        && !(separator == b' ' && bytes[end].is_ascii_whitespace())
    {
        end += 1;
    }
    let (part, rest) = text.split_at(end);
    let (_, rest) = rest.split_at(if rest.is_empty() { 0 } else { 1 });
    (part.trim_ascii_end(), rest.trim_ascii_start())
}
