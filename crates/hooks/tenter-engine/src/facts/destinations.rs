//! Resolves the symlinks in the paths of a call, with a limit.

use std::path::Path;

use tenter_base::DestinationFinder;
use tenter_protocol::facts::{CallFacts as CallTextFacts, Path as PathFact, PathPlace};
use tenter_shell::Surroundings;

use super::text;

/// Maximum number of files that are looked up for one call.
const MAX_LOOKUPS: usize = 4096;

/// Returns a finder with the limit of one call.
pub(super) fn finder() -> DestinationFinder {
    DestinationFinder::new(MAX_LOOKUPS)
}

/// Resolves the symlinks in all paths of a call. A call with too many to look up is over the limit.
pub(super) fn resolve_all(facts: &mut CallTextFacts, surroundings: &Surroundings) {
    let mut finder = finder();
    for path in &mut facts.paths {
        resolve(path, surroundings, &mut finder);
    }
    facts.unparsed |= finder.is_exhausted();
    facts.over_limit |= finder.is_exhausted();
}

/// Resolves symlinks. A path of a command that is unknown, or elsewhere, stays as it is; of a pattern, only the directory is
/// resolved that it begins with.
pub(super) fn resolve(
    path: &mut PathFact,
    surroundings: &Surroundings,
    finder: &mut DestinationFinder,
) {
    let is_of_tool = path.command.is_none();
    let is_here = path.place != PathPlace::Remote && path.path.starts_with('/');
    if !is_here || (!path.certain && !is_of_tool) {
        return;
    }
    let joined_path = path.joined.take();
    let whole = joined_path.as_deref().unwrap_or(&path.path);
    let fixed = if path.glob { whole.find(['*', '?', '[']) } else { None };
    let end = fixed.map_or(whole.len(), |at| whole[..at].rfind('/').unwrap_or(0));
    let (directory, rest) = whole.split_at(end);
    let directory = Path::new(if directory.is_empty() { "/" } else { directory });
    let destination = match path.inner.take().filter(|_| rest.is_empty()) {
        Some(inner) => finder.destination_in(directory, &inner),
        None => finder.destination(directory),
    };
    match destination {
        Ok(real) => {
            let real = text(&real);
            let whole = format!(
                "{}{rest}",
                if rest.is_empty() { &real } else { real.trim_end_matches('/') }
            );
            (path.place, path.inside_project) = surroundings.place(&whole);
            path.path = whole;
        }
        Err(_) => path.certain = false,
    }
}
