//! Renders a template; `expressions` evaluates expressions. An action with an error is reported and left out, and rendering
//! continues to find further errors.

mod expressions;

use std::ops::Range;

use serde_json::Value as Json;
use tenter_base::nearest;
use tenter_protocol::{Diagnostic, Object};

use super::ast::{Branch, Node, Pipeline, Variable};
use super::findings::{Findings, LIMIT, MISSING, UNDECLARED, VALUE};
use super::value::{Missing, Value};
use super::{
    Dialect, Inputs, MAX_OUTPUT_BYTES, MAX_RANGE_ITEMS, NoShell, Rendered, Shell, TemplateFile,
};

/// Maximum number of steps of one rendering. Every node, call and item is a step, and so is every piece of a long text.
const MAX_STEPS: usize = 1_000_000;
/// Number of bytes of text per step.
const BYTES_PER_STEP: usize = 64;
/// Maximum number of characters of a failed command in the text.
const MAX_COMMAND_CHARS: usize = 120;

/// Renders `nodes`, or returns all errors.
pub(super) fn render(
    file: &TemplateFile,
    dialect: Dialect,
    nodes: &[Node],
    inputs: &Inputs<'_>,
    shell: &dyn Shell,
) -> Result<Rendered, Vec<Diagnostic>> {
    let mut renderer = Renderer::new(file, dialect, inputs, shell);
    // The reason for ending early is already reported.
    let _ = renderer.nodes(nodes);
    let has_errors = renderer.findings.has_errors();
    let diagnostics = renderer.findings.into_diagnostics();
    if has_errors {
        Err(diagnostics)
    } else {
        Ok(Rendered { text: renderer.text, warnings: diagnostics })
    }
}

/// Evaluates the condition of a hook, or returns all errors.
pub(super) fn holds(
    file: &TemplateFile,
    condition: &Pipeline,
    inputs: &Inputs<'_>,
) -> Result<bool, Vec<Diagnostic>> {
    let mut renderer = Renderer::new(file, Dialect::Hook, inputs, &NoShell);
    match renderer.pipeline(condition) {
        Ok(value) => Ok(value.is_true()),
        Err(_) => Err(renderer.findings.into_diagnostics()),
    }
}

/// Rendering is interrupted; the reason is already reported.
enum Halt {
    /// Only the current action is left out.
    Action,
    /// Rendering ends.
    All,
}

struct Renderer<'a> {
    file: &'a TemplateFile,
    dialect: Dialect,
    declared_arguments: &'a [&'a str],
    /// `$`
    root: Value<'a>,
    shell: &'a dyn Shell,
    text: String,
    /// The innermost variable is last.
    variables: Vec<(String, Value<'a>)>,
    dot: Value<'a>,
    steps: usize,
    findings: Findings<'a>,
}

impl<'a> Renderer<'a> {
    fn new(
        file: &'a TemplateFile,
        dialect: Dialect,
        inputs: &Inputs<'a>,
        shell: &'a dyn Shell,
    ) -> Self {
        let root = match inputs.values {
            Json::Object(arguments) if dialect == Dialect::Recipe => Value::Arguments(arguments),
            payload => Value::Json(payload),
        };
        Self {
            file,
            dialect,
            declared_arguments: inputs.declared_arguments,
            root: root.clone(),
            shell,
            text: String::new(),
            variables: Vec::new(),
            dot: root,
            steps: 0,
            findings: Findings::new(file),
        }
    }

