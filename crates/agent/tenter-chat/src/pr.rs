//! `tenter pr`: the model writes the title and body of a pull request, the user reviews them, gh creates it.

use std::path::{Path, PathBuf};

use tenter_base::sanitize;
use tenter_commands::git::Git;
use tenter_commands::project::Project;
use tenter_proc::{Cancel, ProcessEnd};
use tenter_terminal::signals::Interrupts;
use tenter_terminal::{CommandResult, Env, Exit, Failure, ui};

use crate::agent::writing::{self, WritingArgs};
use crate::draft::Draft;

/// The recipe that writes the text.
const RECIPE: &str = "github/pr";

/// Create a pull request that the model describes.
///
/// The recipe `github/pr` writes title and body; your own recipe with that name replaces it. They are printed, and on a terminal
/// you accept, edit or reject them. Without a terminal, nothing is created unless you pass --no-confirm. `gh` creates the pull
/// request. If none is created, the command fails.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The target branch.
    #[arg(long, short, value_name = "BRANCH", default_value = "main")]
    target: String,
    /// A file with a template for the body.
    #[arg(long, value_name = "FILE")]
    template_file: Option<PathBuf>,
    /// Create it as a draft.
    #[arg(long)]
    draft: bool,
    #[command(flatten)]
    writing: WritingArgs,
}

/// Runs the command.
pub fn run(env: &Env, project: Option<&Path>, args: &Args) -> CommandResult {
    let template = args.template_file.as_deref().map(|file| template(env, file)).transpose()?;
    let mut project = Project::open(env, project)?;
    let cancel = Cancel::new();
    let interrupts = Interrupts::catch(&cancel)?;
    let directory = project.root().to_owned();
    let vars = project.program_environment();
    let git = Git { directory: &directory, vars: &vars, cancel: &cancel };
    git.check_repository()?;
    let target = target(&git, &args.target)?;
    check_ahead(&git, &target)?;
    let more = [("target".to_owned(), target)];
    let more = more.into_iter().chain(template.map(|text| ("template".to_owned(), text)));
    let text = writing::write(&mut project, RECIPE, &args.writing, more.collect(), &cancel)?;
    if matches!(git.run("gh", &["--version"], "").end, ProcessEnd::NotStarted(_)) {
        ui::out(sanitize(&text));
        return Err(Failure::new("nothing was created: `gh` is not in PATH")
            .help("push the branch and use the text above, or install gh"));
    }
    let (git, interrupts) = (&git, &interrupts);
    let words = ("Create this pull request?", "nothing was created");
    let draft = Draft { env, git, interrupts, file_name: "PULLREQ_EDITMSG", words };
    let Some(text) = draft.decide(&text, args.writing.yes)? else { return Ok(Exit::Failed) };
    interrupts.aim(&cancel);
    create(git, args, &text)
}

fn create(git: &Git, args: &Args, text: &str) -> CommandResult {
    let (title, body) = split_title(text);
    let mut line =
        vec!["pr", "create", "--title", title, "--body-file", "-", "--base", args.target.as_str()];
    line.extend(args.draft.then_some("--draft"));
    let address = git.perform("gh", &line, body).map_err(|failure| {
        failure.help("the text is printed above; gh needs a pushed branch (`git push -u origin HEAD`) and a login (`gh auth status`)")
    })?;
    ui::out(sanitize(&address));
    Ok(Exit::Done)
}

fn template(env: &Env, file: &Path) -> Result<String, Failure> {
    let path = env.cwd.join(file);
    std::fs::read_to_string(&path)
        .map_err(|error| Failure::usage(format!("cannot read {}: {error}", path.display())))
}

/// Returns the name of the branch in git: local, or of the remote `origin`.
fn target(git: &Git, branch: &str) -> Result<String, Failure> {
    let is_there = |name: &str| {
        git.holds(&[
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            &format!("{name}^{{commit}}"),
        ])
    };
    let names = [branch.to_owned(), format!("origin/{branch}")];
    let template = names.into_iter().find(|name| !name.starts_with('-') && is_there(name));
    template.ok_or_else(|| {
        Failure::new(format!("there is no target branch {branch:?}"))
            .help("pass --target BRANCH; `git branch --all` lists them")
    })
}

fn check_ahead(git: &Git, target: &str) -> Result<(), Failure> {
    let ahead = git.ask(&["rev-list", "--count", &format!("{target}..HEAD")])?;
    if ahead == "0" {
        let branch = git.ask(&["branch", "--show-current"])?;
        let branch = if branch.is_empty() { "HEAD".to_owned() } else { branch };
        return Err(Failure::new(format!("{branch} has no commits that are not in {target}"))
            .help("commit to a new branch (`git switch -c NAME`), or pass --target BRANCH"));
    }
    Ok(())
}

/// Returns the first line as the title, without heading marks, and the rest.
fn split_title(text: &str) -> (&str, &str) {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let title = first.trim().trim_start_matches('#').trim();
    let title = title.strip_prefix("Title:").unwrap_or(title).trim();
    (title, rest.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_is_the_title_and_the_rest_the_body() {
        for (text, parts) in [
            ("Add a\n\n## Summary\n\nIt adds.", ("Add a", "## Summary\n\nIt adds.")),
            ("# Add a\nBody", ("Add a", "Body")),
            ("Title: Add a\n\nBody", ("Add a", "Body")),
            ("Add a", ("Add a", "")),
        ] {
            assert_eq!(split_title(text), parts, "{text:?}");
        }
    }
}
