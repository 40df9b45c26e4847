//! Variables and the working directory, as far as they are known at a place in the text.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::field::Field;

/// A variable's value. `None` means that it is not set.
type Value = Option<Field>;

/// Layers of changes: a subshell's changes are dropped, a branch's changes become uncertain.
#[derive(Debug, Default)]
pub(crate) struct ShellScope {
    layers: Vec<ScopeLayer>,
    /// `set -a`: every new value is exported.
    exports_all: bool,
    /// A limit was reached, so that variables are missing.
    is_limited: bool,
}

#[derive(Debug, Default)]
struct ScopeLayer {
    variables: HashMap<String, Value>,
    arrays: HashMap<String, Vec<Field>>,
    cwd: Cwd,
    /// `$1`, `$2`, …, if they are known here.
    positional: Option<Vec<Field>>,
    /// The variables that end with the layer.
    locals: HashSet<String>,
    /// Functions start here: `local` refers to this layer.
    is_function: bool,
    /// The variables that child processes get, or get no longer.
    exported: BTreeMap<String, bool>,
    /// The variables that keep their value.
    readonly: HashSet<String>,
    /// `declare -n name=other`: names of other variables.
    references: HashMap<String, String>,
    /// The variables with which a child process starts, if one starts here.
    process: Option<Environment>,
}

/// The variables around a child process that it gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Environment {
    Exported,
    /// `env -i`.
    Empty,
}

/// The working directory in a layer.
#[derive(Debug, Default)]
enum Cwd {
    #[default]
    Unchanged,
    Unknown,
    Known(String),
}

/// The changes of a layer that are kept.
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

/// Variables that are usually exported before a text runs.
const INHERITED: [&str; 10] =
    ["EDITOR", "HOME", "LANG", "PAGER", "PATH", "PWD", "SHELL", "TERM", "TMPDIR", "USER"];

/// Maximum number of exported variables that are facts of a command.
const MAX_EXPORTS: usize = 64;

/// Variables that a shell has without an environment.
const OWN: [&str; 4] = ["HOME", "IFS", "PATH", "PWD"];

impl Cwd {
    /// A longer path than any system has is not known.
    const MAX_LENGTH: usize = 1024;

    fn new(cwd: Option<String>) -> Self {
        cwd.filter(|cwd| cwd.len() <= Self::MAX_LENGTH).map_or(Self::Unknown, Self::Known)
    }
}

impl ShellScope {
    /// Maximum number of variables in a layer.
    const VARIABLES: usize = 1024;

    pub(crate) fn new(cwd: Option<String>) -> Self {
        let first = ScopeLayer { cwd: Cwd::new(cwd), ..ScopeLayer::default() };
        Self { layers: vec![first], exports_all: false, is_limited: false }
    }

    pub(crate) fn open(&mut self) {
        self.layers.push(ScopeLayer::default());
    }

    /// Opens the layer of a function or of a script with arguments.
    pub(crate) fn open_call(&mut self, positional: Option<Vec<Field>>) {
        self.layers.push(ScopeLayer { positional, is_function: true, ..ScopeLayer::default() });
    }

    /// Opens the layer of a child process.
    pub(crate) fn open_process(&mut self, environment: Environment) {
        self.layers.push(ScopeLayer { process: Some(environment), ..ScopeLayer::default() });
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
        for (name, fields) in layer.arrays {
            if !layer.locals.contains(&name) {
                let is_certain = keep == Keep::All || self.array(&name) == Some(&fields[..]);
                let unknown = || vec![Field::unknown(format!("${{{name}[@]}}"))];
                let fields = if is_certain { fields } else { unknown() };
                self.set_array(&name, fields);
            }
        }
        if let Some(last) = self.layers.last_mut() {
            last.exported.extend(layer.exported);
            last.readonly.extend(layer.readonly);
            if !layer.is_function {
                last.references.extend(layer.references);
            }
        }
        let cwd = match layer.cwd {
            Cwd::Unchanged => return,
            Cwd::Unknown => None,
            Cwd::Known(cwd) => Some(cwd),
        };
        let is_same = keep != Keep::Uncertain || cwd.as_deref() == self.cwd();
        self.set_cwd(if is_same { cwd } else { None });
    }

