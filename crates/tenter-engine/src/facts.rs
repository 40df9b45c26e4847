//! Computes the facts about a tool call: the files that it is about to access.

use std::path::Path;

use serde_json::Value;
use tenter_protocol::facts::{Facts, PathFact, PathOp, PathUse};
use tenter_protocol::patch::{FileChange, Patch};
use tenter_protocol::tool_names::ToolNames;
use tenter_protocol::{Body, ToolCall, tool_fields};

use tenter_base::real_path;

/// Returns the facts about the tool call of an event. Relative paths are resolved against `cwd`. They may become outdated: a
/// symlink can change at any time.
pub fn facts(body: &Body, cwd: &Path, names: &ToolNames) -> Facts {
    let paths = body.tool_call().map(|call| paths(call, cwd, names.standard(&call.name)));
    Facts { paths: paths.unwrap_or_default(), tool_names: names.clone() }
}

fn paths(call: &ToolCall, cwd: &Path, standard_tool: &str) -> Vec<PathFact> {
    let rows = tool_fields::PATHS.iter().filter(|(tool, ..)| *tool == standard_tool);
    let given = rows.filter_map(|(_, field, used)| match call.input.get(*field)? {
        Value::String(given) => Some(path(given, *used, cwd)),
        _ => None,
    });
    let patch = Patch::of_input(&call.input).filter(|_| standard_tool == "file_edit");
    let patched = patch.into_iter().flat_map(|patch| patch.files);
    let patched = patched.map(|file| match file.change {
        FileChange::Add | FileChange::Update => path(file.path, PathUse::Write, cwd),
        FileChange::Delete => {
            PathFact { op: PathOp::Delete, ..path(file.path, PathUse::Write, cwd) }
        }
    });
    given.chain(patched).collect()
}

fn path(given: &str, used: PathUse, cwd: &Path) -> PathFact {
    let whole = cwd.join(given);
    let real = real_path(&whole);
    let certain = real.is_ok();
    let real = real.unwrap_or(whole);
    let op = match used {
        PathUse::Write => PathOp::Write,
        PathUse::Search if real.is_dir() => PathOp::List,
        PathUse::Search | PathUse::Read => PathOp::Read,
    };
    PathFact { path: real.to_string_lossy().into_owned(), given: given.to_owned(), op, certain }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn the_paths_of_file_tools_are_resolved() {
        let scratch = tempfile::tempdir().unwrap();
        let base = scratch.path().canonicalize().unwrap();
        fs::create_dir_all(base.join("a/b")).unwrap();
        symlink("a/b", base.join("link")).unwrap();
        symlink("nowhere", base.join("dangling")).unwrap();
        let names = ToolNames::default().with_alias("save", "file_write");
        let fact = |tool: &str, input: Value| {
            let input = input.as_object().unwrap().clone();
            let call = ToolCall { id: "1".into(), name: tool.into(), input };
            let paths = facts(&Body::BeforeTool(call), &base, &names).paths;
            let shown = |fact: PathFact| {
                let path = Path::new(&fact.path).strip_prefix(&base).unwrap().display().to_string();
                (path, fact.op, fact.certain)
            };
            paths.into_iter().map(shown).next()
        };
        let expected = |path: &str, op, certain| Some((path.to_owned(), op, certain));
        assert_eq!(
            fact("file_write", json!({"file_path": "link/../new"})),
            expected("a/new", PathOp::Write, true)
        );
        assert_eq!(fact("save", json!({"file_path": "new"})), expected("new", PathOp::Write, true));
        assert_eq!(
            fact("file_read", json!({"file_path": "dangling"})),
            expected("dangling", PathOp::Read, false)
        );
        assert_eq!(fact("grep", json!({"path": "link"})), expected("a/b", PathOp::List, true));
        assert_eq!(fact("grep", json!({"path": "x"})), expected("x", PathOp::Read, true));
        assert_eq!(fact("grep", json!({"pattern": "x"})), None);
        assert_eq!(fact("bash", json!({"file_path": "x"})), None);
        assert_eq!(fact("file_read", json!({"file_path": 7})), None);
    }

    #[test]
    fn the_paths_of_a_patch_are_those_of_its_files() {
        let patch = "*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n*** Move to: /c\n*** Delete File: d\n*** End Patch";
        let input = json!({"patch": patch}).as_object().unwrap().clone();
        let call = ToolCall { id: "1".into(), name: "file_edit".into(), input };
        let names = ToolNames::default();
        let found = facts(&Body::BeforeTool(call), Path::new("/p"), &names).paths;
        let found: Vec<_> = found.iter().map(|fact| (fact.path.as_str(), fact.op)).collect();
        let (write, delete) = (PathOp::Write, PathOp::Delete);
        assert_eq!(found, [("/p/a", write), ("/p/b", delete), ("/c", write), ("/p/d", delete)]);
    }
}
