//! Recipes: the commands in a makefile, or in the file of another program that runs what such a file says, if the text wrote it.

use crate::facts::{Class, FlowRole, Location};
use crate::field::Field;
use crate::reader::{Context, NodeResult, Reader};
use crate::tables::{Form, RecipeFiles};

use super::call::{Call, Emitted};
use super::input::is_stdin;
use super::wrappers::values;

/// Maximum number of operands that are read as files.
const MAX_FILES: usize = 64;

impl Reader<'_> {
    /// Reads the commands in the files that a command runs: those that its options name, or those with the usual names.
    pub(super) fn recipes(
        &mut self,
        files: &RecipeFiles,
        call: &Call,
        emitted: &Emitted,
        context: &Context,
    ) -> NodeResult {
        let mut texts = values(emitted, files.inline);
        let option_files = values(emitted, files.options);
        for file in &option_files {
            match context.stdin.clone().filter(|_| is_stdin(&file.text)) {
                Some(input) => {
                    for source in &input.sources {
                        self.flow(*source, emitted.index, FlowRole::Code);
                    }
                    texts.extend(input.text.clone());
                }
                None => texts.extend(self.written(file).and_then(|file| file.text.clone())),
            }
        }
        let usual =
            files.names.iter().filter(|_| option_files.is_empty()).copied().map(Field::known);
        // `pytest test.py`, `go run main.go`.
        let has_operands = matches!(files.form, Form::Code(_)) || files.names.is_empty();
        // `gcc -xc -`.
        let has_input = has_operands || files.form == Form::Dockerfile;
        if has_input && call.operands(emitted).any(|operand| is_stdin(&operand.text)) {
            texts.extend(context.stdin.as_ref().and_then(|input| input.text.clone()));
        }
        let operands = call.operands(emitted).take(MAX_FILES).filter(|_| has_operands).cloned();
        if has_operands && call.operands(emitted).nth(MAX_FILES).is_some() && !self.files.is_empty()
        {
            self.reach_limit();
        }
        for name in usual.chain(operands).collect::<Vec<_>>() {
            if let Some(file) = self.written_here(&name) {
                texts.extend(file.text.clone());
                // A compiler does not run what it reads.
                if !files.names.is_empty() {
                    self.read_file(&name, emitted.index, FlowRole::Code);
                    self.classify(emitted.index, Class::Interpreter);
                }
            }
        }
        let names = script_names(call, emitted);
        let mut all = NodeResult::default();
        for text in &texts {
            let inner = match files.form {
                Form::Code(language) => self.code(language, text, emitted.index, context),
                Form::Package => {
                    let scripts = package_scripts(&text.text).into_iter();
                    let recipes = scripts.filter(|(name, _)| is_called(name, &names));
                    let scripts: Vec<Field> =
                        recipes.map(|(_, script)| text.with_text(script)).collect();
                    self.scripts(&scripts, emitted, context)
                }
                Form::Script => self.script_of(text, emitted, context),
                Form::Quoted => {
                    let scripts = super::transform::list_printed(&text.text, false).into_iter();
                    let scripts: Vec<Field> =
                        scripts.map(|script| text.with_text(script)).collect();
                    self.scripts(&scripts, emitted, context)
                }
                form => {
                    let whole = text.text.replace("\\\n", " ");
                    let lines = whole.lines().filter_map(|line| recipe(form, line));
                    let scripts: Vec<Field> = lines.map(|line| text.with_text(line)).collect();
                    let inside =
                        Context { location: Location::Container, ..context.with_stdin(None) };
                    let is_built = form == Form::Dockerfile;
                    self.scripts(&scripts, emitted, if is_built { &inside } else { context })
                }
            };
            all.commands.extend(inner.commands);
        }
        all
    }
}

/// Keys whose values are commands.
const YAML_KEYS: [&str; 10] =
    ["args", "cmd", "cmds", "command", "commands", "entry", "raw", "run", "sh", "shell"];

