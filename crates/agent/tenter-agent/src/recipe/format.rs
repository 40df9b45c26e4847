//! The file of a recipe: Markdown with front matter, whose text is a template.
//!
//! A problem with a key that only describes is a warning. A problem with one that restricts is an error: a recipe whose
//! restrictions cannot be read must not run without them.

use std::fmt;
use std::path::PathBuf;

use tenter_base::{did_you_mean, or_list};
use tenter_engine::configuration::ConfineProfiles;
use tenter_engine::layout::Root;
use tenter_engine::trust::fingerprint_of_recipe;
use tenter_engine::{Fingerprint, Layer};
use tenter_protocol::confinement::Confinement;
use tenter_protocol::front_matter::{self, Code, Field, Format, Node, Report, Strictness};
use tenter_protocol::{Diagnostic, tool_names};
use tenter_template::{Dialect, Template, TemplateFile};

use super::{confine, restriction};
use crate::tools::{AllowedCommands, Registry, UnknownTools};

/// Maximum size of a recipe's file, in bytes.
pub const MAX_FILE_SIZE: usize = 1 << 20;

const KEYS: [&str; 7] = *tenter_base::words!(
    "name description allowed_tools allowed_commands confine arguments defaults"
);
const ARGUMENT_KEYS: [&str; 2] = ["description", "default"];

const FORMAT: Format = Format {
    max_file_size: MAX_FILE_SIZE,
    too_large_help: "a model reads all of it; move long texts to files that it can open",
    file_too_large: Code::error("recipe-too-large"),
    encoding: Code::error("recipe-encoding"),
    ..Format::GENERIC
};
const FIELD: Code = Code::error("recipe-field");
const FIELD_IGNORED: Code = Code::warning("recipe-field-ignored");

/// A recipe that can be rendered.
#[derive(Debug, Clone)]
pub struct Recipe {
    /// Its path below a recipes directory, without `.md`; the name of a plugin's recipe begins with `org/repo/`.
    pub name: String,
    /// The `name` in its front matter, or else its name.
    pub title: String,
    /// Its purpose; may be empty.
    pub description: String,
    /// The only tools that it may use: none for an empty list, all tools of its caller for `None` (R33).
    pub allowed_tools: Option<Vec<String>>,
    /// The only commands that it may run, in the syntax of [`AllowedCommands`]; all commands of its caller for `None`.
    pub allowed_commands: Option<Vec<String>>,
    /// The confinements of its programs, of which all apply; none if they are not confined (F11).
    pub confinements: Vec<Confinement>,
    /// Its arguments, in the order of the file.
    pub arguments: Vec<RecipeArgument>,
    /// Its layer and file.
    pub origin: RecipeOrigin,
    commands: Option<AllowedCommands>,
    template: Template,
    fingerprint: Fingerprint,
    warnings: Vec<Diagnostic>,
}

/// An argument of a recipe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecipeArgument {
    /// Its name.
    pub name: String,
    /// Its purpose; may be empty.
    pub description: String,
    /// The value if none is given.
    pub default: Option<String>,
}

/// The layer and the file of a recipe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecipeOrigin {
    /// The layer that it belongs to.
    pub layer: RecipeLayer,
    /// Its file; `builtin:NAME.md` for a built-in recipe.
    pub path: PathBuf,
}

/// The layers of recipes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecipeLayer {
    /// The project.
    Project,
    /// A directory named on the command line.
    Named,
    /// A directory named on the command line that is inside the project or contains it.
    NamedInProject,
    /// A plugin installed in the project.
    ProjectPlugin,
    /// The user.
    User,
    /// A plugin installed for the user.
    UserPlugin,
    /// Tenter itself.
    BuiltIn,
}

impl RecipeLayer {
    /// Returns the word for the layer in listings.
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

    /// Returns the layer of the recipes in `root`.
    pub(super) fn from_root(root: &Root) -> Self {
        match root.layer {
            Layer::Project if root.is_named => Self::NamedInProject,
            _ if root.is_named => Self::Named,
            Layer::Project => Self::Project,
            Layer::ProjectPlugin => Self::ProjectPlugin,
            Layer::User => Self::User,
            Layer::UserPlugin => Self::UserPlugin,
            // Nothing of an administrator is a recipe.
            Layer::Managed | Layer::BuiltIn => Self::BuiltIn,
        }
    }

