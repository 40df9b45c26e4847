//! A text that a recipe has the model write, for `commit` and `pr`: one answer, without tools, stored nowhere.

use std::path::PathBuf;
use std::sync::Arc;

use tenter_agent::session::{Status, UserMessage};
use tenter_proc::Cancel;

use super::recipes::argument;
use super::{AgentArgs, build, hooks_to_run, recipe_to_run, work};
use crate::failure::{Exit, Failure};
use crate::project::Project;
use crate::render::{Quiet, Show};

/// The flags that `commit` and `pr` share.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct WritingArgs {
    /// The model; without it the one for lesser work, where one is configured.
    #[arg(long, short, value_name = "MODEL")]
    model: Option<String>,
    /// The model for lesser work.
    #[arg(long, value_name = "MODEL", conflicts_with = "model")]
    weak_model: Option<String>,
    /// Give the recipe an argument, such as instructions="…"; may be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_parser = argument)]
    arg: Vec<(String, String)>,
    /// Do it without asking.
    #[arg(long = "no-confirm", short = 'y', visible_alias = "yes")]
    pub(crate) yes: bool,
    /// Run under hooks.
    #[arg(long)]
    hooks: bool,
    /// Trust the project's hooks, recipes that start programs, and choice of model as they are now.
    #[arg(long)]
    trust_project: bool,
    /// Look for recipes in this folder too; may be given several times.
    #[arg(long = "fragment-dirs", value_name = "DIR", value_delimiter = ',')]
    fragment_dirs: Vec<PathBuf>,
}

impl WritingArgs {
    /// The same agent as `run` would have it, without tools and without a store.
    fn agent(&self, project: &Project) -> AgentArgs {
        let weak = self.weak_model.is_some() || project.settings.models.weak_model.is_some();
        AgentArgs {
            model: self.model.clone(),
            weak_model: self.weak_model.clone(),
            use_weak_model: weak && self.model.is_none(),
            no_save: true,
            no_hooks: !self.hooks,
            trust_project: self.trust_project,
            allowed_tools: Some(vec!["none".to_owned()]),
            disable_auto_compact: true,
            fragment_dirs: self.fragment_dirs.clone(),
            ..AgentArgs::default()
        }
    }
}

/// What the model answers to the recipe `name`, which also gets `more` arguments, without what it may be wrapped in.
///
/// # Errors
/// When there is no answer: whatever ends a run with another code than 0 ends this with the same.
pub(crate) fn write(
    project: &mut Project,
    name: &str,
    args: &WritingArgs,
    more: Vec<(String, String)>,
    cancel: &Cancel,
) -> Result<String, Failure> {
    let of_agent = args.agent(project);
    let show: Arc<dyn Show> = Arc::new(Quiet::default());
    let catalog = hooks_to_run(project, &of_agent, show.as_ref(), cancel)?;
    let recipe = recipe_to_run(project, &of_agent, name, show.as_ref())?;
    let mut built = build(project, &of_agent, catalog, Arc::clone(&show), cancel)?;
    project.findings().chain(&built.findings).for_each(|finding| show.finding(finding));
    let given = [more, args.arg.clone()].concat();
    let text = built.take_up(&recipe, &given, show.as_ref(), cancel)?;
    let finish = work(&built, &UserMessage::from(text.as_str()), cancel);
    built.tell_trouble();
    let text = unwrapped(&finish.response);
    match finish.status {
        Status::Done if text.is_empty() => Err(Failure::new("the model wrote nothing")
            .help("try again, or name another model with --model")),
        Status::Done => Ok(text.to_owned()),
        status => Err(unwritten(status)),
    }
}

/// Why there is no text. What a hook or a model said of it has been shown.
fn unwritten(status: Status) -> Failure {
    let failure = match status {
        Status::Blocked => Failure::new("a hook blocked the request, so the model wrote no text")
            .help("`tenter log` shows what hooks decided; without --hooks none runs"),
        Status::MaxTurns => Failure::new("the model reached the turn limit before it wrote a text")
            .help("raise the limit with `max_turns` in config.toml or TENTER_MAX_TURNS"),
        Status::Interrupted => Failure::new("interrupted before the model wrote a text"),
        Status::Failed | Status::Done => Failure::new("the model failed, so there is no text"),
    };
    Failure { exit: Exit::Agent(status), ..failure }
}

