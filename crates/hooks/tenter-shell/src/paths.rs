//! Arguments that are paths (C4), in the words of the tables.
//!
//! A rule is an operation, arguments, and when it applies: `delete operands`, `write -o --output`, `write operands if -i unless -n`.
//! The arguments are `operands`, `first`, `second`, `rest` (all but the first), `init` (all but the last), `last`, `after-two`,
//! `directory` (all, or the working directory), the values of options, `of=` (the rest of an operand), or a fixed path. After
//! `read-at`, the values follow an `@`, as curl has them; after `read-file-url`, they are `file:` URLs; after `read-prefix` and
//! `write-prefix`, they are operands that start with a word; after `create-name`, files named as the end of an URL; after `read-glob`,
//! patterns that select files below the operands after the first, or below the working directory; after
//! `create-first-after` and `create-second-after`, the first or second operand after a word; after `link-mount` and `read-mount`,
//! directories that a container sees, writable or not.

use crate::facts::PathOp;
use crate::field::Field;
use crate::flags::Arguments;
use crate::tables::Program;

/// When a rule of the tables applies: `if -a -b and -c unless -d`, of each group any option; `bare` is without operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Condition<'a>(pub(crate) &'a str);

/// A rule of the tables about paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PathRule<'a> {
    pub(crate) op: PathOp,
    form: Form,
    arguments: &'a str,
    when: Condition<'a>,
}

/// The form in which an argument contains a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Whole,
    /// `@path`, `name=@path`.
    At,
    /// `file:///path`.
    FileUrl,
    /// `OPEN:path`.
    Prefix,
    /// The name at the end of an URL.
    Name,
    /// A pattern that selects what is read: `--include=.env`.
    Glob,
    /// The operand in this place, if the first is this word.
    After(usize),
    /// `path:target`, `type=bind,source=path`: with `read`, only those that are read-only, else the others.
    Mount,
}

impl Condition<'_> {
    pub(crate) fn holds(self, arguments: &Arguments) -> bool {
        // Whether the options of the current group must be there, and whether one is.
        let (mut is_wanted, mut is_there) = (false, false);
        for word in self.0.split_ascii_whitespace() {
            match word {
                "bare" if !arguments.operands.is_empty() => return false,
                "bare" => {}
                "if" => is_wanted = true,
                "and" | "unless" if is_wanted && !is_there => return false,
                "and" => is_there = false,
                "unless" => is_wanted = false,
                option => {
                    let has = arguments.flags.iter().any(|flag| flag.name == option);
                    if has && !is_wanted {
                        return false;
                    }
                    is_there |= has;
                }
            }
        }
        !is_wanted || is_there
    }
}

impl<'a> PathRule<'a> {
    /// Parses a rule. A test parses all rules of the tables.
    pub(crate) fn parse(text: &'a str) -> Self {
        let (op, rest) = text.split_once(' ').unwrap_or((text, ""));
        let end = condition_start(rest);
        let (op, form) = match op.split_once('-') {
            Some((op, "at")) => (op, Form::At),
            Some((op, "file-url")) => (op, Form::FileUrl),
            Some((op, "prefix")) => (op, Form::Prefix),
            Some((op, "name")) => (op, Form::Name),
            Some((op, "glob")) => (op, Form::Glob),
            Some((op, "first-after")) => (op, Form::After(1)),
            Some((op, "second-after")) => (op, Form::After(2)),
            Some((op, "mount")) => (op, Form::Mount),
            _ => (op, Form::Whole),
        };
        let op = match op {
            "read" => PathOp::Read,
            "write" => PathOp::Write,
            "create" => PathOp::Create,
            "move" => PathOp::Move,
            "execute" => PathOp::Execute,
            "link" => PathOp::Link,
            "mode" => PathOp::Mode,
            "list" => PathOp::List,
            // A rule that cannot be read is the one that guards look at.
            _ => PathOp::Delete,
        };
        Self { op, form, arguments: rest[..end].trim(), when: Condition(&rest[end..]) }
    }

