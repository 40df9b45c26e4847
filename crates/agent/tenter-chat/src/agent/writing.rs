//! Lets the model write a text with a recipe, for `commit` and `pr`: one response, without tools, not saved.

use std::path::PathBuf;
use std::sync::Arc;

use tenter_agent::session::{Status, UserMessage};
use tenter_commands::project::Project;
use tenter_proc::Cancel;
use tenter_terminal::Failure;
use tenter_terminal::screen::screen;

use super::recipes::argument;
use super::{AgentArgs, build, hooks_to_run, recipe_to_run, work};
use crate::render::{Quiet, Show};

/// The flags that `commit` and `pr` share.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct WritingArgs {
    /// Use this model; by default the cheaper one, if configured.
    #[arg(long, short, value_name = "MODEL")]
    model: Option<String>,
    /// Set the cheaper model for small tasks.
    #[arg(long, value_name = "MODEL", conflicts_with = "model")]
    weak_model: Option<String>,
    /// Pass an argument to the recipe; repeatable.
    #[arg(long, value_name = "NAME=VALUE", value_parser = argument)]
    arg: Vec<(String, String)>,
    /// Do not ask for confirmation.
    #[arg(long = "no-confirm", short = 'y', visible_alias = "yes")]
    pub yes: bool,
    /// Run with hooks, which are off by default.
    #[arg(long)]
    hooks: bool,
    /// Trust the project's hooks, recipes and model as they are now.
    #[arg(long)]
    trust_project: bool,
    /// Also search DIR for recipes; repeatable.
    #[arg(long = "fragment-dirs", value_name = "DIR", value_delimiter = ',')]
    fragment_dirs: Vec<PathBuf>,
}

impl WritingArgs {
    /// Returns the flags of `run` for such an agent: no tools, not saved.
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
            no_mcp: true,
            disable_auto_compact: true,
            fragment_dirs: self.fragment_dirs.clone(),
            ..AgentArgs::default()
        }
    }
}

/// Runs the recipe `name` with `more` arguments. Returns the model's text without a code fence or quotes around it.
///
/// # Errors
/// There is no text. The exit code is the one that `run` would have.
pub(crate) fn write(
    project: &mut Project,
    name: &str,
    args: &WritingArgs,
    more: Vec<(String, String)>,
    cancel: &Cancel,
) -> Result<String, Failure> {
    let agent_args = args.agent(project);
    let show: Arc<dyn Show> = Arc::new(Quiet::default());
    let _working = screen().work();
    let catalog = hooks_to_run(project, &agent_args, show.as_ref(), cancel)?;
    let recipe = recipe_to_run(project, &agent_args, name, show.as_ref())
        .map_err(|failure| failure.or_interrupted(cancel))?;
    let mut agent = build(project, &agent_args, catalog, Arc::clone(&show), cancel)?;
    project.findings().chain(&agent.findings).for_each(|finding| show.finding(finding));
    let arguments = [more, args.arg.clone()].concat();
    let text = agent.start_recipe(&recipe, &arguments, show.as_ref(), cancel)?;
    let finish = work(&agent, &UserMessage::from(text.as_str()), cancel);
    agent.report_journal_error();
    let text = unwrap(&finish.response);
    match finish.status {
        Status::Done if text.is_empty() => Err(Failure::new("the model wrote nothing")
            .help("try again, or name another model with --model")),
        Status::Done => Ok(text.to_owned()),
        status => Err(unwritten(status)),
    }
}

/// Returns the failure for a missing text. Messages of hooks and models have been shown.
fn unwritten(status: Status) -> Failure {
    let failure = match status {
        Status::Blocked => Failure::new("a hook blocked the request, so the model wrote no text")
            .help("`tenter log` shows why; leave out --hooks to run without hooks"),
        Status::MaxTurns => Failure::new("the model reached the turn limit before it wrote a text")
            .help("raise the limit with `max_turns` in config.toml or TENTER_MAX_TURNS"),
        Status::Interrupted => Failure::new("interrupted before the model wrote a text"),
        Status::Failed | Status::Done => Failure::new("the model failed, so there is no text"),
    };
    Failure { exit: super::exit_after(status), ..failure }
}

/// Returns the text without a code fence or quotes around it, which models often add.
fn unwrap(text: &str) -> &str {
    let text = text.trim();
    let inner =
        without_fence(text).or_else(|| without_ticks(text)).or_else(|| without_quotes(text));
    inner.map_or(text, unwrap)
}

fn without_fence(text: &str) -> Option<&str> {
    let (first, rest) = text.split_once('\n')?;
    let ticks = first.trim_end().trim_start_matches('`');
    let fence = &first[..first.len() - first.trim_start_matches('`').len()];
    let inner = rest.strip_suffix(fence)?;
    let is_fence = fence.len() >= 3 && !ticks.contains('`') && !ticks.contains(' ');
    // With another fence in between, these belong to two blocks.
    (is_fence && inner.ends_with('\n') && !inner.lines().any(|line| line.starts_with(fence)))
        .then_some(inner)
}

/// Returns the text between equal numbers of backticks.
fn without_ticks(text: &str) -> Option<&str> {
    let ticks = &text[..text.len() - text.trim_start_matches('`').len()];
    let inner = text.strip_prefix(ticks)?.strip_suffix(ticks)?;
    // After three backticks, the first of several lines may be a language or text.
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

/// Checks whether the quote at `at` is an apostrophe: between two letters.
fn is_within_word(text: &str, at: usize, sign: char) -> bool {
    let before = text[..at].chars().next_back();
    let after = text[at + sign.len_utf8()..].chars().next();
    matches!(sign, '\'' | '’') && [before, after].iter().all(|c| c.is_some_and(char::is_alphabetic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_what_wraps_the_whole_text_and_nothing_else() {
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
            assert_eq!(unwrap(text), inner, "{text:?}");
        }
    }
}
