//! Options and operands of a command (C6).

use crate::facts::Language;
use crate::field::Field;
use crate::tables::{Program, Style};

/// The arguments of a command, sorted.
#[derive(Debug, Default)]
pub(crate) struct Arguments {
    pub(crate) flags: Vec<Flag>,
    /// Indices of the operands.
    pub(crate) operands: Vec<usize>,
    /// Number of operands before `--`.
    pub(crate) dashes: Option<usize>,
}

/// An option.
#[derive(Debug)]
pub(crate) struct Flag {
    /// With its dashes.
    pub(crate) name: String,
    pub(crate) value: Option<Field>,
    /// The index of its argument.
    pub(crate) arg: usize,
}

/// The values that an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arity {
    None,
    /// In the same or the next argument.
    Value,
    /// In the same argument only.
    Attached,
}

/// The options that a row of the tables lists, with their dashes.
struct Options<'a> {
    list: Vec<(&'a str, Arity)>,
    style: Style,
    /// Everything after an operand is an operand.
    end_at_operand: bool,
    /// Everything after one of these options is an operand.
    last: &'static [&'static str],
}

impl Arguments {
    /// Sorts arguments by the tables of a program. `None` is an unknown program.
    pub(crate) fn sort(args: &[Field], program: Option<&Program>) -> Self {
        let options = Options::new(program);
        let mut flags = Self::default();
        let mut at = 0;
        if options.style == Style::Dashless {
            at = flags.dashless(args, &options);
        }
        while at < args.len() {
            let end = match options.style {
                Style::Find => command_end(args, at),
                _ => None,
            };
            at = if let Some(end) = end {
                let name = args[at].text.clone();
                flags.flags.push(Flag { name, value: None, arg: at });
                end
            } else {
                flags.argument(args, at, &options)
            };
        }
        flags
    }

    /// Adds the arguments that start at an index. Their operands replace those that are there.
    pub(crate) fn append(&mut self, other: Self, offset: usize) {
        self.flags
            .extend(other.flags.into_iter().map(|flag| Flag { arg: flag.arg + offset, ..flag }));
        self.operands = other.operands.into_iter().map(|index| index + offset).collect();
        self.dashes = other.dashes;
    }

    /// Checks whether an option is there; names are separated by blanks.
    pub(crate) fn has(&self, names: &str) -> bool {
        names.split_ascii_whitespace().any(|name| self.flags.iter().any(|flag| flag.name == name))
    }

    /// Returns the values of options.
    pub(crate) fn values<'a>(&'a self, names: &'a str) -> impl Iterator<Item = (&'a Field, usize)> {
        self.flags
            .iter()
            .filter(move |flag| names.split_ascii_whitespace().any(|name| flag.name == name))
            .filter_map(|flag| flag.value.as_ref().map(|value| (value, flag.arg)))
    }

    /// Reads the argument at an index, and returns the index of the next.
    fn argument(&mut self, args: &[Field], at: usize, options: &Options<'_>) -> usize {
        let arg = &args[at];
        let text = arg.text.as_str();
        let is_operand = self.dashes.is_some()
            || text == "-"
            || !(text.starts_with(['-', '+']) || options.is_slashed(text))
            || (text.starts_with('+') && !options.has_plus(text))
            || options.style == Style::Keys
            || (options.style == Style::Mode && options.is_mode(text))
            || (options.end_at_operand && !self.operands.is_empty())
            || self.flags.iter().any(|flag| options.last.contains(&flag.name.as_str()));
        if is_operand {
            self.operands.push(at);
            return at + 1;
        }
        if text == "--" {
            self.dashes = Some(self.operands.len());
            return at + 1;
        }
        let is_long = matches!(options.style, Style::Single | Style::Caseless | Style::Find);
        if is_long || text.starts_with("--") {
            self.long(args, at, options)
        } else {
            self.bundle(args, at, options)
        }
    }

    /// Reads `--name`, `--name=value`, and `-name` in the style of a single dash.
    fn long(&mut self, args: &[Field], at: usize, options: &Options<'_>) -> usize {
        let arg = &args[at];
        let (name, attached) = match arg.text.split_once('=') {
            Some((name, value)) => (name, Some(arg.with_text(value))),
            None => (arg.text.as_str(), None),
        };
        let (name, arity) = options.complete(name);
        if attached.is_some() || arity != Arity::Value {
            self.flags.push(Flag { name, value: attached, arg: at });
            return at + 1;
        }
        let value = args.get(at + 1).cloned();
        self.flags.push(Flag { name, value, arg: at });
        at + 2
    }

    /// Reads `-abc`, `-ovalue`, `-o value`.
    fn bundle(&mut self, args: &[Field], at: usize, options: &Options<'_>) -> usize {
        let arg = &args[at];
        let sign = if arg.text.starts_with('+') { '+' } else { '-' };
        // `-name` of a program with such options beside bundles.
        if options.all().any(|(name, _)| name.len() > 2 && name == arg.text) {
            return self.long(args, at, options);
        }
        for (offset, letter) in arg.text.char_indices().skip(1) {
            let name = format!("{sign}{letter}");
            let rest = &arg.text[offset + letter.len_utf8()..];
            match options.arity(&name) {
                Arity::Value if rest.is_empty() => {
                    let value = args.get(at + 1).cloned();
                    self.flags.push(Flag { name, value, arg: at });
                    return at + 2;
                }
                Arity::Value | Arity::Attached if !rest.is_empty() => {
                    let value = Some(arg.with_text(rest));
                    self.flags.push(Flag { name, value, arg: at });
                    return at + 1;
                }
                _ => self.flags.push(Flag { name, value: None, arg: at }),
            }
        }
        at + 1
    }

    /// Reads `tar xzf file`: letters without a dash, whose values are the next arguments. Returns the index of the next argument.
    fn dashless(&mut self, args: &[Field], options: &Options<'_>) -> usize {
        let Some(first) = args.first() else { return 0 };
        let is_letters = first.text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !is_letters || !first.is_certain || first.text.is_empty() {
            return 0;
        }
        let mut next = 1;
        for letter in first.text.chars() {
            let name = format!("-{letter}");
            let value = match options.arity(&name) {
                Arity::Value => {
                    next += 1;
                    args.get(next - 1).cloned()
                }
                _ => None,
            };
            self.flags.push(Flag { name, value, arg: 0 });
        }
        next.min(args.len())
    }
}

