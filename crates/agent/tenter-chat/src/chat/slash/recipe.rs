//! `/recipe`: lists recipes, or runs one on this conversation.

use tenter_agent::recipe::Recipe;
use tenter_base::one_line;
use tenter_commands::trust::{self, PendingTrust, TrustChoice};
use tenter_engine::builtin;
use tenter_terminal::{FAINT, Failure, NAME, styled, ui};

use super::{CommandContext, SlashResult, model};
use crate::agent::recipes::{self, argument};
use crate::agent::{below, fill_in};
use crate::chat::recipe_session::RecipeTask;
use crate::chat::{ChatEnd, SessionChange, words};

/// Maximum number of characters shown of a description.
const LENGTH: usize = 100;

/// Lists the recipes; or sends the text of one, in a session that is restricted as the recipe says.
pub(super) fn recipe(context: &mut CommandContext, line: &str) -> SlashResult {
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    match name {
        "" => list(context),
        builtin::RECIPE => model::compact(context, rest.trim()),
        _ => run(context, name, rest.trim_start()),
    }
}

/// Runs the recipe `init`.
pub(super) fn init(context: &mut CommandContext, rest: &str) -> SlashResult {
    run(context, "init", rest)
}

/// Runs the recipe `review`.
pub(super) fn review(context: &mut CommandContext, rest: &str) -> SlashResult {
    run(context, "review", rest)
}

#[expect(clippy::unnecessary_wraps, reason = "commands are alike")]
fn list(context: &CommandContext) -> SlashResult {
    let chat = &*context.chat;
    let book = recipes::book(&chat.project, &chat.args.fragment_dirs);
    let (recipes, findings) = book.recipes.list();
    ui::diagnostics(&findings);
    let usable = || recipes.iter().filter(|one| !one.is_broken && one.shadowed_by.is_none());
    let width = usable().map(|one| one.name.chars().count()).max().unwrap_or(0);
    for one in usable() {
        let name = styled(NAME, format!("{:width$}", one_line(&one.name, LENGTH)));
        ui::out(format!("  {name}  {}", one_line(&one.description, LENGTH)));
    }
    ui::note(styled(FAINT, "/recipe NAME runs one; ARG=VALUE passes an argument"));
    Ok(None)
}

fn run(context: &mut CommandContext, name: &str, rest: &str) -> SlashResult {
    let chat = &mut *context.chat;
    let cancel = chat.new_cancel();
    ui::diagnostics(&chat.project.read_trust_again());
    let book = recipes::book(&chat.project, &chat.args.fragment_dirs);
    let recipe =
        book.find(name).map_err(|error| recipes::no_recipe(&error).help("/recipe lists them"))?;
    if book.has_blocked_programs(&recipe) && !decide(context, &recipe)? {
        ui::note("The recipe was not run.");
        return Ok(None);
    }
    let chat = &mut *context.chat;
    // Trust may have been granted since.
    let book = recipes::book(&chat.project, &chat.args.fragment_dirs);
    let (inputs, message) = arguments(rest);
    let keys = &context.agent.settings.keys;
    let text = fill_in(&recipe, &inputs, (&book, keys), ("", chat.show.as_ref()), &cancel)?;
    let tools = recipe.restrict(context.agent.tools.clone()).map_err(|unknown| {
        Failure::new(format!("cannot use the recipe {:?}: {unknown}", recipe.name))
            .help("fix its `allowed_tools`")
    })?;
    let message = below(&text, message);
    let task = RecipeTask { name: recipe.name, message, tools, book };
    Ok(Some(ChatEnd::Change(SessionChange::Recipe(Box::new(task)))))
}

/// Asks whether the programs of a project's recipe may start. Returns whether the recipe runs, with or without them.
fn decide(context: &mut CommandContext, recipe: &Recipe) -> Result<bool, Failure> {
    let chat = &mut *context.chat;
    let mut read = |prompt: &str| chat.dialogue.question(prompt);
    let servers = recipes::to_trust(recipe);
    let pending = PendingTrust::recipe(&servers);
    match trust::ask_through(chat.project.trust_context(), pending, &mut read) {
        TrustChoice::Trust => {
            trust::trust_recipes(&mut chat.project, std::slice::from_ref(&servers))?;
            Ok(true)
        }
        TrustChoice::Only(_) | TrustChoice::Skip => Ok(true),
        TrustChoice::Refuse => Ok(false),
    }
}

/// Returns the arguments at the beginning of a text, and the message after them.
fn arguments(text: &str) -> (Vec<(String, String)>, &str) {
    let mut arguments = Vec::new();
    for word in words::split(text) {
        match argument(&word.text) {
            Ok(one) if is_name(&one.0) => arguments.push(one),
            _ => return (arguments, &text[word.start..]),
        }
    }
    (arguments, "")
}

/// Checks whether a word before `=` can be the name of an argument.
fn is_name(word: &str) -> bool {
    word.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_end_where_the_message_begins() {
        let to_strings = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        for (text, given, message) in [
            ("", &[][..], ""),
            ("please look", &[], "please look"),
            ("a=1 b='two words' don't a=2", &[("a", "1"), ("b", "two words")], "don't a=2"),
            ("x=", &[("x", "")], ""),
            ("f(x)=2 is it?", &[], "f(x)=2 is it?"),
            ("=3", &[], "=3"),
        ] {
            assert_eq!(arguments(text), (to_strings(given), message), "{text}");
        }
    }
}
