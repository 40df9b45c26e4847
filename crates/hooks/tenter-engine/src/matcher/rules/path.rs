//! Conditions on the paths of a call.

use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use tenter_protocol::manifest::rule::PathCondition;
use tenter_shell::{Path, PathOp, PathPlace};

use crate::facts::CallFacts;
use crate::pattern::{
    LetterPairs, OpenText, PathText, Pattern, Position, Text, Token, Truth, WILDCARDS, below,
    overlap,
};

/// The base of the pattern of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    /// It is absolute, or begins with `**/`.
    Root,
    Home,
    Project,
}

/// A pattern for paths.
#[derive(Debug, Clone)]
struct PathPattern {
    base: Base,
    /// The part after the base.
    tail: Pattern,
    /// The length of the directory that every path that it fits is in, or of the path if it fits only one, in bytes.
    fixed_length: usize,
    /// The pairs of letters in its text.
    pairs: LetterPairs,
    /// True if it fits in any directory: `**/name`.
    is_floating: bool,
    /// True if it has more than one name after `**/`.
    has_parents: bool,
    /// Of `**/name/…`, the place of the name, if it is no pattern.
    first_name: Option<Range<usize>>,
}

impl PathPattern {
    fn new(text: &str) -> Self {
        let home_path = if text == "~" { Some("") } else { text.strip_prefix("~/") };
        let (base, tail) = match home_path {
            Some(tail) => (Base::Home, tail),
            None if text.starts_with('/') || text.starts_with("**/") || text == "**" => {
                (Base::Root, text)
            }
            None => (Base::Project, text.trim_start_matches("./")),
        };
        let pattern = Pattern::parse_paths(tail);
        let directory = pattern.prefix().rfind('/').unwrap_or(0);
        let floating = tail.strip_prefix("**/");
        Self {
            base,
            fixed_length: pattern.literal().map_or(directory, str::len),
            pairs: LetterPairs::new(tail),
            is_floating: floating.is_some(),
            has_parents: floating.is_some_and(|names| names.contains('/')),
            first_name: floating.and_then(|names| {
                let name = names.split('/').next()?;
                let start = tail.len() - names.len();
                (!name.contains(WILDCARDS)).then(|| start..start + name.len())
            }),
            tail: pattern,
        }
    }

    fn text(&self) -> &str {
        self.tail.text()
    }

    fn first_name(&self) -> Option<&str> {
        self.first_name.clone().map(|place| &self.text()[place])
    }

