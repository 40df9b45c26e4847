//! Conditions on the words of a command: operands, options and variables.

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
            value.map_or(Truth::No, |value| pattern.fits(Text { value, ..word }))
        });
        name.and(value)
    }
}

/// A condition on the options of a command.
#[derive(Debug, Clone)]
pub(super) struct Flags {
    any: Vec<NamedPattern>,
    all: Vec<NamedPattern>,
    none: Vec<NamedPattern>,
    /// True in an exception, which counts only if it is certain: `--dry-run=$X` may be off.
    must_be_on: bool,
}

impl Flags {
    pub(super) fn new(words: &Words) -> Self {
        let patterns =
            |texts: &[String]| texts.iter().map(|text| NamedPattern::new(text)).collect();
        Self {
            any: patterns(&words.any),
            all: patterns(&words.all),
            none: patterns(&words.none),
            must_be_on: false,
        }
    }

    /// Makes it a condition of an exception.
    pub(super) fn into_exception(self) -> Self {
        Self { must_be_on: true, ..self }
    }

    pub(super) fn fit(&self, command: &Command) -> Truth {
        let unseen = if command.may_have_more_flags() { Truth::Perhaps } else { Truth::No };
        let is_there = |pattern: &NamedPattern| {
            let flags = command.flags.iter().enumerate();
            let truths = flags.map(|(place, flag)| {
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
            });
            Truth::any(truths).or(unseen)
        };
        combine([&self.any, &self.all, &self.none], is_there)
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
    any: Vec<Pattern>,
    all: Vec<Pattern>,
    none: Vec<Pattern>,
    count: Option<(usize, usize)>,
    after_dashes: bool,
}

impl OperandCondition {
    pub(super) fn new(operands: &Operands) -> Self {
        let patterns =
            |texts: &[String]| texts.iter().map(|text| Pattern::parse_words(text)).collect();
        let Operands { words, count, after_dashes } = operands;
        Self {
            any: patterns(&words.any),
            all: patterns(&words.all),
            none: patterns(&words.none),
            count: *count,
            after_dashes: *after_dashes,
        }
    }

    pub(super) fn fit(&self, command: &Command) -> Truth {
        let first = match (self.after_dashes, command.dashes) {
            (false, _) => 0,
            (true, Some(before)) => before,
            (true, None) => return Truth::No,
        };
        let texts: Vec<Text<'_>> =
            (first..command.operands.len()).map(|place| operand(command, place)).collect();
        // Of very many words that are not known, one may be any.
        let mut open = texts.iter().filter(|text| text.has_unknown_parts());
        let unseen = if open.nth(MAX_OPEN_WORDS).is_some() { Truth::Perhaps } else { Truth::No };
        let is_there = |pattern: &Pattern| match unseen {
            Truth::No => Truth::any(texts.iter().map(|text| pattern.fits(*text))),
            unseen => {
                let certain = texts.iter().filter(|text| !text.has_unknown_parts());
                Truth::any(certain.map(|text| pattern.fits(*text))).or(unseen)
            }
        };
        let count_truth = self.count.map_or(Truth::Yes, |(min, max)| {
            let is_within = (min..=max).contains(&texts.len());
            // One unknown word can become several, or none.
            let is_open = texts.iter().any(Text::has_unknown_parts);
            if is_open && max > 0 { Truth::Perhaps } else { is_within.into() }
        });
        count_truth.and(combine([&self.any, &self.all, &self.none], is_there))
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

/// Combines `any`, `all` and `none`, given whether a pattern fits one of the words.
fn combine<P>([any, all, none]: [&Vec<P>; 3], is_there: impl Fn(&P) -> Truth) -> Truth {
    let one = if any.is_empty() { Truth::Yes } else { Truth::any(any.iter().map(&is_there)) };
    let each = Truth::all(all.iter().map(&is_there));
    one.and(each).and(Truth::any(none.iter().map(&is_there)).not())
}

/// A condition on the variables that are set for a command: `NAME`, or `NAME=pattern`.
#[derive(Debug, Clone)]
pub(super) struct Variables(Vec<NamedPattern>);

impl Variables {
    pub(super) fn new(texts: &[String]) -> Self {
        Self(texts.iter().map(|text| NamedPattern::new(text)).collect())
    }

    pub(super) fn fit(&self, command: &Command) -> Truth {
        let fits = |(name, value): (&String, &String)| {
            let is_certain = !value.contains(['$', '`']);
            let same_name = self.0.iter().filter(|pattern| pattern.name.matches(name));
            Truth::any(same_name.map(|pattern| {
                pattern.value.as_ref().map_or(Truth::Yes, |pattern| {
                    pattern.fits(Text { value, is_certain, is_glob: false })
                })
            }))
        };
        Truth::any(command.env.iter().map(fits))
    }
}
