//! Conditions on the words of a command: operands, options and variables.

use std::ops::Range;

use tenter_protocol::manifest::rule::{Operands, Words};
use tenter_shell::Command;

use crate::pattern::{Pattern, Text, Truth};

/// Maximum number of operands that are not known and are compared one by one.
const MAX_OPEN_WORDS: usize = 256;

/// A pattern for a word, or for `name=value`.
#[derive(Debug, Clone)]
struct NamedPattern {
    name: Pattern,
    value: Option<Pattern>,
}

impl NamedPattern {
    fn new(text: &str) -> Self {
        match text.split_once('=').filter(|(name, _)| !name.is_empty()) {
            Some((name, value)) => {
                Self { name: Pattern::parse_words(name), value: Some(Pattern::parse_words(value)) }
            }
            None => Self { name: Pattern::parse_words(text), value: None },
        }
    }

    /// Returns whether it fits `name`, or `name=value` with any value.
    fn fits(&self, word: Text<'_>) -> Truth {
        let (name, value) = word.value.split_once('=').unzip();
        // The name of an option is known even if its value is not.
        let flag_name = name.unwrap_or(word.value);
        let is_known = word.is_certain || !flag_name.contains(['$', '`']);
        let name = self.name.fits(Text { value: flag_name, is_certain: is_known, ..word });
        // `--dry-run=false` is as good as none.
        if self.value.is_none()
            && flag_name.starts_with("--")
            && matches!(value, Some("false" | "none"))
        {
            return Truth::No;
        }
        let value = self.value.as_ref().map_or(Truth::Yes, |pattern| {
            value.map_or(Truth::No, |value| pattern.fits_word(Text { value, ..word }))
        });
        name.and(value)
    }
}

/// A condition on the options of a command.
#[derive(Debug, Clone)]
pub(super) struct Flags {
    patterns: WordPatterns<NamedPattern>,
    /// True in an exception, which counts only if it is certain: `--dry-run=$X` may be off.
    must_be_on: bool,
}

impl Flags {
    pub(super) fn new(words: &Words) -> Self {
        Self { patterns: WordPatterns::new(words, NamedPattern::new), must_be_on: false }
    }

    /// Makes it a condition of an exception.
    pub(super) fn into_exception(self) -> Self {
        Self { patterns: self.patterns.into_exception(), must_be_on: true }
    }

    /// Checks it on the options that none of the exceptions covers.
    pub(super) fn fit(&self, command: &Command, excepts: &[&Self]) -> Truth {
        let unseen = if command.may_have_more_flags() { Truth::Perhaps } else { Truth::No };
        let count = command.flags.len();
        let is_excepted = |place| excepts.iter().any(|except| except.certainly_has(command, place));
        let fits = |pattern: &NamedPattern, place| self.fits(pattern, command, place);
        self.patterns.fit(0..count, unseen, fits, is_excepted)
    }

    /// Checks whether an exception excepts no more than the options that fit it.
    pub(super) fn is_by_word(&self, except: &Self, command: &Command) -> bool {
        let mut places = 0..command.flags.len();
        let is_other = |place| {
            let is_stray = !self
                .patterns
                .has(place, |pattern, place| self.fits(pattern, command, place) != Truth::No);
            let mut names = except.patterns.any.iter().filter(|pattern| !pattern.has_any_name());
            is_stray && names.any(|pattern| except.fits(pattern, command, place) == Truth::Yes)
        };
        self.patterns.is_selective() && !except.patterns.any.is_empty() && !places.any(is_other)
    }

    fn certainly_has(&self, command: &Command, place: usize) -> bool {
        let mut patterns = self.patterns.any.iter();
        patterns.any(|pattern| self.fits(pattern, command, place) == Truth::Yes)
    }

    /// Checks whether the option in this place fits a pattern.
    fn fits(&self, pattern: &NamedPattern, command: &Command, place: usize) -> Truth {
        let flag = &command.flags[place];
        let arg = command.flag_args.get(place).copied();
        let is_certain = arg.is_none_or(|arg| command.is_arg_certain(arg));
        let fit = pattern.fits(Text { value: flag, is_certain, is_glob: false });
        if fit == Truth::Yes && flag == "--help" && may_be_value(command, arg) {
            return Truth::Perhaps;
        }
        if self.must_be_on && pattern.value.is_none() && !is_certain && is_unknown(flag) {
            return fit.and(Truth::Perhaps);
        }
        if fit != Truth::No || pattern.value.is_none() || flag.contains('=') {
            return fit;
        }
        // Whether an option of a program that is not known takes a value is not known either: `--name value`.
        let value = arg.and_then(|arg| command.args.get(arg + 1));
        let value = value.filter(|value| !value.starts_with('-'));
        value.map_or(fit, |value| {
            let whole = format!("{flag}={value}");
            let is_certain = arg.is_some_and(|arg| command.is_arg_certain(arg + 1));
            pattern.fits(Text { value: &whole, is_certain, is_glob: false })
        })
    }
}