    fn directory<'c>(&self, call: &'c CallFacts) -> Option<&'c str> {
        match self.base {
            Base::Root => None,
            Base::Home => Some(call.home.as_deref().unwrap_or("~")),
            Base::Project => Some(&call.project),
        }
    }

    /// Returns the position of a path relative to the directory of the base; `None` if that is the root.
    fn position(&self, text: &PathText) -> Option<Position> {
        match self.base {
            Base::Root => None,
            Base::Home => Some(text.home),
            Base::Project => Some(text.project),
        }
    }

    /// Returns whether it fits this text, as written.
    fn matches(&self, text: &PathText) -> bool {
        if !self.tail.may_match(text.pairs) {
            return false;
        }
        match self.position(text) {
            None => self.tail.matches(&text.value),
            Some(position) => position.rest.is_some_and(|at| self.tail.matches(&text.value[at..])),
        }
    }

    /// Returns whether it fits a path that may be partly unknown.
    fn may_fit(&self, tokens: &[Token], call: &CallFacts) -> bool {
        if !self.may_begin(tokens, call) {
            return false;
        }
        let Some(directory) = self.directory(call) else {
            return self.tail.may_fit(tokens) != Truth::No;
        };
        Pattern::parse_paths(&format!("{directory}/{}", self.text())).may_fit(tokens) != Truth::No
    }

    /// Returns whether a directory contains the one file that this pattern fits: `~/.aws` for `~/.aws/credentials`. A pattern for files in
    /// the home directory or the project itself says nothing about the other files there.
    fn is_in(&self, directory: &str, call: &CallFacts) -> bool {
        let Some((parent, _)) = self.tail.literal().and_then(|text| text.rsplit_once('/')) else {
            return false;
        };
        let inner = self.directory(call).map_or(Some(directory), |base| below(directory, base));
        !parent.is_empty() && inner == Some(parent)
    }

    /// Returns the names before the last one of `**/.claude/settings.json/**`, if they are no patterns: `/.claude`.
    fn floating_parent(&self) -> Option<&str> {
        let names = self.text();
        let names = names.strip_suffix("/**").unwrap_or(names);
        let (parent, _) = names.strip_prefix("**")?.rsplit_once('/')?;
        (!parent.is_empty() && !parent.contains(WILDCARDS)).then_some(parent)
    }

    /// Returns whether a directory is the one in which the pattern begins with a name: `.claude` for `**/.claude/settings.json/**`.
    fn begins_in(&self, text: &PathText) -> bool {
        let directory = text.value.as_str();
        if self.is_floating {
            return self.floating_parent().is_some_and(|parent| directory.ends_with(parent));
        }
        let names = self.text();
        let names = names.strip_suffix("/**").unwrap_or(names);
        let Some((parent, _)) = names.rsplit_once('/') else { return false };
        let within = match self.position(text) {
            None => Some(directory),
            Some(position) => position.rest.map(|at| &directory[at..]),
        };
        !parent.is_empty() && within == Some(parent)
    }

    /// Checks whether a text can begin like the pattern: where the letters of both are known, they are the same.
    fn may_begin(&self, tokens: &[Token], call: &CallFacts) -> bool {
        let directory = self.directory(call);
        let own = directory.into_iter().flat_map(str::chars).chain(directory.map(|_| '/'));
        let own = own.chain(self.tail.prefix().chars());
        let letters = tokens.iter().map_while(|token| match token {
            Token::Char(letter) => Some(*letter),
            _ => None,
        });
        own.zip(letters).all(|(one, other)| one == other)
    }

    /// Returns whether a name of a pattern of the shell begins as one of the names of `**/name`: `.e*`, but not `a*`, for `**/.env`.
    /// So does `server.k*` for `**/*.key`.
    fn shares_a_name(&self, open: &OpenText) -> bool {
        let shares = |name: &str| {
            let start = &name[..name.find(WILDCARDS).unwrap_or(name.len())];
            let ending = name.rsplit_once(WILDCARDS).filter(|_| start.is_empty());
            ending.is_some_and(|(_, ending)| open.ends_as(ending))
                || (!start.is_empty() && open.begins_as(start))
        };
        !self.is_floating || self.text().split('/').any(shares)
    }

    /// Returns whether the last names of a directory are the first names of `**/a/b`: what it fits can be in there.
    fn begins_with(&self, directory: &str) -> bool {
        let names = self.text().trim_start_matches('*');
        let ends = names.match_indices('/').map(|(at, _)| at).filter(|at| *at > 0);
        ends.into_iter().any(|end| directory.ends_with(&names[..end]))
    }

    /// Returns whether everything that it fits is below a directory, which is more than the base of the pattern.
    fn is_below(&self, text: &PathText) -> bool {
        let directory = text.value.as_str();
        if self.is_floating {
            let may_begin = self.has_parents && self.pairs.contain(text.last_name);
            return may_begin && self.begins_with(directory);
        }
        let fixed = &self.text()[..self.fixed_length];
        let Some(position) = self.position(text) else {
            return !fixed.is_empty() && below(fixed, directory).is_some();
        };
        match position.rest {
            // A pattern such as `*.pem` applies to the files of a project, not to the project.
            _ if self.base == Base::Project && position.is_above => false,
            Some(at) if at < directory.len() => below(fixed, &directory[at..]).is_some(),
            _ => position.is_above,
        }
    }
}

