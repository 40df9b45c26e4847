//! The architecture, the dependencies and the state of the files, checked by tests instead of by further tools.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tenter_testkit::nested_cargo;

mod module_cycles;
mod public_api;

/// Our crates, each with our crates that it may depend on: arrows only point down.
const MAY_DEPEND_ON: &[(&str, &[&str])] = &[
    ("tenter-base", &[]),
    ("tenter-protocol", &["tenter-base", "tenter-shell"]),
    ("tenter-proc", &["tenter-base"]),
    ("tenter-template", &["tenter-base", "tenter-protocol"]),
    (
        "tenter-engine",
        &["tenter-base", "tenter-protocol", "tenter-proc", "tenter-shell", "tenter-template"],
    ),
    (
        "tenter-agent",
        tenter_base::words!(
            "tenter-base tenter-protocol tenter-proc tenter-template tenter-engine tenter-shell
             tenter-walk tenter-confine"
        ),
    ),
    ("tenter-confine", &["tenter-base", "tenter-engine", "tenter-protocol"]),
    ("tenter-http", &["tenter-base", "tenter-proc", "tenter-protocol"]),
    ("tenter-walk", &["tenter-base", "tenter-proc"]),
    ("tenter-plugins", &["tenter-base", "tenter-protocol", "tenter-proc", "tenter-engine"]),
    (
        "tenter-providers",
        tenter_base::words!(
            "tenter-base tenter-protocol tenter-proc tenter-http tenter-engine tenter-agent"
        ),
    ),
    ("tenter-terminal", &["tenter-base", "tenter-protocol", "tenter-proc", "tenter-engine"]),
    (
        "tenter-settings",
        &["tenter-base", "tenter-protocol", "tenter-engine", "tenter-http", "tenter-terminal"],
    ),
    (
        "tenter-commands",
        tenter_base::words!(
            "tenter-base tenter-protocol tenter-proc tenter-shell tenter-engine tenter-walk
             tenter-http tenter-backtest tenter-bridge tenter-confine tenter-inspect
             tenter-plugins tenter-prove tenter-terminal tenter-settings"
        ),
    ),
    (
        "tenter-chat",
        tenter_base::words!(
            "tenter-base tenter-protocol tenter-proc tenter-shell tenter-engine tenter-walk
             tenter-http tenter-backtest tenter-bridge tenter-terminal tenter-settings
             tenter-commands tenter-agent tenter-mcp tenter-providers"
        ),
    ),
    (
        "tenter",
        &["tenter-base", "tenter-proc", "tenter-terminal", "tenter-commands", "tenter-chat"],
    ),
    (
        "tenter-mcp",
        &["tenter-base", "tenter-protocol", "tenter-proc", "tenter-http", "tenter-agent"],
    ),
    (
        "tenter-inspect",
        tenter_base::words!(
            "tenter-base tenter-engine tenter-proc tenter-protocol tenter-backtest tenter-bridge"
        ),
    ),
    (
        "tenter-bridge",
        &["tenter-base", "tenter-protocol", "tenter-proc", "tenter-engine", "tenter-confine"],
    ),
    ("tenter-backtest", &["tenter-base", "tenter-protocol", "tenter-engine", "tenter-bridge"]),
    (
        "tenter-hook",
        tenter_base::words!(
            "tenter-base tenter-protocol tenter-proc tenter-engine tenter-bridge tenter-confine"
        ),
    ),
    ("tenter-model-server", &[]),
    (
        "tenter-prove",
        tenter_base::words!(
            "tenter-base tenter-protocol tenter-proc tenter-engine tenter-bridge
             tenter-model-server"
        ),
    ),
    ("tenter-testkit", &["tenter-model-server"]),
    ("tenter-shell", &["tenter-base"]),
    // It measures all of them; no crate depends on it.
    ("tenter-bench", &[]),
];

