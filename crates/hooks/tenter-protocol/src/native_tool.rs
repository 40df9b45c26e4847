//! Tools of other agents that do what Tenter's tools do, and their inputs in either agent's fields.

use crate::Object;

/// A tool of another agent that does what one of Tenter's tools does.
#[derive(Debug)]
pub struct NativeTool {
    /// The agent's name for it.
    pub name: &'static str,
    /// The field of the input and its value that a call must have; an empty value is any value but null. `None` if every call of this
    /// name is meant.
    pub when: Option<(&'static str, &'static str)>,
    /// The name of Tenter's tool.
    pub canonical: &'static str,
    /// Fields of the input that have other names in Tenter: the agent's name and Tenter's name.
    pub fields: &'static [(&'static str, &'static str)],
}

/// Returns a tool of another agent, with Tenter's name for it and the fields that have other names there.
pub const fn tool(
    name: &'static str,
    canonical: &'static str,
    fields: &'static [(&'static str, &'static str)],
) -> NativeTool {
    NativeTool { name, when: None, canonical, fields }
}

impl NativeTool {
    /// Applies only to calls whose input has this value in `field`; an empty value is any value but null.
    #[must_use]
    pub const fn when(self, field: &'static str, value: &'static str) -> Self {
        Self { when: Some((field, value)), ..self }
    }

    /// Returns true if a call of the agent's tool `name` with this input is a call of this tool.
    pub fn is_of(&self, name: &str, input: &Object) -> bool {
        let has = |(field, value): (&str, &str)| {
            let own = input.get(field).filter(|own| !own.is_null());
            own.is_some_and(|own| value.is_empty() || own.as_str() == Some(value))
        };
        self.name == name && self.when.is_none_or(has)
    }

    /// Returns an input of the other agent in Tenter's fields. Fields that only the other agent has stay as they are.
    pub fn canonical_input(&self, input: &Object) -> Object {
        let field_row = |field: &str| self.fields.iter().find(|(native, _)| *native == field);
        // The agent reads its own field, so one that it does not read must not replace it.
        let is_hidden = |field: &str| {
            let mut fields = self.fields.iter();
            fields.any(|(native, name)| *name == field && input.contains_key(*native))
        };
        let mut output = Object::new();
        for (field, value) in input {
            match field_row(field) {
                Some((_, name)) => output.insert((*name).to_owned(), value.clone()),
                None if is_hidden(field) => None,
                None => output.insert(field.clone(), value.clone()),
            };
        }
        output
    }

    /// Returns the agent's name of Tenter's field `name`.
    pub fn native_field<'n>(&self, name: &'n str) -> &'n str {
        let field = self.fields.iter().find(|(_, canonical)| *canonical == name);
        field.map_or(name, |(native, _)| native)
    }
}
