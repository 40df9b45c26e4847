//! One recipe's file: Markdown with front matter, whose text is a template.
//!
//! What is wrong with a key that only describes is a warning. What is wrong with one that restricts is an error: a recipe
//! whose limits cannot be read must not run without them.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use tenter_base::{nearest, or_list};
use tenter_engine::hook::Fingerprint;
use tenter_engine::trust::fingerprint_of_recipe;
use tenter_protocol::manifest::front_matter::{Document, Field, Located, Written, document};
use tenter_protocol::{Diagnostic, Severity, SourceText, tool_names};
use tenter_template::{Dialect, File, Template};

use super::restriction;
use crate::tools::{AllowedCommands, Registry, UnknownTools};

/// The longest file that is read, in bytes.
pub const LONGEST_FILE: usize = 1 << 20;

const KEYS: [&str; 6] =
    ["name", "description", "allowed_tools", "allowed_commands", "arguments", "defaults"];

/// A recipe that can be rendered.
#[derive(Debug, Clone)]
pub struct Recipe {
    /// What it is called by: its file below a recipes folder, without `.md`; a plugin's begins with `org/repo/`.
    pub name: String,
    /// What its front matter calls it; its name where it does not.
    pub title: String,
    /// What it is for; may be empty.
    pub description: String,
    /// The only tools that it may use: none for an empty list, those of its caller where it does not say (R33).
    pub allowed_tools: Option<Vec<String>>,
    /// The only commands that it may run, as [`AllowedCommands`] reads them; where it does not say, its caller's.
    pub allowed_commands: Option<Vec<String>>,
    /// What it can be given, in the order of the file.
    pub arguments: Vec<Argument>,
    /// Where it comes from.
    pub origin: Origin,
    commands: Option<AllowedCommands>,
    template: Template,
    fingerprint: Fingerprint,
    warnings: Vec<Diagnostic>,
}

/// Something that a recipe can be given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// Its name.
    pub name: String,
    /// What it is for; may be empty.
    pub description: String,
    /// Its value where none is given.
    pub default: Option<String>,
}

/// Where a recipe comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// Whose it is.
    pub layer: RecipeLayer,
    /// Its file; of one that comes with Tenter, `builtin:NAME.md`.
    pub path: PathBuf,
}

/// Whose a recipe is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecipeLayer {
    /// The project's.
    Project,
    /// From a folder that was named on the command line.
    Named,
    /// The same, where the folder lies in the project or holds it.
    NamedInProject,
    /// A plugin's that is installed in the project.
    ProjectPlugin,
    /// The person's.
    User,
    /// A plugin's that the person installed.
    UserPlugin,
    /// It comes with Tenter.
    BuiltIn,
}

impl RecipeLayer {
    /// The word for it in listings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Named | Self::NamedInProject => "fragment-dirs",
            Self::ProjectPlugin => "project-plugin",
            Self::User => "user",
            Self::UserPlugin => "user-plugin",
            Self::BuiltIn => "builtin",
        }
    }

    /// Whether it came with the project, so that the person may never have seen it.
    pub fn is_of_project(self) -> bool {
        matches!(self, Self::Project | Self::NamedInProject | Self::ProjectPlugin)
    }
}

impl fmt::Display for RecipeLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Recipe {
    /// Reads the bytes of a recipe's file. There is a recipe exactly when no finding is an error.
    pub fn read(name: &str, origin: Origin, bytes: &[u8]) -> (Option<Self>, Vec<Diagnostic>) {
        if let Err(finding) = check_text(&origin.path, bytes) {
            return (None, vec![finding]);
        }
        let text = String::from_utf8_lossy(bytes).into_owned();
        let (document, mut found) = document(&origin.path, bytes);
        let Some(document) = document else { return (None, found) };
        let Document { fields, body } = document;
        let file = File { path: origin.path.clone(), body: body.max(mark(&text)), text };
        let mut reader = Reader { file: &file, found: &mut found };
        reader.stray_restrictions(body);
        let mut recipe = reader.front_matter(&fields);
        recipe.title = recipe.title.take().filter(|title| !title.is_empty());
        let template =
            Template::parse(file, Dialect::Recipe).map_err(|errors| found.extend(errors)).ok();
        let broken = found.iter().any(|finding| finding.severity == Severity::Error);
        let recipe = template.filter(|_| !broken).map(|template| Self {
            name: name.to_owned(),
            title: recipe.title.unwrap_or_else(|| name.to_owned()),
            description: recipe.description,
            allowed_tools: recipe.allowed_tools,
            allowed_commands: recipe.allowed_commands,
            commands: recipe.commands,
            arguments: recipe.arguments,
            origin,
            template,
            fingerprint: fingerprint_of_recipe(bytes),
            warnings: found.clone(),
        });
        (recipe, found)
    }