/// A text without the code fence and the quotes that models like to put around one.
fn unwrapped(text: &str) -> &str {
    let text = text.trim();
    let inner =
        without_fence(text).or_else(|| without_ticks(text)).or_else(|| without_quotes(text));
    inner.map_or(text, unwrapped)
}

fn without_fence(text: &str) -> Option<&str> {
    let (first, rest) = text.split_once('\n')?;
    let ticks = first.trim_end().trim_start_matches('`');
    let fence = &first[..first.len() - first.trim_start_matches('`').len()];
    let inner = rest.strip_suffix(fence)?;
    let is_fence = fence.len() >= 3 && !ticks.contains('`') && !ticks.contains(' ');
    // With another fence in between these are the ends of two blocks.
    (is_fence && inner.ends_with('\n') && !inner.lines().any(|line| line.starts_with(fence)))
        .then_some(inner)
}

/// Code within a text, however many backticks it stands between.
fn without_ticks(text: &str) -> Option<&str> {
    let ticks = &text[..text.len() - text.trim_start_matches('`').len()];
    let inner = text.strip_prefix(ticks)?.strip_suffix(ticks)?;
    // Behind three of them and on several lines stands a language, or the text: who knows.
    let is_code = !ticks.is_empty() && (ticks.len() < 3 || !inner.contains('\n'));
    (is_code && !inner.contains(ticks) && !inner.trim().is_empty()).then_some(inner)
}

fn without_quotes(text: &str) -> Option<&str> {
    [('"', '"'), ('\'', '\''), ('“', '”'), ('‘', '’'), ('«', '»')].into_iter().find_map(
        |(open, close)| {
            let inner = text.strip_prefix(open)?.strip_suffix(close)?;
            let ends_before = |(at, _)| !is_within_word(inner, at, close);
            let is_open_between = open != close && inner.contains(open);
            let ends = is_open_between || inner.match_indices(close).any(ends_before);
            (!inner.trim().is_empty() && !ends).then_some(inner)
        },
    )
}

/// Whether the sign at `at` is an apostrophe: a letter stands before it, and another behind it.
fn is_within_word(text: &str, at: usize, sign: char) -> bool {
    let before = text[..at].chars().next_back();
    let after = text[at + sign.len_utf8()..].chars().next();
    matches!(sign, '\'' | '’') && [before, after].iter().all(|c| c.is_some_and(char::is_alphabetic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_text_is_wrapped_in_goes_and_what_belongs_to_it_stays() {
        for (text, inner) in [
            ("Fix it\n", "Fix it"),
            ("```\nFix it\n\n- a\n```", "Fix it\n\n- a"),
            ("```text\nFix it\n```\n", "Fix it"),
            ("````\nFix\n```\nx\n```\n````", "Fix\n```\nx\n```"),
            ("\"Fix it\"", "Fix it"),
            ("```\n'Fix it'\n```", "Fix it"),
            ("`Fix it`", "Fix it"),
            ("\"a\" and \"b\"", "\"a\" and \"b\""),
            ("Run:\n```\nx\n```", "Run:\n```\nx\n```"),
            ("```\na\n```\nand\n```\nb\n```", "```\na\n```\nand\n```\nb\n```"),
            ("`a` and `b`", "`a` and `b`"),
            ("``` Fix it ```", "Fix it"),
            ("```Fix it```", "Fix it"),
            ("`` Fix `it` ``", "Fix `it`"),
            ("```a``` and ```b```", "```a``` and ```b```"),
            ("``` ```", "``` ```"),
            ("“Fix it”", "Fix it"),
            ("‘Don’t fix it’", "Don’t fix it"),
            ("'Don't fix it'", "Don't fix it"),
            ("'a' and 'b'", "'a' and 'b'"),
            ("“a” and “b”", "“a” and “b”"),
            ("«Fix it»", "Fix it"),
            ("\"Fix it\n\nIt was broken.\"", "Fix it\n\nIt was broken."),
            ("```", "```"),
            ("\"", "\""),
            ("\"\"", "\"\""),
            ("", ""),
        ] {
            assert_eq!(unwrapped(text), inner, "{text:?}");
        }
    }
}