    /// Returns whether it comes with the project, so that the user may never have seen it.
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
    /// Reads the bytes of a recipe's file. There is a recipe exactly when no diagnostic is an error.
    /// `profiles` has those that it may name besides the built-in ones.
    pub fn read(
        name: &str,
        origin: RecipeOrigin,
        bytes: &[u8],
        profiles: &ConfineProfiles,
    ) -> (Option<Self>, Vec<Diagnostic>) {
        let path = origin.path.clone();
        let mut report = Report::new(&path, bytes, Strictness::Tolerant, &FORMAT);
        let recipe = Self::parse(name, origin, profiles, &mut report);
        let (recipe, diagnostics) = report.finish(recipe);
        let recipe = recipe.map(|recipe| Self { warnings: diagnostics.clone(), ..recipe });
        (recipe, diagnostics)
    }

    fn parse(
        name: &str,
        origin: RecipeOrigin,
        profiles: &ConfineProfiles,
        report: &mut Report<'_>,
    ) -> Option<Self> {
        let text = report.text_of_file()?;
        let document = front_matter::parse(report)?;
        report_stray_restrictions(text, document.body, report);
        let fields = RecipeFrontMatter::read(&document.fields, profiles, report);
        let body = document.body.max(bom_length(text));
        let file = TemplateFile { path: origin.path.clone(), body, text: text.to_owned() };
        let template = Template::parse(file, Dialect::Recipe)
            .map_err(|errors| errors.into_iter().for_each(|error| report.push(error)))
            .ok()?;
        Some(Self {
            name: name.to_owned(),
            title: fields.title.unwrap_or_else(|| name.to_owned()),
            description: fields.description,
            allowed_tools: fields.allowed_tools,
            allowed_commands: fields.allowed_commands,
            confinements: fields.confinements,
            arguments: fields.arguments,
            origin,
            commands: fields.commands,
            template,
            fingerprint: fingerprint_of_recipe(text.as_bytes()),
            warnings: Vec::new(),
        })
    }

    /// Returns the text as written, before rendering.
    pub fn body(&self) -> &str {
        self.template.text()
    }

    /// Returns the layer that it belongs to.
    pub fn layer(&self) -> RecipeLayer {
        self.origin.layer
    }

    /// Returns the fingerprint of all bytes of its file, for which trust is granted (R45).
    pub fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    /// Returns the command lines of the programs that rendering its text starts, in the order of the text, each once. `…` marks
    /// parts that are only known when rendering.
    pub fn programs(&self) -> Vec<String> {
        self.template.programs()
    }

    /// Returns the warnings about its file.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// Restricts its caller's tools to the tools that it may use. Enforced where a tool runs, whatever the prompt says. It never
    /// gets a tool that its caller does not have.
    ///
    /// # Errors
    /// It names an unknown tool: ignoring a misspelled restriction would change what is allowed.
    pub fn restrict(&self, tools: Registry) -> Result<Registry, UnknownTools> {
        let tools = match &self.allowed_tools {
            Some(names) => {
                let is_withheld = |name: &str| {
                    tool_names::canonical(name).is_some_and(|own| tools.get(own).is_none())
                };
                let usable = names.iter().filter(|name| !is_withheld(name)).cloned();
                let usable: Vec<String> = usable.collect();
                tools.restrict(&usable)?
            }
            None => tools,
        };
        Ok(match &self.commands {
            Some(patterns) => tools.with_commands(patterns),
            None => tools,
        })
    }

    pub(super) fn template(&self) -> &Template {
        &self.template
    }
}

/// Returns the length of the byte order mark at the beginning of `text`, if there is one.
fn bom_length(text: &str) -> usize {
    if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 }
}

/// Reports restrictions outside the front matter, which would only be text for the model (R70).
fn report_stray_restrictions(text: &str, body: usize, report: &mut Report<'_>) {
    for (line, key) in restriction::stray(text, body) {
        let message = format!("this line restricts nothing: `{key}` is outside the front matter");
        let help = if body == 0 {
            "front matter begins with a line `---` at the top of the file and ends with another"
        } else {
            "move it above the second `---`; if it is text for the model, put it in a code block"
        };
        report.add(&FIELD, &line, message, help);
    }
}

/// The values of a recipe's front matter.
#[derive(Default)]
struct RecipeFrontMatter {
    title: Option<String>,
    description: String,
    allowed_tools: Option<Vec<String>>,
    allowed_commands: Option<Vec<String>>,
    commands: Option<AllowedCommands>,
    confinements: Vec<Confinement>,
    arguments: Vec<RecipeArgument>,
}

