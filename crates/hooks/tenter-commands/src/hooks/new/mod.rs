//! `tenter hooks new`: creates a hook, from a template or empty, and trusts it (R47).

mod comments;
mod executable;
mod manifest;
mod runtime;
mod static_action;
mod template;

use std::path::Path;

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser};
use tenter_base::{sanitize, visible};
use tenter_engine::inspect::Status;
use tenter_engine::source::check_file_name;
use tenter_engine::trust::TrustEntry;
use tenter_proc::Cancel;
use tenter_protocol::EventName;
use tenter_terminal::{CommandResult, Exit, Failure, signals, ui};

use self::static_action::ActionWord;
use self::template::Template;
use super::entry;
use super::format::Format;
use crate::guard::catalog_names;
use crate::new_files::{self, NewFile, hooks_dir};
use crate::project::Project;
use crate::trust;

/// The languages of scripts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum ScriptLanguage {
    /// A bash script; it needs only standard commands such as grep and sed.
    #[default]
    Bash,
    /// A python3 script; it needs only the standard library.
    Python,
    /// A node script; it needs only built-in modules. The same as `javascript`.
    #[value(alias = "javascript")]
    Node,
}

/// Create a hook from a template, or an empty one.
///
/// Without --template, the NAME of a template selects that template; any other NAME creates an empty hook with comments. A new
/// project hook is trusted; after a change you are asked again.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Name of the hook and of its directory or file.
    name: String,
    /// Template of the hook.
    #[arg(long, value_name = "TEMPLATE", value_parser = templates(), conflicts_with = "action")]
    template: Option<String>,
    /// Event of an empty hook, in any spelling [default: before_tool].
    #[arg(long, value_name = "EVENT")]
    event: Option<String>,
    /// Kind of an empty hook [default: manifest, unless only executables have this spelling of the event].
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// Language of the script [default: bash].
    #[arg(long, value_name = "LANGUAGE")]
    lang: Option<ScriptLanguage>,
    /// Create a runtime hook, which is started once, with a copy of the SDK; for python and javascript.
    #[arg(long, conflicts_with_all = ["template", "action", "format"])]
    runtime: bool,
    /// Action of a static hook, which has no script.
    #[arg(long, value_name = "ACTION", conflicts_with = "lang")]
    action: Option<ActionWord>,
    /// Create it for all your projects, in ~/.config/agents/hooks.
    #[arg(long)]
    user: bool,
    /// Replace an existing hook.
    #[arg(long)]
    force: bool,
}

fn templates() -> PossibleValuesParser {
    let empty = PossibleValue::new(template::EMPTY).help("Does nothing yet.");
    let values = template::TEMPLATES
        .iter()
        .map(|template| PossibleValue::new(template.name).help(template.about()));
    PossibleValuesParser::new(values.chain([empty]))
}

