//! Addresses as programs read them: `http://localhost:80@example.com/` is on `example.com`, and `HTTPS://Example.com` is `https://example.com`.

use super::{Pattern, Text, Truth};

impl Pattern {
    /// Returns whether it fits a word, whose addresses count without their users, and in any case. A pattern for a user, such as
    /// `*://me@*`, is compared as the word is written.
    pub(crate) fn fits_word(&self, word: Text<'_>) -> Truth {
        if !word.value.contains("://") || self.names_user() {
            return self.fits(word);
        }
        let Some(plain) = plain(word.value) else { return self.fits(word) };
        let lower = in_lower_case(&plain);
        let [plain, lower] = [&plain, &lower].map(|value| self.fits(Text { value, ..word }));
        plain.or(lower)
    }

    fn names_user(&self) -> bool {
        let user = self.text().rfind('@');
        user.is_some_and(|at| !self.text()[at..].contains("://"))
    }
}

/// Returns whether one of the addresses of a word contains a text, written as in [`Pattern::fits_word`].
pub(crate) fn address_contains(word: &str, part: &str) -> bool {
    word.contains("://")
        && plain(word)
            .is_some_and(|plain| plain.contains(part) || in_lower_case(&plain).contains(part))
}

/// Returns a word whose addresses have no users; `None` if a command prints one, which may have the end of the host in it.
fn plain(word: &str) -> Option<String> {
    let mut plain = String::with_capacity(word.len());
    let mut rest = word;
    while let Some((start, host, after)) = next_address(rest) {
        let user = host.rfind('@').map_or(0, |at| at + 1);
        if ["$(", "`", "{}"].iter().any(|mark| host[..user].contains(mark)) {
            return None;
        }
        plain.push_str(start);
        plain.push_str(&host[user..]);
        rest = after;
    }
    plain.push_str(rest);
    Some(plain)
}

fn is_of_scheme(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "+-.".contains(letter)
}

/// Returns a word whose addresses have schemes and hosts in lower case.
fn in_lower_case(word: &str) -> String {
    let mut lower = String::with_capacity(word.len());
    let mut rest = word;
    while let Some((start, host, after)) = next_address(rest) {
        let before = start.trim_end_matches("://").trim_end_matches(is_of_scheme);
        let scheme = &start[before.len()..];
        lower.push_str(before);
        lower.push_str(&scheme.to_ascii_lowercase());
        let is_known = !host.contains(['$', '`']);
        lower.push_str(&if is_known { host.to_ascii_lowercase() } else { host.to_owned() });
        rest = after;
    }
    lower.push_str(rest);
    lower
}

/// Returns the text up to the end of `://`, the host with its user, and the text after them.
fn next_address(text: &str) -> Option<(&str, &str, &str)> {
    let start = text.find("://")? + "://".len();
    let is_end = |letter: char| matches!(letter, '/' | '?' | '#') || letter.is_whitespace();
    let mut host = text[start..].split(is_end).next()?;
    // `mirror.https://a.example=https://b.example`.
    if let Some(scheme) =
        host.strip_suffix(':').filter(|_| text[start + host.len()..].starts_with("//"))
    {
        host = scheme.trim_end_matches(is_of_scheme);
    }
    let end = start + host.len();
    Some((&text[..start], &text[start..end], &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_fits_by_its_host() {
        let usual = Pattern::parse_words("http://localhost:*");
        let without_port = Pattern::parse_words("http://localhost/*");
        let fit = |word| usual.fits_word(word).or(without_port.fits_word(word));
        for (word, expected) in [
            ("http://localhost/simple", Truth::Yes),
            ("http://localhost:80/simple", Truth::Yes),
            ("http://ada:secret@localhost/simple", Truth::Yes),
            ("HTTP://LocalHost/simple", Truth::Yes),
            ("http://localhost:x@example.com/", Truth::No),
            ("http://localhost:80@example.com/", Truth::No),
            ("http://localhost:a@b@example.com", Truth::No),
            ("http://localhost:80\\@example.com/", Truth::No),
            ("http://example.com?@localhost/", Truth::No),
            ("http://example.com#@localhost/", Truth::No),
        ] {
            assert_eq!(fit(Text::known(word)), expected, "{word}");
        }
        for (word, expected) in [
            ("http://$NAME:${PASSWORD}@localhost/", Truth::Yes),
            ("http://$(id)@localhost/", Truth::Perhaps),
            ("http://$NAME@example.com/", Truth::No),
        ] {
            let unknown = Text { is_certain: false, ..Text::known(word) };
            assert_eq!(fit(unknown), expected, "{word}");
        }
    }

    #[test]
    fn every_address_of_a_word_has_its_host() {
        let pattern = Pattern::parse_words("*=https://example.com/*");
        let word = "mirror.https://a@b.example=https://localhost:1@EXAMPLE.com/x";
        assert_eq!(pattern.fits_word(Text::known(word)), Truth::Yes);
        assert!(address_contains(word, "=https://example.com/"));
        assert!(!address_contains("a@example.com", "example.com"));
    }

    #[test]
    fn a_pattern_for_a_user_fits_the_word_as_written() {
        for (pattern, word) in [
            ("*@*:*", "ssh://git@example.com:22/a"),
            ("https://me@*", "https://me@example.com"),
            ("https://Example.com/*", "https://ada@Example.com/a"),
            ("?*@https://example.com/*", "a@https://example.com/a.tgz"),
        ] {
            let fit = Pattern::parse_words(pattern).fits_word(Text::known(word));
            assert_eq!(fit, Truth::Yes, "{pattern}");
        }
    }
}
