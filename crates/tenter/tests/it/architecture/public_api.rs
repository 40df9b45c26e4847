//! The public API of the crates that other programs may use is a list in each crate's `public-api.txt`, so that every change of it is
//! seen. `TENTER_UPDATE=1` writes the lists.
//!
//! The list comes from rustdoc's JSON. One item is one line: its kind, its path and, for functions, its signature as it is in the
//! source. Implementations of traits are left out, and so are hidden modules.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{cargo, metadata, root, text};

/// The maximum number of items of the engine, without fields and variants.
const MAX_ENGINE_ITEMS: usize = 150;

/// Returns the libraries as `cargo test` built them: one JSON message of cargo for each, by the id of its package.
///
/// `cargo rustdoc` would check the dependencies of each library again, with other features.
fn libraries() -> BTreeMap<String, Value> {
    let messages = cargo(&["build", "--offline", "--message-format", "json"]);
    let messages = messages.lines().map(|line| serde_json::from_str(line).unwrap());
    let is_library = |message: &Value| {
        let kinds = message["target"]["kind"].as_array().into_iter().flatten();
        kinds.map(text).any(|kind| ["lib", "rlib", "proc-macro"].contains(&kind))
    };
    let libraries = messages.filter(is_library);
    libraries.map(|message: Value| (text(&message["package_id"]).to_owned(), message)).collect()
}

/// Returns the arguments with which rustdoc describes a library: its features, its dependencies and its source.
fn arguments(package: &Value, libraries: &BTreeMap<String, Value>) -> Vec<String> {
    let library = &libraries[text(&package["id"])];
    let features = library["features"].as_array().unwrap();
    let features = features.iter().flat_map(|name| ["--cfg".into(), format!("feature={name}")]);
    let dependencies = package["deps"].as_array().unwrap().iter().filter_map(|dependency| {
        let build = libraries.get(text(&dependency["pkg"]))?;
        let files = build["filenames"].as_array().unwrap().iter().map(text);
        let file =
            files.into_iter().find(|file| Path::new(file).extension() != Some("rmeta".as_ref()))?;
        Some(["--extern".into(), format!("{}={file}", text(&dependency["name"]))])
    });
    let directory = Path::new(text(&library["filenames"][0])).parent().unwrap();
    let search = ["-L".into(), format!("dependency={}", directory.display())];
    let name = ["--crate-name".into(), text(&library["target"]["name"]).to_owned()];
    let source = text(&library["target"]["src_path"]).to_owned();
    let options = features.chain(dependencies.flatten()).chain(search).chain(name);
    options.chain([source]).collect()
}

/// Returns rustdoc's description of a library.
#[expect(clippy::disallowed_methods, reason = "rustdoc knows what is public")]
fn describe(package: &str) -> Value {
    let metadata = metadata();
    let is_package = |node: &&Value| text(&node["id"]).contains(&format!("/{package}#"));
    let node = metadata["resolve"]["nodes"].as_array().unwrap().iter().find(is_package).unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let output = std::process::Command::new("rustdoc")
        .args(["--edition", "2024", "-Z", "unstable-options", "--output-format", "json", "-o"])
        .arg(scratch.path())
        .args(arguments(node, &libraries()))
        .current_dir(root())
        .env("RUSTC_BOOTSTRAP", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let file = scratch.path().join(package.replace('-', "_")).with_extension("json");
    serde_json::from_slice(&fs::read(file).unwrap()).unwrap()
}

/// The items of one library.
struct Api<'d> {
    index: &'d Value,
    lines: BTreeSet<String>,
}