    /// Checks whether the paths are values of options.
    pub(crate) fn is_in_options(&self) -> bool {
        self.form == Form::Whole && self.arguments.starts_with('-')
    }

    pub(crate) fn applies(&self, arguments: &Arguments) -> bool {
        self.when.holds(arguments)
    }

    /// Returns the arguments that are the paths.
    pub(crate) fn paths(&self, args: &[Field], arguments: &Arguments) -> Vec<Field> {
        if self.form == Form::Prefix {
            let operands = arguments.operands.iter().filter_map(|index| args.get(*index));
            return operands.filter_map(|field| after_prefix(field, self.arguments)).collect();
        }
        if let Form::After(place) = self.form {
            let operand = |place: usize| args.get(*arguments.operands.get(place)?);
            let is_after = operand(0).is_some_and(|word| word.text == self.arguments);
            return operand(place).filter(|_| is_after).cloned().into_iter().collect();
        }
        let options = self.arguments.strip_prefix("operands ").unwrap_or(self.arguments);
        let mut fields = Self { arguments: options, ..*self }.arguments(args, arguments);
        if options.len() < self.arguments.len() {
            fields.extend(Self { arguments: "operands", ..*self }.arguments(args, arguments));
        }
        match self.form {
            Form::At => fields.iter().filter_map(after_at).collect(),
            Form::FileUrl => {
                fields.iter().filter_map(|field| after_prefix(field, "file://")).collect()
            }
            Form::Name => {
                let mut directories = arguments.values("-P --directory-prefix --output-dir");
                let directory = directories.next().map(|(directory, _)| directory);
                let in_directory = |name: Field| match directory {
                    Some(directory) => {
                        directory.with_text(format!("{}/{}", directory.text, name.text))
                    }
                    None => name,
                };
                fields.iter().filter_map(name_of_url).map(in_directory).collect()
            }
            Form::Glob => selected(&fields, args, arguments),
            Form::Mount => {
                let is_readonly = self.op == PathOp::Read;
                fields.iter().filter_map(|field| mounted(field, is_readonly)).collect()
            }
            Form::Whole | Form::Prefix | Form::After(_) => fields,
        }
    }

    fn arguments(&self, args: &[Field], arguments: &Arguments) -> Vec<Field> {
        let operands: Vec<&Field> =
            arguments.operands.iter().filter_map(|index| args.get(*index)).collect();
        let cloned = |fields: &[&Field]| fields.iter().map(|field| (*field).clone()).collect();
        match self.arguments {
            "directory" if operands.is_empty() => vec![Field::known(".")],
            "operands" | "directory" => cloned(&operands),
            "first" => cloned(&operands[..operands.len().min(1)]),
            "rest" => cloned(operands.get(1..).unwrap_or_default()),
            "second" => cloned(operands.get(1..2).unwrap_or_default()),
            "after-two" => cloned(operands.get(2..).unwrap_or_default()),
            "last" => cloned(&operands[operands.len().saturating_sub(1)..]),
            "init" => cloned(&operands[..operands.len().saturating_sub(1)]),
            "." => vec![Field::known(".")],
            options if options.starts_with('-') => {
                arguments.values(options).map(|(value, _)| value.clone()).collect()
            }
            // `of=` of `dd of=file`, or a fixed path.
            key if key.ends_with('=') => {
                operands.iter().filter_map(|field| value_of(field, key)).collect()
            }
            path => vec![Field::known(path)],
        }
    }
}

/// Returns the index at which the condition of a rule starts.
fn condition_start(rule: &str) -> usize {
    let mut at = 0;
    for word in rule.split(' ') {
        if matches!(word, "if" | "unless") {
            return at;
        }
        at += word.len() + 1;
    }
    rule.len()
}

