//! Percent-encoded texts: parts of URLs, and values of headers.

/// Returns the text that `%2F` and the like stand for. A percent sign without two digits after it means itself, and bytes that are
/// not UTF-8 are replaced.
pub fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let code = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let code = code.filter(|_| *first == b'%');
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_without_two_digits_mean_themselves() {
        for (text, expected) in
            [("a%20b%2f", "a b/"), ("50%", "50%"), ("%zz%4", "%zz%4"), ("%ff", "\u{fffd}")]
        {
            assert_eq!(percent_decoded(text), expected);
        }
    }
}
