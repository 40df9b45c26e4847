//! Keys in the formats of their vendors, found by a text that they contain.
//!
//! Most texts contain no such text, and most processes see none of them: one pass over the text decides which formats are possible, and
//! only their expressions are compiled.

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use regex::Regex;

/// The formats: the name, the texts of which a key contains one, and the expression, separated by tabs.
const TABLES: [&str; 2] =
    [include_str!("key_formats/gitleaks.txt"), include_str!("key_formats/vendors.txt")];

/// Number of bytes by which markers are looked up; none is shorter.
const START: usize = 3;
/// Number of different hashes of the first bytes of markers.
const HASHES: usize = 1 << 15;
/// Markers shorter than this are also beginnings of words: more of the key must follow.
const CLEAR: usize = 5;
/// The minimum number of characters after a short marker in a key.
const FOLLOWING: usize = 8;

/// A format of keys.
struct KeyFormat {
    expression: &'static str,
    regex: OnceLock<Option<Regex>>,
}

/// A text that keys of a format contain.
#[derive(Clone, Copy)]
struct Marker {
    text: &'static str,
    format: usize,
    /// True if a key begins with it.
    is_beginning: bool,
    /// True if it must begin a word, too.
    begins_word: bool,
}

struct KeyFormats {
    formats: Vec<KeyFormat>,
    /// In the order of their texts.
    markers: Vec<Marker>,
    /// For each hash of three bytes, whether a marker may begin with them.
    starts: Vec<u64>,
}

static FORMATS: LazyLock<KeyFormats> = LazyLock::new(|| KeyFormats::read(&TABLES));

/// Returns the byte ranges of `text` in the format of a key, in order and disjoint.
pub(super) fn keys_in(text: &str) -> Vec<Range<usize>> {
    let possible = FORMATS.possible_in(text);
    let regexes = possible.iter().filter_map(|format| FORMATS.formats[*format].regex());
    let keys = regexes.flat_map(|regex| regex.find_iter(text)).map(|key| key.range());
    merge(keys.collect())
}

fn merge(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| range.start);
    let mut apart: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match apart.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => apart.push(range),
        }
    }
    apart
}

impl KeyFormats {
    fn read(tables: &[&'static str]) -> Self {
        let mut all =
            Self { formats: Vec::new(), markers: Vec::new(), starts: vec![0; HASHES / 64] };
        let lines = tables.iter().flat_map(|table| table.lines());
        for line in lines.filter(|line| !line.starts_with('#')) {
            let mut columns = line.split('\t').skip(1);
            if let (Some(markers), Some(expression)) = (columns.next(), columns.next()) {
                all.add(markers, expression);
            }
        }
        all.markers.sort_by_key(|marker| marker.text);
        all
    }

    fn add(&mut self, markers: &'static str, expression: &'static str) {
        for name in markers.split(',') {
            let text = name.strip_prefix('*').unwrap_or(name);
            let is_beginning = text.len() == name.len();
            let begins_word = is_beginning && expression.starts_with(r"\b");
            let Some(hash) = hash(text.as_bytes()) else { continue };
            self.starts[hash / 64] |= 1 << (hash % 64);
            self.markers.push(Marker {
                text,
                format: self.formats.len(),
                is_beginning,
                begins_word,
            });
        }
        self.formats.push(KeyFormat { expression, regex: OnceLock::new() });
    }

    /// Returns the formats of which `text` may contain a key.
    fn possible_in(&self, text: &str) -> Vec<usize> {
        let mut possible = Vec::new();
        for (at, start) in text.as_bytes().windows(START).enumerate() {
            let may_begin =
                hash(start).is_some_and(|hash| self.starts[hash / 64] >> (hash % 64) & 1 == 1);
            if may_begin {
                let markers = self.markers_at(start).iter();
                let matching = markers.filter(|marker| marker.is_at(text.as_bytes(), at));
                possible.extend(matching.map(|marker| marker.format));
            }
        }
        possible.sort_unstable();
        possible.dedup();
        possible
    }

    /// Returns the markers that begin with these bytes.
    fn markers_at(&self, start: &[u8]) -> &[Marker] {
        let first = |marker: &Marker| marker.text.as_bytes()[..START].cmp(start);
        let from = self.markers.partition_point(|marker| first(marker).is_lt());
        let count = self.markers[from..].partition_point(|marker| first(marker).is_eq());
        &self.markers[from..from + count]
    }
}

impl KeyFormat {
    /// Returns the expression, compiled once.
    fn regex(&self) -> Option<&Regex> {
        self.regex.get_or_init(|| Regex::new(&pattern(self.expression)).ok()).as_ref()
    }
}

/// Returns the expression in the language of the engine. A word also begins after an escaped line break, as in JSON within a
/// string.
fn pattern(expression: &str) -> String {
    let (start, rest) = match expression.strip_prefix(r"\b") {
        Some(rest) => (r"(?:(?-u:\b)|\\[nrt])", rest),
        None => ("", expression),
    };
    format!("{start}{}", rest.replace(r"\b", r"(?-u:\b)"))
}

impl Marker {
    /// Returns whether it is at this place, and may be part of a key there.
    fn is_at(&self, text: &[u8], at: usize) -> bool {
        let (before, rest) = text.split_at(at);
        let Some(after) = rest.strip_prefix(self.text.as_bytes()) else { return false };
        let is_of_key = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./+=~%".contains(byte);
        let is_clear = !self.is_beginning || self.text.len() >= CLEAR;
        let is_long =
            || after.iter().take(FOLLOWING).filter(|byte| is_of_key(byte)).count() == FOLLOWING;
        (!self.begins_word || begins_word(before)) && (is_clear || is_long())
    }
}

/// Returns whether a word begins after this text.
fn begins_word(before: &[u8]) -> bool {
    match before {
        [.., b'\\', b'n' | b'r' | b't'] | [] => true,
        [.., last] => !last.is_ascii_alphanumeric() && *last != b'_',
    }
}

/// Returns a number for the first bytes of a text.
fn hash(text: &[u8]) -> Option<usize> {
    let [first, second, third, ..] = text else { return None };
    let mixed = usize::from(*first) ^ usize::from(*second) << 4 ^ usize::from(*third) << 8;
    Some(mixed % HASHES)
}

#[cfg(test)]
mod tests {
    use regex_syntax::hir::{Class, Hir, HirKind};

