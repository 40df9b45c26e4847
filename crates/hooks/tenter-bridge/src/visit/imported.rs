//! Imported hooks that the host runs itself (B37), so that they run once: the settings still register the command, and the user has not
//! edited the imported hook. Other agents run them from here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use tenter_base::untrusted_file;
use tenter_engine::inspect::Hook;
use tenter_engine::{Engine, Layer};

use super::Visitor;
use crate::import;
use crate::occurrence::Occurrence;

/// The host whose variable says which project it works in.
const CLAUDE_CODE: &str = "claude-code";
/// The variable with its project.
const PROJECT: &str = "CLAUDE_PROJECT_DIR";
/// Maximum size of a settings file, in bytes.
const MAX_SETTINGS: u64 = 4 << 20;

/// Returns the names of the hooks that the host runs itself at this occurrence.
pub(super) fn run_by_host(
    visitor: &Visitor,
    occurrence: &Occurrence,
    engine: &Engine,
) -> BTreeSet<String> {
    let mut origins = Origins { visitor, project: engine.project(), keys: BTreeMap::new() };
    let events = occurrence.detail.events();
    let catalog = engine.catalog();
    let hooks = catalog.hooks().iter().filter(|hook| {
        hook.layer != Layer::Managed
            && (hook.options.claude_code.is_some() || hook.runtime.is_some())
            && events.iter().any(|event| hook.subscription(*event).is_some())
    });
    hooks.filter(|hook| origins.registers(hook)).map(|hook| hook.name.clone()).collect()
}

/// Returns the settings that a hook was imported from, and its key there.
fn import_of(hook: &Hook) -> Option<(String, String)> {
    let Some(native) = &hook.options.claude_code else {
        let mark = import::import_mark(hook.path()?)?;
        return Some((mark.origin, mark.key));
    };
    let source = native.script.imported.as_ref()?;
    Some((native.script.origin.clone()?, source.split('-').next()?.to_owned()))
}

/// The settings that hooks were imported from.
struct Origins<'v> {
    visitor: &'v Visitor,
    project: &'v Path,
    /// The keys that each file registers.
    keys: BTreeMap<PathBuf, BTreeSet<String>>,
}

impl Origins<'_> {
    fn registers(&mut self, hook: &Hook) -> bool {
        let Some((origin, key)) = import_of(hook) else { return false };
        let host = self.visitor.host;
        let Some(file) = self.file(&origin) else { return false };
        let text = || untrusted_file::read_prefix(&file, MAX_SETTINGS).unwrap_or_default();
        let keys = self.keys.entry(file.clone()).or_insert_with(|| {
            import::registered_keys(host, &file, &String::from_utf8_lossy(&text()))
        });
        keys.contains(&key) && hook.path().is_some_and(import::is_unedited)
    }

    /// Returns the file of an origin, if the host reads it in this project.
    fn file(&self, origin: &str) -> Option<PathBuf> {
        let home = &self.visitor.directories.home;
        let file = match origin.strip_prefix("~/") {
            Some(below) => home.join(below),
            None => self.project.join(origin),
        };
        let host = self.visitor.host;
        let personal = host.registration.personal_file;
        let mut project_files = import::files_of(host, false).into_iter().chain(personal);
        let is_of_project = project_files.any(|name| self.project.join(name) == file);
        let is_of_user = import::files_of(host, true).iter().any(|name| home.join(name) == file);
        (is_of_user || is_of_project && self.is_hosts_project()).then_some(file)
    }

    /// Returns whether the host's project is Tenter's. An outer agent may have set the variable, so the check can only reject.
    fn is_hosts_project(&self) -> bool {
        if self.visitor.host.id != CLAUDE_CODE {
            return true;
        }
        let mut vars = self.visitor.vars.iter();
        let project = vars.find(|(name, _)| name == PROJECT).map(|(_, value)| Path::new(value));
        let real = |path: &Path| path.canonicalize().ok();
        project.is_some_and(|path| path == self.project || real(path) == real(self.project))
    }
}
