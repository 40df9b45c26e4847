//! Lists the payload fields that a template reads, without rendering it.

use std::ops::Range;

use super::ast::{Branch, Node, Operand, OperandKind, Pipeline, Stage};

/// The path of a field from the root of the payload: `.usage.input_tokens` has two names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldPath {
    /// The names; never empty.
    pub names: Vec<String>,
    /// The byte range in the text.
    pub at: Range<usize>,
}

/// Returns the paths in `nodes`, in the order of the text. Paths relative to a variable, or to a `.` that is not the payload, are
/// left out.
pub(super) fn in_template(nodes: &[Node]) -> Vec<FieldPath> {
    let mut walk = Walk { dot_is_payload: true, paths: Vec::new() };
    walk.nodes(nodes);
    walk.paths
}

/// Returns the paths in a condition.
pub(super) fn in_condition(condition: &Pipeline) -> Vec<FieldPath> {
    let mut walk = Walk { dot_is_payload: true, paths: Vec::new() };
    walk.pipeline(condition);
    walk.paths
}

struct Walk {
    dot_is_payload: bool,
    paths: Vec<FieldPath>,
}

impl Walk {
    fn nodes(&mut self, nodes: &[Node]) {
        for node in nodes {
            match node {
                Node::Text(_) => {}
                Node::Output(pipeline) | Node::Set { value: pipeline, .. } => {
                    self.pipeline(pipeline);
                }
                Node::If { branches, otherwise } => {
                    for branch in branches {
                        self.pipeline(&branch.head);
                        self.nodes(&branch.body);
                    }
                    self.nodes(otherwise);
                }
                Node::With { branch, otherwise } | Node::Range { branch, otherwise, .. } => {
                    self.inside(branch);
                    self.nodes(otherwise);
                }
            }
        }
    }

    /// Walks a block in which `.` is another value.
    fn inside(&mut self, branch: &Branch) {
        self.pipeline(&branch.head);
        let outside = std::mem::replace(&mut self.dot_is_payload, false);
        self.nodes(&branch.body);
        self.dot_is_payload = outside;
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        for stage in std::iter::once(&pipeline.first).chain(&pipeline.rest) {
            match stage {
                Stage::Value(operand) => self.operand(operand),
                Stage::Call { arguments, .. } => {
                    for operand in arguments {
                        self.operand(operand);
                    }
                }
            }
        }
    }

    fn operand(&mut self, operand: &Operand) {
        let starts_at_payload = match &operand.kind {
            OperandKind::Dot => self.dot_is_payload,
            OperandKind::Variable(name) => name.is_empty(),
            OperandKind::Literal(_) => false,
            OperandKind::Group(pipeline) => {
                self.pipeline(pipeline);
                false
            }
        };
        if starts_at_payload && !operand.parts.is_empty() {
            let names = operand.parts.iter().map(|part| part.name.clone()).collect();
            self.paths.push(FieldPath { names, at: operand.at.clone() });
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Condition, Dialect, Template, TemplateFile};

    #[test]
    fn every_path_from_the_root_of_the_payload_is_listed() {
        for (text, expected) in [
            ("a {{.}} {{$x := .a.b}}{{$x.c}}", &["a.b"][..]),
            ("{{default .a \"b\"}}{{.c | len}}{{len (not .d)}}", &["a", "c", "d"]),
            (
                "{{if .a}}{{.b}}{{else if eq $.c 1}}{{.d}}{{else}}{{.e}}{{end}}",
                &["a", "b", "c", "d", "e"],
            ),
            (
                "{{with .a}}{{.x}}{{$.b}}{{if .x}}{{.x}}{{end}}{{else}}{{.c}}{{end}}{{.d}}",
                &["a", "b", "c", "d"],
            ),
            ("{{range .a}}{{.x}}{{end}}{{(index .b 0).x}}", &["a", "b"]),
        ] {
            let template =
                Template::parse(TemplateFile::new("HOOK.md", text), Dialect::Hook).unwrap();
            let paths = template.paths();
            let names: Vec<String> = paths.iter().map(|path| path.names.join(".")).collect();
            assert_eq!(names, expected, "{text}");
            for path in paths {
                assert!(text[path.at].trim_start_matches('$').starts_with('.'), "{text}");
            }
        }
        let condition =
            Condition::parse(TemplateFile::new("HOOK.md", "and .a (gt .b.c 1)")).unwrap();
        let names: Vec<String> =
            condition.paths().into_iter().map(|path| path.names.join(".")).collect();
        assert_eq!(names, ["a", "b.c"]);
    }
}