impl RecipeFrontMatter {
    fn read(fields: &[Field], profiles: &ConfineProfiles, report: &mut Report<'_>) -> Self {
        let mut values = Self::default();
        for field in fields {
            match field.key.as_str() {
                "name" => values.title = text(field, report).filter(|title| !title.is_empty()),
                "description" => values.description = text(field, report).unwrap_or_default(),
                "allowed_tools" => values.allowed_tools = words(field, report),
                "allowed_commands" => {
                    values.allowed_commands = words(field, report);
                    let patterns = values.allowed_commands.as_deref();
                    values.commands =
                        patterns.and_then(|patterns| commands(field, patterns, report));
                }
                "confine" => values.confinements = confine::confinements(field, profiles, report),
                "arguments" => values.read_arguments(field, report),
                "defaults" => values.read_defaults(field, report),
                _ => report_unknown(field, &KEYS, report),
            }
        }
        values
    }

    fn read_arguments(&mut self, field: &Field, report: &mut Report<'_>) {
        for entry in report.optional_mapping(field, &FIELD_IGNORED) {
            let argument = self.argument(&entry.key);
            for field in report.optional_mapping(entry, &FIELD_IGNORED) {
                let text = |report: &mut Report<'_>| {
                    report.optional_text(field, &FIELD_IGNORED).map(str::to_owned)
                };
                match field.key.as_str() {
                    "description" => argument.description = text(report).unwrap_or_default(),
                    "default" => argument.default = text(report),
                    _ => report_unknown(field, &ARGUMENT_KEYS, report),
                }
            }
        }
    }

    /// Reads the older form, names and their defaults. A default in `arguments` has precedence.
    fn read_defaults(&mut self, field: &Field, report: &mut Report<'_>) {
        for entry in report.optional_mapping(field, &FIELD_IGNORED) {
            if let Some(scalar) = report.scalar(entry, &FIELD_IGNORED, "text after the colon") {
                let default = &mut self.argument(&entry.key).default;
                default.get_or_insert_with(|| scalar.text.clone());
            }
        }
    }

    /// Returns the argument with this name, added if it does not exist.
    fn argument(&mut self, name: &str) -> &mut RecipeArgument {
        let arguments = &mut self.arguments;
        let position = arguments.iter().position(|argument| argument.name == name);
        let position = position.unwrap_or_else(|| {
            let (name, description) = (name.to_owned(), String::new());
            arguments.push(RecipeArgument { name, description, default: None });
            arguments.len() - 1
        });
        &mut arguments[position]
    }
}

fn text(field: &Field, report: &mut Report<'_>) -> Option<String> {
    report.optional_text(field, &FIELD_IGNORED).map(|text| text.trim().to_owned())
}

/// Returns a list of words, or words separated by commas. Anything else is an error.
fn words(field: &Field, report: &mut Report<'_>) -> Option<Vec<String>> {
    let word = |node: &Node| node.as_text().map(|text| text.trim().to_owned());
    let words = match (field.value.as_list(), field.value.as_text()) {
        (Some(items), _) => items.iter().map(word).collect(),
        (None, Some(text)) => {
            let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
            Some(words.map(str::to_owned).collect())
        }
        (None, None) => None,
    };
    if words.is_none() {
        let example = format!("`{}: [one, other]`", field.key);
        let expected = format!("{example}, or `[]` for none; without the line, all are allowed");
        report.invalid(field, &FIELD, "is not a list of words", &expected);
    }
    words
}

fn commands(
    field: &Field,
    patterns: &[String],
    report: &mut Report<'_>,
) -> Option<AllowedCommands> {
    AllowedCommands::new(patterns)
        .map_err(|error| {
            let help = "a pattern is a command, such as `git diff *`";
            report.add(&FIELD, &field.value.at, error.to_string(), help);
        })
        .ok()
}

/// Reports an unknown key. A misspelled restriction, or one below another key, is an error.
fn report_unknown(field: &Field, keys: &[&str], report: &mut Report<'_>) {
    let key = &field.key;
    let (code, what) = if restriction::is_near(key) {
        (FIELD, ", but it looks like a restriction")
    } else if restriction::is_below(&field.value) {
        (FIELD, ", and there is a restriction below it")
    } else {
        (FIELD_IGNORED, "; it is ignored")
    };
    let help = did_you_mean(key, keys, || format!("keys are {}", or_list(keys)));
    report.add(&code, &field.key_at, format!("unknown key `{key}`{what}"), help);
}
