//! The texts of a path, with what many patterns ask about them: the answers are the same for every rule of every hook.

use std::ops::Range;
use std::sync::OnceLock;

use super::{LetterPairs, Text, Token, WILDCARDS, name_bit};

/// The text of a path of a call.
#[derive(Debug, Clone)]
pub(crate) struct PathText {
    pub(crate) value: String,
    /// As in [`Text`].
    pub(crate) is_certain: bool,
    /// As in [`Text`].
    pub(crate) is_glob: bool,
    /// True if parts of it are unknown.
    pub(crate) has_unknown_parts: bool,
    /// The length of the text before the first part that is a pattern or unknown.
    known_start: usize,
    /// The pairs of letters in it.
    pub(crate) pairs: LetterPairs,
    /// The pairs of letters in its last name, between slashes.
    pub(crate) last_name: LetterPairs,
    /// Its position relative to the user's home directory.
    pub(crate) home: Position,
    /// Its position relative to the project.
    pub(crate) project: Position,
    open: OnceLock<OpenText>,
    without_stars: OnceLock<Option<OpenText>>,
}

/// The position of a path relative to a directory.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Position {
    /// The place in the text of the path where the part after the directory begins, if the path is in the directory or is it.
    pub(crate) rest: Option<usize>,
    /// True if the directory is in the path or is it.
    pub(crate) is_above: bool,
}

/// A text that may stand for several paths.
#[derive(Debug, Clone)]
pub(crate) struct OpenText {
    pub(crate) tokens: Vec<Token>,
    text: String,
    /// The names between its slashes; `None` if it may have any name.
    names: Option<Names>,
}

/// Maximum number of patterns in one path that are compared with names.
const MAX_OPEN_NAMES: usize = 64;

/// The names in the text of a path.
#[derive(Debug, Clone, Default)]
struct Names {
    /// One of 64 bits for each name without a wildcard, which rules out most other names.
    literal: u64,
    /// The names with a wildcard: the ranges of their letters before the first and after the last one.
    open: Vec<[Range<usize>; 2]>,
}

impl PathText {
    pub(crate) fn new(text: Text<'_>, home: &str, project: &str) -> Self {
        let Text { value, is_certain, is_glob } = text;
        let last_name = value.rsplit('/').next().unwrap_or_default();
        let has_unknown_parts = text.has_unknown_parts();
        let is_open = is_glob || has_unknown_parts;
        let wild = value.find(['*', '?', '[', '$', '`', '{']).filter(|_| is_open);
        Self {
            value: value.to_owned(),
            is_certain,
            is_glob,
            has_unknown_parts,
            known_start: wild.unwrap_or(value.len()),
            pairs: LetterPairs::new(value),
            last_name: LetterPairs::new(&format!("/{last_name}/")),
            home: Position::new(value, home),
            project: Position::new(value, project),
            open: OnceLock::new(),
            without_stars: OnceLock::new(),
        }
    }

    fn text(&self) -> Text<'_> {
        Text { value: &self.value, is_certain: self.is_certain, is_glob: self.is_glob }
    }

    /// Returns the paths that it may stand for.
    pub(crate) fn open(&self) -> &OpenText {
        self.open.get_or_init(|| OpenText::new(self.text()))
    }

    /// Returns the same for `directory/name` if the text is `directory/**/name`, which is what `find directory -name name` finds: that `**`
    /// could stand for any directory means nothing for a pattern that fits in any directory.
    pub(crate) fn without_stars(&self) -> Option<&OpenText> {
        let shorten = || {
            let (directory, rest) = self.value.split_once("/**").filter(|_| self.is_glob)?;
            let value = format!("{directory}{rest}");
            Some(OpenText::new(Text { value: &value, ..self.text() }))
        };
        self.without_stars.get_or_init(shorten).as_ref()
    }

    /// Checks whether it stands for more than one text.
    pub(crate) fn is_open(&self) -> bool {
        self.is_glob || self.has_unknown_parts
    }

    /// Returns the last slash and the name after it, if they are known; else nothing.
    pub(crate) fn known_name(&self) -> &str {
        let name = self.value.rfind('/').map_or("", |at| &self.value[at..]);
        if name.contains(['*', '?', '[', '$', '`', '{', '}', ')']) { "" } else { name }
    }

    /// Returns the text before the first part that is a pattern or unknown.
    pub(crate) fn known_start(&self) -> &str {
        &self.value[..self.known_start]
    }

    /// Returns the number of bytes before the first part that is a pattern or unknown, and without `/*` at its end.
    pub(crate) fn known_length(&self) -> usize {
        self.known_start().trim_end_matches('/').len()
    }

    /// Returns whether only the root directory is known: `/$DIR`, `/{}`.
    pub(crate) fn is_at_root(&self) -> bool {
        let rest = self.value.strip_prefix('/').unwrap_or_default();
        rest.starts_with(['$', '`']) || rest.starts_with("{}")
    }

    /// Returns whether it is a pattern for names with a known beginning: `.env*` is meant for few files, `*` is not.
    pub(crate) fn is_narrow(&self) -> bool {
        let name = self.value.rsplit('/').next().unwrap_or_default();
        let prefix_length = name.find(['*', '?', '[', '$', '`']).unwrap_or(name.len());
        // `.[e]nv` stands for names of one length.
        let is_short = || !name.contains(['*', '$', '`']) && prefix_length >= 1 && name.len() > 2;
        self.is_glob && self.is_certain && (prefix_length >= 2 || is_short())
    }
}