/// Heavy dependencies, and the only crates that may have them.
const ONLY_IN: &[(&str, &[&str])] = &[
    // The transcripts of two agents are SQLite databases. The feature that reads them is off without the agent.
    ("rusqlite", &["tenter-agent", "tenter-backtest"]),
    ("rig-core", &["tenter-providers"]),
    ("ureq", &["tenter-http"]),
    // The official SDK of MCP. It is written for tokio, of which it needs one thread, tasks and timers: no I/O.
    ("rmcp", &["tenter-mcp"]),
    ("tokio", &["tenter-mcp"]),
    ("maud", &["tenter-inspect"]),
    ("httparse", &["tenter-confine", "tenter-inspect"]),
    ("rustyline", &["tenter-chat"]),
    ("clap", &["tenter-terminal", "tenter-settings", "tenter-commands", "tenter-chat", "tenter"]),
    ("ignore", &["tenter-walk"]),
];

const LICENCES: &[&str] = &[
    "MIT",
    "Apache-2.0",
    "Unicode-3.0",
    "Unlicense",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "Zlib",
    "ISC",
    "CC0-1.0",
    "BSL-1.0",
    "MIT-0",
    "CDLA-Permissive-2.0", // the certificate authorities that Mozilla trusts, as data
    "Apache-2.0 WITH LLVM-exception",
];

/// Packages in `Cargo.lock` at most: a new dependency is a decision.
const PACKAGES: usize = 245;

/// Packages that the product contains in two versions, because two libraries want different ones and neither is ours to move.
/// Hashing: the SDK of MCP has the next version of the model library's.
const TWICE: &[&str] =
    tenter_base::words!("base64 block-buffer cpufeatures crypto-common digest getrandom sha2 syn");

/// Lines of a file at most, its tests included. A table may be longer, and is listed here.
const LINES: usize = 500;
const LONGER: &[(&str, usize)] = &[
    // The only file that names the model library.
    ("crates/agent/tenter-providers/src/library.rs", 580),
];

pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn cargo(args: &[&str]) -> String {
    let output = nested_cargo().args(args).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Reads cargo's metadata of all packages that are built on this kind of machine; packages for others need not be here.
fn metadata() -> Value {
    let version = cargo(&["--version", "--verbose"]);
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let all =
        ["metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform", host];
    serde_json::from_str(&cargo(&all)).unwrap()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Returns the dependencies of each of our crates, without dependencies of tests.
fn dependencies(metadata: &Value) -> BTreeMap<String, BTreeSet<String>> {
    let packages = metadata["packages"].as_array().unwrap();
    let ours = packages.iter().filter(|package| package["source"].is_null());
    ours.map(|package| {
        let all = package["dependencies"].as_array().unwrap().iter();
        let normal = all.filter(|dependency| dependency["kind"].is_null());
        (
            text(&package["name"]).to_owned(),
            normal.map(|dependency| text(&dependency["name"]).to_owned()).collect(),
        )
    })
    .collect()
}

#[test]
fn dependencies_between_our_crates_only_point_down() {
    let dependencies = dependencies(&metadata());
    let names: BTreeSet<&str> = MAY_DEPEND_ON.iter().map(|(name, _)| *name).collect();
    let crates: BTreeSet<&str> = dependencies.keys().map(String::as_str).collect();
    assert_eq!(crates, names, "a new crate needs its place in this table and in ARCHITECTURE.md");
    for (name, may) in MAY_DEPEND_ON {
        for dependency in
            dependencies[*name].iter().filter(|dependency| names.contains(dependency.as_str()))
        {
            assert!(may.contains(&dependency.as_str()), "{name} must not depend on {dependency}");
        }
    }
}

#[test]
fn heavy_dependencies_stay_where_they_are() {
    let dependencies = dependencies(&metadata());
    for (heavy, owners) in ONLY_IN {
        for (name, needs) in &dependencies {
            assert!(
                owners.contains(&name.as_str()) || !needs.contains(*heavy),
                "{heavy} belongs to {owners:?}, not to {name}"
            );
        }
    }
}

#[test]
fn every_dependency_has_a_licence_that_we_accept() {
    let metadata = metadata();
    for package in metadata["packages"].as_array().unwrap() {
        let expression = text(&package["license"]).replace('/', " OR ");
        let licenses =
            expression.trim_matches(|c| c == '(' || c == ')').split(" OR ").any(|choice| {
                choice
                    .split(" AND ")
                    .all(|licence| LICENCES.contains(&licence.trim_matches(|c| "() ".contains(c))))
            });
        assert!(
            licenses,
            "{} {} is licensed under {expression:?}",
            text(&package["name"]),
            text(&package["version"])
        );
    }
}

#[test]
fn the_number_of_packages_is_limited_and_none_is_banned() {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() <= PACKAGES, "{} packages; the ceiling is {PACKAGES}", packages.len());
    for name in ["openssl-sys", "aws-lc-sys", "mio", "hyper", "reqwest", "async-std"] {
        assert!(packages.iter().all(|package| text(&package["name"]) != name), "{name} came in");
    }
}

#[test]
fn the_binary_contains_no_package_twice() {
    let metadata = metadata();
    let nodes = metadata["resolve"]["nodes"].as_array().unwrap();
    let normal = |id: &str| -> Vec<String> {
        let node = nodes.iter().find(|node| node["id"] == id).unwrap();
        let deps = node["deps"].as_array().unwrap().iter();
        let product_dependencies = deps.filter(|dep| {
            dep["dep_kinds"].as_array().unwrap().iter().any(|kind| kind["kind"].is_null())
        });
        product_dependencies.map(|dep| text(&dep["pkg"]).to_owned()).collect()
    };
    let packages = metadata["packages"].as_array().unwrap();
    let product = packages.iter().find(|package| package["name"] == "tenter").unwrap();
    let mut ids = BTreeSet::from([text(&product["id"]).to_owned()]);
    let mut open: Vec<String> = ids.iter().cloned().collect();
    while let Some(id) = open.pop() {
        open.extend(normal(&id).into_iter().filter(|next| ids.insert(next.clone())));
    }
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in packages.iter().filter(|package| ids.contains(text(&package["id"]))) {
        versions.entry(text(&package["name"])).or_default().insert(text(&package["version"]));
    }
    let twice: Vec<&str> =
        versions.iter().filter(|(_, versions)| versions.len() > 1).map(|(name, _)| *name).collect();
    assert_eq!(twice, TWICE, "{versions:?}");
}

/// Returns every package of a part of the dependency graph, with the features that it is built with.
fn built(args: &[&str]) -> BTreeSet<String> {
    let tree = ["tree", "--locked", "--offline", "--prefix", "none", "--format", "{p} [{f}]"];
    let lines = cargo(&[&tree, args].concat());
    lines.lines().map(|line| line.trim_end_matches(" (*)").to_owned()).collect()
}

#[test]
fn cargo_run_and_cargo_test_share_one_build() {
    let run = built(&["--package", "tenter", "--edges", "normal,build"]);
    let test = built(&["--workspace", "--edges", "normal,build,dev"]);
    let apart: Vec<&String> = run.difference(&test).collect();
    assert!(apart.is_empty(), "`cargo test` builds these with other features: {apart:?}");
}

/// Returns every Rust file of the workspace, with its path from the root.
pub(super) fn sources() -> Vec<(String, String)> {
    let mut directories = vec![root().join("crates")];
    let mut files = Vec::new();
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
                files.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    files
}

#[test]
fn every_file_has_a_module_comment_and_a_limited_length() {
    let mut flaws = Vec::new();
    for (name, text) in sources() {
        if !text.starts_with("//!") {
            flaws.push(format!("{name} does not open with what it is for"));
        }
        let lines = text.lines().count();
        let limit =
            LONGER.iter().find(|(longer, _)| *longer == name).map_or(LINES, |(_, limit)| *limit);
        if lines > limit {
            flaws.push(format!(
                "{name} has {lines} lines, {limit} are the limit: split it by topics"
            ));
        }
    }
    assert!(flaws.is_empty(), "{}", flaws.join("\n"));
}

#[test]
fn skipped_tests_are_visible() {
    // Written in two halves, so that this file does not find itself.
    let swallowed = concat!("ln!(\"", "skipped");
    for (name, text) in sources() {
        assert!(!text.contains(swallowed), "{name} skips without tenter_testkit::needs");
    }
}

#[test]
fn tests_wait_for_events_and_not_for_time() {
    // Written in two halves, so that this file does not find itself.
    let sleep = concat!("thread::", "sleep(");
    for (name, text) in sources() {
        let tests = match text.split_once("#[cfg(test)]\nmod tests {") {
            _ if name.contains("/test") => text.as_str(),
            Some((_, tests)) => tests,
            None => continue,
        };
        assert!(!tests.contains(sleep), "{name}: use `wait_until`, a clock or a channel");
    }
}

#[test]
fn no_catch_all_files_and_no_open_todos() {
    // Written in two halves, so that this file does not find itself.
    let marks = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("#[all", "ow("),
        concat!("#![all", "ow("),
    ];
    for (name, text) in sources() {
        let stem = Path::new(&name).file_stem().unwrap().to_string_lossy().into_owned();
        assert!(
            !["utils", "util", "helpers", "common", "misc"].contains(&stem.as_str()),
            "{name} says nothing"
        );
        for mark in marks {
            assert!(!text.contains(mark), "{name} holds {mark}");
        }
    }
}

