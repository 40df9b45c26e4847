//! Tildes: where bash expands them, and to what (R85).

use crate::field::Field;
use crate::reader::Reader;
use crate::syntax::tree::Part;

/// The places in a word at which a tilde is expanded, besides its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tildes {
    /// Nowhere else: in a word of `${…}`, and in the words that braces make of one.
    Start,
    /// In an argument that looks like an assignment, after its `=` and each `:` behind that: `dd of=~/x`. Bash does not do this in
    /// POSIX mode, and not every other shell does; the home directory is the reading that guards must see.
    Argument,
    /// After each `:`, in the value of an assignment.
    Value,
}

/// A place in a word: the index of a part, and an offset in its text.
type TildeRange = (usize, usize);

/// Returns the places of a word's tildes that are expanded, in order.
pub(super) fn places(parts: &[Part], tildes: Tildes) -> Vec<TildeRange> {
    let value = match tildes {
        Tildes::Start => None,
        Tildes::Argument => value_of_assignment(parts),
        Tildes::Value => Some((0, 0)),
    };
    let mut places = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let Part::Plain(text) = part else { continue };
        places.extend(text.match_indices('~').map(|(at, _)| (index, at)).filter(|place| {
            let follows_colon = text[..place.1].ends_with(':');
            let is_in_value = value.is_some_and(|value| value < *place && follows_colon);
            *place == (0, 0) || value == Some(*place) || is_in_value
        }));
    }
    places
}

/// Checks whether bash would replace a part of a word by a home directory.
pub(crate) fn has_tildes(parts: &[Part]) -> bool {
    !places(parts, Tildes::Argument).is_empty()
}

/// Finds the start of the value in a word that looks like an assignment: `name=`, `name+=`, `name[…]=`.
fn value_of_assignment(parts: &[Part]) -> Option<TildeRange> {
    let Some(Part::Plain(first)) = parts.first() else { return None };
    let is_in_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let name = first.find(|c| !is_in_name(c)).unwrap_or(first.len());
    if name == 0 || first.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let rest = &first[name..];
    if rest.starts_with('[') {
        return parts.iter().enumerate().find_map(|(index, part)| {
            let Part::Plain(text) = part else { return None };
            let ends = ["]=", "]+="].into_iter();
            let end = ends.filter_map(|end| Some(text.find(end)? + end.len())).min()?;
            Some((index, end))
        });
    }
    let sign = ["=", "+="].into_iter().find(|sign| rest.starts_with(sign))?;
    Some((0, name + sign.len()))
}

impl Reader<'_> {
    /// Returns text without quotes, whose tildes at these offsets are expanded. `is_last` says whether the word ends with the text.
    pub(super) fn with_tildes(&self, text: &str, offsets: &[usize], is_last: bool) -> Field {
        let mut field = Field::default();
        let mut position = 0;
        for at in offsets.iter().copied() {
            field.push(&super::plain(&text[position..at]));
            let end = text[at..].find(['/', ':']).map(|length| at + length);
            position = end.unwrap_or(text.len());
            let user = &text[at..position];
            // The rest of the name is quoted or a variable.
            let is_cut = end.is_none() && !is_last;
            let home = if is_cut { None } else { self.directory(user) };
            field.push(&home.map_or_else(|| Field::unknown(user), Field::known));
        }
        field.push(&super::plain(&text[position..]));
        field
    }

    /// Returns the directory of `~`, `~user`, `~+` and `~-`, as far as it is known.
    fn directory(&self, tilde: &str) -> Option<String> {
        let is_user = |name: &str| {
            let names = ["USER", "LOGNAME"].into_iter();
            names.filter_map(|name| self.surroundings.variables.get(name)).any(|user| user == name)
        };
        match &tilde[1..] {
            "" => self.home(),
            "+" => self.scope.cwd().map(str::to_owned),
            "root" => Some("/root".to_owned()),
            user if is_user(user) => self.surroundings.home.clone(),
            _ => None,
        }
    }

    fn home(&self) -> Option<String> {
        match self.scope.get("HOME") {
            Some(Some(home)) => home.is_certain.then(|| home.text.clone()),
            Some(None) => None,
            None => self.surroundings.home.clone(),
        }
    }
}
