//! Simple commands: words, redirections and assignments, in the order of bash.

use crate::field::Field;
use crate::reader::{Context, NodeResult, Reader};
use crate::syntax::tree::{AssignedValue, Assignment, Simple, Word};
use crate::tables::variables;

use super::call::Call;

impl Reader<'_> {
    pub(super) fn simple(&mut self, simple: &Simple, context: &Context) -> NodeResult {
        // `V=x cmd $V` uses the old `V`.
        let mut argv: Vec<Field> = Vec::with_capacity(simple.words.len());
        for word in &simple.words {
            match self.plain_field(word, context) {
                Some(field) => argv.push(field),
                None => argv.append(&mut self.fields(word, context)),
            }
            if argv.len() > crate::limits::MAX_WORDS {
                break;
            }
        }
        if argv.len() > crate::limits::MAX_WORDS {
            argv.truncate(crate::limits::MAX_WORDS);
            self.reach_limit();
        }
        let redirected = self.redirections(&simple.redirections, context);
        if argv.is_empty() {
            return self.assign_all(simple, redirected, context);
        }
        let mut env = Vec::new();
        for assignment in &simple.assignments {
            if let Some(value) = self.assigned(assignment, context)
                && !assignment.name.contains('[')
            {
                env.push((assignment.name.clone(), value));
            }
        }
        let call = Call { argv, env, text: simple.text.clone(), redirected };
        self.run(&call, context)
    }

    /// Sets the variables of the shell for a command without words, whose redirections create files.
    fn assign_all(
        &mut self,
        simple: &Simple,
        redirected: super::redirections::Redirected,
        context: &Context,
    ) -> NodeResult {
        for assignment in &simple.assignments {
            match &assignment.value {
                AssignedValue::Word(_) => {
                    let value = self.assigned(assignment, context);
                    if let Some(script) = &value
                        && variables::PROMPTS.contains(&assignment.name.as_str())
                    {
                        self.script(script, "prompt", context);
                    }
                    self.scope.set(&assignment.name, value);
                }
                AssignedValue::Array(words) => self.assign_array(assignment, words, context),
            }
        }
        if simple.redirections.is_empty() {
            let text = Some(Field::default());
            return NodeResult { succeeds: Some(true), text, ..NodeResult::default() };
        }
        let call = Call { text: simple.text.clone(), redirected, ..Call::default() };
        self.run(&call, context)
    }

    /// Sets an array: `name=(a b)`, `name+=(c)`.
    fn assign_array(&mut self, assignment: &Assignment, words: &[Word], context: &Context) {
        let mut fields = Vec::new();
        if assignment.appends {
            let before = self.scope.array(&assignment.name).map(<[Field]>::to_vec);
            fields =
                before.unwrap_or_else(|| vec![Field::unknown(format!("${}", assignment.name))]);
        }
        for word in words {
            fields.append(&mut self.fields(word, context));
        }
        self.set_array(&assignment.name, fields);
    }

    /// Sets an array, as far as it is within the limit: `a`, and `[key]=a`.
    pub(super) fn set_array(&mut self, name: &str, mut fields: Vec<Field>) {
        /// Maximum number of elements.
        const MAX_ELEMENTS: usize = 256;
        if fields.len() > MAX_ELEMENTS {
            self.reach_limit();
            fields = vec![Field::unknown(format!("${{{name}[@]}}"))];
        }
        for field in &mut fields {
            let Some(element) = field.text.strip_prefix('[') else { continue };
            let Some((key, value)) = element.split_once("]=") else { continue };
            let element = format!("{name}[{key}]");
            let is_glob = value.contains(['*', '?', '[']);
            *field = Field { is_glob, ..field.with_text(self.in_home(value.to_owned())) };
            self.scope.set(&element, Some(field.clone()));
        }
        self.scope.set_array(name, fields);
    }

    /// Sets a variable, and returns its new value. `None` for an array.
    fn assigned(&mut self, assignment: &Assignment, context: &Context) -> Option<Field> {
        let value = match &assignment.value {
            AssignedValue::Word(word) => self.value(word, context),
            AssignedValue::Array(words) => {
                for word in words {
                    self.fields(word, context);
                }
                return None;
            }
        };
        // Patterns in assignments are text.
        let value = Field { is_glob: false, ..value };
        if !assignment.appends {
            return Some(value);
        }
        let mut whole = match self.scope.get(&assignment.name) {
            Some(Some(before)) => before.clone(),
            Some(None) => Field::default(),
            None => Field::unknown(format!("${}", assignment.name)),
        };
        if whole.text.len() + value.text.len() > crate::limits::MAX_VALUE {
            self.reach_limit();
            return Some(Field::unknown(format!("${}", assignment.name)));
        }
        whole.push(&value);
        Some(whole)
    }
}
