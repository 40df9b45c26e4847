//! Fills in a template; `expressions` knows what values come to. What cannot be filled in is told and left out, and the rest
//! is looked at all the same.

mod expressions;

use std::ops::Range;

use serde_json::Value as Json;
use tenter_base::nearest;
use tenter_protocol::{Diagnostic, Object};

use super::ast::{Branch, Node, Pipeline, Variable};
use super::findings::{Findings, LIMIT, MISSING, UNDECLARED, VALUE};
use super::value::{Missing, Value};
use super::{Dialect, File, Inputs, LONGEST_OUTPUT, LONGEST_RANGE, NoShell, Rendered, Shell};

/// Steps of one rendering at most; every node, call and item is one, and so is every piece of a long text.
const STEPS: usize = 1_000_000;
/// Bytes of text that are one step.
const PIECE: usize = 64;
/// Letters of a command that the text shows where the command failed.
const SHOWN: usize = 120;

/// The text of `nodes`, or everything that is wrong.
pub(super) fn render(
    file: &File,
    dialect: Dialect,
    nodes: &[Node],
    inputs: &Inputs<'_>,
    shell: &dyn Shell,
) -> Result<Rendered, Vec<Diagnostic>> {
    let mut renderer = Renderer::new(file, dialect, inputs, shell);
    // Whatever ends it early has been told.
    let _ = renderer.nodes(nodes);
    let broken = renderer.findings.has_errors();
    let found = renderer.findings.into_diagnostics();
    if broken { Err(found) } else { Ok(Rendered { text: renderer.text, warnings: found }) }
}

/// Whether a hook's condition holds, or everything that is wrong.
pub(super) fn holds(
    file: &File,
    condition: &Pipeline,
    inputs: &Inputs<'_>,
) -> Result<bool, Vec<Diagnostic>> {
    let mut renderer = Renderer::new(file, Dialect::Hook, inputs, &NoShell);
    match renderer.pipeline(condition) {
        Ok(value) => Ok(value.holds()),
        Err(_) => Err(renderer.findings.into_diagnostics()),
    }
}

/// What ends some work before its time; it has been told.
enum Halt {
    /// The action is left out.
    Action,
    /// Everything ends.
    All,
}

struct Renderer<'a> {
    file: &'a File,
    dialect: Dialect,
    declared: &'a [&'a str],
    /// `$`
    root: Value<'a>,
    shell: &'a dyn Shell,
    text: String,
    /// The innermost last.
    variables: Vec<(String, Value<'a>)>,
    dot: Value<'a>,
    steps: usize,
    findings: Findings<'a>,
}

impl<'a> Renderer<'a> {
    fn new(file: &'a File, dialect: Dialect, inputs: &Inputs<'a>, shell: &'a dyn Shell) -> Self {
        let root = match inputs.values {
            Json::Object(arguments) if dialect == Dialect::Recipe => Value::Arguments(arguments),
            payload => Value::Given(payload),
        };
        Self {
            file,
            dialect,
            declared: inputs.declared,
            root: root.clone(),
            shell,
            text: String::new(),
            variables: Vec::new(),
            dot: root,
            steps: 0,
            findings: Findings::new(file),
        }
    }

    /// Shows nodes; variables that they make end with them.
    fn nodes(&mut self, nodes: &[Node]) -> Result<(), Halt> {
        let outside = self.variables.len();
        for node in nodes {
            if let Err(Halt::All) = self.node(node) {
                return Err(Halt::All);
            }
        }
        self.variables.truncate(outside);
        Ok(())
    }

