//! Fills in a template. What cannot be filled in is told and left out, and the rest is looked at all the same.

use std::ops::Range;
use std::sync::Arc;

use tenter_protocol::manifest::front_matter::nearest;

use super::ast::{Branch, Node, Operand, OperandKind, Pipeline, Stage, Variable};
use super::findings::{COMMAND, Findings, LIMIT, MISSING, UNDECLARED, VALUE};
use super::functions::{self, Function};
use super::value::{Missing, Value};
use super::{CommandOutput, File, Inputs, LONGEST_OUTPUT, LONGEST_RANGE, Rendered, Shell};

/// Steps of one rendering at most; every node, call and item is one, and so is every piece of a long text.
const STEPS: usize = 1_000_000;
/// Bytes of text that are one step.
const PIECE: usize = 64;
/// Letters of a command that the text shows where the command failed.
const SHOWN: usize = 120;

/// The text of `nodes`, or everything that is wrong.
pub(super) fn render(
    file: &File,
    nodes: &[Node],
    inputs: &Inputs<'_>,
    shell: &dyn Shell,
) -> Result<Rendered, Vec<tenter_protocol::Diagnostic>> {
    let mut renderer = Renderer {
        file,
        inputs,
        shell,
        text: String::new(),
        variables: Vec::new(),
        dot: Value::Arguments,
        steps: 0,
        findings: Findings::new(file),
    };
    // Whatever ends it early has been told.
    let _ = renderer.nodes(nodes);
    let broken = renderer.findings.has_errors();
    let found = renderer.findings.into_diagnostics();
    if broken { Err(found) } else { Ok(Rendered { text: renderer.text, warnings: found }) }
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
    inputs: &'a Inputs<'a>,
    shell: &'a dyn Shell,
    text: String,
    /// The innermost last.
    variables: Vec<(String, Value)>,
    dot: Value,
    steps: usize,
    findings: Findings<'a>,
}