/// Returns true if nothing is known of the value of an option: `--dry-run=$X`.
fn is_unknown(flag: &str) -> bool {
    flag.split_once('=').is_some_and(|(_, value)| value.starts_with(['$', '`']))
}

/// Returns true if the word before this one may be an option that takes it as its value: `push --push-option --help` pushes.
fn may_be_value(command: &Command, arg: Option<usize>) -> bool {
    /// Options that take a value in no program.
    const WITHOUT_VALUE: [&str; 10] = *tenter_base::words!(
        "--all --force --hard --mirror --no-verify --quiet --recursive --verbose --volumes --yes"
    );
    let before = arg.and_then(|arg| command.args.get(arg.checked_sub(1)?));
    before.is_some_and(|before| {
        before.starts_with('-')
            && !before.contains('=')
            && !WITHOUT_VALUE.contains(&before.as_str())
    })
}

/// A condition on the operands of a command.
#[derive(Debug, Clone)]
pub(super) struct OperandCondition {
    patterns: WordPatterns<Pattern>,
    count: Option<(usize, usize)>,
    after_dashes: bool,
}

impl OperandCondition {
    pub(super) fn new(operands: &Operands) -> Self {
        let Operands { words, count, after_dashes } = operands;
        let patterns = WordPatterns::new(words, Pattern::parse_words);
        Self { patterns, count: *count, after_dashes: *after_dashes }
    }

    /// Makes it a condition of an exception.
    pub(super) fn into_exception(self) -> Self {
        Self { patterns: self.patterns.into_exception(), ..self }
    }

    /// Checks it on the operands that none of the exceptions covers.
    pub(super) fn fit(&self, command: &Command, excepts: &[&Self]) -> Truth {
        let Some(places) = self.places(command) else { return Truth::No };
        let texts: Vec<Text<'_>> =
            (0..command.operands.len()).map(|place| operand(command, place)).collect();
        // Of very many words that are not known, one may be any.
        let open = |place: &usize| texts[*place].has_unknown_parts();
        let has_many = places.clone().filter(open).nth(MAX_OPEN_WORDS).is_some();
        let unseen = if has_many { Truth::Perhaps } else { Truth::No };
        let fits = |pattern: &Pattern, place: usize| {
            if has_many && open(&place) { Truth::No } else { pattern.fits_word(texts[place]) }
        };
        let is_excepted = |place| {
            let mut patterns = excepts.iter().flat_map(|except| &except.patterns.any);
            patterns.any(|pattern| pattern.fits_word(texts[place]) == Truth::Yes)
        };
        let count_truth = self.count.map_or(Truth::Yes, |(min, max)| {
            let is_within = (min..=max).contains(&places.len());
            // One unknown word can become several, or none.
            let is_open = places.clone().any(|place| open(&place));
            if is_open && max > 0 { Truth::Perhaps } else { is_within.into() }
        });
        count_truth.and(self.patterns.fit(places, unseen, fits, is_excepted))
    }

    /// Checks whether an exception excepts no more than the operands that fit it.
    pub(super) fn is_by_word(&self, except: &Self, command: &Command) -> bool {
        let Some(mut places) = except.places(command) else { return false };
        let is_other = |place| {
            let text = operand(command, place);
            let mut patterns = except.patterns.any.iter();
            patterns.any(|pattern| pattern.fits_word(text) == Truth::Yes)
                && !self.patterns.has(place, |pattern, _| pattern.fits_word(text) != Truth::No)
        };
        self.patterns.is_selective() && !except.patterns.any.is_empty() && !places.any(is_other)
    }

    /// Returns the places of the operands that count. `None` if there is no `--` before them.
    fn places(&self, command: &Command) -> Option<Range<usize>> {
        let first = if self.after_dashes { command.dashes? } else { 0 };
        Some(first..command.operands.len())
    }
}

/// Returns the operand with this index.
pub(super) fn operand(command: &Command, place: usize) -> Text<'_> {
    let arg = command.operand_args.get(place).copied();
    Text {
        value: &command.operands[place],
        is_certain: arg.is_none_or(|arg| command.is_arg_certain(arg)),
        is_glob: arg.is_some_and(|arg| command.globs.binary_search(&arg).is_ok()),
    }
}

/// Patterns for the words of a command.
#[derive(Debug, Clone)]
struct WordPatterns<P> {
    any: Vec<P>,
    all: Vec<P>,
    none: Vec<P>,
    /// True if a word that fits one of `none` is only left out, if it fits one of the other patterns, too. In an exception, it
    /// always means that the condition does not hold.
    leaves_out: bool,
}