    /// Renders nodes. Variables that they declare go out of scope afterwards.
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
                let text = self.output(&value, &pipeline.at)?;
                self.write(&text, &pipeline.at)
            }
            Node::Set { variable, declares, value } => {
                let value = self.pipeline(value)?;
                self.set(variable, *declares, value)
            }
            Node::If { branches, otherwise } => self.condition(branches, otherwise),
            Node::With { branch, otherwise } => {
                let value = self.pipeline(&branch.head)?;
                if self.is_true(&value) {
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
        if self.text.len() + text.len() > MAX_OUTPUT_BYTES {
            let message = format!("the text gets longer than {MAX_OUTPUT_BYTES} bytes here");
            return Err(self.over_limit(
                at,
                message,
                "shorten the output: the model reads all of it",
            ));
        }
        self.text.push_str(text);
        Ok(())
    }

    fn over_limit(&mut self, at: &Range<usize>, message: String, help: &str) -> Halt {
        self.findings.error(LIMIT, at, message, help);
        Halt::All
    }

    fn step(&mut self, steps: usize, at: &Range<usize>) -> Result<(), Halt> {
        self.steps += steps;
        if self.steps <= MAX_STEPS {
            return Ok(());
        }
        let message = format!("this template takes more than {MAX_STEPS} steps");
        Err(self.over_limit(at, message, "check for nested loops"))
    }

    /// Reports a value error, which leaves out the action.
    fn value_error(&mut self, at: &Range<usize>, message: impl Into<String>, help: &str) -> Halt {
        self.findings.error(VALUE, at, message, help);
        if self.findings.is_full() { Halt::All } else { Halt::Action }
    }

    fn output(&mut self, value: &Value<'a>, at: &Range<usize>) -> Result<String, Halt> {
        let value = self.present(value.clone())?;
        if let Some(text) = value.to_output() {
            return Ok(text.into_owned());
        }
        let message = format!("this is {} and cannot be written", value.kind());
        let help = match value {
            Value::Json(_) => "provide a fallback, as in `default .field \"…\"`",
            _ => "loop over it with `{{range …}}`",
        };
        Err(self.value_error(at, message, help))
    }

    /// Returns the value, or an error if it is missing.
    fn present(&mut self, value: Value<'a>) -> Result<Value<'a>, Halt> {
        let Value::Missing(missing) = &value else { return Ok(value) };
        let Missing { path, at, .. } = missing.as_ref();
        let hint = self
            .nearest_name(missing)
            .map(|near| format!("; did you mean `{near}`?"))
            .unwrap_or_default();
        let (message, help) = match self.dialect {
            Dialect::Recipe => (
                format!("the argument `{path}` was not given"),
                format!("pass `--arg {path}=…`, or write `(default .{path} \"…\")`{hint}"),
            ),
            Dialect::Hook => (
                format!("the payload has no `{path}`"),
                format!("write `(default .{path} \"…\")` where it may be missing{hint}"),
            ),
        };
        self.findings.error(MISSING, at, message, help);
        Err(if self.findings.is_full() { Halt::All } else { Halt::Action })
    }

    /// Returns the known name nearest to a missing one.
    fn nearest_name(&self, missing: &Missing<'a>) -> Option<&'a str> {
        let keys = missing.inside?.keys().map(String::as_str);
        let others = keys.chain(self.declared_arguments.iter().copied());
        nearest(&missing.name, others.filter(|other| *other != missing.name))
    }

    /// Returns true if a value is true in a condition. Warns about undeclared arguments of a recipe; the fields of a
    /// payload depend on the event.
    fn is_true(&mut self, value: &Value<'a>) -> bool {
        if let Value::Missing(missing) = value
            && self.dialect == Dialect::Recipe
            && !self.declared_arguments.contains(&missing.name.as_str())
        {
            let Missing { name, at, .. } = missing.as_ref();
            let message =
                format!("the argument `{name}` is neither given nor declared, so this is false");
            let help = match self.nearest_name(missing) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("declare it in the front matter, as `{name}:` below `arguments:`"),
            };
            self.findings.warning(UNDECLARED, at, message, help);
        }
        value.is_true()
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
        self.value_error(
            at,
            message,
            "declare it with `{{$name := …}}`, outside of any block that ends before this",
        )
    }

    fn condition(&mut self, branches: &[Branch], otherwise: &[Node]) -> Result<(), Halt> {
        let outside = self.variables.len();
        for branch in branches {
            let value = self.pipeline(&branch.head)?;
            let is_true = self.is_true(&value);
            // The variable is also in scope in the `else` branches.
            if let Some(variable) = &branch.variable {
                self.variables.push((variable.name.clone(), value));
            }
            if is_true {
                self.nodes(&branch.body)?;
                self.variables.truncate(outside);
                return Ok(());
            }
        }
        self.nodes(otherwise)?;
        self.variables.truncate(outside);
        Ok(())
    }

    /// Renders the body of a `with` or a `range`, where `.` is `dot`.
    fn inside(
        &mut self,
        branch: &Branch,
        index: Option<(&Variable, Value<'a>)>,
        dot: Value<'a>,
        value: Value<'a>,
    ) -> Result<(), Halt> {
        let outside = self.variables.len();
        let outer_dot = std::mem::replace(&mut self.dot, dot);
        if let Some((variable, value)) = index {
            self.variables.push((variable.name.clone(), value));
        }
        if let Some(variable) = &branch.variable {
            self.variables.push((variable.name.clone(), value));
        }
        let result = self.nodes(&branch.body);
        self.variables.truncate(outside);
        self.dot = outer_dot;
        result
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
        if items.len() > MAX_RANGE_ITEMS {
            let message =
                format!("the list has {} items; the limit is {MAX_RANGE_ITEMS}", items.len());
            return Err(self.over_limit(
                at,
                message,
                "shorten the output: the model reads all of it",
            ));
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

    /// Returns the iterations of a loop: indexes and items of a list, or names and values of an object.
    fn items(
        &mut self,
        value: Value<'a>,
        at: &Range<usize>,
    ) -> Result<Vec<(Value<'a>, Value<'a>)>, Halt> {
        if let Some(fields) = value.fields() {
            return Ok(pairs(fields));
        }
        let indexes = (0..).map(Value::Number);
        match self.present(value)? {
            Value::List(items) => Ok(indexes.zip(items.iter().cloned()).collect()),
            Value::Json(Json::Array(items)) => {
                Ok(indexes.zip(items.iter().map(Value::Json)).collect())
            }
            other => {
                let message = format!("this is {}, but `range` needs a list", other.kind());
                let help = "create a list with `lines .text` or `split \",\" .text`";
                Err(self.value_error(at, message, help))
            }
        }
    }
}

/// Returns names and values, sorted by name.
fn pairs(fields: &Object) -> Vec<(Value<'_>, Value<'_>)> {
    let mut pairs: Vec<_> = fields.iter().collect();
    pairs.sort_by_key(|(name, _)| *name);
    pairs.into_iter().map(|(name, value)| (Value::text(name), Value::Json(value))).collect()
}
