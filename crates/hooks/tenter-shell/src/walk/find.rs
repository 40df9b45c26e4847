//! `find`: what `-exec` runs, and what `-delete` deletes.

use crate::facts::PathOp;
use crate::field::Field;
use crate::flags::command_end;
use crate::locate;
use crate::reader::{Context, NodeResult, Reader};

use super::call::{Call, Emitted};
use super::wrappers::values;

/// Maximum number of starting points that a command in `-exec` is read with; so many paths are a limit.
const STARTS: usize = 2 * crate::limits::MAX_OPEN_PATHS;

impl Reader<'_> {
    pub(super) fn find(&mut self, call: &Call, emitted: &Emitted, context: &Context) -> NodeResult {
        let starts = starting_points(call);
        let files = files_of(&starts, call, emitted);
        for path in &starts {
            self.touch_recursively(path, PathOp::List, emitted.index);
        }
        if emitted.arguments.has("-delete") {
            for path in &files {
                self.touch_recursively(path, PathOp::Delete, emitted.index);
            }
        }
        let mut outcome = NodeResult::default();
        let args = call.args();
        let mut next = 0;
        while next < args.len() {
            let at = next;
            next += 1;
            let Some(end) = command_end(args, at) else { continue };
            next = end;
            let has_end = matches!(args[end - 1].text.as_str(), ";" | "+") && end - 1 > at;
            let words = &args[at + 1..if has_end { end - 1 } else { end }];
            if !words.iter().any(|word| word.text.contains("{}")) {
                outcome.commands.extend(self.words(words, &[], "find", context).commands);
                continue;
            }
            for path in &files {
                let path = self.with_contents(path);
                let words: Vec<Field> =
                    words.iter().map(|word| replaced(word, "{}", &path)).collect();
                outcome.commands.extend(self.words(&words, &[], "find", context).commands);
            }
        }
        outcome
    }

    /// Returns a starting point outside the project with everything in it: `find` names each file. In the project it stays as it is.
    fn with_contents(&self, start: &Field) -> Field {
        let absolute = locate::absolute(&start.text, self.scope.cwd());
        let is_inside =
            absolute.is_none_or(|absolute| locate::place(&absolute, self.surroundings).1);
        if is_inside || start.text.contains('*') {
            return start.clone();
        }
        start.with_text(format!("{}/**", start.text.trim_end_matches('/')))
    }

    /// Reads `fd pattern directory -x command`: the command gets the found files, at its end if it has no `{}`.
    pub(super) fn fd(&mut self, call: &Call, emitted: &Emitted, context: &Context) -> NodeResult {
        const RUNS: [&str; 4] = ["-x", "-X", "--exec", "--exec-batch"];
        let args = call.args();
        let Some(at) = args.iter().position(|arg| RUNS.contains(&arg.text.as_str())) else {
            return NodeResult::default();
        };
        let end = args.iter().position(|arg| arg.text == ";").unwrap_or(args.len()).max(at + 1);
        let operands: Vec<&Field> = emitted
            .arguments
            .operands
            .iter()
            .filter(|index| **index < at)
            .filter_map(|index| args.get(*index))
            .collect();
        let directory =
            operands.get(1).map_or(".", |directory| directory.text.trim_end_matches('/'));
        let extension = values(emitted, "-e --extension").into_iter().next();
        let names = match (operands.first().map(|name| name.text.as_str()), extension) {
            (_, Some(extension)) => vec![format!("/*.{}", extension.text)],
            (None | Some("." | ""), None) => vec![String::new()],
            (Some(name), None) => {
                let plain = crate::globs::from_regex(name);
                vec![format!("/*{plain}*"), format!("/{plain}")]
            }
        };
        let mut outcome = NodeResult::default();
        for name in names {
            let file = Field { is_glob: true, ..Field::known(format!("{directory}/**{name}")) };
            let mut words: Vec<Field> =
                args[at + 1..end].iter().map(|word| replaced(word, "{}", &file)).collect();
            if !args[at + 1..end].iter().any(|word| word.text.contains('{')) && !words.is_empty() {
                words.push(file);
            }
            outcome.commands.extend(self.words(&words, &[], "fd", context).commands);
        }
        outcome
    }

    /// Returns the output of `find`, as patterns.
    pub(super) fn find_output(call: &Call, emitted: &Emitted) -> Option<Field> {
        if emitted.arguments.has("-exec -execdir -ok -printf -ls -fprint -delete") {
            return None;
        }
        Some(Field::join(&files_of(&starting_points(call), call, emitted), "\n"))
    }
}