/// Returns the index after the end of a command in `find -exec … ;`, if one starts at an index.
pub(crate) fn command_end(args: &[Field], at: usize) -> Option<usize> {
    if !matches!(args[at].text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir") {
        return None;
    }
    let is_end = |index: &usize| {
        let text = args[*index].text.as_str();
        text == ";" || (text == "+" && args[*index - 1].text == "{}")
    };
    Some((at + 1..args.len()).find(is_end).map_or(args.len(), |end| end + 1))
}

impl<'a> Options<'a> {
    fn new(program: Option<&'a Program>) -> Self {
        let Some(program) = program else {
            return Self { list: Vec::new(), style: Style::Gnu, end_at_operand: false, last: &[] };
        };
        let options = program.options.split_ascii_whitespace();
        let list = options.map(|option| match option.as_bytes().last() {
            Some(b'=') => (&option[..option.len() - 1], Arity::Value),
            Some(b'?') if option.len() > 2 => (&option[..option.len() - 1], Arity::Attached),
            _ => (option, Arity::None),
        });
        let language = program.interpreter.and_then(|interpreter| interpreter.language);
        let last: &[&str] = match language {
            Some(Language::Python) => &["-c", "-m"],
            Some(Language::Powershell) => &["-Command", "-CommandWithArgs", "-cwa"],
            _ => &[],
        };
        // The options of PowerShell end at an operand. The options of its commands do not.
        let end_at_operand =
            program.style == Style::Posix || language == Some(Language::Powershell);
        Self { list: list.collect(), style: program.style, end_at_operand, last }
    }

    fn all(&self) -> impl Iterator<Item = (&'a str, Arity)> {
        self.list.iter().copied()
    }

    fn arity(&self, name: &str) -> Arity {
        self.all().find(|(flag, _)| *flag == name).map_or(Arity::None, |(_, arity)| arity)
    }

    /// Checks whether an argument takes permissions or attributes away: `-x`, `-w,+X`, `-i`.
    fn is_mode(&self, text: &str) -> bool {
        let name = text.chars().take(2).collect::<String>();
        text.len() > 1 && !text.starts_with("--") && self.all().all(|(flag, _)| flag != name)
    }

    /// Checks whether `+x` is an option of the program.
    fn has_plus(&self, text: &str) -> bool {
        self.all().any(|(flag, _)| flag.starts_with('+') && text.starts_with(flag))
    }

    /// Checks whether an argument is an option of PowerShell with a slash or another dash than usual: `/c`, `–c`.
    fn is_slashed(&self, text: &str) -> bool {
        self.style == Style::Caseless
            && text.starts_with(['/', '–', '—', '―'])
            && self.caseless(text).is_some()
    }

    /// Returns the option that a name abbreviates, in any case and after any dash.
    fn caseless(&self, name: &str) -> Option<(&'a str, Arity)> {
        let name = name.trim_start_matches(['-', '/', '–', '—', '―']);
        let fits = |flag: &str, length: usize| {
            flag.get(1..=length).is_some_and(|start| start.eq_ignore_ascii_case(name))
        };
        let exact = || self.all().find(|(flag, _)| fits(flag, flag.len() - 1));
        let abbreviated = || self.all().find(|(flag, _)| fits(flag, name.len()));
        exact().or_else(abbreviated).filter(|_| !name.is_empty())
    }

    /// Returns the full name of a long option, and whether it takes a value. An abbreviation of several stays as it is.
    fn complete(&self, name: &str) -> (String, Arity) {
        if let Some((flag, arity)) = self.all().find(|(flag, _)| *flag == name) {
            return (flag.to_owned(), arity);
        }
        if self.style == Style::Caseless {
            return self
                .caseless(name)
                .map_or((name.to_owned(), Arity::None), |(flag, arity)| (flag.to_owned(), arity));
        }
        // `gdb --ex`, `sqlite3 --cmd`.
        if self.style == Style::Single
            && let Some(single) = name.strip_prefix('-').filter(|name| name.len() > 2)
            && let Some((flag, arity)) = self.all().find(|(flag, _)| *flag == single)
        {
            return (flag.to_owned(), arity);
        }
        let is_abbreviation = name.len() > 2 && !matches!(self.style, Style::Single | Style::Find);
        let mut fitting = self.all().filter(|(flag, _)| {
            is_abbreviation && flag.starts_with("--") && flag.starts_with(name)
        });
        match (fitting.next(), fitting.next()) {
            (Some((flag, arity)), None) => (flag.to_owned(), arity),
            _ => (name.to_owned(), Arity::None),
        }
    }
}