/// Returns whether it is `$DIR/` or `$DIR/*`, which is `/` and everything in it if the variable is empty.
fn is_contents_of_a_variable(path: &str) -> bool {
    let Some((variable, rest)) = path.split_once('/') else { return false };
    let name = variable.strip_prefix('$').unwrap_or_default();
    let name = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name);
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    !name.is_empty() && is_name && matches!(rest, "" | "*" | "**" | ".*")
}

/// A condition on one path.
#[derive(Debug, Clone)]
pub(super) struct PathRule {
    op: Vec<PathOp>,
    glob: Vec<PathPattern>,
    not: Vec<PathPattern>,
    covers: Vec<PathPattern>,
    places: Places,
    recursive: Option<bool>,
}

/// The places that a path must be in, and those that it must be outside of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Places {
    place: Vec<PathPlace>,
    outside: Vec<PathPlace>,
}

/// The fit of a path and a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PathFit {
    pub(super) truth: Truth,
    /// True if it holds for the path as written. Then even a path that is not certain counts.
    pub(super) is_as_written: bool,
}

/// One path of a call.
#[derive(Clone, Copy)]
struct PathSubject<'f> {
    fact: &'f Path,
    real_path: &'f PathText,
    /// Before symlinks are resolved, if that is another text.
    path_text: Option<&'f PathText>,
}

impl<'f> PathSubject<'f> {
    fn new(call: &'f CallFacts, index: usize) -> Option<Self> {
        let fact = call.facts.call.paths.get(index)?;
        let (real_path, path_text) = call.index().path_texts.get(index)?;
        Some(Self { fact, real_path, path_text: path_text.as_ref() })
    }

    fn texts(self) -> impl Iterator<Item = &'f PathText> {
        std::iter::once(self.real_path).chain(self.path_text)
    }
}

impl Places {
    pub(super) fn new(PathCondition { place, outside, .. }: &PathCondition) -> Self {
        Self { place: place.clone(), outside: outside.clone() }
    }

    /// Returns whether a path is certainly not in the right place.
    pub(super) fn exclude(&self, fact: &Path) -> bool {
        self.fit(fact).truth == Truth::No
    }

    fn fit(&self, fact: &Path) -> PathFit {
        if self.place.is_empty() && self.outside.is_empty() {
            return PathFit::known(true);
        }
        let text = Text { value: &fact.path, is_certain: fact.certain, is_glob: fact.glob };
        // The place of `$X/a` is unknown; the place of `/etc/$X` is known.
        let is_located = || {
            let parent = text.value.split(['$', '`']).next().unwrap_or_default();
            parent.rfind('/').is_some_and(|at| at > 0)
        };
        if text.has_unknown_parts() && !is_located() {
            return PathFit { truth: Truth::Perhaps, is_as_written: false };
        }
        let is_in = |place: &PathPlace| match place {
            PathPlace::Project => fact.inside_project,
            place => *place == fact.place,
        };
        let is_placed = self.place.is_empty() || self.place.iter().any(is_in);
        let is_here = fact.place != PathPlace::Remote;
        let is_outside = self.outside.is_empty() || (is_here && !self.outside.iter().any(is_in));
        PathFit::known(is_placed && is_outside)
    }
}

/// Returns whether an operation on a directory is one on everything in it.
pub(super) fn may_contain_matches(fact: &Path) -> bool {
    match fact.op {
        // What is written into a directory replaces only files of the same names.
        PathOp::Write | PathOp::Create => false,
        // Who cannot enter a directory cannot use what is in it.
        PathOp::Mode => true,
        _ => fact.recursive,
    }
}

/// Returns whether an operation on a directory may be one on some files in it: what an archive has is not known.
pub(super) fn may_replace_files(fact: &Path) -> bool {
    matches!(fact.op, PathOp::Write | PathOp::Create) && fact.recursive
}

impl PathRule {
    pub(super) fn new(condition: &PathCondition) -> Self {
        let patterns = |texts: &[String]| texts.iter().map(|text| PathPattern::new(text)).collect();
        let PathCondition { op, glob, not, covers, recursive, .. } = condition;
        Self {
            op: op.clone(),
            glob: patterns(glob),
            not: patterns(not),
            covers: patterns(covers),
            places: Places::new(condition),
            recursive: *recursive,
        }
    }

