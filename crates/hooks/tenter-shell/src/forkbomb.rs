//! Texts that start copies of themselves without an end (C1).

use crate::syntax::tree::{List, Node, Separator, Word};

/// Checks whether a function's body runs the function in the background or in a pipe.
pub(crate) fn is_bomb(name: &str, body: &Node) -> bool {
    starts(name, body, false)
}

/// Checks whether a node calls a function, in the background or in a pipe.
fn starts(name: &str, node: &Node, is_parallel: bool) -> bool {
    let list = |list: &List, is_parallel: bool| {
        list.iter().any(|statement| {
            let is_background = statement.then == Separator::Background;
            starts(name, &statement.node, is_parallel || is_background)
        })
    };
    match node {
        Node::Simple(simple) => {
            is_parallel && simple.words.first().and_then(Word::literal).as_deref() == Some(name)
        }
        Node::Pipeline(stages) => stages.iter().any(|stage| starts(name, stage, true)),
        Node::Subshell(body) | Node::Group(body) | Node::For { body, .. } => {
            list(body, is_parallel)
        }
        Node::Loop { condition, body } => list(condition, is_parallel) || list(body, is_parallel),
        Node::If(branches) | Node::Case { arms: branches, .. } => {
            branches.iter().any(|branch| list(&branch.body, is_parallel))
        }
        Node::Coproc(body) => starts(name, body, true),
        Node::Redirected(body, _) | Node::Not(body) => starts(name, body, is_parallel),
        Node::Function { .. } | Node::Test(_) => false,
    }
}

/// Checks whether a loop without an end starts something in the background and never waits for it.
pub(crate) fn is_endless(condition: &List, body: &List) -> bool {
    let is_constant =
        matches!(condition.as_slice(), [only] if is_one_of(&only.node, &["true", ":", "false"]));
    is_constant && starts_in_background(body) && !ends(body)
}

/// Checks whether a program in another language starts copies of itself without an end: `fork while 1`.
pub(crate) fn is_in_code(text: &str) -> bool {
    const MAX_BYTES: usize = 400;
    const FORKS: [&str; 5] =
        ["fork()", "fork", "spawn(process.argv", "fork(__filename", "Popen(sys.argv"];
    const ENDLESS: [&str; 14] = [
        "while 1",
        "while(1)",
        "while (1)",
        "while True",
        "while(True)",
        "while true",
        "while(true)",
        "while (true)",
        "while fork",
        "loop {",
        "loop{",
        "loop do",
        "for(;;)",
        "iter(int",
    ];
    const HARMLESS: [&str; 6] = ["wait", "sleep", "accept", "exit", "break", "return"];
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    text.len() <= MAX_BYTES && has(&FORKS) && has(&ENDLESS) && !has(&HARMLESS)
}

fn starts_in_background(list: &List) -> bool {
    list.iter().any(|statement| {
        statement.then == Separator::Background
            || match &statement.node {
                Node::Subshell(inner) | Node::Group(inner) => starts_in_background(inner),
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
    leaves || (has_own_jobs && waits)
}

fn is_one_of(node: &Node, names: &[&str]) -> bool {
    let Node::Simple(simple) = node else { return false };
    let first = simple.words.first().and_then(Word::literal);
    first.is_some_and(|first| names.contains(&first.rsplit('/').next().unwrap_or_default()))
}
