//! The words of a command's argument, split as a shell does: quotes and backslashes keep spaces. A leading `~/` is the home
//! directory.

use std::path::PathBuf;

use tenter_terminal::Env;

/// A word of an argument.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TypedWord {
    /// Its start in the argument, in bytes.
    pub(super) start: usize,
    /// The word without its quotes and backslashes.
    pub(super) text: String,
    /// True if a space follows it.
    pub(super) is_ended: bool,
}

impl TypedWord {
    /// Returns an empty word.
    pub(super) fn empty_at(start: usize) -> Self {
        Self { start, text: String::new(), is_ended: false }
    }
}

/// Splits an argument. A quote that is not closed ends with the argument.
pub(super) fn split(argument: &str) -> Vec<TypedWord> {
    let mut words: Vec<TypedWord> = Vec::new();
    let mut open: Option<TypedWord> = None;
    let mut quote = None;
    let mut characters = argument.char_indices();
    while let Some((at, character)) = characters.next() {
        if quote.is_none() && character.is_whitespace() {
            words.extend(open.take().map(|word| TypedWord { is_ended: true, ..word }));
            continue;
        }
        let word = open.get_or_insert_with(|| TypedWord::empty_at(at));
        match (quote, character) {
            (Some(quote_mark), _) if character == quote_mark => quote = None,
            (None, '\'' | '"') => quote = Some(character),
            (None | Some('"'), '\\') => word.text.extend(characters.next().map(|(_, next)| next)),
            _ => word.text.push(character),
        }
    }
    words.extend(open);
    words
}

/// Returns a word as it is typed: with backslashes where [`split`] needs them.
pub(super) fn escape(word: &str) -> String {
    let needs_escape = |c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '\\');
    word.chars().flat_map(|c| needs_escape(c).then_some('\\').into_iter().chain([c])).collect()
}

/// The directories that relative paths of the user begin in.
pub(super) struct PathBases {
    /// The working directory.
    pub(super) cwd: PathBuf,
    /// The home directory.
    pub(super) home: PathBuf,
}

impl PathBases {
    pub(super) fn new(env: &Env) -> Self {
        Self { cwd: env.cwd.clone(), home: env.home.clone() }
    }

    /// Returns the path that a word means.
    pub(super) fn resolve(&self, word: &str) -> PathBuf {
        match word.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                self.home.join(rest.trim_start_matches('/'))
            }
            _ => self.cwd.join(word),
        }
    }

    /// Returns the path that a whole argument means, which may have spaces that are not escaped.
    pub(super) fn resolve_argument(&self, argument: &str) -> PathBuf {
        match split(argument).as_slice() {
            [word] => self.resolve(&word.text),
            _ => self.resolve(argument),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(argument: &str) -> Vec<String> {
        split(argument).into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn words_end_at_spaces_that_are_not_quoted() {
        assert!(split("  ").is_empty());
        assert_eq!(texts(" a  b\tc "), ["a", "b", "c"]);
        assert_eq!(texts(r#"a\ b 'c d'"e f" g\\"#), ["a b", "c de f", "g\\"]);
        assert_eq!(texts(r#""say \"hi\"" 'it\'"#), ["say \"hi\"", "it\\"]);
        assert_eq!(texts("open 'to the end"), ["open", "to the end"]);
        assert_eq!(texts("''"), [""]);
        let starts: Vec<(usize, bool)> =
            split("ab 'c d' é").into_iter().map(|word| (word.start, word.is_ended)).collect();
        assert_eq!(starts, [(0, true), (3, true), (9, false)]);
    }

    #[test]
    fn an_escaped_word_is_one_word() {
        for word in ["a b", "it's", "say \"hi\"", "back\\slash", "plain", "日本 語", "tab\there"]
        {
            assert_eq!(texts(&escape(word)), [word]);
        }
    }

    #[test]
    fn a_tilde_is_the_home_directory_only_at_the_beginning() {
        let places = PathBases { cwd: "/w".into(), home: "/home/ada".into() };
        for (word, path) in [
            ("~", "/home/ada/"),
            ("~/a", "/home/ada/a"),
            ("a/~", "/w/a/~"),
            ("~ada/x", "/w/~ada/x"),
            ("/x", "/x"),
        ] {
            assert_eq!(places.resolve(word), PathBuf::from(path), "{word}");
        }
        assert_eq!(places.resolve_argument("my notes.md"), PathBuf::from("/w/my notes.md"));
        assert_eq!(places.resolve_argument("'my notes.md'"), PathBuf::from("/w/my notes.md"));
    }
}
