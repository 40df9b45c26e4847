//! The output of programs that rewrite text: `rev`, `tr`.

use crate::field::Field;

/// The lines of a text, each backwards.
pub(super) fn reversed(text: &Field) -> Field {
    let lines = text.text.split_inclusive('\n').map(|line| {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        line.chars().rev().chain(end.chars()).collect::<String>()
    });
    text.with_text(lines.collect::<String>())
}

/// Returns the output of `tr [-d|-s] SET [SET]` for a text. `None` for sets with classes, and for complements.
pub(super) fn translated(text: &Field, flags: &[&str], sets: &[Field]) -> Option<Field> {
    if flags.iter().any(|flag| !matches!(*flag, "-d" | "-s")) || !text.is_certain {
        return None;
    }
    let sets = sets.iter().map(members).collect::<Option<Vec<_>>>()?;
    let text_after = match sets.as_slice() {
        [from] if flags == ["-d"] => {
            text.text.chars().filter(|letter| !from.contains(letter)).collect::<String>()
        }
        [from, to] if flags.is_empty() => {
            let last = *to.last()?;
            let translate = |letter: char| {
                let at = from.iter().rposition(|member| *member == letter);
                at.map_or(letter, |at| to.get(at).copied().unwrap_or(last))
            };
            text.text.chars().map(translate).collect()
        }
        _ => return None,
    };
    Some(text.with_text(text_after))
}

/// The letters of a set such as `a-z\n`. `None` if it has classes.
fn members(set: &Field) -> Option<Vec<char>> {
    /// Maximum number of letters of a set.
    const MAX_LETTERS: usize = 512;
    if !set.is_certain || set.text.contains("[:") || set.text.contains("[=") {
        return None;
    }
    let letters: Vec<char> = crate::escapes::ansi(&set.text).0.chars().collect();
    let mut members = Vec::new();
    let mut at = 0;
    while at < letters.len() && members.len() <= MAX_LETTERS {
        match letters[at..] {
            [first, '-', last, ..] if first <= last => {
                members.extend((first..=last).take(MAX_LETTERS));
                at += 3;
            }
            _ => {
                members.push(letters[at]);
                at += 1;
            }
        }
    }
    (members.len() <= MAX_LETTERS).then_some(members)
}
