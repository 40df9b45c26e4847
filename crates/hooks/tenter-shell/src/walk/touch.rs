//! Adds the paths that commands touch to the facts.

use crate::facts::{Class, Location, Path as PathFact, PathOp, PathPlace};
use crate::field::Field;
use crate::reader::{Context, Reader};
use crate::{limits, locate};

/// A path and what happens to it.
pub(super) struct Touch<'a> {
    pub(super) path: &'a Field,
    pub(super) op: PathOp,
    pub(super) recursive: bool,
}

/// The place of a command.
pub(super) struct Placed {
    pub(super) cwd: Option<String>,
    pub(super) is_remote: bool,
    /// Paths can be `host:path`.
    pub(super) has_hosts: bool,
}

impl Reader<'_> {
    /// Returns the directory in which a command's paths are.
    pub(super) fn placed(&self, context: &Context) -> Placed {
        Placed {
            cwd: self.cwd(context),
            is_remote: context.location != Location::Local,
            has_hosts: false,
        }
    }

    /// Keeps a path in the shell's own directory.
    pub(super) fn touch(&mut self, path: &Field, op: PathOp, command: Option<usize>) {
        let here =
            Placed { cwd: self.scope.cwd().map(str::to_owned), is_remote: false, has_hosts: false };
        self.touch_in(&Touch { path, op, recursive: false }, command, &here);
    }

    /// Keeps a path and everything in it.
    pub(super) fn touch_recursively(&mut self, path: &Field, op: PathOp, command: usize) {
        let here = self.here(command);
        self.touch_in(&Touch { path, op, recursive: true }, Some(command), &here);
    }

    /// Keeps a path that a program in another language touches, as far as it can be read.
    pub(super) fn touch_in_code(
        &mut self,
        path: &Field,
        op: PathOp,
        recursive: bool,
        command: usize,
    ) {
        let here = self.here(command);
        let before = self.facts.paths.len();
        self.touch_in(&Touch { path, op, recursive }, Some(command), &here);
        for path in &mut self.facts.paths[before..] {
            path.certain = false;
        }
    }

    fn here(&self, command: usize) -> Placed {
        let is_remote = self
            .facts
            .commands
            .get(command)
            .is_some_and(|command| command.location != Location::Local);
        Placed { cwd: self.scope.cwd().map(str::to_owned), is_remote, has_hosts: false }
    }

    pub(super) fn touch_in(&mut self, touch: &Touch<'_>, command: Option<usize>, here: &Placed) {
        let Touch { path, op, recursive } = *touch;
        if let Some(command) = command.filter(|_| op == PathOp::Read && is_environment(path)) {
            self.classify(command, Class::Environment);
            self.sends_own_output(command);
        }
        let is_open = path.is_glob || !path.is_certain;
        self.open_paths += usize::from(is_open);
        let is_full = self.facts.paths.len() >= limits::MAX_PATHS
            || (is_open && self.open_paths > limits::MAX_OPEN_PATHS);
        if is_full {
            self.reach_limit();
        }
        if matches!(path.text.as_str(), "" | "-") || path.is_process || is_full {
            return;
        }
        let is_remote = here.is_remote || (here.has_hosts && is_on_host(&path.text));
        let text = in_temp(path);
        let text = text.as_deref().unwrap_or(&path.text);
        let absolute = locate::absolute(text, here.cwd.as_deref());
        let starts_unknown = text.starts_with(['$', '`', '~', '{']) && !path.is_certain;
        let follows = match op {
            PathOp::Delete | PathOp::Move | PathOp::Link => text.ends_with('/'),
            PathOp::Create | PathOp::Execute => false,
            _ => true,
        };
        let location = absolute
            .filter(|_| !starts_unknown)
            .map(|path| if is_remote { path } else { self.through_links(path, follows) });
        if location.as_deref().is_some_and(locate::is_harmless_device) {
            return;
        }
        let (place, inside_project) = match (&location, is_remote) {
            (_, true) => (PathPlace::Remote, false),
            (Some(location), _) => locate::place(location, self.surroundings),
            (None, _) => locate::place(text, self.surroundings),
        };
        // What `find directory` finds is anywhere in the directory.
        let recursive = recursive || (path.is_glob && path.text.contains("/**"));
        self.facts.paths.push(PathFact {
            path: location.clone().filter(|_| !is_remote).unwrap_or_else(|| path.text.clone()),
            given: path.text.clone(),
            op,
            recursive,
            place,
            inside_project,
            command,
            certain: path.is_certain && location.is_some(),
            glob: path.is_glob,
            joined: locate::join(&path.text, here.cwd.as_deref()),
            inner: None,
        });
    }
}

/// Returns a path in `$TMPDIR`, whose value is not known, as one in some directory for temporary files.
fn in_temp(path: &Field) -> Option<String> {
    let rest = ["$TMPDIR/", "${TMPDIR}/"].iter().find_map(|start| path.text.strip_prefix(start))?;
    (!path.is_certain).then(|| format!("/tmp/{rest}"))
}

/// Checks whether a path is `host:path`.
pub(super) fn is_on_host(path: &str) -> bool {
    path.find(':').is_some_and(|colon| colon > 0 && !path[..colon].contains('/'))
}

/// Checks whether a path is the file with the environment of the process that reads it.
fn is_environment(path: &Field) -> bool {
    matches!(path.text.as_str(), "/proc/self/environ" | "/proc/thread-self/environ")
}