    /// The text as it was written, nothing filled in.
    pub fn body(&self) -> &str {
        self.template.text()
    }

    /// Whose it is.
    pub fn layer(&self) -> RecipeLayer {
        self.origin.layer
    }

    /// What is trusted of it (R45): all bytes of its file.
    pub fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    /// The programs that its text starts while it is filled in, as command lines in the order of the text, each once. `…`
    /// stands for what is not known before.
    pub fn programs(&self) -> Vec<String> {
        self.template.programs()
    }

    /// What its file was warned about.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// The tools of its caller, as far as it may use them: enforced where a tool runs, whatever the prompt says. A tool that
    /// its caller does not have it does not get either.
    ///
    /// # Errors
    /// When it names a tool that nobody has: a misspelt restriction would be another one.
    pub fn restrict(&self, tools: Registry) -> Result<Registry, UnknownTools> {
        let tools = match &self.allowed_tools {
            Some(allowed) => {
                let is_withheld = |name: &str| {
                    tool_names::canonical(name).is_some_and(|own| tools.get(own).is_none())
                };
                let allowed = allowed.iter().filter(|name| !is_withheld(name)).cloned();
                let allowed: Vec<String> = allowed.collect();
                tools.restricted(&allowed)?
            }
            None => tools,
        };
        Ok(match &self.commands {
            Some(allowed) => tools.with_commands(allowed),
            None => tools,
        })
    }

    pub(super) fn template(&self) -> &Template {
        &self.template
    }
}

fn check_text(path: &Path, bytes: &[u8]) -> Result<(), Diagnostic> {
    if bytes.len() > LONGEST_FILE {
        let message = format!("the file is longer than {LONGEST_FILE} bytes");
        let finding = Diagnostic::new("recipe-too-large", Severity::Error, message).at(path);
        return Err(
            finding.help("a model reads all of it; leave long texts to files that it can look at")
        );
    }
    std::str::from_utf8(bytes).map(|_| ()).map_err(|error| {
        let first = error.valid_up_to();
        Diagnostic::new("recipe-encoding", Severity::Error, "this is not UTF-8")
            .at(path)
            .with_span(SourceText::new(bytes).span(&(first..first)))
            .help("save the file as UTF-8")
    })
}

/// The length of the mark that some editors put at the beginning of a file.
fn mark(text: &str) -> usize {
    if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 }
}

/// What front matter says.
#[derive(Default)]
struct FrontMatter {
    title: Option<String>,
    description: String,
    allowed_tools: Option<Vec<String>>,
    allowed_commands: Option<Vec<String>>,
    commands: Option<AllowedCommands>,
    arguments: Vec<Argument>,
}

/// Reads the fields of one file.
struct Reader<'a> {
    file: &'a File,
    found: &'a mut Vec<Diagnostic>,
}