impl Position {
    fn new(path: &str, directory: &str) -> Self {
        Self {
            rest: below(path, directory).map(|rest| path.len() - rest.len()),
            is_above: below(directory, path).is_some(),
        }
    }
}

/// Returns the part of a path after a directory; empty if it is the directory.
pub(crate) fn below<'p>(path: &'p str, directory: &str) -> Option<&'p str> {
    // For each pattern and path: `trim_end_matches` takes many times as long.
    let end = directory.bytes().rposition(|byte| byte != b'/').map_or(0, |at| at + 1);
    let rest = path.strip_prefix(&directory[..end])?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

impl OpenText {
    fn new(text: Text<'_>) -> Self {
        let has_any = text.has_unknown_parts() || text.value.contains("**");
        let names = (!has_any).then(|| Names::new(text.value));
        Self { tokens: text.tokens(), text: text.value.to_owned(), names }
    }

    /// Checks whether a name in the text, between two slashes, can be `name`. A text of which parts are unknown can have any.
    pub(crate) fn may_have(&self, name: &str) -> bool {
        let Some(names) = &self.names else { return true };
        let is_open = |[start, end]: &[Range<usize>; 2]| {
            name.starts_with(&self.text[start.clone()]) && name.ends_with(&self.text[end.clone()])
        };
        names.open.iter().any(is_open)
            || (names.literal & name_bit(name) != 0 && self.text.split('/').any(|own| own == name))
    }

    /// Checks whether what a pattern in the text begins with ends like the beginning of an ending: `server.k*` for `.key`.
    pub(crate) fn ends_as(&self, ending: &str) -> bool {
        let Some(names) = &self.names else { return true };
        let starts = || names.open.iter().map(|[start, _]| &self.text[start.clone()]);
        let has_part = |start: &str| {
            ending
                .char_indices()
                .skip(1)
                .any(|(at, c)| start.ends_with(&ending[..at + c.len_utf8()]))
        };
        names.open.len() > MAX_OPEN_NAMES || starts().any(has_part)
    }

    /// Checks whether a pattern in the text, between two slashes, begins as `name` does, or a name is `name`. A text of which parts are unknown
    /// can have any.
    pub(crate) fn begins_as(&self, name: &str) -> bool {
        let Some(names) = &self.names else { return true };
        let mut begins = names.open.iter().map(|[start, _]| &self.text[start.clone()]);
        names.open.len() > MAX_OPEN_NAMES
            || begins.any(|start| {
                !start.is_empty() && (name.starts_with(start) || start.starts_with(name))
            })
            || (names.literal & name_bit(name) != 0 && self.text.split('/').any(|own| own == name))
    }
}

impl Names {
    fn new(path: &str) -> Self {
        let mut names = Self::default();
        let mut start = 0;
        for name in path.split('/') {
            let end = start + name.len();
            match name.find(WILDCARDS) {
                None => names.literal |= name_bit(name),
                Some(at) => {
                    let rest = name.rsplit(['*', '?', ']']).next().unwrap_or_default();
                    names.open.push([start..start + at, end - rest.len()..end]);
                }
            }
            start = end + 1;
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_a_text_cannot_have_does_not_fit() {
        let may_have = |text: &str, is_certain, name: &str| {
            OpenText::new(Text { value: text, is_certain, is_glob: true }).may_have(name)
        };
        for (text, name) in [
            ("/a/.e*", ".env"),
            ("/a/.[e]nv/x", ".env"),
            ("/a/?env", ".env"),
            ("/.env", ".env"),
            ("/a/**", ".env"),
        ] {
            assert!(may_have(text, true, name), "{text}");
        }
        for text in ["/a/b*", "/a/*.rs", "/env/x"] {
            assert!(!may_have(text, true, ".env"), "{text}");
        }
        assert!(may_have("$X/b", false, ".env"));
    }

    #[test]
    fn a_pattern_is_meant_for_names_that_begin_as_it_does() {
        let begins_as = |text: &str, name: &str| {
            OpenText::new(Text { value: text, is_certain: true, is_glob: true }).begins_as(name)
        };
        for text in ["/a/.e*", "/a/.[e]nv/x", "/a/.env.x*", "/.env/*", "/**/a*", &"/a*".repeat(65)]
        {
            assert!(begins_as(text, ".env"), "{text}");
        }
        for text in ["/a/README*", "/a/*", "/a/*/x", "/a/?env"] {
            assert!(!begins_as(text, ".env"), "{text}");
        }
        let ends_as = |text: &str| {
            OpenText::new(Text { value: text, is_certain: true, is_glob: true }).ends_as(".key")
        };
        assert!(ends_as("/a/server.k*") && ends_as("/a/server.key*"));
        assert!(!ends_as("/a/server*") && !ends_as("/a/server.*") && !ends_as("/a/*"));
    }

    #[test]
    fn a_path_is_in_a_directory_around_it_or_elsewhere() {
        for (path, rest, is_above) in [
            ("/home/user/a", Some("a"), false),
            ("/home/user", Some(""), true),
            ("/home/user/", Some(""), true),
            ("/home", None, true),
            ("/", None, true),
            ("/home/user2", None, false),
            ("/etc", None, false),
        ] {
            let position = Position::new(path, "/home/user");
            assert_eq!(position.rest.map(|at| &path[at..]), rest, "{path}");
            assert_eq!(position.is_above, is_above, "{path}");
        }
    }
}