    /// Returns whether the path with this index fits.
    pub(super) fn fit(&self, call: &CallFacts, index: usize) -> PathFit {
        let no = PathFit { truth: Truth::No, is_as_written: false };
        let Some(subject) = PathSubject::new(call, index) else { return no };
        let fact = subject.fact;
        let is_other_op = !self.op.is_empty() && !self.op.contains(&fact.op);
        if is_other_op || self.recursive.is_some_and(|recursive| recursive != fact.recursive) {
            return no;
        }
        let mut whole = PathFit::known(true);
        let parts: [&dyn Fn() -> PathFit; 3] =
            [&|| self.places.fit(fact), &|| self.covering(subject, call), &|| {
                self.globbed(subject, call)
            }];
        for part in parts {
            let fit = part();
            if fit.truth == Truth::No {
                return no;
            }
            whole.truth = whole.truth.and(fit.truth);
            whole.is_as_written &= fit.is_as_written;
        }
        let truth = if fact.certain { whole.truth } else { whole.truth.and(Truth::Perhaps) };
        PathFit { truth, ..whole }
    }

    fn globbed(&self, subject: PathSubject<'_>, call: &CallFacts) -> PathFit {
        if self.glob.is_empty() {
            return PathFit::known(!subject.texts().all(|text| self.excludes(text)));
        }
        let has_all = may_contain_matches(subject.fact);
        PathFit::any(subject.texts().map(|text| {
            let fits = |pattern: &PathPattern| {
                pattern.matches(text) || (has_all && pattern.is_below(text))
            };
            let is_fitting = self.glob.iter().any(fits);
            let may_replace = !is_fitting
                && may_replace_files(subject.fact)
                && self.glob.iter().any(|pattern| pattern.begins_in(text));
            let may_fit = is_fitting || may_replace || text.is_open();
            if !may_fit || self.excludes(text) {
                return PathFit::known(false);
            }
            if may_replace {
                return PathFit { truth: Truth::Perhaps, is_as_written: true };
            }
            if is_fitting { text.as_written() } else { self.may_fit(text, call) }
        }))
    }

    fn excludes(&self, text: &PathText) -> bool {
        self.not.iter().any(|pattern| pattern.matches(text))
    }

    /// Returns the fit of a text that stands for several paths.
    fn may_fit(&self, text: &PathText, call: &CallFacts) -> PathFit {
        // `~/.aws/*` is all of a directory, `.claude/*` of a hidden one, and `~/.aws/c*` what begins with a letter.
        let names = text.value.rsplit_once('/').filter(|_| text.is_glob && text.is_certain);
        let is_directory_of_pattern = names.is_some_and(|(directory, _)| {
            self.glob.iter().any(|pattern| {
                let parent = pattern.floating_parent().filter(|parent| parent.starts_with("/."));
                (pattern.is_in(directory, call)
                    || parent.is_some_and(|parent| directory.ends_with(parent)))
                    && pattern.may_fit(&text.open().tokens, call)
            })
        });
        let open = |pattern: &PathPattern| {
            text.without_stars().filter(|_| pattern.is_floating).unwrap_or_else(|| text.open())
        };
        let may_fit = |pattern: &PathPattern| {
            let open = open(pattern);
            let may_have = pattern.first_name().is_none_or(|name| open.may_have(name));
            may_have && pattern.may_fit(&open.tokens, call)
        };
        let fit = text.perhaps(|| self.glob.iter().any(may_fit));
        // That `README*` could be `README.key` means nothing.
        let is_meant = |pattern: &PathPattern| pattern.shares_a_name(open(pattern));
        let names_one = || self.glob.iter().any(|pattern| is_meant(pattern) && may_fit(pattern));
        let is_as_written = (fit.is_as_written && names_one())
            || (fit.truth != Truth::No && is_directory_of_pattern);
        PathFit { is_as_written, ..fit }
    }

