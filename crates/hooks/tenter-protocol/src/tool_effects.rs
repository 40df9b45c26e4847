//! Guesses the effects of a tool without a known name from its name and the fields of its input: tools of MCP servers, and tools
//! that agents add (R78).

mod named;
mod vocabulary;

use serde_json::Value;
use tenter_base::percent_decoded;
use tenter_shell::PathOp;

use crate::Object;
use named::{arguments, commands, flags, meaning, quote, texts};
use vocabulary::{
    DATABASES, DIRECTORIES, Deed, ENDS, NO_PATHS, OPERATIONS, PATH_ENDS, PATTERNS, PROGRAMS,
    SCRIPTS, STATEMENTS, TERMINALS, TYPED, TYPES, WORDS,
};

/// The probable effects of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolEffects {
    /// Texts for a shell.
    pub scripts: Vec<String>,
    /// The directory in which they run, as given.
    pub cwd: Option<String>,
    /// The paths that it touches.
    pub paths: Vec<TouchedPath>,
    /// The command that the name of the tool means, if it deletes or stops something: `delete repository --owner=ada`. `None` if the tool runs
    /// something.
    pub meaning: Option<String>,
    /// The input has too many values: some were not looked at.
    pub is_limited: bool,
}

/// A path in the input of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TouchedPath {
    /// As given, without `file://`.
    pub path: String,
    /// The operation.
    pub op: PathOp,
}

/// Maximum number of values of an input that are looked at.
const MOST_VALUES: usize = 4096;
/// Maximum nesting of values that are looked at.
const DEEPEST: usize = 6;
/// Maximum length of a path, in bytes.
const LONGEST_PATH: usize = 4096;

/// The content of a field.
#[derive(Clone, Copy)]
enum FieldRole {
    Script,
    Directory,
    Pattern,
    /// A path that is read, moved or deleted.
    Source,
    /// A path that is created.
    Destination,
}

/// Returns the probable effects of a call of the tool `name`.
pub fn tool_effects(name: &str, input: &Object) -> ToolEffects {
    let mut words = words(last_segment(name));
    for field in OPERATIONS {
        let text = input.get(field).and_then(Value::as_str);
        words
            .extend(text.filter(|text| !text.contains(' ')).map(self::words).into_iter().flatten());
    }
    let name_words = self::words(name);
    let program = PROGRAMS.into_iter().find(|program| name_words.iter().any(|it| it == program));
    let has = |terms: &[&str]| words.iter().any(|word| terms.contains(&word.as_str()));
    let deed = WORDS.iter().filter(|(_, terms)| has(terms));
    let mut reading = Reading {
        deed: deed.map(|(deed, _)| *deed).max(),
        is_terminal: has(&TERMINALS) || (has(&["process"]) && has(&TYPES)),
        interpreter: interpreter(&words, input),
        is_database: name_words.iter().any(|word| DATABASES.contains(&word.as_str())),
        program,
        effects: ToolEffects::default(),
        budget: MOST_VALUES,
    };
    reading.object(input, DEEPEST);
    let mut effects = reading.effects;
    if effects.scripts.is_empty() {
        let args = arguments(input);
        effects.scripts.extend(program.into_iter().flat_map(|name| commands(name, &words, &args)));
    }
    if effects.scripts.is_empty() {
        effects.meaning = meaning(&words, program, input);
    }
    if effects.scripts.is_empty() && effects.meaning.is_none() {
        let flags = flags(input);
        effects.scripts.extend(program.into_iter().flat_map(|name| commands(name, &words, &flags)));
    }
    effects
}

/// Returns the name of a tool without the names of its server and namespace: `mcp__files__write`, `files.write`, `files/write`.
pub fn last_segment(name: &str) -> &str {
    let name = name.rsplit(['.', '/', ':']).find(|part| !part.is_empty()).unwrap_or(name);
    name.rsplit("__").find(|part| !part.is_empty()).unwrap_or(name)
}

