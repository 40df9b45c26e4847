//! The documentation: every example in it is carried out, every table in it is compared with the code.
//!
//! An example is a fenced block. The comment right before it, which no reader sees, says what kind of example it is and
//! what must come of it; its lines are done in order.
//!
//! ````text
//! <!-- test: hook no-sudo
//! call: bash {"command": "sudo ls"} => deny: no sudo
//! call: bash {"command": "ls"} => none
//! -->
//! ```bash
//! #!/usr/bin/env bash
//! …
//! ````
//!
//! | kind | what is done with the block |
//! | --- | --- |
//! | `hook NAME` | it is installed as a hook and `tenter run` is played under it |
//! | `payload EVENT` | it is compared with what a hook really reads |
//! | `sample EVENT` | it is generated, see `events` |
//! | `answer EVENT => DECISION` | it is read as a hook's answer, and each of its fields must count |
//! | `config user`, `config project` | it is read as configuration |
//! | `script` | it is played as a model |
//! | `line` | it is compared with what `tenter run --headless` really prints |
//! | `file PATH` | it is written into the project of its section |
//! | `session` | its commands are run in the project of its section, and what they print is compared |
//! | `chat` | its lines behind the prompt are typed in a terminal, and all that is shown is compared |
//!
//! Those about manifest hooks are described in `manifests`.

mod configuration;
mod decisions;
mod events;
mod hooks;
mod manifests;
mod markdown;
mod recipes;
mod sessions;
mod stream;
mod tables;
mod wire;

use std::path::Path;
use std::sync::Arc;

use markdown::{Block, Page, pages};
use tenter_agent::skill::{SkillTool, Skills};
use tenter_agent::tools::Registry;
use tenter_testkit::Output;

/// The kinds, and the keys that the lines of their notes may have.
const KINDS: [(&str, &[&str]); 17] = [
    ("hook", &["needs", "given", "call", "message", "turns", "script", "then"]),
    ("payload", &["message", "script", "guard"]),
    ("sample", &[]),
    ("answer", &[]),
    ("config", &[]),
    ("script", &["needs", "given", "exit", "says"]),
    ("line", &[]),
    ("file", &[]),
    ("session", &["needs", "given", "transcripts", "exit"]),
    ("chat", &["needs", "given"]),
    ("manifest", &[]),
    ("entry", &["needs", "given", "call", "message", "turns", "script", "then"]),
    ("matcher", &["fires", "rests"]),
    ("told", &["message", "script", "matcher", "metadata"]),
    ("says", &[]),
    ("toml", &[]),
    // The engine's own tests run it.
    ("embed", &[]),
];

/// Returns the examples of one kind, of all pages.
fn examples<'p>(pages: &'p [Page], kind: &str) -> impl Iterator<Item = &'p Block> {
    pages.iter().flat_map(|page| &page.blocks).filter(move |block| block.note.kind == kind)
}

/// Settings without the list of changed files in results: it is truncated if git takes longer than 50 ms, as on a busy machine.
const WITHOUT_CHANGED: &str = "[hooks]\nchanged = false\n";

/// Returns `text` as the pages show it: with the directory names used there, and placeholders for everything that varies.
fn as_documented(output: &Output, text: &str) -> String {
    let text = output.normal(text).replace("[ROOT]/machine", "");
    text.replace("[ROOT]/project", "/home/ada/shop").replace("[ROOT]/home", "/home/ada")
}

/// Returns the tools that there are in every project, and the one that is there with skills.
fn every_tool() -> Registry {
    let mut registry = Registry::standard();
    registry.push(Arc::new(SkillTool::new(Skills::from_directory(Path::new("/nowhere"))).0));
    registry
}

#[test]
fn every_example_is_tested() {
    let pages = pages();
    for block in pages.iter().flat_map(|page| &page.blocks) {
        let kind = KINDS.iter().find(|(kind, _)| *kind == block.note.kind);
        let (_, keys) = kind.unwrap_or_else(|| panic!("{}: no such kind", block.place));
        for (key, _) in &block.note.lines {
            assert!(keys.contains(&key.as_str()), "{}: {key} means nothing here", block.place);
        }
    }
    for (kind, _) in KINDS {
        assert!(examples(&pages, kind).next().is_some(), "nothing is of the kind {kind}");
    }
}

/// Kodelet's directories are named where they are explained (R81), and where they are the only ones.
#[test]
fn kodelets_directories_are_explained_once() {
    let only = [
        ".kodelet/plugins",
        "~/.kodelet/recipes",
        "/.kodelet/recipes/review.md",
        "~/.kodelet/AGENTS.md",
    ];
    let pages = pages().into_iter().chain(markdown::readme());
    let names = pages.filter(|page| {
        let text = only.iter().fold(page.text(), |text, name| text.replace(name, ""));
        text.contains(".kodelet")
    });
    let names: Vec<String> = names.map(|page| page.name).collect();
    assert_eq!(names, ["concepts.md", "decisions.md"]);
}

#[test]
fn every_link_resolves() {
    let pages = pages();
    for page in pages.iter().chain(&markdown::readme()) {
        for link in &page.links {
            assert!(markdown::leads_somewhere(page, link), "{}: {link} leads nowhere", page.name);
        }
    }
}