    use super::*;

    /// Returns a text that fits an expression: of every class another member, of every repetition the fewest.
    fn sample(hir: &Hir, seed: &mut usize) -> String {
        *seed += 7;
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => String::new(),
            HirKind::Literal(literal) => String::from_utf8(literal.0.to_vec()).unwrap(),
            HirKind::Class(Class::Unicode(class)) => {
                let range = class.ranges()[*seed % class.ranges().len()];
                let letters: Vec<char> = (range.start()..=range.end()).take(26).collect();
                letters[*seed % letters.len()].to_string()
            }
            HirKind::Class(Class::Bytes(_)) => panic!("only of characters"),
            HirKind::Repetition(repetition) => {
                (0..repetition.min).map(|_| sample(&repetition.sub, seed)).collect()
            }
            HirKind::Capture(capture) => sample(&capture.sub, seed),
            HirKind::Concat(parts) => parts.iter().map(|part| sample(part, seed)).collect(),
            HirKind::Alternation(parts) => sample(&parts[*seed % parts.len()], seed),
        }
    }

    #[test]
    fn a_key_of_every_format_is_found_in_every_surrounding() {
        assert!(FORMATS.formats.len() > 150);
        for (index, format) in FORMATS.formats.iter().enumerate() {
            let name = format.expression;
            assert!(format.regex().is_some(), "{name}");
            let own: Vec<_> =
                FORMATS.markers.iter().filter(|marker| marker.format == index).collect();
            assert!(own.iter().all(|marker| marker.text.len() >= START), "{name}");
            let hir = regex_syntax::parse(name.strip_prefix(r"\b").unwrap_or(name)).unwrap();
            for seed in 0..20 {
                let key = sample(&hir, &mut (seed * 13));
                assert!(own.iter().any(|marker| key.contains(marker.text)), "{name}: {key}");
                for (before, after) in
                    [("", ""), ("KEY=", "\n"), ("{\"a\": \"x\\n", "\"}"), ("ü '", "'")]
                {
                    let text = format!("{before}{key}{after}");
                    let keys = keys_in(&text);
                    let whole = before.len()..before.len() + key.len();
                    let is_found =
                        |key: &Range<usize>| key.start <= whole.start && key.end >= whole.end - 1;
                    assert!(keys.iter().any(is_found), "{name}: {text}: {keys:?}");
                }
            }
        }
    }

    /// Returns letters and digits as keys have them.
    fn random(length: usize) -> String {
        let letters = b"k7Qz2mXv9RbT4wLc8NyJ5hPd3GsF6aEu1KoVqYtBxZrWnMjHgDfSpC";
        (0..length).map(|at| char::from(letters[(at * 31 + length) % letters.len()])).collect()
    }

    /// Returns letters and digits of a number in base 16.
    fn hex(length: usize) -> String {
        (0..length).map(|at| char::from(b"0123456789abcdef"[(at * 7 + length) % 16])).collect()
    }