impl Api<'_> {
    fn item(&self, id: &Value) -> Option<&Value> {
        self.index.get(id.to_string())
    }

    /// Adds the items with these ids, which are at `path`.
    fn add_all(&mut self, ids: &Value, path: &str) {
        let ids = ids.as_array().cloned().unwrap_or_default();
        for id in ids {
            if let Some(item) = self.item(&id).cloned() {
                self.add(&item, path, text(&item["name"]));
            }
        }
    }

    /// Adds an item under the name by which it is reached.
    fn add(&mut self, item: &Value, parent: &str, name: &str) {
        let Some((kind, inner)) = item["inner"].as_object().and_then(|inner| inner.iter().next())
        else {
            return;
        };
        let path = format!("{parent}::{name}");
        match kind.as_str() {
            "use" => {
                let name = text(&inner["name"]);
                match self.item(&inner["id"]).cloned() {
                    Some(target) => self.add(&target, parent, name),
                    None => self.line("use", &format!("{parent}::{name}"), ""),
                }
            }
            "module" => {
                self.line("mod", &path, "");
                self.add_all(&inner["items"], &path);
            }
            "impl" if inner["trait"].is_null() => self.add_all(&inner["items"], parent),
            "impl" => {}
            "struct" => {
                self.line("struct", &path, "");
                self.add_all(&inner["kind"]["plain"]["fields"], &path);
                self.add_all(&inner["impls"], &path);
            }
            "enum" => {
                self.line("enum", &path, "");
                self.add_all(&inner["variants"], &path);
                self.add_all(&inner["impls"], &path);
            }
            "trait" => {
                self.line("trait", &path, "");
                self.add_all(&inner["items"], &path);
            }
            "function" => self.line("fn", &path, &signature(item)),
            "struct_field" => self.line("field", &path, ""),
            "assoc_const" | "constant" => self.line("const", &path, ""),
            "assoc_type" | "type_alias" => self.line("type", &path, ""),
            other => self.line(other, &path, ""),
        }
    }

    fn line(&mut self, kind: &str, path: &str, rest: &str) {
        self.lines.insert(format!("{kind} {path}{rest}"));
    }
}

/// Returns the parameters and the result of a function in one line: `(&self, id: &str) -> bool`.
fn signature(item: &Value) -> String {
    let span = &item["span"];
    let file = fs::read_to_string(root().join(text(&span["filename"]))).unwrap();
    let first = usize::try_from(span["begin"][0].as_u64().unwrap()).unwrap();
    let source: String = file.lines().skip(first - 1).take(30).collect::<Vec<_>>().join(" ");
    let source = source.split_once("fn ").map_or("", |(_, rest)| rest);
    let after_name = source.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
    let end = after_name.find(['{', ';']).unwrap_or(after_name.len());
    let words: Vec<&str> = after_name[..end].split_whitespace().collect();
    words.join(" ").replace("( ", "(").replace(", )", ")")
}

/// Returns the lines of a library's API.
fn list(package: &str) -> BTreeSet<String> {
    let description = describe(package);
    let index = &description["index"];
    let mut api = Api { index, lines: BTreeSet::new() };
    let library = api.item(&description["root"]).unwrap().clone();
    let name = text(&library["name"]).to_owned();
    api.add_all(&library["inner"]["module"]["items"], &name);
    api.lines
}

/// Compares a library's API with its list.
#[expect(clippy::disallowed_methods, reason = "TENTER_UPDATE asks the test to update the list")]
fn compare(package: &str) -> BTreeSet<String> {
    let lines = list(package);
    let file = root().join("crates/hooks").join(package).join("public-api.txt");
    let current = lines.iter().map(String::as_str).chain([""]).collect::<Vec<_>>().join("\n");
    if std::env::var_os("TENTER_UPDATE").is_some() {
        fs::write(&file, &current).unwrap();
    }
    let text = fs::read_to_string(&file).unwrap_or_default();
    assert!(text == current, "{}", difference(&file, &text, &lines));
    lines
}

fn difference(file: &Path, text: &str, lines: &BTreeSet<String>) -> String {
    let old_lines: BTreeSet<String> = text.lines().map(str::to_owned).collect();
    let removals = old_lines.difference(lines).map(|line| format!("- {line}\n"));
    let additions = lines.difference(&old_lines).map(|line| format!("+ {line}\n"));
    let changes: String = removals.chain(additions).collect();
    format!("{} is out of date; write it with TENTER_UPDATE=1:\n{changes}", file.display())
}

/// One test for both: in the gate, it waits for the lock that clippy has.
#[test]
fn the_public_apis_are_as_listed_and_the_engines_is_small() {
    compare("tenter-protocol");
    let lines = compare("tenter-engine");
    let is_counted = |line: &&String| !line.starts_with("field ") && !line.starts_with("variant ");
    let count = lines.iter().filter(is_counted).count();
    assert!(count <= MAX_ENGINE_ITEMS, "{count} items; the limit is {MAX_ENGINE_ITEMS}");
}