/// The hook to create.
enum NewHookPlan {
    /// A complete manifest hook.
    Template(&'static Template),
    /// An empty manifest hook.
    Empty(EventName),
    /// A runtime hook that does nothing yet.
    Runtime(EventName),
    /// A static hook.
    Static(EventName, ActionWord),
    /// An empty executable hook, for the event with this spelling.
    Executable(&'static str),
}

const DEFAULT_EVENT: &str = "before_tool";

impl NewHookPlan {
    fn new(args: &Args) -> Result<Self, Failure> {
        if let Some(template) = args.template.as_deref().and_then(template::named) {
            return Self::from_template(template, args);
        }
        let event = args.event.as_deref().unwrap_or(DEFAULT_EVENT);
        if args.runtime {
            return Ok(Self::Runtime(manifest::event(event)?));
        }
        let format = match args.action {
            Some(_) => Format::Manifest,
            None => Format::implied_by(event),
        };
        match (args.format.unwrap_or(format), args.action) {
            (Format::Manifest, Some(action)) => Ok(Self::Static(manifest::event(event)?, action)),
            (Format::Manifest, None) => Self::from_name(event, args),
            (Format::Executable, None) => Ok(Self::Executable(executable::spelling(event)?)),
            (Format::Executable, Some(_)) => {
                Err(Failure::usage("a static hook is a manifest hook")
                    .help("omit --action or --format executable"))
            }
        }
    }

    fn from_template(template: &'static Template, args: &Args) -> Result<Self, Failure> {
        if let Some(event) = &args.event {
            let Template { name, event: own, .. } = template;
            return Err(Failure::usage(format!(
                "the template {name} is for {own}, not for {event}"
            ))
            .help("omit --event, or create an empty hook with --template empty"));
        }
        if args.format == Some(Format::Executable) {
            return Err(Failure::usage("templates are manifest hooks")
                .help("omit --format executable, or create an empty hook with --template empty"));
        }
        if args.lang.is_some() && !template.has_script() {
            let Template { name, .. } = template;
            return Err(Failure::usage(format!("the template {name} has rules and no script"))
                .help("omit --lang, or create an empty hook with --template empty"));
        }
        Ok(Self::Template(template))
    }

    fn from_name(event: &str, args: &Args) -> Result<Self, Failure> {
        let is_open = args.template.is_none() && args.event.is_none() && args.format.is_none();
        match template::implied_by(&args.name).filter(|_| is_open) {
            Some(template) => Self::from_template(template, args),
            None => Ok(Self::Empty(manifest::event(event)?)),
        }
    }

    /// Returns the event as the hook spells it.
    fn spelling(&self) -> &'static str {
        match self {
            Self::Template(template) => template.event.as_str(),
            Self::Empty(event) | Self::Runtime(event) | Self::Static(event, _) => event.as_str(),
            Self::Executable(spelling) => spelling,
        }
    }

    fn write(&self, path: &Path, args: &Args) -> Result<(), Failure> {
        let language = args.lang.unwrap_or_default();
        let files = match self {
            Self::Template(template) => template.files(&args.name, language)?,
            Self::Empty(event) => template::empty(&args.name, *event, language)?,
            Self::Runtime(event) => runtime::files(&args.name, *event, language)?,
            Self::Static(event, action) => static_action::files(&args.name, *event, *action)?,
            Self::Executable(spelling) => {
                let text = executable::text(&args.name, spelling, language)
                    .ok_or_else(|| Failure::new(format!("there is no template for {spelling}")))?;
                return new_files::write_file(path, &text, args.force);
            }
        };
        new_files::write_dir(path, &files, args.force)
    }

    /// Prints what was created.
    fn describe(&self, args: &Args) {
        match self {
            Self::Template(template) => {
                ui::note(template.about());
                if args.template.is_none() {
                    ui::note(format!(
                        "The name selected the template {}; --template empty creates an empty hook.",
                        template.name
                    ));
                }
            }
            Self::Empty(_) | Self::Executable(_) => {
                ui::note("It does nothing yet. `tenter hooks new --help` lists templates.");
                if catalog_names().any(|(name, _)| name == args.name) {
                    let name = &args.name;
                    ui::note(format!("`tenter hooks add {name}` adds the ready-made hook {name}."));
                }
            }
            Self::Runtime(_) => {
                ui::note("It does nothing yet. `tenter help runtime-hooks` explains the SDK.");
            }
            Self::Static(..) => {}
        }
    }
}

/// Runs `tenter hooks new`.
pub(super) fn run(mut project: Project, args: &Args) -> CommandResult {
    check_file_name(&args.name).map_err(|why| {
        Failure::usage(format!("a hook cannot have the name {:?}: it {why}", args.name))
    })?;
    let cancel = signals::cancel()?;
    let plan = NewHookPlan::new(args)?;
    let path = hooks_dir(&project, args.user)?.join(&args.name);
    plan.write(&path, args)?;
    if !args.user
        && let Err(failure) = trust_new(&mut project, args, &path, plan.spelling(), &cancel)
    {
        if !args.force {
            new_files::remove_new(&path);
        }
        return Err(failure);
    }
    ui::out(path.display());
    plan.describe(args);
    advise(&mut project, &args.name, &path, &cancel);
    Ok(Exit::Done)
}

/// Returns the files in `hooks` of a new plugin: complete hooks as examples.
pub(crate) fn examples() -> Result<Vec<NewFile>, Failure> {
    let mut files = Vec::new();
    for name in ["context-at-start", "no-force-push"] {
        let template = template::named(name)
            .ok_or_else(|| Failure::new(format!("there is no template {name}")))?;
        let hook_files = template.files(name, ScriptLanguage::Bash)?;
        files.extend(
            hook_files
                .into_iter()
                .map(|file| NewFile { name: format!("hooks/{name}/{}", file.name), ..file }),
        );
    }
    Ok(files)
}

/// Trusts the new hook, unless the catalog reports that it cannot run; [`advise`] explains why.
fn trust_new(
    project: &mut Project,
    args: &Args,
    path: &Path,
    spelling: &str,
    cancel: &Cancel,
) -> Result<(), Failure> {
    let catalog = project.load(cancel);
    let hook = catalog.listing().iter().find(|hook| hook.path == path);
    let Some((listed, fingerprint)) = hook.and_then(|hook| Some((hook, hook.fingerprint.clone()?)))
    else {
        return Ok(());
    };
    let entry = TrustEntry {
        events: vec![spelling.to_owned()],
        covered: Some(listed.covered.clone()),
        ..TrustEntry::new(&args.name, fingerprint, path)
    };
    trust::record(project, &[entry])
}

/// Prints the next step: how to test the hook, or why it does not run.
fn advise(project: &mut Project, name: &str, path: &Path, cancel: &Cancel) {
    let catalog = project.load(cancel);
    let Some(hook) = catalog.listing().iter().find(|hook| hook.path == path) else { return };
    match &hook.status {
        Status::Shadowed { by } => {
            let by = entry::short(project, by);
            ui::note(format!(
                "It does not run in this project: {} has the same name.",
                visible(&by)
            ));
        }
        Status::WouldDisplace { own } => {
            let own = entry::short(project, own);
            let own = visible(&own);
            ui::note(format!("It does not run yet: it would shadow your own {own}."));
        }
        Status::Invalid { why } => ui::note(format!("It does not run yet: it {}", sanitize(why))),
        _ => ui::note(format!("Test it: tenter hooks test {}", visible(name))),
    }
    if hook.layer.needs_trust() {
        ui::note("After a change, test it again: you are asked whether to trust the change.");
        let outcome = trust::accept_if_complete(project, &catalog);
        outcome.unwrap_or_else(|failure| ui::failure(&failure));
    }
}
