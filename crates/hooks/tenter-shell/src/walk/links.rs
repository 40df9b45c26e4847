//! Links that the text makes: what is below `x` after `ln -s ~/.ssh x` is below `~/.ssh`.

use crate::field::Field;
use crate::locate;
use crate::reader::Reader;

use super::call::{Call, Emitted};
use super::targets::is_certain_directory;
use super::wrappers::values;

/// Maximum number of links.
const MAX_LINKS: usize = 256;

/// Maximum length of a path, in bytes: systems know no longer ones.
const MAX_LENGTH: usize = 4096;

/// Maximum number of links that follow each other, as on Linux.
const MAX_FOLLOWED: usize = 40;

impl Reader<'_> {
    /// Keeps the names that `ln` gives files and directories.
    pub(super) fn remember_links(&mut self, call: &Call, emitted: &Emitted) {
        let is_copy = emitted.program == "cp" && emitted.arguments.has("-s --symbolic-link");
        if emitted.program != "ln" && !is_copy {
            return;
        }
        let operands: Vec<Field> = call.operands(emitted).cloned().collect();
        let directory = values(emitted, "-t --target-directory").into_iter().next();
        let (targets, name) = match (directory, operands.split_last()) {
            (Some(directory), _) => (operands.as_slice(), directory),
            (None, Some((name, targets))) if !targets.is_empty() => (targets, name.clone()),
            _ => (operands.as_slice(), Field::known(".")),
        };
        let is_relative_to_name =
            emitted.arguments.has("-s --symbolic") && !emitted.arguments.has("-r --relative");
        let is_directory = is_certain_directory(&name, targets.len(), emitted);
        for target in targets {
            let base = target.text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            // The name can be a directory in which the link is.
            let itself = (!is_directory).then(|| name.text.clone());
            for name in itself.into_iter().chain([format!("{}/{base}", name.text)]) {
                let Some(name) = locate::absolute(&name, self.scope.cwd()) else { continue };
                let parent = name.rsplit_once('/').map_or("/", |(parent, _)| parent).to_owned();
                let around =
                    if is_relative_to_name { Some(parent.as_str()) } else { self.scope.cwd() };
                let target = locate::absolute(&target.text, around);
                if let Some(target) = target.filter(|target| *target != name)
                    && name.len().max(target.len()) <= MAX_LENGTH
                {
                    if self.links.len() >= MAX_LINKS {
                        return self.reach_limit();
                    }
                    self.links.push((name, target));
                }
            }
        }
    }

    /// Returns the text of a file that is copied or moved.
    pub(super) fn copied(&self, call: &Call, emitted: &Emitted) -> Option<Field> {
        let is_copy = matches!(emitted.program.as_str(), "cp" | "mv" | "install" | "ln" | "rsync");
        let file = call.operands(emitted).next().filter(|_| is_copy)?;
        self.written(file)?.text.clone()
    }

    /// Returns the path to which a path leads through such links. With `follows`, its last name may be one.
    pub(super) fn through_links(&self, mut path: String, follows: bool) -> String {
        for _ in 0..MAX_FOLLOWED {
            let mut links = self.links.iter().rev();
            let end = links.find_map(|(name, target)| {
                let rest = path.strip_prefix(name.as_str())?;
                let is_below = rest.starts_with('/') || (rest.is_empty() && follows);
                is_below.then(|| format!("{}{rest}", target.trim_end_matches('/')))
            });
            match end.filter(|end| end.len() <= MAX_LENGTH) {
                Some(end) => path = end,
                None => break,
            }
        }
        if path.is_empty() { "/".to_owned() } else { path }
    }
}