/// Reads `@path`, `name=@path`, `name=<path` or `name@path`, without `;type=…`.
fn after_at(field: &Field) -> Option<Field> {
    let is_name =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let is_before = |text: &str| text.ends_with('=') || is_name(text);
    let at = field.text.find('@').filter(|at| is_before(&field.text[..*at]));
    let at = at.or_else(|| field.text.find("=<").map(|at| at + 1))?;
    let path = field.text[at + 1..].split([';', ',']).next().unwrap_or_default();
    (path != "-").then(|| field.with_text(path))
}

/// Returns the path after a prefix in any case, without quotes and options.
fn after_prefix(field: &Field, prefix: &str) -> Option<Field> {
    let start = field.text.get(..prefix.len())?;
    let is_prefix = start.eq_ignore_ascii_case(prefix);
    let rest = field.text.get(prefix.len()..).unwrap_or_default();
    let path = rest.split([',', '!']).next().unwrap_or_default().trim_matches(['"', '\'']);
    is_prefix.then(|| field.with_text(path))
}

/// Returns the directory of this machine in `path:target:ro` or `type=bind,source=path,…`. `None` for a volume with a name.
fn mounted(field: &Field, is_readonly: bool) -> Option<Field> {
    let text = field.text.as_str();
    let (path, options) = if text.contains("target=") || text.contains("dst=") {
        let mut parts = text.split(',').filter_map(|part| part.split_once('='));
        (parts.find(|(key, _)| matches!(*key, "source" | "src"))?.1, text)
    } else {
        let (path, rest) = text.split_once(':')?;
        (path, rest)
    };
    let words = || options.split([':', ',']);
    let is_only_read = words().any(|word| matches!(word, "ro" | "readonly" | "readonly=true"));
    let is_path = path.starts_with(['/', '.', '~', '$', '`']);
    (is_path && is_only_read == is_readonly).then(|| field.with_text(path))
}

/// Returns the name under which a download is saved.
fn name_of_url(field: &Field) -> Option<Field> {
    let path = field.text.split(['?', '#']).next().unwrap_or_default();
    let path = path.split_once("://").map_or(path, |(_, path)| path);
    let (_, name) = path.rsplit_once('/')?;
    Some(field.with_text(if name.is_empty() { "index.html" } else { name }))
}

/// Returns the files that patterns select, in each directory that is searched.
fn selected(patterns: &[Field], args: &[Field], arguments: &Arguments) -> Vec<Field> {
    /// Maximum number of directories for which patterns are read; so many paths are a limit.
    const DIRECTORIES: usize = 2 * crate::limits::MAX_OPEN_PATHS;
    let has_pattern = arguments.has("-e --regexp -f --file --files");
    let operands = arguments.operands.iter().skip(usize::from(!has_pattern));
    let directories = operands.filter_map(|index| args.get(*index)).take(DIRECTORIES);
    let mut directories: Vec<&Field> =
        directories.filter(|directory| !patterns.contains(directory)).collect();
    let here = Field::known(".");
    if directories.is_empty() {
        directories.push(&here);
    }
    let patterns = patterns.iter().flat_map(|pattern| {
        crate::globs::selecting(&pattern.text).into_iter().map(|text| pattern.with_text(text))
    });
    let in_all = patterns.flat_map(|pattern| {
        let in_one = |directory: &&Field| Field {
            is_glob: true,
            is_certain: directory.is_certain && pattern.is_certain,
            ..directory.with_text(format!(
                "{}/**/{}",
                directory.text.trim_end_matches('/'),
                pattern.text
            ))
        };
        directories.iter().map(in_one).collect::<Vec<_>>()
    });
    in_all.collect()
}

fn value_of(field: &Field, key: &str) -> Option<Field> {
    field.text.strip_prefix(key).map(|value| field.with_text(value))
}

/// Checks whether a program touches its paths recursively.
pub(crate) fn is_recursive(row: &Program, arguments: &Arguments) -> bool {
    row.recursive == "always" || arguments.has(row.recursive)
}