impl Renderer<'_> {
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

    fn shown(&mut self, value: &Value, at: &Range<usize>) -> Result<String, Halt> {
        let value = self.there(value.clone())?;
        value.as_text().ok_or_else(|| {
            let message = format!("this is {} and cannot be shown", value.kind());
            self.refuse(at, message, "go through it with `{{range …}}`")
        })
    }

    /// The value, unless it is an argument that was not given.
    fn there(&mut self, value: Value) -> Result<Value, Halt> {
        let Value::Missing(missing) = &value else { return Ok(value) };
        let Missing { name, at } = missing.as_ref();
        let known =
            self.near(name).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        let help =
            format!("give it with `--arg {name}=…`, or write `(default .{name} \"…\")`{known}");
        self.findings.error(MISSING, at, format!("the argument `{name}` was not given"), help);
        Err(if self.findings.are_enough() { Halt::All } else { Halt::Action })
    }

    fn near(&self, name: &str) -> Option<&str> {
        let others = self.inputs.values.keys().chain(&self.inputs.declared).copied();
        nearest(name, &others.filter(|other| *other != name).collect::<Vec<_>>())
    }

    /// Whether a condition holds. To ask for an argument is no mistake, unless nobody ever heard of it.
    fn holds(&mut self, value: &Value) -> bool {
        if let Value::Missing(missing) = value
            && !self.inputs.declared.contains(&missing.name.as_str())
        {
            let Missing { name, at } = missing.as_ref();
            let message = format!(
                "the argument `{name}` is neither given nor declared, so this does not hold"
            );
            let help = match self.near(name) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("declare it in the front matter, as `{name}:` below `arguments:`"),
            };
            self.findings.warning(UNDECLARED, at, message, help);
        }
        value.holds()
    }

    fn set(&mut self, variable: &Variable, declares: bool, value: Value) -> Result<(), Halt> {
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
        index: Option<(&Variable, Value)>,
        dot: Value,
        value: Value,
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

    /// What a loop goes through: positions and items of a list, names and values of all arguments.
    fn items(&mut self, value: Value, at: &Range<usize>) -> Result<Vec<(Value, Value)>, Halt> {
        match self.there(value)? {
            Value::List(items) => {
                let positions = (0..).map(Value::Number);
                Ok(positions.zip(items.iter().cloned()).collect())
            }
            Value::Arguments => {
                let values = self.inputs.values.iter();
                Ok(values.map(|(name, value)| (Value::text(name), Value::text(value))).collect())
            }
            other => {
                let message = format!("this is {}, and `range` goes through a list", other.kind());
                let help = "make one with `lines .text` or `split \",\" .text`";
                Err(self.refuse(at, message, help))
            }
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) -> Result<Value, Halt> {
        let mut value = self.stage(&pipeline.first, None)?;
        for stage in &pipeline.rest {
            value = self.stage(stage, Some(value))?;
        }
        Ok(value)
    }

    fn stage(&mut self, stage: &Stage, piped: Option<Value>) -> Result<Value, Halt> {
        match stage {
            Stage::Value(operand) => self.operand(operand),
            Stage::Call { at, function: Function::And, arguments } => {
                self.decide(arguments, piped, false, at)
            }
            Stage::Call { at, function: Function::Or, arguments } => {
                self.decide(arguments, piped, true, at)
            }
            Stage::Call { at, function, arguments } => {
                let is_piped = piped.is_some();
                let mut values = Vec::with_capacity(arguments.len() + 1);
                for argument in arguments {
                    values.push(self.operand(argument)?);
                }
                values.extend(piped);
                self.step(1 + values.iter().map(Value::size).sum::<usize>() / PIECE, at)?;
                self.call(*function, values, is_piped, at)
            }
        }
    }

    /// `and` and `or`: the first value that decides, else the last; what comes after it is not looked at.
    fn decide(
        &mut self,
        arguments: &[Operand],
        piped: Option<Value>,
        decisive: bool,
        at: &Range<usize>,
    ) -> Result<Value, Halt> {
        let mut last = Value::text("");
        for argument in arguments {
            self.step(1, at)?;
            last = self.operand(argument)?;
            if self.holds(&last) == decisive {
                return Ok(last);
            }
        }
        Ok(piped.unwrap_or(last))
    }

    fn call(
        &mut self,
        function: Function,
        mut values: Vec<Value>,
        piped: bool,
        at: &Range<usize>,
    ) -> Result<Value, Halt> {
        match (function, values.as_slice()) {
            (Function::Default, _) => {}
            (Function::Not, [value]) => return Ok(Value::Boolean(!self.holds(value))),
            (Function::Index, [Value::Arguments, name]) => {
                let name = self.shown(name, at)?;
                return Ok(self.argument(&name, at));
            }
            _ => {
                for value in &mut values {
                    *value = self.there(value.clone())?;
                }
            }
        }
        if function == Function::Bash {
            return self.bash(&values, at);
        }
        functions::call(function, &values, piped)
            .map_err(|message| self.refuse(at, message, "see docs/recipes.md"))
    }

    fn operand(&mut self, operand: &Operand) -> Result<Value, Halt> {
        let at = &operand.at;
        match &operand.kind {
            OperandKind::Literal(value) => Ok(value.clone()),
            OperandKind::Dot => Ok(self.dot.clone()),
            OperandKind::Variable(name) => self.variable(name, at),
            OperandKind::Field { of: None, name } => self.field(self.dot.clone(), name, at),
            OperandKind::Field { of: Some(variable), name } => {
                let of = self.variable(variable, at)?;
                self.field(of, name, at)
            }
            OperandKind::Group(pipeline) => self.pipeline(pipeline),
        }
    }

    fn variable(&mut self, name: &str, at: &Range<usize>) -> Result<Value, Halt> {
        if name.is_empty() {
            return Ok(Value::Arguments);
        }
        match self.variables.iter().rfind(|(known, _)| known == name) {
            Some((_, value)) => Ok(value.clone()),
            None => Err(self.no_variable(name, at)),
        }
    }

    fn field(&mut self, of: Value, name: &str, at: &Range<usize>) -> Result<Value, Halt> {
        if of == Value::Arguments {
            return Ok(self.argument(name, at));
        }
        let of = self.there(of)?;
        let message = format!("this is {} and has no part `{name}`", of.kind());
        Err(self.refuse(
            at,
            message,
            &format!("inside of `with` and `range` an argument is written `$.{name}`"),
        ))
    }

    fn argument(&self, name: &str, at: &Range<usize>) -> Value {
        match self.inputs.values.get(name) {
            Some(value) => Value::text(value),
            None => Value::Missing(Arc::new(Missing { name: name.to_owned(), at: at.clone() })),
        }
    }

    fn bash(&mut self, values: &[Value], at: &Range<usize>) -> Result<Value, Halt> {
        let mut words = Vec::with_capacity(values.len());
        for value in values {
            words.push(self.shown(value, at)?);
        }
        let Some((program, args)) = words.split_first() else { return Err(Halt::Action) };
        // Nobody will see what it prints.
        if self.findings.has_errors() {
            return Err(Halt::Action);
        }
        let CommandOutput { text, failure } = self.shell.run(program, args);
        let Some(failure) = failure else { return Ok(Value::text(&text)) };
        let command: String = words.join(" ").chars().take(SHOWN).collect();
        let help = "the text says so in its place, where the model reads it";
        self.findings.warning(COMMAND, at, format!("`{command}` {failure}"), help);
        let space = if text.is_empty() { "" } else { "\n" };
        Ok(Value::text(&format!("{text}{space}[bash: {command} {failure}]")))
    }
}
