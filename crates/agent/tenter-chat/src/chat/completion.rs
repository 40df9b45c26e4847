//! Completion of commands and their arguments.

use std::cell::OnceCell;
use std::fs;
use std::path::{Path, PathBuf};

use rustyline::completion::Pair;
use tenter_agent::Agent;
use tenter_agent::permission::RuleSource;
use tenter_agent::recipe::Recipes;
use tenter_agent::store::Summary;
use tenter_base::{one_line, visible};
use tenter_commands::project::Project;

use super::file_names::FileNames;
use super::mentions::is_boundary;
use super::slash::{self, COMMANDS, Command};
use super::words::{self, PathBases, TypedWord};

/// Maximum number of entries of a directory that are completed.
const MAX_ENTRIES: usize = 10_000;
/// The file name extensions of images.
const IMAGES: [&str; 5] = ["png", "jpg", "jpeg", "gif", "webp"];

/// The sources of completions for commands and their arguments.
pub(super) struct CommandCompletion {
    conversations: Vec<Summary>,
    recipes: Recipes,
    /// The permission rules that are kept for the project.
    rules: Vec<String>,
    /// The names of all hooks.
    hooks: Vec<String>,
    places: PathBases,
    /// The project's root.
    root: PathBuf,
    /// The files below the working directory, once they are needed.
    names: OnceCell<FileNames>,
}

impl CommandCompletion {
    /// Completes from the conversations and recipes of `agent`, and from the user's files.
    pub(super) fn new(agent: &Agent, project: &Project) -> Self {
        let conversations = slash::recent_conversations(agent, project.root());
        Self {
            conversations: conversations.unwrap_or_default(),
            recipes: agent.settings.recipes.recipes.clone(),
            rules: kept_rules(agent),
            hooks: hook_names(agent),
            places: PathBases::new(project.env),
            root: project.root().to_owned(),
            names: OnceCell::new(),
        }
    }

    /// Returns the start of the word to complete, and its candidates.
    pub(super) fn candidates(&self, text: &str) -> (usize, Vec<Pair>) {
        let Some(command) = text.strip_prefix('/') else { return self.mention(text) };
        let Some((name, argument)) = command.split_once(' ') else {
            return (0, commands(command));
        };
        let start = text.len() - argument.len();
        match name {
            "resume" => (start, self.conversations(argument)),
            "recipe" => (start, self.recipes(argument)),
            "permissions" => self.permissions(start, argument),
            "hooks" => self.hooks(start, argument),
            "export" | "diff" => self.files(start, argument, |_| true),
            "image" => self.files(start, argument, is_image),
            _ => (0, Vec::new()),
        }
    }

    /// Completes the last word as a file to attach, if it begins with `@`.
    fn mention(&self, text: &str) -> (usize, Vec<Pair>) {
        let starts = text.rmatch_indices('@').map(|(at, _)| at);
        let mut starts = starts.filter(|at| is_boundary(text[..*at].chars().next_back()));
        let Some(start) = starts.next().map(|at| at + 1) else { return (0, Vec::new()) };
        let word = match words::split(&text[start..]).as_slice() {
            [] if start == text.len() => String::new(),
            [word] if !word.is_ended && word.start == 0 => word.text.clone(),
            _ => return (0, Vec::new()),
        };
        if word.starts_with(['~', '/']) || word.starts_with("..") {
            return (start, paths(&self.places, &word, |_| true));
        }
        let names = self.names.get_or_init(|| FileNames::list(&self.places.cwd, &self.root));
        let pair = |path: String| Pair { replacement: words::escape(&path), display: path };
        (start, names.matching(&word).into_iter().map(pair).collect())
    }

    /// Completes what to do with a hook, then its name.
    fn hooks(&self, start: usize, argument: &str) -> (usize, Vec<Pair>) {
        let pair = |word: &str, end: &str| Pair {
            display: word.to_owned(),
            replacement: format!("{word}{end}"),
        };
        let Some((action, name)) = argument.split_once(' ') else {
            let actions = slash::HOOK_ACTIONS.iter().filter(|action| action.starts_with(argument));
            return (start, actions.map(|action| pair(action, " ")).collect());
        };
        if !slash::HOOK_ACTIONS.contains(&action) || name.contains(' ') {
            return (start, Vec::new());
        }
        let hooks = self.hooks.iter().filter(|hook| hook.starts_with(name));
        (start + action.len() + 1, hooks.map(|hook| pair(hook, "")).collect())
    }

    fn conversations(&self, text: &str) -> Vec<Pair> {
        let conversations =
            self.conversations.iter().filter(|summary| summary.id.starts_with(text));
        let pair = |summary: &Summary| Pair {
            display: format!("{}  {}", summary.id, one_line(&summary.preview, 40)),
            replacement: summary.id.clone(),
        };
        conversations.map(pair).collect()
    }

    fn recipes(&self, text: &str) -> Vec<Pair> {
        let (recipe_list, _findings) = self.recipes.list();
        let usable =
            recipe_list.iter().filter(|recipe| !recipe.is_broken && recipe.shadowed_by.is_none());
        let recipes = usable.filter(|recipe| recipe.name.starts_with(text));
        let pair = |name: &str| Pair { display: name.to_owned(), replacement: format!("{name} ") };
        recipes.map(|recipe| pair(&recipe.name)).collect()
    }