    fn node(&mut self, node: &Node) -> Result<(), Halt> {
        match node {
            Node::Text(at) => {
                let file = self.file;
                self.step(1, at)?;
                self.write(&file.text[at.clone()], at)
            }
            Node::Output(pipeline) => {
                let value = self.pipeline(pipeline)?;
                let text = self.shown(&value, &pipeline.at)?;
                self.write(&text, &pipeline.at)
            }
            Node::Set { variable, declares, value } => {
                let value = self.pipeline(value)?;
                self.set(variable, *declares, value)
            }
            Node::If { branches, otherwise } => self.condition(branches, otherwise),
            Node::With { branch, otherwise } => {
                let value = self.pipeline(&branch.head)?;
                if self.holds(&value) {
                    self.inside(branch, None, value.clone(), value)
                } else {
                    self.nodes(otherwise)
                }
            }
            Node::Range { index, branch, otherwise } => {
                self.range(index.as_ref(), branch, otherwise)
            }
        }
    }

    fn write(&mut self, text: &str, at: &Range<usize>) -> Result<(), Halt> {
        if self.text.len() + text.len() > LONGEST_OUTPUT {
            let message = format!("the text becomes longer than {LONGEST_OUTPUT} bytes here");
            return Err(self.too_much(at, message, "ask for less: a model reads all of it"));
        }
        self.text.push_str(text);
        Ok(())
    }

    fn too_much(&mut self, at: &Range<usize>, message: String, help: &str) -> Halt {
        self.findings.error(LIMIT, at, message, help);
        Halt::All
    }

    fn step(&mut self, steps: usize, at: &Range<usize>) -> Result<(), Halt> {
        self.steps += steps;
        if self.steps <= STEPS {
            return Ok(());
        }
        let message = format!("this template takes more than {STEPS} steps");
        Err(self.too_much(at, message, "loops in loops are the usual reason"))
    }

    /// Something about a value that keeps an action from being shown.
    fn refuse(&mut self, at: &Range<usize>, message: impl Into<String>, help: &str) -> Halt {
        self.findings.error(VALUE, at, message, help);
        if self.findings.are_enough() { Halt::All } else { Halt::Action }
    }

    fn shown(&mut self, value: &Value<'a>, at: &Range<usize>) -> Result<String, Halt> {
        let value = self.there(value.clone())?;
        if let Some(text) = value.shown() {
            return Ok(text.into_owned());
        }
        let message = format!("this is {} and cannot be shown", value.kind());
        let help = match value {
            Value::Given(_) => "write what to show instead, as in `default .field \"…\"`",
            _ => "go through it with `{{range …}}`",
        };
        Err(self.refuse(at, message, help))
    }

