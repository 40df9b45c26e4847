//! "Did you mean …?": the known word nearest to an unknown one.

/// The nearest of `known`, unless more than a third of its letters differ. Ignores case, `-` and `_`.
pub fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let word = folded(word);
    let (distance, best) = known
        .iter()
        .map(|candidate| (distance(&word, &folded(candidate)), *candidate))
        .min_by_key(|(distance, _)| *distance)?;
    (distance <= (best.len() / 3).max(1)).then_some(best)
}

/// The words as a list in a sentence: `` `a`, `b` or `c` ``.
pub fn or_list(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// The number of edits between `word` and `known`. Ignores case, `-` and `_`.
#[cfg(feature = "manifest")]
pub(crate) fn edits(word: &str, known: &str) -> usize {
    distance(&folded(word), &folded(known))
}

fn folded(word: &str) -> Vec<char> {
    // No known word is longer than this.
    let letters = word.chars().filter(|letter| !matches!(letter, '-' | '_')).take(64);
    letters.flat_map(char::to_lowercase).collect()
}

/// The number of letters to insert, remove, replace, or swap with their neighbour.
fn distance(from: &[char], to: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, letter) in from.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, other) in to.iter().enumerate() {
            let replaced = row[j] + usize::from(letter != other);
            let mut best = replaced.min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && *letter == to[j - 1] && from[i - 1] == *other {
                best = best.min(before[j - 1] + 1);
            }
            next.push(best);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_nearest_word_unless_it_is_too_far() {
        let known = ["before_tool", "after_tool", "before_agent"];
        assert_eq!(nearest("before_toll", &known), Some("before_tool"));
        assert_eq!(nearest("BeforeTool", &known), Some("before_tool"));
        assert_eq!(nearest("befroe-tool", &known), Some("before_tool"));
        assert_eq!(nearest("on_save", &known), None);
        assert_eq!(nearest("", &known), None);
        assert_eq!(nearest("x", &[]), None);
    }

    #[test]
    fn words_are_joined_as_in_a_sentence() {
        assert_eq!(or_list(&["a", "b", "c"]), "`a`, `b` or `c`");
        assert_eq!(or_list(&["a"]), "`a`");
    }
}