    /// Completes modes, `add`, `remove`, and the rules that can be removed.
    fn permissions(&self, start: usize, argument: &str) -> (usize, Vec<Pair>) {
        let pair = |text: &str| Pair { display: text.to_owned(), replacement: text.to_owned() };
        if let Some(rule) = argument.strip_prefix("remove ") {
            let rules = self.rules.iter().filter(|one| one.starts_with(rule));
            return (start + "remove ".len(), rules.map(|rules| pair(rules)).collect());
        }
        let words = ["ask", "edits", "all", "add ", "remove "];
        (start, words.into_iter().filter(|word| word.starts_with(argument)).map(pair).collect())
    }

    /// Completes the last word of `argument`, which begins at `start`, as a path.
    fn files(
        &self,
        start: usize,
        argument: &str,
        is_wanted: fn(&Path) -> bool,
    ) -> (usize, Vec<Pair>) {
        let word = words::split(argument).pop();
        let ends = argument.is_empty() || word.as_ref().is_some_and(|word| word.is_ended);
        let word = word.filter(|_| !ends).unwrap_or(TypedWord::empty_at(argument.len()));
        (start + word.start, paths(&self.places, &word.text, is_wanted))
    }
}

fn kept_rules(agent: &Agent) -> Vec<String> {
    let rules = agent.permissions.rules().list().into_iter();
    let project_rules = rules.filter(|(_, source)| *source == RuleSource::Project);
    project_rules.map(|(rule, _)| visible(&rule.to_string()).into_owned()).collect()
}

/// Returns the names of all hooks, also of those that do not run.
fn hook_names(agent: &Agent) -> Vec<String> {
    let catalog = agent.engine.catalog();
    let names = catalog.listing().iter().map(|hook| hook.name.clone());
    let mut names: Vec<String> = names.filter(|name| visible(name) == name.as_str()).collect();
    names.sort();
    names.dedup();
    names
}

fn commands(text: &str) -> Vec<Pair> {
    let commands = COMMANDS.iter().filter(|command| command.name.starts_with(text));
    let pair = |command: &Command| {
        let end = if command.argument.is_empty() { "" } else { " " };
        Pair {
            display: format!("/{}", command.name),
            replacement: format!("/{}{end}", command.name),
        }
    };
    commands.map(pair).collect()
}

fn is_image(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase);
    ending.is_some_and(|ending| IMAGES.contains(&ending.as_str()))
}

/// Returns the paths that begin with `text`: directories, and the files that are wanted. Hidden ones only if a dot was typed.
fn paths(places: &PathBases, text: &str, is_wanted: fn(&Path) -> bool) -> Vec<Pair> {
    let (directory, beginning) = text
        .rsplit_once('/')
        .map_or(("", text), |(directory, rest)| (&text[..=directory.len()], rest));
    let entries = fs::read_dir(places.resolve(directory)).into_iter().flatten().flatten();
    let mut matches: Vec<(String, PathBuf)> = entries
        .take(MAX_ENTRIES)
        .filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path())))
        .filter(|(name, _)| name.starts_with(beginning) && visible(name) == name.as_str())
        .filter(|(name, _)| beginning.starts_with('.') || !name.starts_with('.'))
        .filter(|(_, path)| path.is_dir() || is_wanted(path))
        .collect();
    matches.sort();
    let pair = |(name, path): (String, PathBuf)| {
        let end = if path.is_dir() { "/" } else { "" };
        let display = format!("{name}{end}");
        Pair { replacement: words::escape(&format!("{directory}{display}")), display }
    };
    matches.into_iter().map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replacements(pairs: Vec<Pair>) -> Vec<String> {
        pairs.into_iter().map(|pair| pair.replacement).collect()
    }

    #[test]
    fn commands_are_completed_by_their_beginning() {
        assert_eq!(replacements(commands("res")), ["/resume "]);
        assert_eq!(replacements(commands("h")), ["/help", "/hooks "]);
        assert_eq!(commands("").len(), COMMANDS.len());
        assert!(commands("nothing").is_empty());
    }

    #[test]
    fn paths_are_completed_and_spaces_escaped() {
        let scratch = tempfile::tempdir().unwrap();
        let cwd = scratch.path().join("project");
        fs::create_dir_all(cwd.join("my pictures")).unwrap();
        for name in ["cat.png", "CAT.JPG", "cats.txt", ".cat.png", "my pictures/a b.gif"] {
            fs::write(cwd.join(name), "").unwrap();
        }
        let places = PathBases { cwd: cwd.clone(), home: scratch.path().to_owned() };
        let images = |text: &str| replacements(paths(&places, text, is_image));
        assert_eq!(images("cat"), ["cat.png"]);
        assert_eq!(images(""), ["CAT.JPG", "cat.png", "my\\ pictures/"]);
        assert_eq!(images("my pictures/"), ["my\\ pictures/a\\ b.gif"]);
        assert_eq!(images("./.c"), ["./.cat.png"]);
        assert_eq!(images("~/project/cat"), ["~/project/cat.png"]);
        assert!(images("nowhere/").is_empty());
        assert_eq!(replacements(paths(&places, "cats", |_| true)), ["cats.txt"]);
    }
}
