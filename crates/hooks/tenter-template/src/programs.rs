//! Lists the programs that a template may run, without rendering it. The user sees the list before trusting a recipe.

use super::ast::{Branch, Node, Operand, OperandKind, Pipeline, Stage};
use super::functions::Function;

/// Placeholder for a value that is only known when the template is rendered.
const UNKNOWN: &str = "…";

/// Returns the command lines of every `bash`, in the order of the text, without duplicates, including unreachable ones.
pub(super) fn programs(nodes: &[Node]) -> Vec<String> {
    let mut programs = Vec::new();
    in_nodes(nodes, &mut programs);
    programs
}

fn in_nodes(nodes: &[Node], programs: &mut Vec<String>) {
    for node in nodes {
        match node {
            Node::Text(_) => {}
            Node::Output(pipeline) | Node::Set { value: pipeline, .. } => {
                in_pipeline(pipeline, programs);
            }
            Node::If { branches, otherwise } => in_branches(branches, otherwise, programs),
            Node::With { branch, otherwise } | Node::Range { branch, otherwise, .. } => {
                in_branches(std::slice::from_ref(branch), otherwise, programs);
            }
        }
    }
}

fn in_branches(branches: &[Branch], otherwise: &[Node], programs: &mut Vec<String>) {
    for branch in branches {
        in_pipeline(&branch.head, programs);
        in_nodes(&branch.body, programs);
    }
    in_nodes(otherwise, programs);
}

fn in_pipeline(pipeline: &Pipeline, programs: &mut Vec<String>) {
    in_stage(&pipeline.first, false, programs);
    for stage in &pipeline.rest {
        in_stage(stage, true, programs);
    }
}

/// Searches a stage. `is_fed` says whether the previous stage provides the last argument.
fn in_stage(stage: &Stage, is_fed: bool, programs: &mut Vec<String>) {
    let (function, operands) = match stage {
        Stage::Value(operand) => (None, std::slice::from_ref(operand)),
        Stage::Call { function, arguments, .. } => (Some(function), arguments.as_slice()),
    };
    for operand in operands {
        if let OperandKind::Group(pipeline) = &operand.kind {
            in_pipeline(pipeline, programs);
        }
    }
    if function == Some(&Function::Bash) {
        let stdin = is_fed.then(|| UNKNOWN.to_owned());
        let words: Vec<String> = operands.iter().map(word).chain(stdin).collect();
        let line = words.join(" ");
        if !programs.contains(&line) {
            programs.push(line);
        }
    }
}

/// Returns a word of a command line, quoted if it is empty or contains whitespace.
fn word(operand: &Operand) -> String {
    let OperandKind::Literal(value) = &operand.kind else { return UNKNOWN.to_owned() };
    let text = value.as_text().unwrap_or(UNKNOWN.into()).into_owned();
    if text.is_empty() || text.contains(char::is_whitespace) { format!("{text:?}") } else { text }
}

#[cfg(test)]
mod tests {
    use crate::{Dialect, Template, TemplateFile};

    fn programs(text: &str) -> Vec<String> {
        Template::parse(TemplateFile::new("r.md", text), Dialect::Recipe).unwrap().programs()
    }

    #[test]
    fn every_program_is_listed() {
        for (text, expected) in [
            ("no {{.x}} program {{/* bash \"a\" */}}", &[][..]),
            ("{{bash \"a\" \"b c\" 1}} {{bash \"a\"}} {{bash \"a\"}}", &["a \"b c\" 1", "a"]),
            ("{{bash .x \"\"}}", &["… \"\""]),
            ("{{.x | bash \"a\" | lines}}", &["a …"]),
            ("{{bash (bash \"which\" .x)}}", &["which …", "…"]),
            ("{{$v := bash \"a\"}}{{$v = bash \"b\"}}", &["a", "b"]),
            (
                "{{if bash \"a\"}}{{bash \"b\"}}{{else if bash \"c\"}}{{else}}{{bash \"d\"}}{{end}}",
                &["a", "b", "c", "d"],
            ),
            ("{{with bash \"a\"}}{{bash \"b\"}}{{else}}{{bash \"c\"}}{{end}}", &["a", "b", "c"]),
            (
                "{{range lines (bash \"a\")}}{{bash \"b\" .}}{{else}}{{bash \"c\"}}{{end}}",
                &["a", "b …", "c"],
            ),
            ("{{and .x (not (eq (bash \"a\") \"y\"))}}", &["a"]),
        ] {
            assert_eq!(programs(text), expected, "{text}");
        }
    }
}