/// A pattern of a list.
trait WordPattern {
    /// Checks whether it is `*=value`: the value of any option that the rule applies to.
    fn has_any_name(&self) -> bool {
        false
    }
}

impl WordPattern for Pattern {}

impl WordPattern for NamedPattern {
    fn has_any_name(&self) -> bool {
        self.value.is_some() && self.name.fits_all()
    }
}

impl<P: WordPattern> WordPatterns<P> {
    fn new(words: &Words, pattern: impl Fn(&str) -> P) -> Self {
        let patterns =
            |texts: &[String]| texts.iter().map(|text| pattern(text)).collect::<Vec<_>>();
        let [any, all, none] = [&words.any, &words.all, &words.none].map(|it| patterns(it));
        Self { any, all, none, leaves_out: true }
    }

    fn into_exception(self) -> Self {
        Self { leaves_out: false, ..self }
    }

    /// Returns whether it requires certain words.
    fn is_selective(&self) -> bool {
        !self.any.is_empty() || !self.all.is_empty()
    }

    /// Checks whether a word fits one of the patterns for words that must be there.
    fn has(&self, place: usize, fits: impl Fn(&P, usize) -> bool) -> bool {
        self.any.iter().chain(&self.all).any(|pattern| fits(pattern, place))
    }

    /// Combines the lists, given whether a pattern fits the word in a place, whether one may fit words that are not seen, and which words do
    /// not count.
    fn fit(
        &self,
        places: Range<usize>,
        unseen: Truth,
        fits: impl Fn(&P, usize) -> Truth,
        is_excepted: impl Fn(usize) -> bool,
    ) -> Truth {
        let one_of =
            |patterns: &[P], place| Truth::any(patterns.iter().map(|pattern| fits(pattern, place)));
        let leaves_out = self.leaves_out && self.is_selective();
        let is_left_out = |place| if leaves_out { one_of(&self.none, place) } else { Truth::No };
        let is_there = |pattern: &P| {
            let counts = |place| {
                let fit = fits(pattern, place);
                let counts = fit != Truth::No && !is_excepted(place);
                if counts { fit.and(is_left_out(place).not()) } else { Truth::No }
            };
            Truth::any(places.clone().map(counts)).or(unseen)
        };
        let is_unwanted = |pattern: &P| {
            let counts = |place| {
                let fit = fits(pattern, place);
                let counts = fit != Truth::No && leaves_out;
                if !counts {
                    return fit;
                }
                if pattern.has_any_name() {
                    return Truth::No;
                }
                let own = one_of(&self.any, place).or(one_of(&self.all, place));
                fit.and(own.not())
            };
            Truth::any(places.clone().map(counts)).or(unseen)
        };
        let one = if self.any.is_empty() {
            Truth::Yes
        } else {
            Truth::any(self.any.iter().map(&is_there))
        };
        let each = Truth::all(self.all.iter().map(&is_there));
        one.and(each).and(Truth::any(self.none.iter().map(is_unwanted)).not())
    }
}

/// A condition on the variables that are set for a command: `NAME`, or `NAME=pattern`.
#[derive(Debug, Clone)]
pub(super) struct Variables(Vec<NamedPattern>);

impl Variables {
    pub(super) fn new(texts: &[String]) -> Self {
        Self(texts.iter().map(|text| NamedPattern::new(text)).collect())
    }

    /// Checks it on the variables that none of the exceptions covers.
    pub(super) fn fit(&self, command: &Command, excepts: &[&Self]) -> Truth {
        let variables = command
            .env
            .iter()
            .filter(|variable| !excepts.iter().any(|except| except.fits(*variable) == Truth::Yes));
        Truth::any(variables.map(|variable| self.fits(variable)))
    }

    /// Checks whether an exception excepts no more than the variables that fit it.
    pub(super) fn is_by_word(&self, except: &Self, command: &Command) -> bool {
        let names: Vec<NamedPattern> =
            except.0.iter().filter(|pattern| !pattern.has_any_name()).cloned().collect();
        let names = Self(names);
        let is_other =
            |variable| names.fits(variable) == Truth::Yes && self.fits(variable) == Truth::No;
        !command.env.iter().any(is_other)
    }

    fn fits(&self, (name, value): (&String, &String)) -> Truth {
        let is_certain = !value.contains(['$', '`']);
        let same_name = self.0.iter().filter(|pattern| pattern.name.matches(name));
        Truth::any(same_name.map(|pattern| {
            pattern.value.as_ref().map_or(Truth::Yes, |pattern| {
                pattern.fits_word(Text { value, is_certain, is_glob: false })
            })
        }))
    }
}