    /// Returns an upper limit of the length of the directories in `covers`.
    fn longest_cover(&self, call: &CallFacts) -> usize {
        let longest = self.covers.iter().map(|target| target.text().len()).max().unwrap_or(0);
        let home = call.home.as_deref().map_or(1, str::len);
        longest + 1 + home.max(call.project.len())
    }

    fn covering(&self, subject: PathSubject<'_>, call: &CallFacts) -> PathFit {
        if self.covers.is_empty() {
            return PathFit::known(true);
        }
        let longest = self.longest_cover(call);
        // What is known to be longer than each of them cannot be around one.
        if subject.texts().all(|text| text.known_length() > longest) {
            return PathFit::known(false);
        }
        let targets: Vec<Cow<'_, str>> =
            self.covers.iter().map(|target| target.as_directory(call)).collect();
        PathFit::any(subject.texts().map(|text| {
            // `/etc/*` is as good as `/etc`.
            let contents = ["/*", "/**", "/.*", "/{*,.*}"];
            let directory = contents.iter().find_map(|end| text.value.strip_suffix(end));
            let directory = directory.filter(|_| text.is_glob).unwrap_or(&text.value);
            let is_covered = |target: &Cow<'_, str>| below(target, directory).is_some();
            if !text.has_unknown_parts && targets.iter().any(is_covered) {
                return text.as_written();
            }
            if is_contents_of_a_variable(&text.value) && targets.iter().any(|target| target == "/")
            {
                return text.as_written();
            }
            let or_above = |target: &Cow<'_, str>| {
                let ends = target.match_indices('/').map(|(at, _)| at).filter(|at| *at > 0);
                ends.chain([target.len()]).map(|end| target[..end].to_owned()).collect::<Vec<_>>()
            };
            let (start, name) = (text.known_start(), text.known_name());
            let may_cover = || {
                let directories = targets.iter().flat_map(or_above);
                let mut fitting = directories
                    .filter(|directory| directory.starts_with(start) && directory.ends_with(name));
                fitting.any(|directory| {
                    overlap(&text.open().tokens, &Text::known(&directory).tokens())
                })
            };
            match text.perhaps(may_cover) {
                // A pattern that fits a directory stands for it.
                fit if text.is_certain && fit.truth == Truth::Perhaps => PathFit::known(true),
                // `/$DIR` is a directory of the system, or all of it.
                fit if fit.truth == Truth::Perhaps && text.is_at_root() => {
                    PathFit { is_as_written: true, ..fit }
                }
                fit => fit,
            }
        }))
    }
}

impl PathPattern {
    /// Returns the directory that it names.
    fn as_directory<'c>(&'c self, call: &'c CallFacts) -> Cow<'c, str> {
        match self.directory(call) {
            None => self.text().into(),
            Some(base) if matches!(self.text(), "" | ".") => base.into(),
            Some(base) => format!("{base}/{}", self.text()).into(),
        }
    }
}

impl PathFit {
    fn known(holds: bool) -> Self {
        Self { truth: holds.into(), is_as_written: true }
    }

    /// Returns the strongest of several.
    fn any(fits: impl Iterator<Item = Self>) -> Self {
        let strength = |fit: &Self| (fit.truth, fit.is_as_written);
        let no = Self { truth: Truth::No, is_as_written: false };
        fits.max_by_key(strength).unwrap_or(no)
    }
}

impl PathText {
    /// Returns the text itself fits: surely, if it is certain.
    fn as_written(&self) -> PathFit {
        let truth = if self.has_unknown_parts { Truth::Perhaps } else { Truth::Yes };
        PathFit { truth, is_as_written: true }
    }

    /// Returns one of the texts that it may stand for fits, or none.
    fn perhaps(&self, fits: impl Fn() -> bool) -> PathFit {
        let may_fit = self.is_open() && fits();
        let truth = if may_fit { Truth::Perhaps } else { Truth::No };
        PathFit { truth, is_as_written: may_fit && self.is_narrow() }
    }
}