impl Reader<'_> {
    fn front_matter(&mut self, fields: &[Field]) -> FrontMatter {
        let mut front_matter = FrontMatter::default();
        for field in fields {
            match field.key.as_str() {
                "name" => front_matter.title = self.text(field),
                "description" => front_matter.description = self.text(field).unwrap_or_default(),
                "allowed_tools" => front_matter.allowed_tools = self.allowed(field),
                "allowed_commands" => {
                    front_matter.allowed_commands = self.allowed(field);
                    let patterns = front_matter.allowed_commands.as_deref();
                    front_matter.commands =
                        patterns.and_then(|patterns| self.commands(field, patterns));
                }
                "arguments" => self.arguments(field, &mut front_matter.arguments),
                "defaults" => self.defaults(field, &mut front_matter.arguments),
                _ => self.unknown(field, &KEYS),
            }
        }
        front_matter
    }

    fn add(
        &mut self,
        severity: Severity,
        at: &Range<usize>,
        message: String,
        help: impl Into<String>,
    ) {
        let id = if severity == Severity::Error { "recipe-field" } else { "recipe-field-ignored" };
        let place = SourceText::new(self.file.text.as_bytes()).span(at);
        self.found.push(
            Diagnostic::new(id, severity, message).at(&self.file.path).with_span(place).help(help),
        );
    }

    /// Restrictions outside the front matter, which would be lost as text for the model (R70).
    fn stray_restrictions(&mut self, body: usize) {
        for (line, key) in restriction::stray(&self.file.text, body) {
            let message =
                format!("this line restricts nothing: `{key}` is not in the front matter");
            let help = if body == 0 {
                "front matter begins with a line `---` at the top of the file and ends with another"
            } else {
                "move it above the second `---`, or put it in a code block if it is text for the model"
            };
            self.add(Severity::Error, &line, message, help);
        }
    }

    /// A restriction that is misspelt, or below another key, must not become none.
    fn unknown(&mut self, field: &Field, known: &[&str]) {
        let key = &field.key;
        let (severity, what) = if restriction::is_near(key) {
            (Severity::Error, "but looks like a restriction")
        } else if restriction::is_below(&field.value) {
            (Severity::Error, "and there is a restriction below it")
        } else {
            (Severity::Warning, "and is ignored")
        };
        let help = match nearest(key, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("keys are {}", or_list(known)),
        };
        let message = format!("`{key}` means nothing here, {what}");
        self.add(severity, &field.key_at, message, help);
    }

    fn text(&mut self, field: &Field) -> Option<String> {
        match &field.value.value {
            Written::Text(text) => Some(text.trim().to_owned()),
            Written::Nothing => None,
            Written::List(_) | Written::Fields(_) => {
                let message = format!("`{}` takes text; this is ignored", field.key);
                self.add(Severity::Warning, &field.value.at, message, "write it behind the colon");
                None
            }
        }
    }

    /// A list of names, or names with commas between them. Anything else is an error.
    fn allowed(&mut self, field: &Field) -> Option<Vec<String>> {
        let words = match &field.value.value {
            Written::Text(text) => Some(
                text.split(',')
                    .map(str::trim)
                    .filter(|word| !word.is_empty())
                    .map(str::to_owned)
                    .collect(),
            ),
            Written::List(items) => items.iter().map(word).collect(),
            Written::Nothing | Written::Fields(_) => None,
        };
        if words.is_none() {
            let message = format!("`{}` takes a list", field.key);
            let at = if field.value.at.is_empty() { &field.key_at } else { &field.value.at };
            let help = format!(
                "write `{}: [one, other]`, or `[]` for none at all; leave the line out for no restriction",
                field.key
            );
            self.add(Severity::Error, at, message, help);
        }
        words
    }

    fn commands(&mut self, field: &Field, patterns: &[String]) -> Option<AllowedCommands> {
        AllowedCommands::new(patterns)
            .map_err(|error| {
                let help = "patterns are such as `git diff *`";
                self.add(Severity::Error, &field.value.at, error.to_string(), help);
            })
            .ok()
    }

    fn arguments(&mut self, field: &Field, arguments: &mut Vec<Argument>) {
        for (name, value) in self.pairs(field) {
            let argument = argument(arguments, name);
            match &value.value {
                Written::Nothing => {}
                Written::Fields(fields) => {
                    for field in fields {
                        match field.key.as_str() {
                            "description" => {
                                argument.description = self.value(field).unwrap_or_default();
                            }
                            "default" => argument.default = self.value(field),
                            _ => self.unknown(field, &["description", "default"]),
                        }
                    }
                }
                Written::Text(_) | Written::List(_) => {
                    let message = format!("the argument `{name}` needs a mapping; this is ignored");
                    self.add(
                        Severity::Warning,
                        &value.at,
                        message,
                        "write `{description: …, default: …}`",
                    );
                }
            }
        }
    }

    /// The text of a field with the space around it.
    fn value(&mut self, field: &Field) -> Option<String> {
        match &field.value.value {
            Written::Text(text) => Some(text.clone()),
            _ => self.text(field),
        }
    }

    /// The older form: names and their defaults. `arguments` says it better, and stays where both speak.
    fn defaults(&mut self, field: &Field, arguments: &mut Vec<Argument>) {
        for (name, value) in self.pairs(field) {
            let Written::Text(default) = &value.value else {
                let message = format!("the default of `{name}` has to be text; this is ignored");
                self.add(Severity::Warning, &value.at, message, "write `name: text`");
                continue;
            };
            argument(arguments, name).default.get_or_insert_with(|| default.clone());
        }
    }

    fn pairs<'f>(&mut self, field: &'f Field) -> Vec<(&'f str, &'f Located)> {
        match &field.value.value {
            Written::Fields(fields) => {
                fields.iter().map(|field| (field.key.as_str(), &field.value)).collect()
            }
            Written::Nothing => Vec::new(),
            Written::Text(_) | Written::List(_) => {
                let message = format!("`{}` is a mapping; this is ignored", field.key);
                self.add(
                    Severity::Warning,
                    &field.value.at,
                    message,
                    "write `name: …` lines below it",
                );
                Vec::new()
            }
        }
    }
}

fn word(item: &Located) -> Option<String> {
    match &item.value {
        Written::Text(text) => Some(text.trim().to_owned()),
        _ => None,
    }
}

/// The argument of this name, which is there afterwards.
fn argument<'a>(arguments: &'a mut Vec<Argument>, name: &str) -> &'a mut Argument {
    let position =
        arguments.iter().position(|argument| argument.name == name).unwrap_or_else(|| {
            arguments.push(Argument {
                name: name.to_owned(),
                description: String::new(),
                default: None,
            });
            arguments.len() - 1
        });
    &mut arguments[position]
}
