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
        const { &$crate::word_list::split::<{ $crate::word_list::count($text) }>($text) }
    };
}

/// Returns the number of words in a text.
pub const fn count(text: &str) -> usize {
    let (mut words, mut rest) = (0, text.trim_ascii_start());
    while !rest.is_empty() {
        rest = first(rest).1;
        words += 1;
    }
    words
}

/// Returns the words of a text that has `N` of them.
pub const fn split<const N: usize>(text: &'static str) -> [&'static str; N] {
    let (mut words, mut rest) = ([""; N], text.trim_ascii_start());
    let mut index = 0;
    while index < N {
        (words[index], rest) = first(rest);
        index += 1;
    }
    words
}

/// Returns the word with which a text begins, and the text from the next word on.
const fn first(text: &str) -> (&str, &str) {
    let mut end = 0;
    while end < text.len() && !text.as_bytes()[end].is_ascii_whitespace() {
        end += 1;
    }
    let (word, rest) = text.split_at(end);
    (word, rest.trim_ascii_start())
}