/// Returns the words of a name: `writeFile`, `write-file`, `write_file`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        let is_new = !c.is_alphanumeric() || (c.is_uppercase() && was_lower);
        if is_new {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase() || c.is_numeric();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns the command with which `code` would run, if it is in another language.
fn interpreter(words: &[String], input: &Object) -> Option<&'static str> {
    const LANGUAGES: [(&str, &[&str]); 4] = [
        ("python3 -c", &["python", "python3", "py", "jupyter", "ipython", "notebook", "cell"]),
        (
            "node -e",
            &["javascript", "js", "node", "nodejs", "typescript", "ts", "evaluate", "browser"],
        ),
        ("ruby -e", &["ruby"]),
        ("perl -e", &["perl"]),
    ];
    let language = input.get("language").or_else(|| input.get("lang")).and_then(Value::as_str);
    let language = language.map(str::to_lowercase);
    let is_meant = |name: &&str| match &language {
        Some(alias) => alias == name,
        None => words.iter().any(|word| word == name),
    };
    LANGUAGES.iter().find(|(_, names)| names.iter().any(is_meant)).map(|row| row.0)
}

/// Returns a field's name without its case, underscores and dashes.
fn plain(field: &str) -> String {
    field.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// One input as it is read.
struct Reading {
    /// `None`: nothing is known, so it may read and write.
    deed: Option<Deed>,
    is_terminal: bool,
    interpreter: Option<&'static str>,
    /// The name of the tool or of its server says that it is for a database.
    is_database: bool,
    /// The program that the name of the tool names.
    program: Option<&'static str>,
    effects: ToolEffects,
    /// Number of values that are still looked at.
    budget: usize,
}

impl Reading {
    fn object(&mut self, object: &Object, depth: usize) {
        for (field, value) in object {
            let name = plain(field);
            match self.role(&name, value) {
                _ if name == "sql" || (self.is_database && STATEMENTS.contains(&name.as_str())) => {
                    let commands = texts(value).map(|sql| format!("psql -c {}", quote(sql)));
                    self.effects.scripts.extend(commands);
                }
                Some(FieldRole::Script) => self.script(&name, value, object),
                Some(role) => self.values(value, role, depth),
                None => self.inner(value, depth),
            }
        }
    }

    /// Reads the objects in a value.
    fn inner(&mut self, value: &Value, depth: usize) {
        let is_nested = matches!(value, Value::Object(_) | Value::Array(_));
        if !is_nested {
            return;
        }
        if depth == 0 || self.budget == 0 {
            self.effects.is_limited = true;
            return;
        }
        self.budget -= 1;
        match value {
            Value::Object(object) => self.object(object, depth - 1),
            Value::Array(values) => values.iter().for_each(|value| self.inner(value, depth - 1)),
            _ => {}
        }
    }

    fn role(&self, field: &str, value: &Value) -> Option<FieldRole> {
        let looks_like_path = || {
            let has_two_ends = matches!(self.deed, Some(Deed::Move | Deed::Copy | Deed::Link));
            let text = value.as_str().unwrap_or_default();
            has_two_ends || text.contains('/') || text.starts_with(['~', '.'])
        };
        let is_typed = self.is_terminal && TYPED.contains(&field);
        let is_end =
            || PATH_ENDS.iter().any(|end| field.ends_with(end)) && !NO_PATHS.contains(&field);
        let begins = |starts: &[&str]| starts.iter().any(|start| field.starts_with(start));
        if SCRIPTS.contains(&field) || field.ends_with("command") || is_typed {
            Some(FieldRole::Script)
        } else if DIRECTORIES.contains(&field) {
            Some(FieldRole::Directory)
        } else if PATTERNS.contains(&field) {
            Some(FieldRole::Pattern)
        } else if is_end() || (ENDS.contains(&field) && looks_like_path()) {
            let is_made = begins(&["dest", "target", "to", "new", "out", "save"]);
            Some(if is_made { FieldRole::Destination } else { FieldRole::Source })
        } else {
            None
        }
    }

    /// Adds a script, or the words of a command.
    fn script(&mut self, field: &str, value: &Value, object: &Object) {
        let list = |value: &Value| -> Vec<String> { texts(value).map(str::to_owned).collect() };
        let args = object.get("args").or_else(|| object.get("arguments")).map(&list);
        match value {
            Value::String(code) if field == "code" && self.interpreter.is_some() => {
                let interpreter = self.interpreter.unwrap_or_default();
                self.effects.scripts.push(format!("{interpreter} {}", quote(code)));
            }
            Value::String(command) => {
                let args = args.unwrap_or_default();
                let words =
                    std::iter::once(command.clone()).chain(args.iter().map(|arg| quote(arg)));
                let script = words.collect::<Vec<_>>().join(" ");
                // `command: destroy` of a tool `terraform`.
                let first = command.split_whitespace().next();
                let program = self.program.filter(|name| first != Some(name));
                let with_program = program.map(|name| format!("{name} {script}"));
                self.effects.scripts.extend([script].into_iter().chain(with_program));
            }
            Value::Array(_) if matches!(field, "commands" | "cmds") => {
                self.effects.scripts.extend(list(value));
            }
            Value::Array(_) => {
                let words: Vec<String> = list(value).iter().map(|word| quote(word)).collect();
                self.effects.scripts.push(words.join(" "));
            }
            other => self.inner(other, DEEPEST - 1),
        }
    }

    /// Adds the texts of a field: one, or a list of them.
    fn values(&mut self, value: &Value, role: FieldRole, depth: usize) {
        match value {
            Value::String(text) => self.text(text, role),
            Value::Array(values) => {
                for value in values {
                    if self.budget == 0 {
                        self.effects.is_limited = true;
                        return;
                    }
                    self.budget -= 1;
                    match value {
                        Value::String(text) => self.text(text, role),
                        other => self.inner(other, depth),
                    }
                }
            }
            other => self.inner(other, depth),
        }
    }

    fn text(&mut self, text: &str, role: FieldRole) {
        let path = match text.strip_prefix("file://") {
            Some(path) => percent_decoded(path.strip_prefix("localhost").unwrap_or(path)),
            None if text.contains("://") => return,
            None => text.to_owned(),
        };
        if path.is_empty() || path.len() > LONGEST_PATH || path.contains('\n') {
            return;
        }
        match role {
            FieldRole::Directory => self.effects.cwd = Some(path),
            FieldRole::Pattern => {
                let patterns = tenter_shell::selecting(&path).into_iter();
                let pattern_names =
                    |pattern| TouchedPath { path: format!("**/{pattern}"), op: PathOp::Read };
                self.effects.paths.extend(patterns.map(pattern_names));
            }
            FieldRole::Script => {}
            FieldRole::Source | FieldRole::Destination => {
                let is_destination = matches!(role, FieldRole::Destination);
                for op in self.ops(is_destination) {
                    self.effects.paths.push(TouchedPath { path: path.clone(), op: *op });
                }
            }
        }
    }

    /// Returns the operation on a path.
    fn ops(&self, is_destination: bool) -> &'static [PathOp] {
        match (self.deed, is_destination) {
            (None, _) => &[PathOp::Read, PathOp::Write],
            (Some(Deed::Delete), _) => &[PathOp::Delete],
            (Some(Deed::Mode), _) => &[PathOp::Mode],
            (Some(Deed::List), false) => &[PathOp::List],
            (Some(Deed::Link), false) => &[PathOp::Link],
            (Some(Deed::Move), false) => &[PathOp::Move],
            (Some(Deed::Read | Deed::Copy), false) => &[PathOp::Read],
            (Some(_), _) => &[PathOp::Write],
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn effects(name: &str, input: &Value) -> ToolEffects {
        tool_effects(name, input.as_object().unwrap())
    }

    #[test]
    fn commands_are_found_by_their_fields() {
        for (name, input, script) in [
            ("mcp__desktop-commander__start_process", json!({"command": "rm -rf ~"}), "rm -rf ~"),
            ("file_system.bash", json!({"command": "a; b"}), "a; b"),
            ("ns/bash", json!({"cmd": ["bash", "-c", "x 'y'"]}), r"'bash' '-c' 'x '\''y'\'''"),
            ("server__run", json!({"command": "npx", "args": ["-y", "a b"]}), "npx '-y' 'a b'"),
            ("x", json!({"arguments": {"script": "c"}}), "c"),
            ("x", json!({"shellCommand": "c"}), "c"),
            (
                "mcp__ide__executeCode",
                json!({"language": "python", "code": "p()"}),
                "python3 -c 'p()'",
            ),
            ("mcp__py__run_python", json!({"code": "p()"}), "python3 -c 'p()'"),
            ("mcp__postgres__query", json!({"sql": "drop table a"}), "psql -c 'drop table a'"),
            ("mcp__my_db__run", json!({"query": "drop table a"}), "psql -c 'drop table a'"),
            ("mcp__x__interact_with_process", json!({"pid": 1, "input": "rm x"}), "rm x"),
        ] {
            assert_eq!(effects(name, &input).scripts, [script], "{name}");
        }
        for (name, input, script) in [
            (
                "mcp__tf__terraform_run",
                json!({"command": "destroy"}),
                &["destroy", "terraform destroy"][..],
            ),
            (
                "mcp__tf__terraform_run",
                json!({"command": "destroy -chdir=terraform"}),
                &["destroy -chdir=terraform", "terraform destroy -chdir=terraform"],
            ),
            ("mcp__aws__call_aws", json!({"cli_command": "aws s3 ls"}), &["aws s3 ls"]),
            ("mcp__aws__run", json!({"command": "aws s3 ls"}), &["aws s3 ls"]),
            ("mcp__gcloud__run", json!({"args": ["a", "b c"]}), &["gcloud 'a' 'b c'"]),
            (
                "mcp__x__git_push",
                json!({"args": ["--force"]}),
                &["git '--force'", "git push '--force'"],
            ),
            (
                "mcp__x__kubectl_generic",
                json!({"args": ["delete", "ns"]}),
                &["kubectl 'delete' 'ns'", "kubectl generic 'delete' 'ns'"],
            ),
            (
                "mcp__git__push",
                json!({"branch": "a", "force": true}),
                &["git --force", "git push --force"],
            ),
        ] {
            assert_eq!(effects(name, &input).scripts, script, "{name}");
        }
        assert_eq!(effects("x", &json!({"commands": ["a", "b"]})).scripts, ["a", "b"]);
        assert!(effects("web_search", &json!({"query": "drop table"})).scripts.is_empty());
        assert!(effects("process_page", &json!({"text": "rm -rf /"})).scripts.is_empty());
        assert!(
            effects("mcp__x__note", &json!({"text": "rm -rf /", "input": "y"})).scripts.is_empty()
        );
    }

    #[test]
    fn a_name_that_says_what_is_deleted_or_stopped_is_a_command() {
        for (name, input, meaning) in [
            (
                "mcp__github__delete_repository",
                json!({"owner": "ada", "repo": "it's", "topics": ["a"]}),
                Some("delete repository --owner='ada' --repo='it'\\''s'"),
            ),
            ("mcp__cf__d1_database_delete", json!({}), Some("delete d1 database")),
            ("db.dropTable", json!({"n": 1}), Some("delete table --n='1'")),
            (
                "manage_users",
                json!({"action": "remove"}),
                Some("delete manage users --action='remove'"),
            ),
            ("mcp__terraform__destroy", json!({"dir": "a"}), Some("delete terraform --dir='a'")),
            ("mcp__helm__uninstall_chart", json!({}), Some("delete chart")),
            (
                "bulk_delete",
                json!({"kind": "repository"}),
                Some("delete bulk repository --kind='repository'"),
            ),
            ("delete_comment", json!({"type": "user"}), Some("delete comment --type='user'")),
            ("remove_label_from_project", json!({}), Some("delete label")),
            ("drop_all", json!({}), Some("delete all everything")),
            ("deactivate_user", json!({}), Some("delete user")),
            ("revoke_api_key", json!({}), Some("delete api key access")),
            ("delete_file", json!({"path": "a"}), Some("delete file --path='a'")),
            ("delete_by_command", json!({"command": "rm a"}), None),
            ("undelete_repository", json!({}), None),
            ("ec2_stop_instances", json!({"id": "i"}), Some("stop ec2 instances --id='i'")),
            ("vm", json!({"action": "stop"}), Some("stop vm --action='stop'")),
            ("power-off-droplet", json!({}), Some("stop power droplet")),
            ("detachVolume", json!({}), Some("stop volume")),
            ("scale_deployment", json!({"replicas": 0}), Some("stop deployment --replicas='0'")),
            ("scale_deployment", json!({"replicas": 3}), None),
            ("stop_and_delete_vm", json!({}), Some("delete stop and vm")),
            ("list_repositories", json!({}), None),
        ] {
            assert_eq!(effects(name, &input).meaning.as_deref(), meaning, "{name}");
        }
    }

    #[test]
    fn paths_are_found_by_their_fields_and_the_name_says_what_happens() {
        use PathOp::{Delete, Link, List, Mode, Move, Read, Write};
        for (name, input, expected) in [
            (
                "mcp__filesystem__write_file",
                json!({"path": "a", "content": "x/y"}),
                &[("a", Write)][..],
            ),
            ("mcp__filesystem__read_text_file", json!({"path": "a"}), &[("a", Read)]),
            ("readManyFiles", json!({"paths": ["a", "b"]}), &[("a", Read), ("b", Read)]),
            (
                "read_many_files",
                json!({"include": ["{.env,c}"]}),
                &[("**/.env", Read), ("**/c", Read)],
            ),
            (
                "fs.move_file",
                json!({"source": "/a", "destination": "/b"}),
                &[("/a", Move), ("/b", Write)],
            ),
            ("copyFile", json!({"oldPath": "a", "newPath": "b"}), &[("a", Read), ("b", Write)]),
            ("x__delete", json!({"uri": "file:///a%20b"}), &[("/a b", Delete)]),
            ("list_directory", json!({"dir_path": "a"}), &[("a", List)]),
            ("chmod", json!({"filePath": "a"}), &[("a", Mode)]),
            ("symlink", json!({"target": "./b", "file": "a"}), &[("./b", Write), ("a", Link)]),
            ("frobnicate", json!({"file_path": "a"}), &[("a", Read), ("a", Write)]),
            ("file", json!({"operation": "delete", "path": "a"}), &[("a", Delete)]),
            ("editor", json!({"command": "view", "path": "a"}), &[("a", Read)]),
            ("search_and_replace", json!({"path": "a"}), &[("a", Write)]),
            (
                "edit_files",
                json!({"edits": [{"path": "a"}, {"path": "b"}]}),
                &[("a", Write), ("b", Write)],
            ),
            ("get", json!({"path": "https://x.example", "xpath": "//a", "old": "x"}), &[]),
            ("get", json!({"path": "a\nb", "file": 7, "from": "main"}), &[]),
        ] {
            let paths = effects(name, &input).paths;
            let mut paths: Vec<_> = paths.iter().map(|it| (it.path.as_str(), it.op)).collect();
            paths.sort();
            let mut expected = expected.to_vec();
            expected.sort();
            assert_eq!(paths, expected, "{name}");
        }
        assert_eq!(effects("run", &json!({"cwd": "/a"})).cwd.as_deref(), Some("/a"));
    }

    #[test]
    fn endless_inputs_are_looked_at_up_to_a_limit() {
        let many: Vec<String> = (0..10_000).map(|index| index.to_string()).collect();
        let effects_of_many = effects("write", &json!({"paths": many}));
        assert!(effects_of_many.is_limited && effects_of_many.paths.len() <= MOST_VALUES);
        let deep = (0..50).fold(json!({"path": "a"}), |inner, _| json!({"x": inner}));
        assert!(effects("write", &deep).is_limited);
    }
}
