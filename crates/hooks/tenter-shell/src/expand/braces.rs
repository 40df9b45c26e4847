//! Braces: `{a,b}` and `{1..3}` make several words of one.

use crate::limits::MAX_BRACES;
use crate::syntax::tree::{Part, Word};

/// A word, split where braces can be.
#[derive(Debug, Clone)]
enum Token {
    Char(char),
    Part(Part),
}

/// Maximum number of characters of a word whose braces are expanded.
const MAX_CHARACTERS: usize = 4096;

/// Maximum number of braces that are tried.
const TRIED: usize = 64;

/// Returns the words of a word with braces. `None` if there are too many.
pub(super) fn expand(word: &Word) -> Option<Vec<Word>> {
    if !has_braces(word) {
        return Some(Vec::new());
    }
    let tokens = tokens(word);
    let braces = tokens.iter().filter(|token| matches!(token, Token::Char('{'))).count();
    if tokens.len() > MAX_CHARACTERS || braces > TRIED {
        return None;
    }
    let mut words = Vec::new();
    expand_tokens(tokens, &mut words, &mut 0)?;
    Some(words.into_iter().map(word_of).collect())
}

/// Checks whether a word can have braces that expand.
fn has_braces(word: &Word) -> bool {
    let plain = || {
        word.parts.iter().filter_map(|part| match part {
            Part::Plain(text) => Some(text),
            _ => None,
        })
    };
    plain().any(|text| text.contains('{'))
        && plain().any(|text| text.contains('}'))
        && plain().any(|text| text.contains(',') || text.contains(".."))
}

fn tokens(word: &Word) -> Vec<Token> {
    let mut tokens = Vec::new();
    for part in &word.parts {
        match part {
            Part::Plain(text) => tokens.extend(text.chars().map(Token::Char)),
            other => tokens.push(Token::Part(other.clone())),
        }
    }
    tokens
}

fn word_of(tokens: Vec<Token>) -> Word {
    let mut word = Word::default();
    for token in tokens {
        match (token, word.parts.last_mut()) {
            (Token::Char(next), Some(Part::Plain(text))) => text.push(next),
            (Token::Char(next), _) => word.parts.push(Part::Plain(next.to_string())),
            (Token::Part(part), _) => word.parts.push(part),
        }
    }
    word
}

/// Expands the first braces, and then the braces of each result.
fn expand_tokens(tokens: Vec<Token>, words: &mut Vec<Vec<Token>>, steps: &mut usize) -> Option<()> {
    *steps += 1;
    if *steps > 4 * MAX_BRACES || words.len() > MAX_BRACES {
        return None;
    }
    let Some((start, end, choices)) = first(&tokens) else {
        words.push(tokens);
        return (words.len() <= MAX_BRACES).then_some(());
    };
    for choice in choices {
        let mut one = tokens[..start].to_vec();
        one.extend(choice);
        one.extend_from_slice(&tokens[end + 1..]);
        expand_tokens(one, words, steps)?;
    }
    Some(())
}

/// Returns the start and end of the first braces that expand, and what they expand to.
fn first(tokens: &[Token]) -> Option<(usize, usize, Vec<Vec<Token>>)> {
    let starts = (0..tokens.len()).filter(|at| is(tokens, *at, '{'));
    for start in starts {
        let (mut depth, mut commas) = (0_usize, vec![start]);
        for at in start..tokens.len() {
            match &tokens[at] {
                Token::Char('{') => depth += 1,
                Token::Char(',') if depth == 1 => commas.push(at),
                Token::Char('}') => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                if let Some(choices) = choices(tokens, &commas, at) {
                    return Some((start, at, choices));
                }
                break;
            }
        }
    }
    None
}

fn is(tokens: &[Token], at: usize, letter: char) -> bool {
    matches!(tokens.get(at), Some(Token::Char(own)) if *own == letter)
}

fn choices(tokens: &[Token], commas: &[usize], end: usize) -> Option<Vec<Vec<Token>>> {
    if commas.len() == 1 {
        return range(&tokens[commas[0] + 1..end]);
    }
    let ends = commas[1..].iter().copied().chain([end]);
    Some(commas.iter().zip(ends).map(|(start, end)| tokens[start + 1..end].to_vec()).collect())
}

/// Reads `{1..3}`, `{a..c}`, `{1..9..2}`.
fn range(tokens: &[Token]) -> Option<Vec<Vec<Token>>> {
    let text: Option<String> = tokens
        .iter()
        .map(|token| match token {
            Token::Char(next) => Some(*next),
            Token::Part(_) => None,
        })
        .collect();
    let text = text?;
    let mut parts = text.split("..");
    let (from, to, step) = (parts.next()?, parts.next()?, parts.next().unwrap_or("1"));
    let step = step.parse::<i64>().ok()?.unsigned_abs().max(1);
    let is_letters =
        from.len() == 1 && to.len() == 1 && !from.starts_with(|c: char| c.is_ascii_digit());
    let (start, end) = if is_letters {
        (i64::from(from.as_bytes()[0]), i64::from(to.as_bytes()[0]))
    } else {
        (from.parse().ok()?, to.parse().ok()?)
    };
    let count = start.abs_diff(end) / step;
    // One more than allowed, so that the caller finds too many.
    let count = count.min(MAX_BRACES as u64 + 1);
    let index_of = |index: u64| {
        let distance = i64::try_from(index * step).unwrap_or(i64::MAX);
        if start <= end { start.saturating_add(distance) } else { start.saturating_sub(distance) }
    };
    let value = |number: i64| {
        let letter = u8::try_from(number).ok().filter(|_| is_letters);
        letter.map_or_else(|| number.to_string(), |letter| char::from(letter).to_string())
    };
    Some(
        (0..=count)
            .map(|index| value(index_of(index)).chars().map(Token::Char).collect())
            .collect(),
    )
}
