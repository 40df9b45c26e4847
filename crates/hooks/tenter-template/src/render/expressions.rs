//! Evaluates pipelines, calls and operands.

use std::ops::Range;
use std::sync::Arc;

use serde_json::Value as Json;
use tenter_base::excerpt;
use tenter_protocol::Object;

use super::super::CommandOutput;
use super::super::ast::{Operand, OperandKind, Part, Pipeline, Stage};
use super::super::findings::COMMAND;
use super::super::functions::{self, Function};
use super::super::value::{Missing, Value};
use super::{BYTES_PER_STEP, Halt, MAX_COMMAND_CHARS, Renderer};

impl<'a> Renderer<'a> {
    pub(super) fn pipeline(&mut self, pipeline: &Pipeline) -> Result<Value<'a>, Halt> {
        let mut value = self.stage(&pipeline.first, None)?;
        for stage in &pipeline.rest {
            value = self.stage(stage, Some(value))?;
        }
        Ok(value)
    }

    fn stage(&mut self, stage: &Stage, piped: Option<Value<'a>>) -> Result<Value<'a>, Halt> {
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
                self.step(1 + values.iter().map(Value::size).sum::<usize>() / BYTES_PER_STEP, at)?;
                self.call(*function, values, is_piped, at)
            }
        }
    }

    /// Evaluates `and` and `or`: the first decisive value, else the last one. Later arguments are not evaluated.
    fn decide(
        &mut self,
        arguments: &[Operand],
        piped: Option<Value<'a>>,
        decisive: bool,
        at: &Range<usize>,
    ) -> Result<Value<'a>, Halt> {
        let mut last = Value::text("");
        for argument in arguments {
            self.step(1, at)?;
            last = self.operand(argument)?;
            if self.is_true(&last) == decisive {
                return Ok(last);
            }
        }
        Ok(piped.unwrap_or(last))
    }

    fn call(
        &mut self,
        function: Function,
        mut values: Vec<Value<'a>>,
        piped: bool,
        at: &Range<usize>,
    ) -> Result<Value<'a>, Halt> {
        match (function, values.as_slice()) {
            (Function::Default, _) => {}
            (Function::Not, [value]) => return Ok(Value::Boolean(!self.is_true(value))),
            (Function::Index, [of, name]) if of.fields().is_some() => {
                let name = self.output(name, at)?;
                return self.part(of.clone(), &[], &name, at);
            }
            _ => {
                for value in &mut values {
                    *value = self.present(value.clone())?;
                }
            }
        }
        if function == Function::Bash {
            return self.bash(&values, at);
        }
        functions::call(function, &values, piped)
            .map_err(|message| self.value_error(at, message, self.dialect.guide()))
    }

    pub(super) fn operand(&mut self, operand: &Operand) -> Result<Value<'a>, Halt> {
        let mut value = match &operand.kind {
            OperandKind::Literal(value) => value.clone(),
            OperandKind::Dot => self.dot.clone(),
            OperandKind::Variable(name) => self.variable(name, &operand.at)?,
            OperandKind::Group(pipeline) => self.pipeline(pipeline)?,
        };
        for (index, part) in operand.parts.iter().enumerate() {
            value = self.part(value, &operand.parts[..index], &part.name, &operand.at)?;
        }
        Ok(value)
    }

    fn variable(&mut self, name: &str, at: &Range<usize>) -> Result<Value<'a>, Halt> {
        if name.is_empty() {
            return Ok(self.root.clone());
        }
        match self.variables.iter().rfind(|(variable, _)| variable == name) {
            Some((_, value)) => Ok(value.clone()),
            None => Err(self.no_variable(name, at)),
        }
    }

    /// Returns the field `name` of a value at the path `before`. A field of a missing value is missing.
    fn part(
        &mut self,
        of: Value<'a>,
        before: &[Part],
        name: &str,
        at: &Range<usize>,
    ) -> Result<Value<'a>, Halt> {
        let path = || {
            let names = before.iter().map(|part| part.name.as_str());
            names.chain([name]).collect::<Vec<_>>().join(".")
        };
        if let Some(fields) = of.fields() {
            return Ok(match fields.get(name) {
                Some(value) => Value::Json(value),
                None => missing(path(), name, at, Some(fields)),
            });
        }
        match &of {
            Value::Json(Json::Null) => Ok(missing(path(), name, at, None)),
            Value::Missing(of) if self.dialect.has_parts() => {
                Ok(missing(format!("{}.{name}", of.path), name, at, None))
            }
            _ => {
                let of = self.present(of)?;
                let message = format!("this is {} and has no field `{name}`", of.kind());
                let field = self.dialect.value();
                let help = format!("inside `with` and `range`, write {field} as `$.{name}`");
                Err(self.value_error(at, message, &help))
            }
        }
    }

    fn bash(&mut self, values: &[Value<'a>], at: &Range<usize>) -> Result<Value<'a>, Halt> {
        let mut words = Vec::with_capacity(values.len());
        for value in values {
            words.push(self.output(value, at)?);
        }
        let Some((program, args)) = words.split_first() else { return Err(Halt::Action) };
        // The output would not be used.
        if self.findings.has_errors() {
            return Err(Halt::Action);
        }
        let CommandOutput { text, failure } = self.shell.run(program, args);
        let Some(failure) = failure else { return Ok(Value::text(&text)) };
        let command = excerpt::chars(&words.join(" "), MAX_COMMAND_CHARS).into_owned();
        let help = "the text contains this message instead of the output";
        self.findings.warning(COMMAND, at, format!("`{command}` {failure}"), help);
        let space = if text.is_empty() { "" } else { "\n" };
        Ok(Value::text(&format!("{text}{space}[bash: {command} {failure}]")))
    }
}

/// Returns a missing value.
fn missing<'v>(
    path: String,
    name: &str,
    at: &Range<usize>,
    inside: Option<&'v Object>,
) -> Value<'v> {
    Value::Missing(Arc::new(Missing { path, name: name.to_owned(), at: at.clone(), inside }))
}
