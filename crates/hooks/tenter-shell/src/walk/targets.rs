//! The files that commands write which copy, move, link or unpack: what they name last may be a file or a directory.

use super::call::{Call, Emitted};
use super::touch::{Placed, Touch};
use crate::field::Field;
use crate::reader::Reader;

impl Reader<'_> {
    /// Adds the file in a directory: with `cp a b`, it is `b/a` if `b` is a directory.
    pub(super) fn writes_into_directory(&mut self, path: &Field, call: &Call, emitted: &Emitted) {
        const UNPACK: [&str; 7] = ["tar", "bsdtar", "gtar", "unzip", "7z", "cpio", "gh"];
        if UNPACK.contains(&emitted.program.as_str()) {
            self.unpacks_into(path, emitted.index);
        }
        for operand in sources_of(path, call, emitted) {
            let inner = path.with_text(format!("{}/{}", path.text, last_name(&operand)));
            let source = crate::facts::FlowSource::Command(emitted.index);
            let text = self.written(&operand).and_then(|file| file.text.clone());
            self.writes_file(&inner, &[source], text);
        }
    }

    /// Keeps the file or directory to which a command writes. If it certainly is a directory, these are the files in it that have the names
    /// of the sources, or all files if not all names are known.
    pub(super) fn touch_target(
        &mut self,
        touch: &Touch<'_>,
        call: &Call,
        emitted: &Emitted,
        here: &Placed,
    ) {
        let sources = sources_of(touch.path, call, emitted);
        let index = Some(emitted.index);
        if emitted.program == "ln" && sources.is_empty() {
            // `ln a/b` makes `b`.
            let path = touch.path.with_text(last_name(touch.path));
            self.touch_in(&Touch { path: &path, ..*touch }, index, here);
        }
        let is_known = |source: &Field| {
            source.is_certain && !source.is_glob && !matches!(last_name(source), "" | "." | "..")
        };
        let are_known = !sources.is_empty() && sources.iter().all(is_known);
        let text = touch.path.text.as_str();
        if is_certain_directory(touch.path, sources.len(), emitted) && are_known {
            for source in &sources {
                let inner = format!("{}/{}", text.trim_end_matches('/'), last_name(source));
                let path = touch.path.with_text(inner);
                self.touch_in(&Touch { path: &path, ..*touch }, index, here);
            }
            return;
        }
        let recursive = touch.recursive || (!sources.is_empty() && !are_known);
        let before = self.facts.paths.len();
        self.touch_in(&Touch { recursive, ..*touch }, index, here);
        if let (true, [source], Some(path)) =
            (are_known, sources.as_slice(), self.facts.paths.get_mut(before))
        {
            path.inner = Some(last_name(source).to_owned());
        }
    }
}

/// Returns the operands that a command copies, moves or links to `target`.
fn sources_of(target: &Field, call: &Call, emitted: &Emitted) -> Vec<Field> {
    let is_copy = matches!(
        emitted.program.as_str(),
        "aws" | "cp" | "mv" | "install" | "ln" | "rsync" | "scp"
    );
    let is_mkdir = emitted.program == "install" && emitted.arguments.has("-d --directory");
    if !is_copy || is_mkdir || emitted.arguments.has("-T --no-target-directory") {
        return Vec::new();
    }
    // `aws s3 cp s3://a/b .`
    let is_source = |operand: &&Field| {
        operand.text != target.text && (emitted.program != "aws" || operand.text.contains("://"))
    };
    let sources = call.operands(emitted).filter(is_source);
    // `rsync a/ b` copies what is in `a`.
    let has_names = emitted.program != "rsync";
    let without_slash = |source: &Field| {
        let text = source.text.trim_end_matches('/');
        if has_names && !text.is_empty() { source.with_text(text) } else { source.clone() }
    };
    sources.map(without_slash).collect()
}

/// Returns whether a command with this number of sources writes into a directory, and not a file of this name.
pub(super) fn is_certain_directory(target: &Field, sources: usize, emitted: &Emitted) -> bool {
    sources > 1
        || matches!(last_name(target), "" | "." | "..")
        || emitted.arguments.has("-t --target-directory")
}

/// Returns the last name of a path, which may be on another machine.
fn last_name(path: &Field) -> &str {
    path.text.rsplit(['/', ':']).next().unwrap_or_default()
}