    /// The value, unless it is one that is not there.
    fn there(&mut self, value: Value<'a>) -> Result<Value<'a>, Halt> {
        let Value::Missing(missing) = &value else { return Ok(value) };
        let Missing { path, at, .. } = missing.as_ref();
        let known =
            self.near(missing).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        let (message, help) = match self.dialect {
            Dialect::Recipe => (
                format!("the argument `{path}` was not given"),
                format!("give it with `--arg {path}=…`, or write `(default .{path} \"…\")`{known}"),
            ),
            Dialect::Hook => (
                format!("the payload has no `{path}`"),
                format!("write `(default .{path} \"…\")` where it may be missing{known}"),
            ),
        };
        self.findings.error(MISSING, at, message, help);
        Err(if self.findings.are_enough() { Halt::All } else { Halt::Action })
    }

    /// What was probably meant by a name that is not there.
    fn near(&self, missing: &Missing<'a>) -> Option<&'a str> {
        let known = missing.inside?.keys().map(String::as_str);
        let others = known.chain(self.declared.iter().copied());
        nearest(&missing.name, others.filter(|other| *other != missing.name))
    }

    /// Whether a condition holds. To ask for a value is no mistake, unless nobody ever heard of it: a payload's fields come
    /// and go with the event, but a recipe declares its arguments.
    fn holds(&mut self, value: &Value<'a>) -> bool {
        if let Value::Missing(missing) = value
            && self.dialect == Dialect::Recipe
            && !self.declared.contains(&missing.name.as_str())
        {
            let Missing { name, at, .. } = missing.as_ref();
            let message = format!(
                "the argument `{name}` is neither given nor declared, so this does not hold"
            );
            let help = match self.near(missing) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("declare it in the front matter, as `{name}:` below `arguments:`"),
            };
            self.findings.warning(UNDECLARED, at, message, help);
        }
        value.holds()
    }

    fn set(&mut self, variable: &Variable, declares: bool, value: Value<'a>) -> Result<(), Halt> {
        if declares {
            self.variables.push((variable.name.clone(), value));
            return Ok(());
        }
        match self.variables.iter_mut().rfind(|(name, _)| *name == variable.name) {
            Some((_, held)) => *held = value,
            None => return Err(self.no_variable(&variable.name, &variable.at)),
        }
        Ok(())
    }

    fn no_variable(&mut self, name: &str, at: &Range<usize>) -> Halt {
        let message = format!("there is no variable `${name}` here");
        self.refuse(
            at,
            message,
            "make it with `{{$name := …}}`, outside of the block where it is to last longer",
        )
    }

    fn condition(&mut self, branches: &[Branch], otherwise: &[Node]) -> Result<(), Halt> {
        let outside = self.variables.len();
        for branch in branches {
            let value = self.pipeline(&branch.head)?;
            let holds = self.holds(&value);
            // It can be used in the `else`s as well.
            if let Some(variable) = &branch.variable {
                self.variables.push((variable.name.clone(), value));
            }
            if holds {
                self.nodes(&branch.body)?;
                self.variables.truncate(outside);
                return Ok(());
            }
        }
        self.nodes(otherwise)?;
        self.variables.truncate(outside);
        Ok(())
    }

    /// The body of a `with` or a `range`, where `.` is `dot`.
    fn inside(
        &mut self,
        branch: &Branch,
        index: Option<(&Variable, Value<'a>)>,
        dot: Value<'a>,
        value: Value<'a>,
    ) -> Result<(), Halt> {
        let outside = self.variables.len();
        let before = std::mem::replace(&mut self.dot, dot);
        if let Some((variable, value)) = index {
            self.variables.push((variable.name.clone(), value));
        }
        if let Some(variable) = &branch.variable {
            self.variables.push((variable.name.clone(), value));
        }
        let done = self.nodes(&branch.body);
        self.variables.truncate(outside);
        self.dot = before;
        done
    }

    fn range(
        &mut self,
        index: Option<&Variable>,
        branch: &Branch,
        otherwise: &[Node],
    ) -> Result<(), Halt> {
        let at = &branch.head.at;
        let value = self.pipeline(&branch.head)?;
        let items = self.items(value, at)?;
        if items.len() > LONGEST_RANGE {
            let message =
                format!("this list has {} items; {LONGEST_RANGE} are the most", items.len());
            return Err(self.too_much(at, message, "ask for less: a model reads all of it"));
        }
        if items.is_empty() {
            return self.nodes(otherwise);
        }
        for (key, item) in items {
            self.step(1, at)?;
            self.inside(branch, index.map(|index| (index, key)), item.clone(), item)?;
        }
        Ok(())
    }

    /// What a loop goes through: positions and items of a list, names and values of an object.
    fn items(
        &mut self,
        value: Value<'a>,
        at: &Range<usize>,
    ) -> Result<Vec<(Value<'a>, Value<'a>)>, Halt> {
        if let Some(fields) = value.fields() {
            return Ok(pairs(fields));
        }
        let positions = (0..).map(Value::Number);
        match self.there(value)? {
            Value::List(items) => Ok(positions.zip(items.iter().cloned()).collect()),
            Value::Given(Json::Array(items)) => {
                Ok(positions.zip(items.iter().map(Value::Given)).collect())
            }
            other => {
                let message = format!("this is {}, and `range` goes through a list", other.kind());
                let help = "make one with `lines .text` or `split \",\" .text`";
                Err(self.refuse(at, message, help))
            }
        }
    }
}

/// Names and values, in the order of the names.
fn pairs(fields: &Object) -> Vec<(Value<'_>, Value<'_>)> {
    let mut pairs: Vec<_> = fields.iter().collect();
    pairs.sort_by_key(|(name, _)| *name);
    pairs.into_iter().map(|(name, value)| (Value::text(name), Value::Given(value))).collect()
}
