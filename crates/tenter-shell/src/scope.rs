//! Variables and the working directory, as far as they are known at a place in the text.

use std::collections::{HashMap, HashSet};

use crate::field::Field;

/// A variable's value. `None` means that it is not set.
type Value = Option<Field>;

/// Layers of changes: a subshell's are dropped, those of a branch become uncertain.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    layers: Vec<Layer>,
}

#[derive(Debug, Default)]
struct Layer {
    variables: HashMap<String, Value>,
    cwd: Cwd,
    /// `$1`, `$2`, …, if they are known here.
    positional: Option<Vec<Field>>,
    /// The variables that end with the layer.
    locals: HashSet<String>,
    /// Functions start here: `local` refers to this layer.
    is_function: bool,
}

/// The working directory in a layer.
#[derive(Debug, Default)]
enum Cwd {
    #[default]
    Unchanged,
    Unknown,
    Known(String),
}

/// How the changes of a layer are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// A subshell.
    Nothing,
    /// The body of a function.
    All,
    /// A command that may not run. Its change of directory counts: scripts that continue after a failed `cd` are rare.
    Variables,
    /// A branch that may not run.
    Uncertain,
}

impl Cwd {
    /// A longer path than any system has is not known.
    const LONGEST: usize = 1024;

    fn of(cwd: Option<String>) -> Self {
        cwd.filter(|cwd| cwd.len() <= Self::LONGEST).map_or(Self::Unknown, Self::Known)
    }
}

impl Scope {
    /// Maximum number of variables in a layer.
    const VARIABLES: usize = 1024;

    pub(crate) fn new(cwd: Option<String>) -> Self {
        Self { layers: vec![Layer { cwd: Cwd::of(cwd), ..Layer::default() }] }
    }

    pub(crate) fn open(&mut self) {
        self.layers.push(Layer::default());
    }

    /// Opens the layer of a function or of a script with arguments.
    pub(crate) fn open_call(&mut self, positional: Option<Vec<Field>>) {
        self.layers.push(Layer { positional, is_function: true, ..Layer::default() });
    }

    /// Ends the last layer.
    pub(crate) fn close(&mut self, keep: Keep) {
        if self.layers.len() < 2 {
            return;
        }
        let Some(layer) = self.layers.pop() else { return };
        if keep == Keep::Nothing {
            return;
        }
        for (name, value) in layer.variables {
            if layer.locals.contains(&name) {
                continue;
            }
            let is_same = keep == Keep::All || self.get(&name) == Some(&value);
            let value = if is_same { value } else { Some(Field::unknown(format!("${name}"))) };
            self.set(&name, value);
        }
        let cwd = match layer.cwd {
            Cwd::Unchanged => return,
            Cwd::Unknown => None,
            Cwd::Known(cwd) => Some(cwd),
        };
        let is_same = keep != Keep::Uncertain || cwd.as_deref() == self.cwd();
        self.set_cwd(if is_same { cwd } else { None });
    }

    /// The value of a variable. `None` if nothing is known about it.
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.layers.iter().rev().find_map(|layer| layer.variables.get(name))
    }

    pub(crate) fn set(&mut self, name: &str, value: Value) {
        let Some(layer) = self.layers.last_mut() else { return };
        if layer.variables.len() < Self::VARIABLES || layer.variables.contains_key(name) {
            layer.variables.insert(name.to_owned(), value);
        }
    }

    /// Makes a variable end with the function.
    pub(crate) fn localize(&mut self, name: &str) {
        if let Some(layer) = self.layers.iter_mut().rev().find(|layer| layer.is_function) {
            layer.locals.insert(name.to_owned());
        }
    }

    pub(crate) fn cwd(&self) -> Option<&str> {
        let cwds = self.layers.iter().rev().map(|layer| &layer.cwd);
        match cwds.into_iter().find(|cwd| !matches!(cwd, Cwd::Unchanged))? {
            Cwd::Known(cwd) => Some(cwd),
            Cwd::Unchanged | Cwd::Unknown => None,
        }
    }

    pub(crate) fn set_cwd(&mut self, cwd: Option<String>) {
        if let Some(layer) = self.layers.last_mut() {
            layer.cwd = Cwd::of(cwd);
        }
    }

    pub(crate) fn positional(&self) -> Option<&[Field]> {
        self.layers.iter().rev().find_map(|layer| layer.positional.as_deref())
    }

    pub(crate) fn set_positional(&mut self, fields: Vec<Field>) {
        if let Some(layer) = self.layers.last_mut() {
            layer.positional = Some(fields);
        }
    }
}
