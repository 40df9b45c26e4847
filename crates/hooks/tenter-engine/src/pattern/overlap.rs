//! Two patterns that one text fits.

use super::Token;

/// Returns whether a text fits both patterns.
pub(crate) fn overlap(one: &[Token], other: &[Token]) -> bool {
    let width = other.len() + 1;
    let mut is_seen = vec![false; (one.len() + 1) * width];
    let mut open = vec![(0, 0)];
    while let Some((a, b)) = open.pop() {
        if a > one.len() || b > other.len() || std::mem::replace(&mut is_seen[a * width + b], true)
        {
            continue;
        }
        if a == one.len() && b == other.len() {
            return true;
        }
        open.extend(without_text(one, a).map(|next| (next, b)));
        open.extend(without_text(other, b).map(|next| (a, next)));
        if let (Some(first), Some(second)) = (one.get(a), other.get(b))
            && share_a_letter(first, second)
        {
            open.push((after(first, a), after(second, b)));
        }
    }
    false
}

/// Returns the places that are reached from `place` without any text.
fn without_text(tokens: &[Token], place: usize) -> impl Iterator<Item = usize> {
    let (next, after_skip) = match tokens.get(place) {
        Some(Token::Star | Token::Any) => (Some(place + 1), None),
        Some(Token::Skip(count)) => (Some(place + 1), Some(place + 1 + count)),
        _ => (None, None),
    };
    next.into_iter().chain(after_skip)
}

/// Returns the place after one letter of the token at `place`.
fn after(token: &Token, place: usize) -> usize {
    if matches!(token, Token::Star | Token::Any) { place } else { place + 1 }
}

/// Returns whether one letter can be part of both tokens. Two wildcards always share one.
fn share_a_letter(one: &Token, other: &Token) -> bool {
    match (one, other) {
        (Token::Skip(_), _) | (_, Token::Skip(_)) => false,
        (Token::Char(letter), token) | (token, Token::Char(letter)) => contains(token, *letter),
        _ => true,
    }
}

fn contains(token: &Token, letter: char) -> bool {
    match token {
        Token::Char(own) => *own == letter,
        Token::One | Token::Star => letter != '/',
        Token::Any => true,
        Token::Skip(_) => false,
        Token::Set { ranges, is_negated } => {
            let is_in = ranges.iter().any(|(first, last)| (first..=last).contains(&&letter));
            is_in != *is_negated && letter != '/'
        }
    }
}