/// Returns the crates that others can depend on.
fn libraries() -> impl Iterator<Item = (&'static str, PathBuf)> {
    let is_library = |name: &&str| !["tenter", "tenter-bench"].contains(name);
    let names = MAY_DEPEND_ON.iter().map(|(name, _)| *name).filter(is_library);
    names.map(|name| (name, root().join("crates").join(product(name)).join(name)))
}

/// Returns the directory below `crates/` that contains a library: `hooks`, `agent` or `tools`.
fn product(name: &str) -> &'static str {
    let is_there = |product: &&str| root().join("crates").join(product).join(name).is_dir();
    ["hooks", "agent", "tools"].into_iter().find(is_there).expect("every library has a product")
}

#[test]
fn the_hooks_do_not_depend_on_the_agent() {
    for (name, dependencies) in dependencies(&metadata()) {
        if ["tenter", "tenter-bench"].contains(&name.as_str()) || product(&name) == "agent" {
            continue;
        }
        let ours = dependencies.iter().filter(|other| other.starts_with("tenter-"));
        for other in ours {
            assert_ne!(product(other), "agent", "{name} depends on {other}");
        }
    }
}

#[test]
fn the_program_without_the_agent_contains_nothing_of_it() {
    let packages =
        built(&["--package", "tenter", "--no-default-features", "--edges", "normal,build"]);
    assert!(packages.iter().any(|package| package.starts_with("tenter-commands ")), "{packages:?}");
    for absent in *tenter_base::words!(
        "tenter-agent tenter-chat tenter-mcp tenter-providers rig-core rmcp tokio"
    ) {
        let package = packages.iter().find(|package| package.starts_with(&format!("{absent} ")));
        assert_eq!(package, None);
    }
}

#[test]
fn every_library_can_be_packaged() {
    for (name, directory) in libraries() {
        let manifest = fs::read_to_string(directory.join("Cargo.toml")).unwrap();
        for key in ["description", "readme", "keywords", "categories", "license"] {
            assert!(manifest.contains(&format!("\n{key}")), "{name} has no {key}");
        }
        let readme = fs::read_to_string(directory.join("README.md")).unwrap();
        assert!(readme.starts_with(&format!("# {name}\n")), "{name}");
        let Ok(root) = fs::read_to_string(directory.join("src/lib.rs")) else { continue };
        assert!(readme.contains("\n```rust"), "the README of {name} has no example");
        assert!(root.contains("\n//! ```\n"), "the root of {name} has no example");
    }
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.toml");
    let workspace = fs::read_to_string(workspace).unwrap();
    for line in workspace.lines().filter(|line| line.contains("path = \"crates/")) {
        assert!(line.contains("version = "), "a package needs a version: {line}");
    }
}
