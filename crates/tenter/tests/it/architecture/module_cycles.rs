//! No modules of a crate import each other in a circle: found in the paths of `use` and in inline paths.
//!
//! Two modules are compared where their paths part: `agent::build` and `commands::run` are an import of `agent` by
//! `commands`. A re-export is an import like any other, and what is imported through it is imported from the module that re-exports
//! it: inside a crate, a module imports from where an item is defined. Tests inside the sources do not count.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;

use super::sources;

/// The path of a module in its crate, or the path of an item in one.
type ModulePath = Vec<String>;

/// The modules of a crate with their text, without comments, strings and tests.
type Modules = BTreeMap<ModulePath, String>;

/// The imports of each module of a directory.
type Imports = BTreeMap<String, BTreeSet<String>>;

/// Removes from a text what holds no paths of the product.
struct Cleaner {
    skipped: Regex,
}

impl Cleaner {
    fn new() -> Self {
        Self { skipped: Regex::new(r#"(?m)//.*$|"(?:\\.|[^"\\])*""#).unwrap() }
    }

    fn clean(&self, text: &str) -> String {
        let product = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        self.skipped.replace_all(product, "").into_owned()
    }
}

/// Returns the modules of every crate, by its directory below `crates`.
fn crates() -> BTreeMap<String, Modules> {
    let cleaner = Cleaner::new();
    let mut crates: BTreeMap<String, Modules> = BTreeMap::new();
    for (name, text) in sources() {
        let Some((name, path)) =
            name.strip_prefix("crates/").and_then(|name| name.split_once("/src/"))
        else {
            continue;
        };
        let mut path: ModulePath =
            path.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
        if ["mod", "lib", "main"].contains(&path.last().map_or("", String::as_str)) {
            path.pop();
        }
        if !["bin", "tests", "testing"]
            .iter()
            .any(|test_module| path.iter().any(|part| part == test_module))
        {
            crates.entry(name.to_owned()).or_default().insert(path, cleaner.clean(&text));
        }
    }
    crates
}

/// Returns the paths of a use tree: `a::{b, c::d}` holds `a::b` and `a::c::d`.
fn paths(tree: &str) -> Vec<String> {
    let (mut paths, mut prefixes, mut path) = (Vec::new(), Vec::new(), String::new());
    for c in format!("{tree},").chars() {
        match c {
            '{' => prefixes.push(path.clone()),
            ',' | '}' => {
                paths.push(path.split(" as ").next().unwrap_or_default().trim().to_owned());
                if c == '}' {
                    prefixes.pop();
                }
                path = prefixes.last().cloned().unwrap_or_default();
            }
            c if c.is_whitespace() && !path.ends_with(|c: char| c.is_alphanumeric()) => {}
            c => path.push(c),
        }
    }
    paths
}

/// Returns the path from the root of the crate, of a path as `module` writes it; none for another crate's.
fn absolute(module: &[String], path: &str, modules: &Modules) -> Option<ModulePath> {
    let mut base = module.to_vec();
    let mut parts = path.split("::").peekable();
    match *parts.peek()? {
        "crate" => {
            base.clear();
            parts.next();
        }
        "self" => {
            parts.next();
        }
        "super" => {
            while parts.next_if_eq(&"super").is_some() {
                base.pop();
            }
        }
        child => {
            let child = [module, &[child.to_owned()]].concat();
            modules.get(&child)?;
        }
    }
    Some(base.into_iter().chain(parts.map(str::to_owned)).collect())
}

/// Returns the innermost module on `path`.
fn module_of(path: &[String], modules: &Modules) -> ModulePath {
    let lengths = (0..=path.len()).rev();
    let mut paths = lengths.map(|length| path[..length].to_vec());
    paths.find(|path| modules.contains_key(path)).unwrap_or_default()
}

/// Returns every import of a module by another.
fn imports(modules: &Modules) -> BTreeSet<(ModulePath, ModulePath)> {
    let statement = Regex::new(r"\buse\s+([^;]+);").unwrap();
    let inline = Regex::new(r"\b(?:crate|super)(?:::\w+)+").unwrap();
    let mut all = Vec::new();
    for (module, text) in modules {
        for place in statement.captures_iter(text) {
            let targets = paths(&place[1]).into_iter();
            let targets = targets.filter_map(|path| absolute(module, &path, modules));
            all.extend(targets.map(|target| (module.clone(), target)));
        }
        let rest = statement.replace_all(text, "");
        let inline = inline.find_iter(&rest);
        all.extend(
            inline.filter_map(|path| {
                Some((module.clone(), absolute(module, path.as_str(), modules)?))
            }),
        );
    }
    all.into_iter().map(|(module, path)| (module, module_of(&path, modules))).collect()
}

/// Returns the imports between the modules of each directory, by its path.
fn by_directory(modules: &Modules) -> BTreeMap<String, Imports> {
    let mut directories: BTreeMap<String, Imports> = BTreeMap::new();
    for (from, to) in imports(modules) {
        let shared = from.iter().zip(&to).take_while(|(from, to)| from == to).count();
        if let (Some(one), Some(other)) = (from.get(shared), to.get(shared)) {
            let directory = directories.entry(from[..shared].join("/")).or_default();
            directory.entry(one.clone()).or_default().insert(other.clone());
        }
    }
    directories
}

/// Returns a circle of modules, if there is one.
fn cycle(imports: &Imports) -> Option<Vec<String>> {
    let mut names = BTreeSet::new();
    imports.keys().find_map(|module| cycle_from(module, &mut Vec::new(), &mut names, imports))
}

/// Returns a circle that begins with the modules of `path` and goes through `module`. What is in `done` is in no circle.
fn cycle_from(
    module: &str,
    path: &mut Vec<String>,
    names: &mut BTreeSet<String>,
    imports: &Imports,
) -> Option<Vec<String>> {
    if let Some(start) = path.iter().position(|earlier| earlier == module) {
        return Some([&path[start..], &[module.to_owned()]].concat());
    }
    if names.contains(module) {
        return None;
    }
    path.push(module.to_owned());
    let mut next = imports.get(module).into_iter().flatten();
    let cycle = next.find_map(|next| cycle_from(next, path, names, imports));
    path.pop();
    names.insert(module.to_owned());
    cycle
}

#[test]
fn no_modules_import_each_other_in_a_circle() {
    let mut cycles = Vec::new();
    for (name, modules) in crates() {
        for (directory, imports) in by_directory(&modules) {
            if let Some(cycle) = cycle(&imports) {
                cycles.push(format!("{name}/src/{directory}: {}", cycle.join(" → ")));
            }
        }
    }
    assert!(cycles.is_empty(), "import cycles:\n{}", cycles.join("\n"));
}

/// Creates modules with these texts.
fn modules(texts: &[(&str, &str)]) -> Modules {
    let path =
        |path: &str| path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
    texts.iter().map(|(module, text)| (path(module), (*text).to_owned())).collect()
}

#[test]
fn a_cycle_is_found_through_use_trees_and_inline_paths() {
    let cycle_in = |texts: &[(&str, &str)]| by_directory(&modules(texts)).values().find_map(cycle);
    let there = ("a/x", "use crate::{b::Y, c};");
    assert_eq!(cycle_in(&[("", ""), ("a/x", ""), ("b", "use super::a::X;"), ("c", "")]), None);
    for back in ["use super::a::X;", "fn f(x: crate::a::x::X) {}", "use crate::{c, a::{X, Z}};"] {
        let cycle = cycle_in(&[("", ""), ("a", ""), there, ("b", back), ("c", "")]);
        assert_eq!(cycle.unwrap(), ["a", "b", "a"], "{back}");
    }
}