    /// Keys as vendors document them, in parts, so that no scanner takes them for real ones.
    #[test]
    fn keys_of_vendors_are_found() {
        let upper = |length| random(length).to_uppercase();
        for (beginning, rest) in [
            ("AKIA", upper(16)),
            ("ASIA", upper(16)),
            ("ABSK", random(120)),
            ("glpat-", random(20)),
            ("gldt-", random(20)),
            ("glrt-", random(20)),
            ("glcbt-", format!("64_{}", random(20))),
            ("ghp_", random(36)),
            ("github_pat_", format!("{}_{}", random(22), random(59))),
            ("GOCSPX-", random(28)),
            ("ya29.", random(120)),
            ("1//0", random(60)),
            ("AIza", random(35)),
            ("gsk_", random(52)),
            ("hf_", random(34)),
            ("r8_", random(37)),
            ("xai-", random(80)),
            ("sk-ant-api03-", random(95)),
            ("sk-proj-", random(120)),
            ("sk-or-v1-", hex(64)),
            ("pplx-", random(48)),
            ("nvapi-", random(64)),
            ("csk-", random(48).to_lowercase()),
            ("xoxb-", format!("123456789012-1234567890123-{}", random(24))),
            ("xapp-", format!("1-A0B1C2D3E4F-1234567890123-{}", hex(64))),
            ("xoxe-", format!("1-{}", random(146))),
            (
                "https://hooks.slack.com/services/",
                format!("T{}/B{}/{}", upper(8), upper(8), random(24)),
            ),
            ("https://discord.com/api/webhooks/", format!("123456789012345678/{}", random(68))),
            ("MTE4", format!("{}.{}.{}", random(22), random(6), random(38))),
            ("1234567890:AA", random(33)),
            ("sk_live_", random(24)),
            ("rk_test_", random(24)),
            ("whsec_", random(32)),
            ("SK", hex(32)),
            ("SG.", format!("{}.{}", random(22), random(43))),
            ("key-", hex(32)),
            ("npm_", random(36)),
            ("pypi-AgEIcHlwaS5vcmc", random(120)),
            ("dckr_pat_", random(27)),
            ("dop_v1_", hex(64)),
            ("shpat_", hex(32)),
            ("hvs.", random(95)),
            ("dapi", hex(32)),
            ("PMAK-", format!("{}-{}", hex(24), hex(34))),
            ("lin_api_", random(40)),
            ("ntn_", format!("12345678901{}", random(35))),
            ("figd_", random(40)),
            ("ATATT3", random(180)),
            ("ATBB", random(32)),
            ("NRAK-", upper(27)),
            ("tskey-auth-", format!("{}-{}", random(17), random(32))),
            ("sbp_", hex(40)),
            ("AccountKey=", format!("{}==", random(86))),
            ("eyJhbGciOi", format!("{}.eyJ{}.{}", random(20), random(40), random(43))),
            (
                "AGE-SECRET-KEY-1",
                "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KHCE".to_owned(),
            ),
            ("-----BEGIN OPENSSH PRIVATE KEY-----\n", random(300)),
            ("-----BEGIN PGP PRIVATE KEY BLOCK-----\n", random(300)),
        ] {
            let key = format!("{beginning}{rest}");
            for text in
                [key.clone(), format!("export KEY={key}"), format!("{{\"key\": \"{key}\"}}")]
            {
                let keys: Vec<&str> =
                    keys_in(&text).into_iter().map(|range| &text[range]).collect();
                let is_secret = |key: &&str| key.contains(&rest[rest.len() / 2..rest.len() - 1]);
                assert!(keys.iter().any(is_secret), "{text}: {keys:?}");
            }
        }
    }

    #[test]
    fn ordinary_texts_contain_no_keys() {
        let hashes = [32, 40, 56, 64, 96, 128].map(hex).join(" ");
        for text in [
            hashes.as_str(),
            &hashes.to_uppercase(),
            "550e8400-e29b-41d4-a716-446655440000 urn:uuid:6ba7b810-9dad-11d1-80b4-00c04fd430c8",
            "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
            "/home/ada/path/to/pattern_matching_of_long_names/task-force-deluxe-edition/desk-top-publishing",
            "cargo test --workspace --all-targets -- --nocapture; pal-ette-of-colours key-value-store re_export_of_everything_in_here",
            "SG.Collections.Generic SKIP_EVERYTHING_ELSE API-REFERENCE sl.thing.other_thing hf_transfer_of_many_models",
            "const key_formats_of_vendors = render_all(pa-rt, fc-cache, sk-learn, pk-field, rk-norm)",
            "AKIA ASIA-PACIFIC ghp_ glpat- AIza xoxb- -----BEGIN CERTIFICATE-----",
            "https://us-east-1.console.aws.amazon.com/ec2 en-us1.example.com discord.com/api/webhooks/",
            "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
            "MTIzNDU2Nzg5MA== NDU2Nzg5MDEyMw.example.com",
        ] {
            let keys: Vec<&str> = keys_in(text).into_iter().map(|range| &text[range]).collect();
            assert!(keys.is_empty(), "{text}: {keys:?}");
        }
    }

    #[test]
    fn texts_made_of_markers_are_searched_in_linear_time() {
        let markers: String = FORMATS.markers.iter().map(|marker| marker.text).collect();
        let start = std::time::Instant::now();
        for text in
            [markers.repeat(200), "eyJ-".repeat(100_000), "-----BEGIN PRIVATE KEY".repeat(20_000)]
        {
            keys_in(&text);
        }
        assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
    }
}