/// Returns the operands before the first test.
fn starting_points(call: &Call) -> Vec<Field> {
    let is_test = |arg: &&Field| {
        !arg.text.starts_with(['-', '!', '(']) || matches!(arg.text.as_str(), "-H" | "-L" | "-P")
    };
    let starts: Vec<Field> = call
        .args()
        .iter()
        .take_while(is_test)
        .filter(|arg| !arg.text.starts_with('-'))
        .take(STARTS)
        .cloned()
        .collect();
    if starts.is_empty() { vec![Field::known(".")] } else { starts }
}

/// Patterns of what is found: the names in a starting point, or that itself and everything in it.
fn files_of(starts: &[Field], call: &Call, emitted: &Emitted) -> Vec<Field> {
    let args = call.args();
    let is_wanted =
        |at: &usize| is_name(&args[*at]) && !at.checked_sub(1).is_some_and(|at| is_not(&args[at]));
    let places = (0..args.len()).filter(is_wanted);
    let names: Vec<Field> = places.filter_map(|at| args.get(at + 1).cloned()).collect();
    // `-name a -o -type f`: one of the alternatives has no name. What `-path a -prune -o` leaves out is none.
    let is_or =
        |pair: &&[Field]| matches!(pair[1].text.as_str(), "-o" | "-or") && pair[0].text != "-prune";
    let ors = call.args().windows(2).filter(is_or).count();
    let is_negated = negates(call) || (ors > 0 && ors >= names.len());
    let is_partial = is_negated
        || args.iter().any(is_name)
        || emitted.arguments.has(
            "-path -ipath -wholename -regex -mindepth -newer -mtime -mmin -size -user -type -empty",
        );
    let below_start = |start: &Field| {
        let directory = start.text.trim_end_matches('/');
        if names.is_empty() || is_negated {
            let text = if is_partial { format!("{directory}/**") } else { start.text.clone() };
            return vec![Field { is_glob: true, ..start.with_text(text) }];
        }
        let with_name = |name: &Field| Field {
            is_glob: true,
            is_certain: start.is_certain && name.is_certain,
            ..start.with_text(format!("{directory}/**/{}", name.text))
        };
        names.iter().map(with_name).collect()
    };
    starts.iter().flat_map(below_start).take(STARTS).collect()
}

/// Checks whether a group of tests is negated, so that the files have other names.
fn negates(call: &Call) -> bool {
    call.args().windows(2).any(|pair| is_not(&pair[0]) && pair[1].text == "(")
}

fn is_not(arg: &Field) -> bool {
    matches!(arg.text.as_str(), "!" | "-not")
}

fn is_name(arg: &Field) -> bool {
    matches!(arg.text.as_str(), "-name" | "-iname")
}

/// Returns a word with another text for its placeholder.
pub(super) fn replaced(word: &Field, placeholder: &str, text: &Field) -> Field {
    if placeholder.is_empty() || !word.text.contains(placeholder) {
        return word.clone();
    }
    let mut parts = word.text.split(placeholder);
    let mut whole = word.with_text(parts.next().unwrap_or_default());
    for part in parts {
        if whole.text.len() > crate::limits::MAX_VALUE {
            return Field::unknown(placeholder);
        }
        whole.push(text);
        whole.text.push_str(part);
    }
    whole
}
