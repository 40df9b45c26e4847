//! Texts that start copies of themselves without an end (C1).

use crate::syntax::tree::{List, Node, Separator, Word};

/// Maximum number of functions and calls that are compared.
const MAX_CALLS: usize = 1024;

/// The functions that each function calls.
#[derive(Debug, Default)]
pub(crate) struct CallGraph(Vec<FunctionCall>);

/// A call of a function in the body of another.
#[derive(Debug)]
struct FunctionCall {
    caller: String,
    called: String,
    /// It is called in the background or in a pipe.
    is_parallel: bool,
}

impl CallGraph {
    /// Adds the calls in the body of a function.
    pub(crate) fn add(&mut self, name: &str, body: &Node) {
        let mut calls = Vec::new();
        add_calls(body, false, &mut calls);
        let room = MAX_CALLS.saturating_sub(self.0.len());
        self.0.extend(calls.into_iter().take(room).map(|(callee, is_parallel)| FunctionCall {
            caller: name.to_owned(),
            called: callee,
            is_parallel,
        }));
    }

    /// Checks whether a function starts itself in the background or in a pipe, directly or through other functions.
    pub(crate) fn has_bomb(&self) -> bool {
        let mut steps = 16 * MAX_CALLS;
        let parallel = self.0.iter().filter(|call| call.is_parallel);
        parallel.into_iter().any(|call| self.leads(&call.called, &call.caller, &mut steps))
    }

    /// Checks whether the calls of a function lead to another.
    fn leads(&self, from: &str, to: &str, steps: &mut usize) -> bool {
        let mut reached = vec![from];
        let mut next = 0;
        while let Some(name) = reached.get(next).copied() {
            if name == to {
                return true;
            }
            next += 1;
            for call in self.0.iter().filter(|call| call.caller == name) {
                *steps = steps.saturating_sub(1);
                if *steps > 0 && !reached.contains(&call.called.as_str()) {
                    reached.push(&call.called);
                }
            }
        }
        false
    }
}

/// Adds the first words of the commands in a node, and whether they run in the background or in a pipe.
fn add_calls(node: &Node, is_parallel: bool, calls: &mut Vec<(String, bool)>) {
    let list = |list: &List, is_parallel: bool, calls: &mut Vec<(String, bool)>| {
        for statement in list {
            let is_background = statement.then == Separator::Background;
            add_calls(&statement.node, is_parallel || is_background, calls);
        }
    };
    match node {
        Node::Simple(simple) => {
            let name = simple.words.first().and_then(Word::literal);
            calls.extend(name.map(|name| (name, is_parallel)));
        }
        Node::Pipeline(stages) => stages.iter().for_each(|stage| add_calls(stage, true, calls)),
        Node::Subshell(body) | Node::Group(body) | Node::For { body, .. } => {
            list(body, is_parallel, calls);
        }
        Node::Loop { condition, body } => {
            list(condition, is_parallel, calls);
            list(body, is_parallel, calls);
        }
        Node::If(branches) | Node::Case { arms: branches, .. } => {
            for branch in branches {
                list(&branch.body, is_parallel, calls);
            }
        }
        Node::Coproc(body) => add_calls(body, true, calls),
        Node::Redirected(body, _) | Node::Not(body) => add_calls(body, is_parallel, calls),
        Node::Function { .. } | Node::Test(_) => {}
    }
}

/// Checks whether a loop without an end starts something in the background and never waits for it.
pub(crate) fn is_endless(condition: &List, body: &List) -> bool {
    let is_constant = matches!(condition.as_slice(), [only] if is_constant(&only.node));
    is_constant && starts_in_background(body) && !ends(body)
}

/// Checks whether `for ((;;))` starts something in the background and never waits for it.
pub(crate) fn is_endless_for(name: &str, words: &[Word], body: &List) -> bool {
    let header = words.first().and_then(Word::literal).unwrap_or_default();
    // `i=0;;i++` has no condition.
    let condition = header.split(';').nth(1).map(str::trim);
    let is_endless = name.is_empty() && matches!(condition, Some("" | "1" | "true"));
    is_endless && starts_in_background(body) && !ends(body)
}

/// Checks whether a condition never changes: `true`, `! false`, `[ 1 ]`, `((1))`, `[[ x ]]`.
fn is_constant(node: &Node) -> bool {
    match node {
        Node::Not(inner) => is_constant(inner),
        Node::Test(words) => words.iter().all(|word| word.literal().is_some()),
        Node::Simple(simple) if is_one_of(node, &["[", "test"]) => {
            simple.words.iter().all(|word| word.literal().is_some())
                && !simple.words.iter().any(|word| is_file_test(word.plain().unwrap_or_default()))
        }
        _ => is_one_of(node, &["true", ":", "false"]),
    }
}

/// Checks whether a word asks about a file: `-e`. Its answer can change.
fn is_file_test(word: &str) -> bool {
    word.len() == 2 && word.starts_with('-') && !matches!(word, "-n" | "-z")
}

/// Checks whether a program in another language starts copies of itself without an end: `fork while 1`.
pub(crate) fn is_in_code(text: &str) -> bool {
    const MAX_BYTES: usize = 400;
    const FORKS: [&str; 5] =
        ["fork()", "fork", "spawn(process.argv", "fork(__filename", "Popen(sys.argv"];
    const ENDLESS: [&str; 14] = *tenter_base::phrases!(
        "while 1, while(1), while (1), while True, while(True), while true, while(true),
         while (true), while fork, loop {, loop{, loop do, for(;;), iter(int"
    );
    const HARMLESS: [&str; 6] = ["wait", "sleep", "accept", "exit", "break", "return"];
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    text.len() <= MAX_BYTES && has(&FORKS) && has(&ENDLESS) && !has(&HARMLESS)
}

fn starts_in_background(list: &List) -> bool {
    list.iter().any(|statement| {
        statement.then == Separator::Background
            || match &statement.node {
                // A subshell waits for its own jobs.
                Node::Subshell(inner) => starts_in_background(inner) && !ends(inner),
                Node::Group(inner) => starts_in_background(inner),
                _ => false,
            }
    })
}

/// Checks whether a loop's own shell starts the jobs, and then waits or leaves the loop.
fn ends(list: &List) -> bool {
    let has_own_jobs = list.iter().any(|statement| statement.then == Separator::Background);
    let waits = list.iter().any(|statement| is_one_of(&statement.node, &["wait"]));
    let leaves =
        list.iter().any(|statement| is_one_of(&statement.node, &["exit", "break", "return"]));
    let disowns = list.iter().any(|statement| is_one_of(&statement.node, &["disown"]));
    leaves || (has_own_jobs && waits && !disowns)
}

fn is_one_of(node: &Node, names: &[&str]) -> bool {
    let Node::Simple(simple) = node else { return false };
    let first = simple.words.first().and_then(Word::literal);
    first.is_some_and(|first| names.contains(&first.rsplit('/').next().unwrap_or_default()))
}