/// Returns the command in a line of a file with recipes, without the signs before it.
fn recipe(form: Form, line: &str) -> Option<String> {
    let command = match form {
        // `x := $(shell command)`.
        Form::Make if line.contains("$(shell ") => {
            line.split("$(shell ").nth(1)?.trim_end_matches(')')
        }
        Form::Make => match line.strip_prefix('\t') {
            Some(command) => command,
            None => line.split_once(':')?.1.split_once(';')?.1,
        },
        Form::Yaml => {
            let item = line.trim_start();
            let value = item.strip_prefix("- ").unwrap_or(item).trim_start();
            // `ansible.builtin.shell: command`.
            let after_key = value.split_once(':').filter(|(key, _)| {
                key.rsplit('.').next().is_some_and(|key| YAML_KEYS.contains(&key))
            });
            let value = after_key.map_or(value, |(_, value)| value);
            value.trim().trim_matches(['"', '\'', '[', ']'])
        }
        Form::Values => {
            let value = line.split_once([':', '=']).filter(|_| !line.starts_with([' ', '\t']));
            value.map_or(line, |(_, value)| value).trim().trim_matches(['"', '\''])
        }
        Form::Cmake => {
            if let Some((_, paths)) = line.split_once("REMOVE_RECURSE ") {
                return Some(format!("rm -rf {}", paths.trim_end_matches(')')));
            }
            line.split_once("COMMAND ")?.1.trim_end_matches(')')
        }
        // `docker run` with the same right or mount.
        Form::Compose => {
            let item = line.trim().trim_start_matches("- ").replace(['"', '\'', '[', ']'], "");
            let (key, value) = item.trim().split_once(':')?;
            let option = match (key.trim(), value.trim()) {
                ("privileged", "true") => "--privileged".to_owned(),
                ("volumes", value) if !value.is_empty() => format!("-v {value}"),
                (key @ ("pid" | "ipc" | "userns_mode"), "host") => {
                    format!("--{}=host", key.trim_end_matches("_mode"))
                }
                (path, _) if path.starts_with(['/', '~']) => format!("-v {item}"),
                _ => return None,
            };
            return Some(format!("docker run {option} image"));
        }
        // `RUN --mount=type=cache,target=/a ["ls", "-l"]`.
        Form::Dockerfile => {
            let (instruction, command) = line.trim_start().split_once([' ', '\t'])?;
            return instruction.eq_ignore_ascii_case("RUN").then(|| parse_image_command(command));
        }
        _ => line.strip_prefix([' ', '\t'])?.trim_start(),
    };
    Some(command.trim_start_matches(['@', '-', '+', ' ']).replace("$$", "$"))
}

/// Returns the command of a `RUN` instruction without its options, and without the form of a list.
fn parse_image_command(command: &str) -> String {
    let words = command.split(' ').skip_while(|word| word.is_empty() || word.starts_with("--"));
    let command = words.collect::<Vec<_>>().join(" ");
    match command.strip_prefix('[') {
        Some(list) => list.trim_end_matches(']').replace(',', " "),
        None => command,
    }
}

/// Returns the words of a command of npm that can be names of scripts. Without the name of one, packages have scripts for themselves.
fn script_names(call: &Call, emitted: &Emitted) -> Vec<String> {
    const INSTALL: [&str; 5] = ["add", "ci", "i", "install", "update"];
    let words = emitted.subcommand.iter().cloned();
    let operands = call.operands(emitted).map(|operand| operand.text.clone());
    let mut names: Vec<String> = words.chain(operands).collect();
    if names.first().is_some_and(|name| matches!(name.as_str(), "t" | "tst")) {
        names.push("test".to_owned());
    }
    if names.first().is_none_or(|name| INSTALL.contains(&name.as_str())) {
        names.extend(["install", "prepare"].map(str::to_owned));
    }
    names
}

/// Checks whether a script is one of these, or runs before or after it.
fn is_called(script: &str, names: &[String]) -> bool {
    let base = script.strip_prefix("pre").or_else(|| script.strip_prefix("post"));
    names.iter().any(|name| name == script || base == Some(name))
}

/// Returns the names and commands in `"scripts": {"name": "command"}`.
fn package_scripts(text: &str) -> Vec<(String, String)> {
    let scripts = text.split_once("\"scripts\"").and_then(|(_, rest)| rest.split_once('{'));
    let mut rest = scripts.map_or("", |(_, rest)| rest);
    let mut texts = Vec::new();
    while let Some((between, after)) = rest.split_once('"') {
        if between.contains('}') {
            break;
        }
        let Some((text, next)) = quoted_text(after) else { break };
        texts.push(text);
        rest = next;
    }
    texts.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect()
}

/// Returns a text up to its closing quote, without its escapes, and what follows it.
fn quoted_text(text: &str) -> Option<(String, &str)> {
    let mut is_escaped = false;
    let end = text.find(|letter| {
        let is_end = letter == '"' && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
        is_end
    })?;
    Some((crate::escapes::ansi(&text[..end]).0, &text[end + 1..]))
}
