//! Clients of databases: the SQL in their arguments, their files and their standard input.

use crate::facts::SqlStatement;
use crate::field::Field;
use crate::reader::{Context, NodeResult, Reader};
use crate::tables::SqlClient;

use super::call::{Call, Emitted};
use super::wrappers::values;

impl Reader<'_> {
    /// Keeps the statements that a client runs, and reads the commands that it gives to a shell.
    pub(super) fn sql(
        &mut self,
        client: SqlClient,
        call: &Call,
        emitted: &Emitted,
        context: &Context,
    ) -> NodeResult {
        let mut texts = inline_sql(client, call, emitted);
        let files = values(emitted, client.files);
        texts.extend(files.iter().filter_map(|file| self.written(file)?.text.clone()));
        let is_stdin = |file: &Field| matches!(file.text.as_str(), "-" | "/dev/stdin");
        if texts.is_empty() && files.iter().all(is_stdin) {
            texts.extend(context.stdin.as_ref().and_then(|input| input.text.clone()));
        }
        // `\i file`, `.read file`, `source file`.
        let names = texts.iter().flat_map(|text| text.text.lines().filter_map(included));
        let names: Vec<Field> = names.map(Field::known).collect();
        texts.extend(names.iter().filter_map(|file| self.written_here(file)?.text.clone()));
        let mut commands = Vec::new();
        for text in &texts {
            let facts = crate::sql::read(&text.text);
            if facts.over_limit {
                self.reach_limit();
            }
            let own = |statement| SqlStatement { command: emitted.index, ..statement };
            self.facts.sql.extend(facts.statements.into_iter().map(own));
            for (path, op) in facts.paths {
                let path = Field::known(self.in_home(path));
                self.touch(&path, op, Some(emitted.index));
            }
            let scripts: Vec<Field> =
                facts.scripts.into_iter().map(|script| text.with_text(script)).collect();
            commands.extend(self.scripts(&scripts, emitted, context).commands);
        }
        NodeResult { commands, ..NodeResult::default() }
    }
}

/// Returns the SQL in the arguments of a client.
pub(super) fn inline_sql(client: SqlClient, call: &Call, emitted: &Emitted) -> Vec<Field> {
    let mut texts = values(emitted, client.options);
    texts.extend(call.operands(emitted).skip(client.operands).cloned());
    texts
}

/// Returns the file that a line of a client's language includes.
fn included(line: &str) -> Option<&str> {
    const COMMANDS: [&str; 6] = ["\\i ", "\\ir ", "\\include ", "\\. ", ".read ", "source "];
    let rest = COMMANDS.iter().find_map(|command| line.trim_start().strip_prefix(command))?;
    Some(rest.trim().trim_end_matches(';').trim_matches(['\'', '"']))
}