    /// Returns the value of a variable. `None` if nothing is known about it.
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.value(name, false)
    }

    /// Returns the value that a child process gets.
    pub(crate) fn exported(&self, name: &str) -> Option<&Value> {
        self.value(name, true)
    }

    fn value(&self, name: &str, is_child: bool) -> Option<&Value> {
        let name = self.referred(name);
        let mut is_crossed = is_child;
        for layer in self.layers.iter().rev() {
            if let Some(value) = layer.variables.get(name) {
                return Some(if is_crossed && !self.is_exported(name) { &None } else { value });
            }
            if layer.process == Some(Environment::Empty) && !OWN.contains(&name) {
                return Some(&None);
            }
            is_crossed |= layer.process.is_some();
        }
        None
    }

    /// Returns the variables that the text itself exports, with their values.
    pub(crate) fn exports(&self) -> impl Iterator<Item = (&str, &Field)> {
        let layers = self.layers.iter().flat_map(|layer| &layer.exported);
        layers.take(MAX_EXPORTS).filter_map(|(name, is_exported)| {
            let value = self.exported(name).filter(|_| *is_exported)?.as_ref()?;
            Some((name.as_str(), value))
        })
    }

    fn is_exported(&self, name: &str) -> bool {
        let export = self.layers.iter().rev().find_map(|layer| layer.exported.get(name));
        export.copied().unwrap_or_else(|| INHERITED.contains(&name))
    }

    pub(crate) fn set(&mut self, name: &str, value: Value) {
        let name = &*self.referred(name).to_owned();
        if self.layers.iter().any(|layer| layer.readonly.contains(name)) {
            return;
        }
        let Some(layer) = self.layers.last_mut() else { return };
        if layer.variables.len() < Self::VARIABLES || layer.variables.contains_key(name) {
            layer.arrays.remove(name);
            layer.variables.insert(name.to_owned(), value);
            if self.exports_all {
                layer.exported.insert(name.to_owned(), true);
            }
        } else {
            self.is_limited = true;
        }
    }

    /// Checks whether there were more variables than are kept.
    pub(crate) fn is_limited(&self) -> bool {
        self.is_limited
    }

    /// Returns the elements of an array. `None` if it is not known to be one.
    pub(crate) fn array(&self, name: &str) -> Option<&[Field]> {
        let name = self.referred(name);
        self.layers.iter().rev().find_map(|layer| match layer.arrays.get(name) {
            Some(fields) => Some(Some(fields.as_slice())),
            None => layer.variables.contains_key(name).then_some(None),
        })?
    }

    /// Sets all elements of an array.
    pub(crate) fn set_array(&mut self, name: &str, fields: Vec<Field>) {
        let name = &*self.referred(name).to_owned();
        let Some(layer) = self.layers.last_mut() else { return };
        if layer.arrays.len() < Self::VARIABLES || layer.arrays.contains_key(name) {
            layer.variables.remove(name);
            layer.arrays.insert(name.to_owned(), fields);
        } else {
            self.is_limited = true;
        }
    }

    /// Makes a name another one of a variable.
    pub(crate) fn refer(&mut self, name: &str, other: &str) {
        if let Some(layer) = self.layers.last_mut()
            && layer.references.len() < Self::VARIABLES
        {
            layer.references.insert(name.to_owned(), other.to_owned());
        } else {
            self.is_limited = true;
        }
    }

    /// Returns the variable of which a name is another one.
    fn referred<'n>(&'n self, name: &'n str) -> &'n str {
        let mut references = self.layers.iter().rev().map(|layer| &layer.references);
        references.find_map(|references| references.get(name)).map_or(name, String::as_str)
    }

    /// Makes child processes get a variable, or not.
    pub(crate) fn export(&mut self, name: &str, is_exported: bool) {
        if let Some(layer) = self.layers.last_mut()
            && layer.exported.len() < Self::VARIABLES
        {
            layer.exported.insert(name.to_owned(), is_exported);
        } else {
            self.is_limited = true;
        }
    }

    /// Sets whether variables are exported: `set -a`, `set +a`.
    pub(crate) fn export_all(&mut self, exports_all: bool) {
        self.exports_all = exports_all;
    }

    /// Makes a variable keep its value.
    pub(crate) fn freeze(&mut self, name: &str) {
        if let Some(layer) = self.layers.last_mut()
            && layer.readonly.len() < Self::VARIABLES
        {
            layer.readonly.insert(name.to_owned());
        } else {
            self.is_limited = true;
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
            layer.cwd = Cwd::new(cwd);
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
